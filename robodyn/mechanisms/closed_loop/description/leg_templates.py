# SPDX-License-Identifier: Apache-2.0

"""Commented platforms on legs to start from, each one YAML file made of main dimensions."""

from __future__ import annotations

import inspect
import math
from typing import TYPE_CHECKING

from robodyn.checks import as_scalar
from robodyn.errors import InvalidInput
from robodyn.mechanisms.closed_loop.description.template import TEMPLATE as DELTA
from robodyn.mechanisms.common.template import Dimension, Template

if TYPE_CHECKING:
    from collections.abc import Callable

_HEAD = """\
# {title}, as a starting point: replace every number by that of your
# machine. SI units and radians. `robodyn check {file}` shows how it was read.
type: closed_loop
name: {name}
gravity: [0, 0, -9.81]            # m/s^2, base frame, z up
"""

_SERVO_HEXAPOD = (
    _HEAD
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

_LINEAR_DELTA = (
    _HEAD
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

_TRIPOD = (
    _HEAD
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

_RAIL_HEXAPOD = (
    _HEAD
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

_FIVE_BAR = (
    _HEAD
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


def _positive(unit: dict[str, str], **values: float) -> None:
    for name, value in values.items():
        as_scalar(name, value, unit.get(name, "m"), above=0.0)


def servo_hexapod(
    name: str = "my_servo-hexapod",
    *,
    base_radius: float = 0.14,
    platform_radius: float = 0.1,
    arm: float = 0.045,
    rod: float = 0.19,
    payload: float = 0.6,
    file: str = "my_servo-hexapod.yaml",
) -> str:
    """Commented YAML text of a hexapod on six servos.

    Raises:
        InvalidInput: a dimension that is not positive, or rods that do not reach.
    """
    _positive({"payload": "kg"}, base_radius=base_radius, platform_radius=platform_radius, arm=arm,
              rod=rod, payload=payload)  # fmt: skip
    turn, near = math.radians(15.0), math.radians(10.0)
    x, y = base_radius * math.cos(turn), base_radius * math.sin(turn)
    # cranks point away from each other, at right angles to their axes
    c, s = math.cos(turn), math.sin(turn)
    goal = math.radians(60.0) - near
    p, q = platform_radius * math.cos(goal), platform_radius * math.sin(goal)
    away = math.hypot(x - arm * s - p, y + arm * c - q)
    height = _above("rod", rod, away)
    return _SERVO_HEXAPOD.format(
        title="A hexapod on six servos with cranks", file=file, name=name, height=height,
        payload=payload, platform_radius=platform_radius, rod=rod, arm_mass=0.5 * arm,
        rod_mass=0.15 * rod, thin=0.02 * rod, effort=8.0 * payload * 9.81 * arm,
        x1=x, y1=y, y2=-y, c=c, s=s, c2=-c, tx1=-arm * s, ty1=arm * c, ty2=-arm * c,
        p1=p, q1=q, q2=-q,
    )  # fmt: skip


def linear_delta(
    name: str = "my_linear-delta",
    *,
    base_radius: float = 0.18,
    platform_radius: float = 0.04,
    rod: float = 0.25,
    stroke: float = 0.5,
    payload: float = 0.3,
    file: str = "my_linear-delta.yaml",
) -> str:
    """Commented YAML text of a delta on three vertical rails.

    Raises:
        InvalidInput: a dimension that is not positive, or rods that do not reach.
    """
    _positive({"payload": "kg"}, base_radius=base_radius, platform_radius=platform_radius, rod=rod,
              stroke=stroke, payload=payload)  # fmt: skip
    down = _above("rod", rod, base_radius - platform_radius)
    return _LINEAR_DELTA.format(
        title="A delta on three vertical rails", file=file, name=name,
        height=0.6 * stroke - down, payload=payload, platform_radius=platform_radius, rod=rod,
        rod_mass=0.15 * rod, thin=0.012 * rod, apart=1.2 * platform_radius, travel=stroke,
        base_radius=base_radius,
    )  # fmt: skip


def tripod(
    name: str = "my_tripod",
    *,
    base_radius: float = 0.25,
    platform_radius: float = 0.15,
    height: float = 0.5,
    stroke: float = 0.2,
    payload: float = 10.0,
    file: str = "my_tripod.yaml",
) -> str:
    """Commented YAML text of a platform on three actuators with hinges (3-RPS).

    Raises:
        InvalidInput: a dimension that is not positive, or a stroke that the legs are too short for.
    """
    _positive({"payload": "kg"}, base_radius=base_radius, platform_radius=platform_radius,
              height=height, stroke=stroke, payload=payload)  # fmt: skip
    length = math.hypot(base_radius - platform_radius, height)
    if not stroke < 0.9 * length:
        raise InvalidInput(
            f"stroke is {stroke:g} m, too much for legs of {length:.3g} m: an actuator is longer "
            f"than its stroke; give at most {0.8 * length:.2g} m",
            value=stroke,
        )
    effort = float(f"{5.0 * payload * 9.81 / 3.0:.2g}")
    return _TRIPOD.format(
        title="A tripod of three actuators (3-RPS)", file=file, name=name, height=height,
        payload=payload, platform_radius=platform_radius, base_radius=base_radius,
        lower=2.0 * length, upper=1.0 * length, wide=0.04 * length, thin=0.025 * length,
        half=0.5 * length, shortest=length - 0.5 * stroke, longest=length + 0.5 * stroke,
        effort=effort, coulomb=0.04 * effort,
    )  # fmt: skip


def rail_hexapod(
    name: str = "my_rail-hexapod",
    *,
    base_radius: float = 0.4,
    platform_radius: float = 0.15,
    rod: float = 0.5,
    stroke: float = 0.4,
    payload: float = 10.0,
    file: str = "my_rail-hexapod.yaml",
) -> str:
    """Commented YAML text of a hexapod whose six rods stand on carriages on vertical rails.

    Raises:
        InvalidInput: a dimension that is not positive, or rods that do not reach.
    """
    _positive({"payload": "kg"}, base_radius=base_radius, platform_radius=platform_radius, rod=rod,
              stroke=stroke, payload=payload)  # fmt: skip
    turn, goal = math.radians(15.0), math.radians(50.0)
    x, y = base_radius * math.cos(turn), base_radius * math.sin(turn)
    p, q = platform_radius * math.cos(goal), platform_radius * math.sin(goal)
    up = _above("rod", rod, math.hypot(x - p, y - q))
    return _RAIL_HEXAPOD.format(
        title="A hexapod on six vertical rails", file=file, name=name, height=0.5 * stroke + up,
        payload=payload, platform_radius=platform_radius, rod=rod, rod_mass=0.6 * rod,
        thin=0.02 * rod, travel=stroke, effort=5.0 * payload * 9.81, x=x, y=y, back=-y, p=p, q=q,
        under=-q,
    )  # fmt: skip


def five_bar(
    name: str = "my_five-bar",
    *,
    base_radius: float = 0.1,
    arm: float = 0.2,
    rod: float = 0.3,
    payload: float = 0.3,
    file: str = "my_five-bar.yaml",
) -> str:
    """Commented YAML text of a five-bar, two arms that carry one tool.

    Raises:
        InvalidInput: a dimension that is not positive, or rods that do not meet.
    """
    _positive({"payload": "kg"}, base_radius=base_radius, arm=arm, rod=rod, payload=payload)
    lean = math.radians(20.0)
    tx, ty = arm * math.sin(lean), arm * math.cos(lean)
    up = _above("rod", rod, base_radius + tx)
    return _FIVE_BAR.format(
        title="A five-bar: two arms that carry one tool in a level plane", file=file, name=name,
        turn=math.atan2(up, -(base_radius + tx)), bar=payload, back=-0.3 * rod, radius=0.3 * rod,
        effort=20.0 * payload * arm, x=base_radius, minus=-base_radius, tx=tx, mx=-tx, ty=ty,
        arm_mass=1.5 * arm, elbow=-rod,
    )  # fmt: skip


def _above(what: str, length: float, away: float) -> float:
    """How far [m] a bar reaches up when its ends are this far apart on the level."""
    if not length > 1.05 * abs(away):
        raise InvalidInput(
            f"{what} is {length:g} m, too short: its ends are {abs(away):.4g} m apart on the level "
            f"alone; give {1.3 * abs(away):.3g} m or more",
            value=length,
        )
    return math.sqrt(length**2 - away**2)


def _offered(write: Callable[..., str], **texts: str) -> Template:
    """A template of a function; its dimensions have the defaults of its parameters."""
    known = inspect.signature(write).parameters
    return Template(
        write.__name__.replace("_", "-"),
        write,
        tuple(
            Dimension(name, known[name].default, "kg" if name == "payload" else "m", text)
            for name, text in texts.items()
        ),
    )


_CIRCLES = {
    "base_radius": "radius of the circle of the legs' first joints",
    "platform_radius": "radius of the circle of the legs' ends",
}
_ROD = {"rod": "length of a rod, between its joints"}
_PAYLOAD = {"payload": "mass of the platform with all that it carries"}
TEMPLATES = (
    DELTA,
    _offered(servo_hexapod, **_CIRCLES, arm="length of a crank", **_ROD, **_PAYLOAD),
    _offered(linear_delta, **_CIRCLES, **_ROD, stroke="travel of a carriage", **_PAYLOAD),
    _offered(
        tripod, **_CIRCLES, height="of the platform at home", stroke="travel of an actuator",
        **_PAYLOAD,
    ),
    _offered(rail_hexapod, **_CIRCLES, **_ROD, stroke="travel of a carriage", **_PAYLOAD),
    _offered(
        five_bar,
        base_radius="half the distance of the motors",
        arm="length of an arm, between its axes",
        rod="length of a far bar, between its joints",
        payload="mass of a far bar with the tool",
    ),
)  # fmt: skip
