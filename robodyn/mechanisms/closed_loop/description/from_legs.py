# SPDX-License-Identifier: Apache-2.0

"""A platform on legs from a few lines of YAML: short forms that expand to a URDF with closures.

```yaml
type: closed_loop
platform: {xyz: [0, 0, 0.19], mass: 0.6, radius: 0.1}     # at home, base frame
leg_defaults: {form: RUS, rod: {length: 0.19, mass: 0.03}}
symmetry: 3                                               # each leg thrice, about z of the base
legs:
  - {base: [...], axis: [...], arm: {to: [...], mass: 0.02}, platform: [...]}
```

A form names a leg's joints from the base on: R revolute, P prismatic, U universal, S spherical. In
the middle, P is driven and the leg's length: UPS, SPS, RPS. Else the first joint is: an R with an
arm, RUS, RSS, RRR, or a P on which a carriage slides, PUS, PSS; a rod leads on to the platform.
RR is an arm whose far end carries the platform.

A bar is a cylinder of `mass` and `radius`, a thin rod without the latter, or has `com` and
`inertia` in a frame with x along it from the base on, y along the leg's axis cross x, its origin
where it begins, of a leg's upper part at the platform.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np

from robodyn.actuators.actuator import IDEAL
from robodyn.actuators.description import actuator_from_fields, params_of
from robodyn.arrays import FloatArray
from robodyn.formats import urdf_shapes as draw
from robodyn.formats.documents import Fields
from robodyn.formats.urdf_shapes import element, frame_of
from robodyn.mechanisms.closed_loop.description.leg_parts import (
    Parts,
    bar,
    direction,
    drive,
    end,
    follow,
    passive_joint,
)
from robodyn.mechanisms.common import urdf_writer as write
from robodyn.mechanisms.common.model_file import stated_in
from robodyn.model.body import Body
from robodyn.poses import axis_motion

FORMS = re.compile(r"[USR]P[SR]|R[USR][SR]|P[US]S|RR")
EXAMPLES = "one such as UPS, SPS, RPS, RPR, RUS, RSS, RRR, PUS, PSS or RR"
_PLATFORM = ("name", "xyz", "rpy", "mass", "com", "inertia", "radius", "tool")
_LEG = ("form", "name", "base", "platform", "axis", "home", "arm", "rod", "carriage", "lower",
        "upper", "limits", "damping", "friction", "armature", "passive_damping",
        "actuator")  # fmt: skip
BASE, TOOL = "base_link", "tool0"


def legs_urdf(top: Fields) -> str:
    """URDF text of a document with `platform` and `legs`.

    Raises:
        ModelError: a field that is missing, unknown or wrong, or a rod that does not reach.
    """
    plate = top.child("platform")
    plate.only(*_PLATFORM)
    legs = _legs(top)
    place = frame_of(rpy=plate.array("rpy", (3,), "rad", [0.0] * 3))
    carrying = [leg for leg in legs if leg.text("form") == "RR"]
    if len(carrying) > 1:
        raise carrying[1].refuse("form", "RR", "one leg of that form, as it carries the platform")
    if carrying:
        leg = carrying[0]
        elbow = leg.array("base", (3,), "m") + leg.child("arm").array("to", (3,), "m")
        place[:3, 3] = elbow - place[:3, :3] @ leg.array("platform", (3,), "m")
    else:
        place[:3, 3] = plate.array("xyz", (3,), "m")
    robot = element(None, "robot", name=top.text("name", default="legs"))
    draw.materials(robot)
    element(robot, "link", name=BASE)
    parts = Parts(robot, plate.text("name", default="platform"), place[:3, :3], place[:3, 3])
    points = np.array([leg.array("base", (3,), "m") for leg in legs])
    parts.size = max(float(np.ptp(points, axis=0).max()), 1e-3)
    ends = [leg.array("platform", (3,), "m") for leg in legs]
    draw.ring(robot[-1], points, 0.02 * parts.size, "frame")
    for leg in legs:
        _leg(parts, leg)
    link = element(robot, "link", name=parts.name)
    body = _platform_body(plate)
    draw.inertial(link, body.mass, body.com, body.inertia)
    draw.ring(link, ends, 0.02 * parts.size, "platform")
    if not carrying:
        draw.write_joint(robot, "platform_joint", "floating", BASE, parts.name, place)
    if "tool" in plate:
        at = frame_of(plate.array("tool", (3,), "m"))
        draw.write_joint(robot, "tool_joint", "fixed", parts.name, TOOL, at)
        element(robot, "link", name=TOOL)
    draw.write_params(robot, parts.params)
    tip = TOOL if "tool" in plate else parts.name
    write.write_settings(robot, tip_link=tip, actuated_joints=parts.driven)
    return write.document_text(robot)


def _legs(top: Fields) -> list[Fields]:
    """The legs with their defaults, each as often as the symmetry has it, turned about z."""
    defaults = dict(top.get("leg_defaults", "a mapping of fields", {}))
    count = top.number("symmetry", default=1, at_least=1)
    if count != int(count):
        raise top.refuse("symmetry", count, "a whole number, how often each leg is there")
    out: list[Fields] = []
    names: set[str] = set()
    for copy in range(int(count)):
        for given in top.children("legs"):
            given.only(*_LEG)
            own = given.over(defaults)
            own.only(*_LEG)
            form = own.text("form")
            if not FORMS.fullmatch(form):
                raise own.refuse("form", form, EXAMPLES)
            turned = _turned(own, 2.0 * np.pi * copy / count)
            name = own.text("name", default="leg")
            if count > 1 or "name" not in own:
                name += str(len(out) + 1)
            if name in names:
                raise own.refuse("name", name, "a name that no other leg has")
            names.add(name)
            out.append(Fields({**own.data, **turned, "name": name}, own.source, own.path))
    return out


def _turned(leg: Fields, angle: float) -> dict[str, Any]:
    """Points and directions of a leg, turned about z."""
    R = axis_motion("revolute", np.array([0.0, 0.0, 1.0]), angle)[:3, :3]
    out: dict[str, Any] = {}
    for key in ("base", "platform", "axis"):
        if key in leg:
            out[key] = (R @ leg.array(key, (3,))).tolist()
    for key, inner in (("arm", "to"), ("rod", "apart")):
        if key in leg and inner in leg.child(key):
            turned = (R @ leg.child(key).array(inner, (3,))).tolist()
            out[key] = {**leg.child(key).data, inner: turned}
    return out


def _platform_body(plate: Fields) -> Body:
    mass = plate.number("mass", "kg", at_least=0.0)
    com = plate.array("com", (3,), "m", [0.0] * 3)
    if "inertia" in plate:
        return Body(mass, com, plate.array("inertia", (3, 3), "kg m^2"))
    radius = plate.number("radius", "m", above=0.0)  # of a disc
    return Body(mass, com, mass * radius**2 * np.diag([0.25, 0.25, 0.5]))


def _leg(parts: Parts, leg: Fields) -> None:
    form, name = leg.text("form"), leg.text("name")
    parts.driven.append(name)
    actuator = actuator_from_fields(leg.child("actuator")) if "actuator" in leg else IDEAL
    limits = leg.child("limits", {})
    if isinstance(limits.data.get("effort"), list):  # a cable's are of one sign
        least, largest = limits.array("effort", (2,), "N or N m").tolist()
        with stated_in(limits, "effort"):
            actuator = replace(actuator, least_effort=least, largest_effort=largest)
    parts.params[name] = params_of(actuator)
    start = leg.array("base", (3,), "m")
    goal = parts.origin + parts.rotation @ leg.array("platform", (3,), "m")
    if form[1] == "P":
        _telescope(parts, leg, start, goal)
    elif form[0] == "R":
        _arm(parts, leg, start, goal)
    else:
        _rail(parts, leg, start, goal)


def _telescope(parts: Parts, leg: Fields, start: FloatArray, goal: FloatArray) -> None:
    """A leg of variable length; the driven joint's position is the length between its ends."""
    name, form = leg.text("name"), leg.text("form")
    length = float(np.linalg.norm(goal - start))
    if not length > 0.0:
        raise leg.refuse("platform", goal.tolist(), "a point away from the leg's base at home")
    along = (goal - start) / length
    lower = bar(parts, f"{name}_lower", leg, "lower", 0.5 * (goal - start))
    passive_joint(parts, leg, form[0], (BASE, lower, start), along)
    upper = bar(parts, f"{name}_upper", leg, "upper", 0.5 * (start - goal))
    drive(parts, leg, "prismatic", (lower, upper, np.zeros(3)), along, length)
    end(parts, leg, form[-1], upper, np.zeros(3))


def _arm(parts: Parts, leg: Fields, start: FloatArray, goal: FloatArray) -> None:
    """A driven arm and a rod, or the platform at its end."""
    name, form, axis = leg.text("name"), leg.text("form"), direction(leg)
    arm = leg.child("arm")
    reach = arm.array("to", (3,), "m")
    if not reach.any():
        raise arm.refuse("to", reach.tolist(), "the way from the axis to the end at zero, not zero")
    link = bar(parts, f"{name}_arm", leg, "arm", reach)
    carries = form == "RR"
    home = leg.number("home", "rad", default=0.0)
    if not carries:
        home = _angle(leg, goal - start, reach, axis)
    drive(parts, leg, "revolute", (BASE, link, start), axis, home)
    if carries:
        elbow = f"{name}_elbow"
        element(parts.robot, "link", name=elbow)
        follow(parts, leg, f"{name}_2", (link, elbow, reach), axis)
        place = np.eye(4)
        place[:3, :3] = parts.rotation
        place[:3, 3] = -parts.rotation @ leg.array("platform", (3,), "m")
        draw.write_joint(parts.robot, f"{name}_end", "fixed", elbow, parts.name, place)
        return
    turn = axis_motion("revolute", axis, home)[:3, :3]
    _rods(parts, leg, link, reach, turn.T @ (goal - start - turn @ reach), turn)


def _rail(parts: Parts, leg: Fields, start: FloatArray, goal: FloatArray) -> None:
    """A driven carriage and a rod."""
    name, axis = leg.text("name"), direction(leg)
    link = f"{name}_carriage"
    made = element(parts.robot, "link", name=link)
    carriage = leg.child("carriage", {})
    carriage.only("mass")
    mass = carriage.number("mass", "kg", default=0.0, at_least=0.0)
    draw.inertial(made, mass)
    draw.ball(made, np.zeros(3), 0.03 * parts.size, "joint")
    home = _travel(leg, goal - start, axis)
    drive(parts, leg, "prismatic", (BASE, link, start), axis, home)
    _rods(parts, leg, link, np.zeros(3), goal - start - home * axis, np.eye(3))


def _rods(
    parts: Parts, leg: Fields, link: str, at: FloatArray, way: FloatArray, turn: FloatArray
) -> None:
    """One rod from a point of the driven link to the platform, or two that are parallel.

    `way` is the vector to the platform at home, in the link's frame, which is then turned.
    """
    rod, name, form = leg.child("rod"), leg.text("name"), leg.text("form")
    if not way.any():
        raise leg.refuse("platform", leg.get("platform", ""), "a point away from the rod's begin")
    apart = rod.array("apart", (3,), "m", [0.0] * 3)
    sides = [("", 0.0)] if not apart.any() else [("a", 0.5), ("b", -0.5)]
    for suffix, side in sides:
        made = bar(parts, f"{name}_rod{suffix}", leg, "rod", way)
        passive_joint(parts, leg, form[1], (link, made, at + side * apart), way, suffix)
        shift = side * parts.rotation.T @ turn @ apart
        end(parts, leg, form[-1], made, way, suffix, shift)


def _angle(leg: Fields, way: FloatArray, reach: FloatArray, axis: FloatArray) -> float:
    """The arm's angle [rad] at which its rod reaches the platform: the one nearest to `home`."""
    near = leg.number("home", "rad", default=0.0)
    rod = leg.child("rod")
    if "length" not in rod:
        return near
    length, along = rod.number("length", "m", above=0.0), float(reach @ axis)
    across = reach - along * axis
    c, s = float(way @ across), float(way @ np.cross(axis, across))
    wanted = 0.5 * (way @ way + reach @ reach - length**2) - float(way @ axis) * along
    if not abs(wanted) <= np.hypot(c, s):
        raise _too_far(leg, length, way - reach)
    middle, half = float(np.arctan2(s, c)), float(np.arccos(wanted / np.hypot(c, s)))
    found = [middle + half, middle - half]
    turned = [near + (angle - near + np.pi) % (2.0 * np.pi) - np.pi for angle in found]
    return min(turned, key=lambda angle: abs(angle - near))


def _travel(leg: Fields, way: FloatArray, axis: FloatArray) -> float:
    """Where the carriage is [m] when its rod reaches the platform: the place nearest to `home`."""
    near = leg.number("home", "m", default=0.0)
    rod = leg.child("rod")
    if "length" not in rod:
        return near
    length, along = rod.number("length", "m", above=0.0), float(way @ axis)
    square = length**2 - float(way @ way) + along**2
    if not square >= 0.0:
        raise _too_far(leg, length, way)
    found = [along + np.sqrt(square), along - np.sqrt(square)]
    return float(min(found, key=lambda place: abs(place - near)))


def _too_far(leg: Fields, length: float, way: FloatArray) -> Exception:
    away = float(np.linalg.norm(way))
    return leg.child("rod").refuse(
        "length", length, f"one that reaches the platform at home, which is {away:.4g} m away from "
        "where the rod begins at zero",
    )  # fmt: skip
