# SPDX-License-Identifier: Apache-2.0

"""A commented delta robot to start from: a YAML file and its URDF, made of main dimensions."""

from __future__ import annotations

import math
from xml.sax.saxutils import quoteattr

from robodyn.checks import as_scalar
from robodyn.errors import InvalidInput
from robodyn.mechanisms.common.template import Dimension, Template, cylinder_inertia

# The motors' angle at home [rad], and the ends of their travel.
HOME, UP, DOWN = 0.35, -0.7, 1.4
# Of the motors' rotors [kg m^2], and their gears' ratio.
ROTOR, RATIO = 1.2e-4, 33

_YAML = """\
# A delta robot for picking and placing, as a starting point: its bodies and joints are in {urdf},
# what drives it and how it is used is here. `robodyn check {file}` shows how it was read.
type: closed_loop
name: {name}
urdf: {urdf}                        # relative to this file
tip_link: tool0                     # the link that goals, wrenches and poses are of
gravity: [0, 0, -9.81]              # m/s^2, base frame, z up; the platform hangs below the base

# The joints with motors, in the order of every list of efforts. All others are passive: that the
# loops close decides where they are.
actuated_joints: [arm1_motor, arm2_motor, arm3_motor]

# Positions from which the loops are closed [rad], and where simulations and plans start. Joints
# that are not named start at zero, so zero of the passive ones should not be far from here.
home: {{arm1_motor: {home:g}, arm2_motor: {home:g}, arm3_motor: {home:g}}}

# What drives each motor's joint, as a data sheet says it: the rotor's inertia [kg m^2], the gear's
# ratio and its dry friction at the joint [N m]. Also: torque_limit [N m] and velocity_limit [rad/s]
# of the motor, torque_constant [N m/A]. A model without rotors is far from the truth: reflected,
# these have {reflected:.3g} kg m^2.
actuators:
  arm1_motor: {{rotor_inertia: {rotor:g}, gear_ratio: {ratio:g}, coulomb: 0}}
  arm2_motor: {{rotor_inertia: {rotor:g}, gear_ratio: {ratio:g}, coulomb: 0}}
  arm3_motor: {{rotor_inertia: {rotor:g}, gear_ratio: {ratio:g}, coulomb: 0}}
"""

_URDF = """\
<?xml version="1.0"?>
<!--
  A delta robot, as a starting point: replace every number by that of your machine. SI units and
  radians. {file} beside it says what is driven; load that file.

  base_link is the fixed plate, z up, the platform hangs below it. Each of three arms, at 0, 120 and
  240 degrees, carries two parallel rods, which keep the platform level. A URDF is a tree, so each
  rod ends freely and a <constraint> closes the loop again: its end is a ball joint on the platform.
  Parsers that do not know the element skip it.

  Motors' circle {base_radius:g} m, platform's {platform_radius:g} m; arms {arm:g} m, rods
  {rod:g} m.
-->
<robot name={name}>
  <link name="base_link">
    <visual>
      <origin xyz="0 0 {plate:.4g}"/>
      <geometry><cylinder radius="{base_radius:g}" length="{plate:.4g}"/></geometry>
    </visual>
  </link>
{chains}
  <!-- The platform with its tool and payload: {payload:g} kg in all. Its joint floats; the origin
       is where it is drawn before the loops are closed. -->
  <joint name="platform_joint" type="floating">
    <parent link="base_link"/>
    <child link="platform_link"/>
    <origin xyz="0 0 {height:.5g}"/>
  </joint>
  <link name="platform_link">
    <inertial>
      <origin xyz="0 0 0"/>
      <mass value="{payload:g}"/>
      <inertia ixx="{tilt:.4g}" ixy="0" ixz="0" iyy="{tilt:.4g}" iyz="0" izz="{spin:.4g}"/>
    </inertial>
    <visual>
      <geometry><cylinder radius="{platform_radius:g}" length="{radius:.4g}"/></geometry>
    </visual>
  </link>
  <!-- The tool points down. -->
  <joint name="tool_joint" type="fixed">
    <parent link="platform_link"/>
    <child link="tool0"/>
    <origin xyz="0 0 {tool:.4g}" rpy="3.141592653589793 0 0"/>
  </joint>
  <link name="tool0"/>
</robot>
"""

_CHAIN = """
  <!-- Arm {i}, at {degrees} degrees. Its motor's angle is 0 where it is level and grows as it goes
       down; effort [N m] and velocity [rad/s] of the joint, damping its viscous friction
       [N m s/rad]. -->
  <joint name="arm{i}_motor" type="revolute">
    <parent link="base_link"/>
    <child link="arm{i}"/>
    <origin xyz="{x:.6g} {y:.6g} 0" rpy="0 0 {angle:.9g}"/>
    <axis xyz="0 1 0"/>
    <limit lower="{up:g}" upper="{down:g}" effort="{effort:g}" velocity="{speed:g}"/>
    <dynamics damping="0.05" friction="0"/>
  </joint>
  <link name="arm{i}">
    <inertial>
      <origin xyz="{half_arm:.5g} 0 0"/>
      <mass value="{arm_mass:.4g}"/>
      <inertia ixx="{arm_axial:.4g}" iyy="{arm_cross:.4g}" izz="{arm_cross:.4g}"
               ixy="0" ixz="0" iyz="0"/>
    </inertial>
    <visual>
      <origin xyz="{half_arm:.5g} 0 0" rpy="0 1.5707963267948966 0"/>
      <geometry><cylinder radius="{radius:.4g}" length="{arm:g}"/></geometry>
    </visual>
  </link>
"""

_ROD = """\
  <!-- Its rod {side}, on a universal joint; at zero of both axes it points to where the platform
       is at home. -->
  <joint name="rod{i}{side}_universal_1" type="revolute">
    <parent link="arm{i}"/>
    <child link="rod{i}{side}_cross"/>
    <origin xyz="{arm:g} {across:.5g} 0" rpy="0 {pitch:.9g} 0"/>
    <axis xyz="0 1 0"/>
    <limit lower="-3.14" upper="3.14" effort="0" velocity="50"/>
    <dynamics damping="0.0005" friction="0"/>
  </joint>
  <link name="rod{i}{side}_cross"/>
  <joint name="rod{i}{side}_universal_2" type="revolute">
    <parent link="rod{i}{side}_cross"/>
    <child link="rod{i}{side}"/>
    <axis xyz="0 0 1"/>
    <limit lower="-3.14" upper="3.14" effort="0" velocity="50"/>
    <dynamics damping="0.0005" friction="0"/>
  </joint>
  <link name="rod{i}{side}">
    <inertial>
      <origin xyz="{half_rod:.5g} 0 0"/>
      <mass value="{rod_mass:.4g}"/>
      <inertia ixx="{rod_axial:.4g}" iyy="{rod_cross:.4g}" izz="{rod_cross:.4g}"
               ixy="0" ixz="0" iyz="0"/>
    </inertial>
    <visual>
      <origin xyz="{half_rod:.5g} 0 0" rpy="0 1.5707963267948966 0"/>
      <geometry><cylinder radius="{thin:.4g}" length="{rod:g}"/></geometry>
    </visual>
  </link>
  <!-- Where it meets the platform: the same point in both frames; damping of the ball joint
       [N m s/rad]. -->
  <constraint name="rod{i}{side}_tip" type="spherical" damping="0.0005">
    <parent link="rod{i}{side}"/>
    <parent_origin xyz="{rod:g} 0 0"/>
    <child link="platform_link"/>
    <child_origin xyz="{goal_x:.6g} {goal_y:.6g} 0"/>
  </constraint>
"""


def delta_template(
    name: str = "my_delta",
    *,
    base_radius: float = 0.2,
    platform_radius: float = 0.05,
    arm: float = 0.3,
    rod: float = 0.7,
    payload: float = 0.7,
    file: str = "my_delta.yaml",
) -> str:
    """Commented YAML text of a delta; `load` reads it beside the URDF of `delta_urdf`.

    Args: see `delta_urdf`.

    Raises:
        InvalidInput: as for `delta_urdf`.
    """
    _check(base_radius, platform_radius, arm, rod, payload)
    return _YAML.format(
        file=file,
        urdf=file.rsplit(".", 1)[0] + ".urdf",
        name=name,
        home=HOME,
        rotor=ROTOR,
        ratio=RATIO,
        reflected=ROTOR * RATIO**2,
    )


def delta_urdf(
    name: str = "my_delta",
    *,
    base_radius: float = 0.2,
    platform_radius: float = 0.05,
    arm: float = 0.3,
    rod: float = 0.7,
    payload: float = 0.7,
    file: str = "my_delta.yaml",
) -> str:
    """Commented URDF text of a delta of these dimensions.

    Args:
        name: of the robot.
        base_radius, platform_radius: [m] of the circles on which motors and rods' ends lie.
        arm, rod: [m] lengths, between axes.
        payload: [kg] of the platform with all that it carries.
        file: the YAML file's name, for the comments.

    Raises:
        InvalidInput: a dimension that is not positive, or rods that do not reach the platform.
    """
    mass = _check(base_radius, platform_radius, arm, rod, payload)
    away = base_radius + arm * math.cos(HOME) - platform_radius  # from elbow to platform, at home
    down = math.sqrt(rod**2 - away**2)
    arm_mass, rod_mass = 3.0 * arm, 0.16 * rod  # tubes of carbon fibre with their fittings
    radius, thin = 0.06 * arm, 0.009 * rod
    width = 0.15 * arm
    arm_axial, arm_cross = cylinder_inertia(arm_mass, radius, arm)
    rod_axial, rod_cross = cylinder_inertia(rod_mass, thin, rod)
    spin, tilt = cylinder_inertia(mass, platform_radius)
    # five times what holds it with level arms, and a fast start of the rotors
    weight = mass + 3.0 * arm_mass + 6.0 * rod_mass
    effort = float(f"{5.0 * 9.81 * arm * weight / 3.0 + 150.0 * ROTOR * RATIO**2:.2g}")
    chains = ""
    for i in range(3):
        angle = i * 2.0 * math.pi / 3.0
        c, s = math.cos(angle), math.sin(angle)
        chains += _CHAIN.format(
            i=i + 1,
            degrees=120 * i,
            x=base_radius * c,
            y=base_radius * s,
            angle=angle,
            up=UP,
            down=DOWN,
            effort=effort,
            speed=12,
            arm=arm,
            half_arm=0.5 * arm,
            arm_mass=arm_mass,
            arm_axial=arm_axial,
            arm_cross=arm_cross,
            radius=radius,
        )
        for side, across in (("a", width), ("b", -width)):
            chains += _ROD.format(
                i=i + 1,
                side=side,
                arm=arm,
                across=across,
                pitch=math.atan2(down, -away) - HOME,
                rod=rod,
                half_rod=0.5 * rod,
                rod_mass=rod_mass,
                rod_axial=rod_axial,
                rod_cross=rod_cross,
                thin=thin,
                goal_x=platform_radius * c - across * s,
                goal_y=platform_radius * s + across * c,
            )
    return _URDF.format(
        file=file,
        name=quoteattr(name),
        base_radius=base_radius,
        platform_radius=platform_radius,
        arm=arm,
        rod=rod,
        payload=mass,
        plate=0.1 * base_radius,
        height=-(arm * math.sin(HOME) + down),
        tilt=tilt,
        spin=spin,
        radius=radius,
        tool=-0.2 * arm,
        chains=chains,
    )


def _check(
    base_radius: float, platform_radius: float, arm: float, rod: float, payload: float
) -> float:
    """The payload [kg], once all dimensions are known to make a delta."""
    sizes = {
        "base_radius": base_radius,
        "platform_radius": platform_radius,
        "arm": arm,
        "rod": rod,
    }
    for what, value in sizes.items():
        as_scalar(what, value, "m", above=0.0)
    mass = as_scalar("payload", payload, "kg", above=0.0)
    widest = base_radius + arm - platform_radius
    if not rod > 1.05 * widest:
        raise InvalidInput(
            f"rod is {rod:g} m, too short: with the arms level the rods span {widest:.4g} m to the "
            f"platform; give rods of {1.3 * widest:.3g} m or more",
            value=rod,
        )
    return mass


TEMPLATE = Template(
    "delta",
    delta_template,
    (
        Dimension("base_radius", 0.2, "m", "radius of the circle of the motors"),
        Dimension("platform_radius", 0.05, "m", "radius of the circle of the rods' ends"),
        Dimension("arm", 0.3, "m", "length of an arm, between its axes"),
        Dimension("rod", 0.7, "m", "length of a rod, between its joints"),
        Dimension("payload", 0.7, "kg", "mass of the platform with all that it carries"),
    ),
    {".urdf": delta_urdf},
)
