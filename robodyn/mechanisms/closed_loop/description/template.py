# SPDX-License-Identifier: Apache-2.0

"""A commented delta robot to start from: a YAML file and its URDF, made of main dimensions."""

from __future__ import annotations

import math
from xml.sax.saxutils import quoteattr

from robodyn.checks import as_scalar
from robodyn.errors import InvalidInput
from robodyn.mechanisms.common.template import Dimension, Template, cylinder_inertia, text_of

# The motors' angle at home [rad], and the ends of their travel.
HOME, UP, DOWN = 0.35, -0.7, 1.4
# Of the motors' rotors [kg m^2], and their gears' ratio.
ROTOR, RATIO = 1.2e-4, 33


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
    return text_of("delta.yaml").format(
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
        chains += text_of("delta_arm.urdf").format(
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
            chains += text_of("delta_rod.urdf").format(
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
    return text_of("delta.urdf").format(
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
