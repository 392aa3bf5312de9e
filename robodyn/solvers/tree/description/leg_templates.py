# SPDX-License-Identifier: Apache-2.0

"""Templates of platforms on legs, from their main dimensions [m] and their payload [kg]."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from robodyn.errors import InvalidInput
from robodyn.parsing.template import Dimension, Template, cylinder_inertia, template_text

# Fields of a file, by name.
Numbers = dict[str, Any]

# Motor angle at home [rad], and its limits.
HOME, UP, DOWN = 0.35, -0.7, 1.4
# Inertia [kg m^2] of the motors' rotors, and their gear ratio.
ROTOR, RATIO = 1.2e-4, 33


def delta(
    base_radius: float, platform_radius: float, arm: float, rod: float, payload: float
) -> dict[str, Any]:
    """Return the template values for a delta robot.

    Lengths are in m, the payload is in kg. The result maps placeholder names to values.

    Raises:
        InvalidInput: the rods do not reach the platform.
    """
    widest = base_radius + arm - platform_radius
    if not rod > 1.05 * widest:
        raise InvalidInput(
            f"rod is {rod:g} m, too short: with the arms level the rods span {widest:.4g} m to the "
            f"platform; give rods of {1.3 * widest:.3g} m or more",
            value=rod,
        )
    away = base_radius + arm * math.cos(HOME) - platform_radius  # from elbow to platform, at home
    down = math.sqrt(rod**2 - away**2)
    arm_mass, rod_mass = 3.0 * arm, 0.16 * rod  # tubes of carbon fiber with their fittings
    radius, thin = 0.06 * arm, 0.009 * rod
    width = 0.15 * arm
    arm_axial, arm_cross = cylinder_inertia(arm_mass, radius, arm)
    rod_axial, rod_cross = cylinder_inertia(rod_mass, thin, rod)
    spin, tilt = cylinder_inertia(payload, platform_radius)
    # five times the torque at rest with level arms, and a fast start of the rotors
    weight = payload + 3.0 * arm_mass + 6.0 * rod_mass
    effort = float(f"{5.0 * 9.81 * arm * weight / 3.0 + 150.0 * ROTOR * RATIO**2:.2g}")
    chains, fields = "", {
        "up": UP, "down": DOWN, "effort": effort, "speed": 12, "arm": arm, "half_arm": 0.5 * arm,
        "arm_mass": arm_mass, "arm_axial": arm_axial, "arm_cross": arm_cross, "radius": radius,
        "rod": rod, "half_rod": 0.5 * rod, "rod_mass": rod_mass, "rod_axial": rod_axial,
        "rod_cross": rod_cross, "thin": thin, "pitch": math.atan2(down, -away) - HOME,
    }  # fmt: skip
    for i in range(3):
        angle = i * 2.0 * math.pi / 3.0
        c, s = math.cos(angle), math.sin(angle)
        place = {"i": i + 1, "degrees": 120 * i, "angle": angle}
        x, y = base_radius * c, base_radius * s
        chains += template_text("delta_arm.urdf").format(x=x, y=y, **place, **fields)
        for side, across in (("a", width), ("b", -width)):
            goal = {
                "goal_x": platform_radius * c - across * s,
                "goal_y": platform_radius * s + across * c,
            }
            chains += template_text("delta_rod.urdf").format(
                side=side, across=across, **goal, **place, **fields
            )
    return {
        "home": HOME, "rotor": ROTOR, "ratio": RATIO, "reflected": ROTOR * RATIO**2,
        "plate": 0.1 * base_radius, "height": -(arm * math.sin(HOME) + down), "tilt": tilt,
        "spin": spin, "radius": radius, "tool": -0.2 * arm, "chains": chains,
    }  # fmt: skip


DELTA = Template(
    "delta",
    (
        Dimension("base_radius", 0.2, "radius of the circle of the motors"),
        Dimension("platform_radius", 0.05, "radius of the circle of the rods' ends"),
        Dimension("arm", 0.3, "length of an arm, between its axes"),
        Dimension("rod", 0.7, "length of a rod, between its joints"),
        Dimension("payload", 0.7, "mass of the platform with all that it carries", "kg"),
    ),
    delta,
    (".urdf",),
)


def servo_hexapod(
    base_radius: float, platform_radius: float, arm: float, rod: float, payload: float
) -> Numbers:
    """Return the template values for a hexapod on six servos with cranks.

    Lengths are in m, the payload is in kg. The result maps placeholder names to values.

    Raises:
        InvalidInput: the rods do not reach.
    """
    turn, near = math.radians(15.0), math.radians(10.0)
    x, y = base_radius * math.cos(turn), base_radius * math.sin(turn)
    # cranks point away from each other, perpendicular to their axes
    c, s = math.cos(turn), math.sin(turn)
    goal = math.radians(60.0) - near
    p, q = platform_radius * math.cos(goal), platform_radius * math.sin(goal)
    away = math.hypot(x - arm * s - p, y + arm * c - q)
    return {
        "height": _above("rod", rod, away), "arm_mass": 0.5 * arm, "rod_mass": 0.15 * rod,
        "thin": 0.02 * rod, "effort": 8.0 * payload * 9.81 * arm, "x1": x, "y1": y, "y2": -y,
        "c": c, "s": s, "c2": -c, "tx1": -arm * s, "ty1": arm * c, "ty2": -arm * c, "p1": p,
        "q1": q, "q2": -q,
    }  # fmt: skip


def ball_balancer(
    base_radius: float, platform_radius: float, arm: float, rod: float, payload: float
) -> Numbers:
    """Return the template values for a ball-balancing plate on three servos (3-RRS).

    Lengths are in m, the payload is in kg. The result maps placeholder names to values.

    Raises:
        InvalidInput: the rods do not reach.
    """
    return {
        "height": _above("rod", rod, base_radius + arm - platform_radius), "arm_mass": 0.5 * arm,
        "rod_mass": 0.15 * rod, "thin": 0.02 * rod, "effort": 8.0 * payload * 9.81 * arm,
    }  # fmt: skip


def linear_delta(
    base_radius: float, platform_radius: float, rod: float, stroke: float, payload: float
) -> Numbers:
    """Return the template values for a delta robot on three vertical rails.

    Lengths are in m, the payload is in kg. The result maps placeholder names to values.

    Raises:
        InvalidInput: the rods do not reach.
    """
    down = _above("rod", rod, base_radius - platform_radius)
    return {
        "height": 0.6 * stroke - down, "rod_mass": 0.15 * rod, "thin": 0.012 * rod,
        "apart": 1.2 * platform_radius, "travel": stroke,
    }  # fmt: skip


def tripod(
    base_radius: float, platform_radius: float, height: float, stroke: float, payload: float
) -> Numbers:
    """Return the template values for a platform on three hinged actuators (3-RPS).

    Lengths are in m, the payload is in kg. The result maps placeholder names to values.

    Raises:
        InvalidInput: the legs are too short for the stroke.
    """
    length = math.hypot(base_radius - platform_radius, height)
    if not stroke < 0.9 * length:
        raise InvalidInput(
            f"stroke is {stroke:g} m, too much for legs of {length:.3g} m: an actuator is longer "
            f"than its stroke; give at most {0.8 * length:.2g} m",
            value=stroke,
        )
    effort = float(f"{5.0 * payload * 9.81 / 3.0:.2g}")
    return {
        "lower": 2.0 * length, "upper": 1.0 * length, "wide": 0.04 * length,
        "thin": 0.025 * length, "half": 0.5 * length, "shortest": length - 0.5 * stroke,
        "longest": length + 0.5 * stroke, "effort": effort, "coulomb": 0.04 * effort,
    }  # fmt: skip


def _rig(payload: float, height: float, stroke: float, motors: float) -> Numbers:
    """Return the template values for a motion rig on vertical actuators.

    The actuators have the length `height` [m] at home.

    Raises:
        InvalidInput: the actuators are too short for the stroke.
    """
    if not 0.0 < stroke < 0.9 * height:
        raise InvalidInput(
            f"stroke is {stroke:g} m, expected above 0 and below {0.9 * height:.3g} m: an actuator "
            f"of {height:g} m is longer than its stroke",
            value=stroke,
        )
    effort = float(f"{4.0 * payload * 9.81 / motors:.2g}")
    return {
        "lower": 3.0 * height, "upper": 1.5 * height, "wide": 0.06 * height, "thin": 0.04 * height,
        "half": 0.5 * height, "shortest": height - 0.5 * stroke, "longest": height + 0.5 * stroke,
        "effort": effort, "coulomb": 0.02 * effort, "speed": 0.4, "radius": 0.5,
    }  # fmt: skip


def _corners(length: float, width: float) -> Numbers:
    half, side = 0.5 * length, 0.5 * width
    return {"front": half, "rear": -half, "side": side, "other": -side}


def heave_pitch_roll(
    length: float, width: float, height: float, stroke: float, payload: float
) -> Numbers:
    """Return the template values for a rig on three vertical actuators and a guide.

    Lengths are in m, the payload is in kg. The result maps placeholder names to values.

    Raises:
        InvalidInput: the actuators are too short for the stroke.
    """
    return _rig(payload, height, stroke, 3.0) | _corners(length, width)


def four_corners(
    length: float, width: float, height: float, stroke: float, payload: float
) -> Numbers:
    """Return the template values for a chassis on four vertical actuators and a guide.

    Lengths are in m, the payload is in kg. The result maps placeholder names to values.

    Raises:
        InvalidInput: the actuators are too short for the stroke.
    """
    return _rig(payload, height, stroke, 4.0) | _corners(length, width)


def pitch_roll_seat(
    length: float, width: float, height: float, stroke: float, payload: float
) -> Numbers:
    """Return the template values for a seat on a post with two actuators behind it.

    `length` is the distance of the actuators from the post. Lengths are in m, the payload is in kg.
    The result maps placeholder names to values.

    Raises:
        InvalidInput: the actuators are too short for the stroke.
    """
    return _rig(payload, height, stroke, 2.0) | _corners(2.0 * length, width)


def traction_loss(length: float, height: float, stroke: float, payload: float) -> Numbers:
    """Return the template values for a rig with a front pivot and a rear cross actuator.

    Lengths are in m, the payload is in kg. The result maps placeholder names to values.

    Raises:
        InvalidInput: the stroke is zero.
    """
    away = 1.5 * stroke
    return _rig(payload, away, stroke, 2.0) | _corners(length, 0.0) | {"away": -away}


def seat_mover(height: float, stroke: float, payload: float) -> Numbers:
    """Return the template values for a seat on a driven slide.

    Lengths are in m, the payload is in kg. The result maps placeholder names to values.

    Raises:
        InvalidInput: the stroke is zero.
    """
    ends = {"shortest": -0.5 * stroke, "longest": 0.5 * stroke}
    return _rig(payload, 2.0 * stroke, stroke, 2.0) | ends


def rail_hexapod(
    base_radius: float, platform_radius: float, rod: float, stroke: float, payload: float
) -> Numbers:
    """Return the template values for a hexapod with rods on carriages on vertical rails.

    Lengths are in m, the payload is in kg. The result maps placeholder names to values.

    Raises:
        InvalidInput: the rods do not reach.
    """
    turn, goal = math.radians(15.0), math.radians(50.0)
    x, y = base_radius * math.cos(turn), base_radius * math.sin(turn)
    p, q = platform_radius * math.cos(goal), platform_radius * math.sin(goal)
    up = _above("rod", rod, math.hypot(x - p, y - q))
    return {
        "height": 0.5 * stroke + up, "rod_mass": 0.6 * rod, "thin": 0.02 * rod, "travel": stroke,
        "effort": 5.0 * payload * 9.81, "x": x, "y": y, "back": -y, "p": p, "q": q, "under": -q,
    }  # fmt: skip


def five_bar(base_radius: float, arm: float, rod: float, payload: float) -> Numbers:
    """Return the template values for a five-bar: two arms that carry one tool.

    Lengths are in m, the payload is in kg. The result maps placeholder names to values.

    Raises:
        InvalidInput: the rods do not meet.
    """
    lean = math.radians(20.0)
    tx, ty = arm * math.sin(lean), arm * math.cos(lean)
    up = _above("rod", rod, base_radius + tx)
    return {
        "turn": math.atan2(up, -(base_radius + tx)), "bar": payload, "back": -0.3 * rod,
        "radius": 0.3 * rod, "effort": 20.0 * payload * arm, "x": base_radius,
        "minus": -base_radius, "tx": tx, "mx": -tx, "ty": ty, "arm_mass": 1.5 * arm, "elbow": -rod,
    }  # fmt: skip


def _above(what: str, length: float, away: float) -> float:
    """Return the vertical extent [m] of a bar whose ends are `away` [m] apart horizontally."""
    if not length > 1.05 * abs(away):
        raise InvalidInput(
            f"{what} is {length:g} m, too short: its ends are {abs(away):.4g} m apart horizontally"
            f"; give {1.3 * abs(away):.3g} m or more",
            value=length,
        )
    return math.sqrt(length**2 - away**2)


_TEXTS = {
    "base_radius": "radius of the circle of the legs' first joints",
    "platform_radius": "radius of the circle of the legs' ends",
    "rod": "length of a rod, between its joints",
    "payload": "mass of the platform with all that it carries",
}


def _list_choices(
    numbers: Callable[..., Numbers], texts: dict[str, str], **defaults: float
) -> Template:
    dimensions = (
        Dimension(name, value, (_TEXTS | texts)[name], "kg" if name == "payload" else "m")
        for name, value in defaults.items()
    )
    return Template(numbers.__name__.replace("_", "-"), tuple(dimensions), numbers)


_RIG = {
    "length": "distance between front and rear actuators, or from the post or pivot to actuators",
    "width": "distance between left and right actuators",
    "height": "height of the moving body at home",
    "stroke": "travel of an actuator", "payload": "mass of the moving body and all that it carries",
}  # fmt: skip
_CARRIAGE = {"stroke": "travel of a carriage"}
TEMPLATES = (
    DELTA,
    _list_choices(
        servo_hexapod, {"arm": "length of a crank"},
        base_radius=0.14, platform_radius=0.1, arm=0.045, rod=0.19, payload=0.6,
    ),
    _list_choices(
        ball_balancer, {"arm": "length of a crank"},
        base_radius=0.06, platform_radius=0.1, arm=0.06, rod=0.09, payload=0.4,
    ),
    _list_choices(
        linear_delta, _CARRIAGE,
        base_radius=0.18, platform_radius=0.04, rod=0.25, stroke=0.5, payload=0.3,
    ),
    _list_choices(
        tripod, {"height": "height of the platform at home", "stroke": "travel of an actuator"},
        base_radius=0.25, platform_radius=0.15, height=0.5, stroke=0.2, payload=10.0,
    ),
    _list_choices(
        heave_pitch_roll, _RIG, length=1.0, width=0.6, height=0.4, stroke=0.15, payload=130.0,
    ),
    _list_choices(
        four_corners, _RIG, length=1.1, width=0.6, height=0.4, stroke=0.1, payload=150.0,
    ),
    _list_choices(
        pitch_roll_seat, _RIG, length=0.3, width=0.4, height=0.35, stroke=0.1, payload=110.0,
    ),
    _list_choices(traction_loss, _RIG, length=1.6, height=0.3, stroke=0.3, payload=160.0),
    _list_choices(seat_mover, _RIG, height=0.3, stroke=0.3, payload=100.0),
    _list_choices(
        rail_hexapod, _CARRIAGE,
        base_radius=0.4, platform_radius=0.15, rod=0.5, stroke=0.4, payload=10.0,
    ),
    _list_choices(
        five_bar,
        {
            "base_radius": "half the distance between the motors",
            "arm": "length of an arm, between its axes",
            "rod": "length of a far bar, between its joints",
            "payload": "mass of a far bar with the tool",
        },
        base_radius=0.1, arm=0.2, rod=0.3, payload=0.3,
    ),
)  # fmt: skip
