# SPDX-License-Identifier: Apache-2.0

"""Texts of the commented platforms on legs, with their numbers left open."""

HEAD = """\
# {title}, as a starting point: replace every number by that of your
# machine. SI units and radians. `robodyn check {file}` shows how it was read.
type: closed_loop
name: {name}
gravity: [0, 0, -9.81]            # m/s^2, base frame, z up
"""

SERVO_HEXAPOD = (
    HEAD
    + """
# The platform where it stands at home, base frame; the centre of mass `com` in its own frame.
# Without an `inertia` about it, it is a disc of that radius.
platform:
  {{xyz: [0, 0, {height:.5g}], mass: {payload:g}, com: [0, 0, 0.01], radius: {platform_radius:g}}}

# Every leg is there three times, turned by 120 degrees about z.
symmetry: 3
leg_defaults:
  form: RUS                       # from the base on: a servo, a universal joint, a ball joint
  arm: {{mass: {arm_mass:.3g}}}                # the crank [kg]
  rod: {{length: {rod:g}, mass: {rod_mass:.3g}, radius: {thin:.3g}}}   # between its joints
  limits: {{position: [-1.2, 1.2], effort: {effort:.2g}, velocity: 6}}   # servo: rad, N m, rad/s
  armature: 9.0e-4                # the servo's rotor behind its gear [kg m^2]
  damping: 0.01                   # of the servo [N m s/rad]
legs:
  # A pair of servos: the axis is at `base`, the crank leads `to` the rod at angle 0 (base frame),
  # the rod's end is at `platform` (its frame). The angle grows about `axis`: the crank goes up.
  - base: [{x1:.5g}, {y1:.5g}, 0]
    axis: [{c:.5g}, {s:.5g}, 0]
    arm: {{to: [{tx1:.5g}, {ty1:.5g}, 0]}}
    platform: [{p1:.5g}, {q1:.5g}, 0]
  - base: [{x1:.5g}, {y2:.5g}, 0]
    axis: [{c2:.5g}, {s:.5g}, 0]
    arm: {{to: [{tx1:.5g}, {ty2:.5g}, 0]}}
    platform: [{p1:.5g}, {q2:.5g}, 0]
"""
)

LINEAR_DELTA = (
    HEAD
    + """
# The platform where it stands at home, base frame; the tool in the platform's frame is the tip.
platform:
  {{xyz: [0, 0, {height:.5g}], mass: {payload:g}, radius: {platform_radius:g}, tool: [0, 0, -0.03]}}

# The leg is there three times, turned by 120 degrees about z.
symmetry: 3
leg_defaults:
  form: PUS                       # from the base on: a carriage, universal joints, ball joints
  carriage: {{mass: 0.15}}          # kg
  # Two parallel rods on each carriage keep the platform level: `apart` leads from one to the other.
  rod: {{length: {rod:g}, mass: {rod_mass:.3g}, radius: {thin:.3g}, apart: [0, {apart:.4g}, 0]}}
  limits: {{position: [0, {travel:g}], effort: 60, velocity: 1}}   # of the carriage [m, N, m/s]
  damping: 5                      # N s/m
  actuator: {{rotor_inertia: 5.7e-6, lead: 0.04}}   # a belt or a screw: m a turn of the motor
legs:
  # Where the rods hang on the carriage at position 0, and along what it slides (base frame); `home`
  # chooses between the two places at which its rods reach the platform: the one nearest to it.
  - base: [{base_radius:g}, 0, 0]
    axis: [0, 0, 1]
    home: {travel:g}
    platform: [{platform_radius:g}, 0, 0]
"""
)

TRIPOD = (
    HEAD
    + """
# The platform where it stands at home, base frame. It tilts and rises: three freedoms.
platform: {{xyz: [0, 0, {height:.5g}], mass: {payload:g}, radius: {platform_radius:g}}}

# The leg is there three times, turned by 120 degrees about z.
symmetry: 3
leg_defaults:
  form: RPS                       # from the base on: a hinge, the actuator, a ball joint
  lower: {{mass: {lower:.3g}, radius: {wide:.3g}, length: {half:.4g}}}   # from the hinge on
  upper: {{mass: {upper:.3g}, radius: {thin:.3g}, length: {half:.4g}}}   # back from the ball joint
  # of its length [m, N, m/s]
  limits: {{position: [{shortest:.4g}, {longest:.4g}], effort: {effort:.2g}, velocity: 0.5}}
  damping: 100                    # N s/m
  actuator: {{rotor_inertia: 2.0e-5, lead: 0.005, coulomb: {coulomb:.2g}}}
legs:
  # The hinge's axis is level and at right angles to the leg's plane (base frame).
  - {{base: [{base_radius:g}, 0, 0], axis: [0, 1, 0], platform: [{platform_radius:g}, 0, 0]}}
"""
)

RAIL_HEXAPOD = (
    HEAD
    + """
# The platform where it stands at home, base frame.
platform: {{xyz: [0, 0, {height:.5g}], mass: {payload:g}, radius: {platform_radius:g}}}

# Every leg is there three times, turned by 120 degrees about z.
symmetry: 3
leg_defaults:
  form: PUS                       # from the base on: a carriage, a universal joint, a ball joint
  axis: [0, 0, 1]                 # the carriages slide upwards
  carriage: {{mass: 1.5}}           # kg
  rod: {{length: {rod:g}, mass: {rod_mass:.3g}, radius: {thin:.3g}}}
  limits: {{position: [0, {travel:g}], effort: {effort:.2g}, velocity: 1}}   # m, N, m/s
  damping: 50                     # N s/m
  actuator: {{rotor_inertia: 3.0e-5, lead: 0.02}}
  home: 0                         # of the two places at which a rod reaches, the lower one
legs:
  # A pair of rails: where the rod begins at position 0 (base frame), and its end on the platform.
  - {{base: [{x:.5g}, {y:.5g}, 0], platform: [{p:.5g}, {q:.5g}, 0]}}
  - {{base: [{x:.5g}, {back:.5g}, 0], platform: [{p:.5g}, {under:.5g}, 0]}}
"""
)

FIVE_BAR = (
    HEAD
    + """
# The last bar of the right arm carries the tool: its frame is at the tool, turned by `rpy` when
# both motors are at 0; its centre of mass `com` in this frame.
platform:
  name: tip
  rpy: [0, 0, {turn:.6g}]
  mass: {bar:.3g}
  com: [{back:.5g}, 0, 0]
  radius: {radius:.3g}

leg_defaults:
  axis: [0, 0, 1]                 # of all joints, base frame
  limits: {{position: [-1.2, 1.2], effort: {effort:.2g}, velocity: 10}}   # rad, N m, rad/s
  armature: 2.0e-3                # of a motor behind its gear [kg m^2]
  damping: 0.02                   # N m s/rad
legs:
  # The motor's place and the way `to` the elbow at angle 0 (base frame); `platform` is in the frame
  # of the tool: where the right elbow is, and where the left rod ends.
  - form: RR
    name: right
    base: [{x:g}, 0, 0]
    arm: {{to: [{tx:.6g}, {ty:.6g}, 0], mass: {arm_mass:.3g}}}
    platform: [{elbow:g}, 0, 0]
  - form: RRR
    name: left
    base: [{minus:g}, 0, 0]
    arm: {{to: [{mx:.6g}, {ty:.6g}, 0], mass: {arm_mass:.3g}}}
    rod: {{mass: {bar:.3g}}}
    platform: [0, 0, 0]
"""
)
