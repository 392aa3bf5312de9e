# SPDX-License-Identifier: Apache-2.0

"""Platforms on legs from a few lines of YAML: short forms that expand to a tree with closures.

```yaml
type: closed_loop
platform: {xyz: [0, 0, 0.19], mass: 0.6, radius: 0.1}     # at home, base frame
leg_defaults: {form: RUS, rod: {length: 0.19, mass: 0.03}}
symmetry: 3                                               # each leg thrice, about z of the base
legs:
  - {base: [...], axis: [...], arm: {to: [...], mass: 0.02}, platform: [...]}
```

A form names a leg's joints from the base on: R revolute, P prismatic, U universal, S spherical. A P
in the middle is driven, and its position is the leg's length: UPS, SPS, RPS. Otherwise the first
joint is driven: an R with an arm, RUS, RSS, RRR, or a P with a carriage, PUS, PSS; a rod connects
it to the platform. RR is an arm whose far end carries the platform.

A leg with `driven: false` only supports and guides the platform. It has one of the forms above,
or its last joint carries the platform: U, S, R, P, UP, RPU, PU ... Such a center leg may also be
driven if its form contains a P, or is R. At most one leg carries the platform.

A bar is a cylinder of `mass` and `radius`, a thin rod without a radius, or has `com` and
`inertia` in a frame with x along it from the base on, y along the leg's axis cross x, and its
origin at its start, or at the platform for a leg's upper part.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.formats.documents import Fields
from robodyn.formats.xml_elements import frame_of
from robodyn.model.body import Body, Link
from robodyn.model.builder import Drives, ModelBuilder
from robodyn.model.geometry import ball, bare, ring
from robodyn.model.joint import Joint
from robodyn.model.placement import Placement
from robodyn.poses import axis_motion
from robodyn.solvers.tree.description.leg_parts import LegParts, Parts

FORMS = re.compile(r"[USR]P[SR]|R[USR][SR]|P[US]S|RR")
# A center leg, whose last joint carries the platform.
CARRIERS = re.compile(r"[USR]|[USR]?P|[USR]?PU|P[SR]")
MOST_LEGS = 100
EXAMPLES = (
    "a form such as UPS, SPS, RPS, RPR, RUS, RSS, RRR, PUS, PSS or RR, or for a center leg U, S, "
    "UP, PU, RPU"
)
_PLATFORM = ("name", "xyz", "rpy", "mass", "com", "inertia", "radius", "tool")
_LEG = ("form", "driven", "name", "base", "platform", "axis", "home", "arm", "rod", "carriage",
        "lower", "upper", "limits", "damping", "friction", "armature", "passive_damping",
        "actuator")  # fmt: skip
BASE, TOOL = "base_link", "tool0"


def legs_builder(top: Fields) -> ModelBuilder:
    """Create the model builder of a YAML document with `platform` and `legs`.

    Raises:
        ModelError: a field is missing, unknown or wrong, or a rod does not reach.
    """
    plate = top.child("platform")
    plate.only(*_PLATFORM)
    legs = _legs(top)
    place = frame_of(rpy=plate.array("rpy", (3,), "rad", [0.0] * 3))
    carrying = [leg for leg in legs if _carries(leg.text("form"))]
    if len(carrying) > 1:
        form = carrying[1].text("form")
        raise carrying[1].refuse("form", form, "only one leg that carries the platform")
    if carrying and carrying[0].text("form") == "RR":
        leg = carrying[0]
        elbow = leg.array("base", (3,), "m") + leg.child("arm").array("to", (3,), "m")
        place[:3, 3] = elbow - place[:3, :3] @ leg.array("platform", (3,), "m")
    else:
        place[:3, 3] = plate.array("xyz", (3,), "m")
    builder = ModelBuilder(top.text("name", default="legs"), top.source)
    parts = Parts(builder, plate.text("name", default="platform"), place[:3, :3], place[:3, 3])
    points = np.array([leg.array("base", (3,), "m") for leg in legs])
    parts.size = max(float(np.ptp(points, axis=0).max()), 1e-3)
    ends = [leg.array("platform", (3,), "m") for leg in legs]
    frame = ring(points, 0.02 * parts.size, "frame")
    builder.add(Link(BASE, visuals=frame, collisions=bare(frame)))
    with builder.error_source():
        for leg in legs:
            _leg(LegParts(parts, leg))
        body, rim = _platform_body(plate), ring(ends, 0.02 * parts.size, "platform")
        parts.add_link(parts.name, body, rim)
        if not carrying:
            at = Placement.of(place)
            builder.add(Joint("platform_joint", "floating", BASE, parts.name, at))
        if "tool" in plate:
            seat = Placement(translation=plate.array("tool", (3,), "m"))
            builder.add(Joint("tool_joint", "fixed", parts.name, TOOL, seat), Link(TOOL))
        builder.check_tree()
    builder.tip_link = TOOL if "tool" in plate else parts.name
    builder.drives = Drives.of(parts.driven)
    return builder


def _legs(top: Fields) -> list[Fields]:
    """Return the YAML fields of all legs, with defaults and symmetric copies."""
    defaults = top.child("leg_defaults", {}).data
    count = top.number("symmetry", default=1, at_least=1)
    given_legs = top.children("legs")
    if count != int(count) or count * len(given_legs) > MOST_LEGS:
        expected = f"the number of copies of each leg, with at most {MOST_LEGS} legs in total"
        raise top.refuse("symmetry", count, expected)
    out: list[Fields] = []
    names: set[str] = set()
    for copy in range(int(count)):
        for given in given_legs:
            given.only(*_LEG)
            is_center = bool(CARRIERS.fullmatch(str(given.data.get("form", ""))))
            if is_center and copy:
                continue
            own = given if is_center else given.over(defaults)
            own.only(*_LEG)
            form = own.text("form")
            if not (FORMS.fullmatch(form) or _carries(form)):
                raise own.refuse("form", form, EXAMPLES)
            if form in ("U", "S") and own.flag("driven", default=True):
                raise own.refuse("driven", True, f"false: a leg {form} has no joint to drive")
            turned = _rotate_leg(own, 2.0 * np.pi * copy / count)
            name = own.text("name", default="leg")
            if count > 1 or "name" not in own:
                name += str(len(out) + 1)
            if name in names:
                raise own.refuse("name", name, "a name that no other leg has")
            names.add(name)
            out.append(Fields({**own.data, **turned, "name": name}, own.source, own.path))
    return out


def _rotate_leg(leg: Fields, angle: float) -> dict[str, Any]:
    """Return a copy of a leg's fields, its points and directions rotated about z."""
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
    radius = plate.number("radius", "m", above=0.0)  # of a disk
    return Body(mass, com, mass * radius**2 * np.diag([0.25, 0.25, 0.5]))


def _carries(form: str) -> bool:
    return form == "RR" or bool(CARRIERS.fullmatch(form))


def _leg(leg: LegParts) -> None:
    if CARRIERS.fullmatch(leg.form):
        _center(leg)
    elif leg.form[1] == "P":
        _telescope(leg)
    elif leg.form[0] == "R":
        _arm(leg)
    else:
        _rail(leg)


def _telescope(leg: LegParts) -> None:
    """Add a leg of variable length, whose driven joint measures the length."""
    way = leg.goal - leg.start
    length = float(np.linalg.norm(way))
    if not length > 0.0:
        expected = "a point away from the leg's base at home"
        raise leg.fields.refuse("platform", leg.goal.tolist(), expected)
    lower = leg.bar("lower", 0.5 * way)
    leg.passive_joint(leg.form[0], (BASE, lower, leg.start), way / length)
    upper = leg.bar("upper", -0.5 * way)
    leg.drive("prismatic", (lower, upper, np.zeros(3)), way / length, length)
    leg.end(upper, np.zeros(3))


def _center(leg: LegParts) -> None:
    """Add a center leg, whose last joint carries the platform.

    If the leg has a prismatic joint, this joint measures the leg's length.
    """
    parts, way = leg.parts, leg.goal - leg.start
    before, slide, after = leg.form.partition("P")
    span = float(np.linalg.norm(way))
    along = leg.axis if not before else way / span if span else np.array([0.0, 0.0, 1.0])
    if slide and before and not span:
        expected = "a point away from the leg's base at home"
        raise leg.fields.refuse("platform", leg.goal.tolist(), expected)
    link, at, end = BASE, leg.start, f"{leg.name}_head"
    if before and slide:
        link, at = leg.bar("lower", 0.5 * way), np.zeros(3)
        leg.passive_joint(before, (BASE, link, leg.start), along)
    if slide:
        stroke = float(way @ along)
        child = leg.bar("upper", -0.5 * along * span) if after and span else end
        if child == end:
            parts.builder.add(Link(end))
        leg.drive("prismatic", (link, child, at), along, stroke)
        link, at = child, way - stroke * along
    if after or not slide:
        parts.builder.add(Link(end))
        if leg.form == "R":
            leg.drive("revolute", (link, end, at), leg.axis, 0.0)
        else:
            leg.passive_joint(after or before, (link, end, at), along, "_head")
        at = np.zeros(3)
    origin = leg.goal if slide else leg.start
    seat = Placement(parts.rotation, at + parts.origin - origin)
    parts.builder.add(Joint(f"{leg.name}_end", "fixed", end, parts.name, seat))


def _arm(leg: LegParts) -> None:
    """Add a leg's driven arm, and a rod or the platform at the end of the arm."""
    arm, way, parts = leg.fields.child("arm"), leg.goal - leg.start, leg.parts
    reach = arm.array("to", (3,), "m")
    if not reach.any():
        raise arm.refuse(
            "to", reach.tolist(), "the nonzero vector from the axis to the arm's end at position 0"
        )
    link = leg.bar("arm", reach)
    if leg.form == "RR":
        home = leg.fields.number("home", "rad", default=0.0)
        leg.drive("revolute", (BASE, link, leg.start), leg.axis, home)
        elbow = f"{leg.name}_elbow"
        parts.builder.add(Link(elbow))
        leg.follow("2", (link, elbow, reach), leg.axis)
        seat = Placement(parts.rotation, -parts.rotation @ leg.tip)
        parts.builder.add(Joint(f"{leg.name}_end", "fixed", elbow, parts.name, seat))
        return
    home = _angle(leg, way, reach)
    leg.drive("revolute", (BASE, link, leg.start), leg.axis, home)
    turn = axis_motion("revolute", leg.axis, home)[:3, :3]
    _rods(leg, link, reach, turn.T @ (way - turn @ reach), turn)


def _rail(leg: LegParts) -> None:
    """Add a leg's driven carriage, and a rod from it to the platform."""
    link, way = f"{leg.name}_carriage", leg.goal - leg.start
    carriage = leg.fields.child("carriage", {})
    carriage.only("mass")
    mass = carriage.number("mass", "kg", default=0.0, at_least=0.0)
    drawn = (ball(np.zeros(3), 0.03 * leg.parts.size, "joint"),)
    leg.parts.add_link(link, Body(mass, np.zeros(3), np.zeros((3, 3))), thin=drawn)
    home = _travel(leg, way)
    leg.drive("prismatic", (BASE, link, leg.start), leg.axis, home)
    _rods(leg, link, np.zeros(3), way - home * leg.axis, np.eye(3))


def _rods(leg: LegParts, link: str, at: FloatArray, way: FloatArray, turn: FloatArray) -> None:
    """Add one rod, or two parallel ones, from the driven link to the platform.

    At home, the rod leads from the point `at` of the driven link along the vector `way` to the
    platform joint; both are in the frame of `link`. `turn` (3, 3) is the rotation of this frame at
    home.
    """
    if not way.any():
        expected = "a point that differs from the start of the rod at home"
        raise leg.fields.refuse("platform", leg.tip.tolist(), expected)
    apart = leg.fields.child("rod").array("apart", (3,), "m", [0.0] * 3)
    sides = [("", 0.0)] if not apart.any() else [("a", 0.5), ("b", -0.5)]
    for suffix, side in sides:
        made = leg.bar("rod", way, suffix)
        leg.passive_joint(leg.form[1], (link, made, at + side * apart), way, suffix)
        leg.end(made, way, suffix, side * leg.parts.rotation.T @ turn @ apart)


def _angle(leg: LegParts, way: FloatArray, reach: FloatArray) -> float:
    """Return the angle [rad] of a leg's arm at which its rod reaches the platform.

    Of the two solutions, the one nearer to the field `home` is returned. If no rod length is given,
    the result is `home` itself.
    """
    near, axis = leg.fields.number("home", "rad", default=0.0), leg.axis
    rod = leg.fields.child("rod")
    if "length" not in rod:
        return near
    length, along = rod.number("length", "m", above=0.0), float(reach @ axis)
    across = reach - along * axis
    c, s = float(way @ across), float(way @ np.cross(axis, across))
    product = 0.5 * (way @ way + reach @ reach - length**2) - float(way @ axis) * along
    if not abs(product) <= np.hypot(c, s):
        raise _too_far(rod, length, way - reach)
    middle, half = float(np.arctan2(s, c)), float(np.arccos(product / np.hypot(c, s)))
    found = [middle + half, middle - half]
    turned = [near + (angle - near + np.pi) % (2.0 * np.pi) - np.pi for angle in found]
    return min(turned, key=lambda angle: abs(angle - near))


def _travel(leg: LegParts, way: FloatArray) -> float:
    """Return the position [m] of a carriage at which its rod reaches the platform.

    Of the two solutions, the one nearer to the field `home` is returned. If no rod length is given,
    the result is `home` itself.
    """
    near, axis = leg.fields.number("home", "m", default=0.0), leg.axis
    rod = leg.fields.child("rod")
    if "length" not in rod:
        return near
    length, along = rod.number("length", "m", above=0.0), float(way @ axis)
    square = length**2 - float(way @ way) + along**2
    if not square >= 0.0:
        raise _too_far(rod, length, way)
    found = [along + np.sqrt(square), along - np.sqrt(square)]
    return float(min(found, key=lambda place: abs(place - near)))


def _too_far(rod: Fields, length: float, way: FloatArray) -> Exception:
    away = float(np.linalg.norm(way))
    return rod.refuse(
        "length", length, f"a length that reaches the platform at home, which is {away:.4g} m "
        "away from the beginning of the rod at joint position 0",
    )  # fmt: skip
