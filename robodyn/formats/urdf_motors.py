# SPDX-License-Identifier: Apache-2.0

"""What URDF has no element for: motors, gravity, and how the mechanism is to be read.

A joint may hold `<robodyn armature="0.78" friction_backward="27.2"/>`: reflected inertia of the
motor [kg m^2 or kg], and Coulomb friction [N m or N] in the negative direction where it differs
from `<dynamics friction>`; and `home`, the position [rad or m] at which the mechanism starts, a
floating joint's as its pose (7) [m, -].

The robot may hold `<robodyn type="closed_loop" gravity="0 0 -1.62" .../>`, all of it optional: the
kind of mechanism; gravity [m/s^2] in its base frame; `base_link` and `tip_link`, as `load` takes
them; with commas between, `actuated_joints`, whatever else is said of drives, and of a closed loop
`independent_joints`; `weights` of its efforts.

Other parsers ignore the element; it is removed before the text is passed to one that does not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple
from xml.etree.ElementTree import Element

from robodyn.checks import number_in
from robodyn.errors import ModelError

TAG = "robodyn"


class Motor(NamedTuple):
    """Motor of a joint: `armature`, and `friction_backward` or None if friction is symmetric.

    `home` is a position [rad or m], (1,), a floating joint's its pose (7,) [m, -], or None.
    """

    armature: float = 0.0
    friction_backward: float | None = None
    home: tuple[float, ...] | None = None

    @property
    def stated(self) -> bool:
        """Whether it says more than where the joint starts."""
        return bool(self.armature) or self.friction_backward is not None


class Settings(NamedTuple):
    """What a robot's own `<robodyn>` element says; empty or None where it is silent."""

    type: str = ""
    gravity: tuple[float, ...] | None = None
    base_link: str = ""
    tip_link: str = ""
    actuated_joints: tuple[str, ...] = ()
    independent_joints: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()


def read_motors(robot: Element, source: str) -> dict[str, Motor]:
    """The motors of a `<robot>` by joint name.

    Raises:
        ModelError: an unknown attribute, or a value that is not a finite number of at least 0.
    """
    motors = {}
    for joint in robot.iterfind("joint"):
        element = joint.find(TAG)
        if element is None:
            continue
        where = f"{source}: joint {joint.get('name', '')!r}: <{TAG}>"
        _check_known(element, Motor._fields, where)
        given = dict(element.attrib)
        home = None
        if "home" in given:
            size = 7 if joint.get("type") == "floating" else 1
            home = _numbers(given.pop("home"), size, f"{where} home")
        values = {key: _not_negative(text, f"{where} {key}") for key, text in given.items()}
        motors[joint.get("name", "")] = Motor(**values, home=home)
    return motors


def read_settings(robot: Element, source: str) -> Settings:
    """What a `<robot>` says of itself.

    Raises:
        ModelError: two elements, an unknown attribute, or one that is not right.
    """
    found = robot.findall(TAG)
    where = f"{source}: <{TAG}> of the robot"
    if len(found) > 1:
        raise ModelError(f"{where} is there {len(found)} times, expected once", value=len(found))
    given: dict[str, str] = dict(found[0].attrib) if found else {}
    if found:
        _check_known(found[0], Settings._fields, where)
    gravity, weights = given.get("gravity"), given.get("weights", "")
    return Settings(
        given.get("type", ""),
        None if gravity is None else _numbers(gravity, 3, f"{where} gravity"),
        given.get("base_link", ""),
        given.get("tip_link", ""),
        _names(given, "actuated_joints"),
        _names(given, "independent_joints"),
        _numbers(weights, len(weights.split()), f"{where} weights"),
    )


def _names(given: Mapping[str, str], key: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in given.get(key, "").split(",") if name.strip())


def _check_known(element: Element, known: tuple[str, ...], where: str) -> None:
    for key in element.attrib:
        if key not in known:
            raise ModelError(
                f"{where} has an unknown attribute {key!r}, known are {', '.join(known)}",
                value=key,
            )


def _not_negative(text: str, where: str) -> float:
    value = number_in(text)
    if not (math.isfinite(value) and value >= 0.0):
        raise ModelError(f"{where} is {text[:100]!r}, expected a number of at least 0", value=text)
    return value


def _numbers(text: str, count: int, where: str) -> tuple[float, ...]:
    values = tuple(number_in(part) for part in text.split())
    if len(values) != count or not all(map(math.isfinite, values)):
        raise ModelError(f"{where} is {text[:100]!r}, expected {count} finite numbers", value=text)
    return values
