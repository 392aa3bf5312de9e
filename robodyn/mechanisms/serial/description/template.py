# SPDX-License-Identifier: Apache-2.0

"""A commented model file of a six-joint arm to start from."""

from __future__ import annotations

from robodyn.mechanisms.common.template import Template

_TEXT = """\
# A serial arm by Denavit-Hartenberg parameters, as a starting point: replace every number by that
# of your machine. SI units and radians. `robodyn check {file}` shows how it was read.
# (An arm that has a URDF needs no such file: robodyn loads the URDF.)
type: serial
name: {name}
gravity: [0, 0, -9.81]              # m/s^2, base frame, z up

# standard_dh: T = Rz(theta) Tz(d) Tx(a) Rx(alpha), frame i at the far end of link i;
# modified_dh: T = Rx(alpha) Tx(a) Rz(theta) Tz(d), frame i at the near end (Craig).
convention: standard_dh
base_link: base_link                # names of the frames
tip_link: tool0
home: [0, 0.8, -1.2, 0, 0.6, 0]     # where simulations and plans start, one position per joint

# One entry per joint, from the base. For a revolute joint theta is the variable and d is stated,
# for a prismatic one the other way round; `offset` is added to the variable. Mass [kg];
# centre of mass [m] and inertia about it [kg m^2] in the link's own frame.
# Optional: armature, the motor's inertia times the gear ratio squared [kg m^2]; damping, viscous
# friction [N m s/rad]; friction, Coulomb friction [N m], one number or [forward, backward]. In
# place of armature and friction `actuator` gives both as a data sheet does:
# actuator: {{rotor_inertia: 3.0e-5, gear_ratio: 100, coulomb: 0.5}}   # kg m^2, N m at the joint
links:
  - name: shoulder_pan
    joint: revolute
    d: 0.15
    a: 0
    alpha: 1.5707963267948966
    mass: 4.0
    com: [0, -0.02, 0]
    inertia: [[0.012, 0, 0], [0, 0.010, 0], [0, 0, 0.012]]
    armature: 0.3
    damping: 1.0
    friction: 0.5
    limits: {{position: [-3.1, 3.1], velocity: 2.5, effort: 120}}   # rad, rad/s, N m
  - name: shoulder_lift
    joint: revolute
    d: 0
    a: 0.40
    alpha: 0
    mass: 6.0
    com: [-0.20, 0, 0.05]
    inertia: [[0.02, 0, 0], [0, 0.10, 0], [0, 0, 0.10]]
    armature: 0.3
    damping: 1.0
    friction: 0.5
    limits: {{position: [-3.1, 3.1], velocity: 2.5, effort: 120}}
  - name: elbow
    joint: revolute
    d: 0
    a: 0.35
    alpha: 0
    mass: 3.0
    com: [-0.18, 0, 0.02]
    inertia: [[0.008, 0, 0], [0, 0.04, 0], [0, 0, 0.04]]
    armature: 0.15
    damping: 0.5
    friction: 0.3
    limits: {{position: [-2.8, 2.8], velocity: 3.0, effort: 80}}
  - name: wrist_1
    joint: revolute
    d: 0.11
    a: 0
    alpha: 1.5707963267948966
    mass: 1.2
    com: [0, 0, 0]
    inertia: [[0.002, 0, 0], [0, 0.002, 0], [0, 0, 0.002]]
    armature: 0.05
    damping: 0.1
    friction: 0.1
    limits: {{position: [-3.1, 3.1], velocity: 3.0, effort: 25}}
  - name: wrist_2
    joint: revolute
    d: 0.09
    a: 0
    alpha: -1.5707963267948966
    mass: 1.2
    com: [0, 0, 0]
    inertia: [[0.002, 0, 0], [0, 0.002, 0], [0, 0, 0.002]]
    armature: 0.05
    damping: 0.1
    friction: 0.1
    limits: {{position: [-3.1, 3.1], velocity: 3.0, effort: 25}}
  - name: wrist_3
    joint: revolute
    d: 0.08
    a: 0
    alpha: 0
    mass: 0.4
    com: [0, 0, -0.02]
    inertia: [[0.0004, 0, 0], [0, 0.0004, 0], [0, 0, 0.0004]]
    armature: 0.03
    damping: 0.1
    friction: 0.1
    limits: {{position: [-6.2, 6.2], velocity: 3.0, effort: 25}}
"""


def arm_template(name: str = "my_arm", *, file: str = "my_arm.yaml") -> str:
    """Commented YAML text of a small six-joint arm; `load` reads it unchanged."""
    return _TEXT.format(name=name, file=file)


TEMPLATE = Template("arm", arm_template)
