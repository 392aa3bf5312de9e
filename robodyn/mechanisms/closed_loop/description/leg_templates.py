# SPDX-License-Identifier: Apache-2.0

"""Commented platforms on legs to start from, each one YAML file made of main dimensions."""

from __future__ import annotations

import inspect
import math
from typing import TYPE_CHECKING

from robodyn.checks import as_scalar
from robodyn.errors import InvalidInput
from robodyn.mechanisms.closed_loop.description import leg_texts as texts
from robodyn.mechanisms.closed_loop.description.template import TEMPLATE as DELTA
from robodyn.mechanisms.common.template import Dimension, Template

if TYPE_CHECKING:
    from collections.abc import Callable


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
    return texts.SERVO_HEXAPOD.format(
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
    return texts.LINEAR_DELTA.format(
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
    return texts.TRIPOD.format(
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
    return texts.RAIL_HEXAPOD.format(
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
    return texts.FIVE_BAR.format(
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


def _offered(write: Callable[..., str], **told: str) -> Template:
    """A template of a function; its dimensions have the defaults of its parameters."""
    known = inspect.signature(write).parameters
    return Template(
        write.__name__.replace("_", "-"),
        write,
        tuple(
            Dimension(name, known[name].default, "kg" if name == "payload" else "m", text)
            for name, text in told.items()
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
