# SPDX-License-Identifier: Apache-2.0

"""What drives the joints of a URDF, and what URDF has no element for.

Which joints are driven `<ros2_control>` and `<transmission>` say. A joint may hold
`<robodyn armature="0.78" friction_backward="27.2"/>`: reflected inertia of the motor [kg m^2 or
kg], and Coulomb friction [N m or N] in the negative direction where it differs from
`<dynamics friction>`; and `home`, the position [rad or m] at which the mechanism starts, a floating
joint's as its pose (7) [m, -]; and `multi_turn="true"`, by which a continuous joint counts its
turns, while otherwise positions a full turn apart are the same.

The robot may hold `<robodyn type="closed_loop" gravity="0 0 -1.62" .../>`, all of it optional: the
kind of mechanism; gravity [m/s^2] in its base frame; `base_link` and `tip_link`, as `load` takes
them; with commas between, `actuated_joints`, whatever else is said of drives, and of a closed loop
`independent_joints`; `weights` of its efforts.

Other parsers ignore the element; it is removed before the text is passed to one that does not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

from robodyn.checks import number_in
from robodyn.errors import ModelError, warn
from robodyn.formats.xml_text import numbers_in

TAG = "robodyn"
# What a `<transmission>` says of a rotor and its gear, as URDF, ros2_control and Drake call it: the
# parameter, what it is if nothing is said, and the least value.
ROTORS = {
    "motorInertia": ("rotor_inertia", 0.0, 0.0),
    "drake:rotor_inertia": ("rotor_inertia", 0.0, 0.0),
    "mechanicalReduction": ("gear_ratio", 1.0, -math.inf),
    "mechanical_reduction": ("gear_ratio", 1.0, -math.inf),
    "drake:gear_ratio": ("gear_ratio", 1.0, -math.inf),
}


@dataclass(frozen=True)
class Drives:
    """Joints by name, in document order.

    Attributes:
        effort: with an effort command interface in `<ros2_control>`.
        transmitted: with a `<transmission>`.
        commanded: with any command interface in `<ros2_control>`.
        initial: position [rad or m] at which a `<ros2_control>` starts a joint.
        params: the texts of the joints' `<param>`s in `<ros2_control>`, by name; what
            `<transmission>`s say of rotors and gears is added.
        limits: least and largest command [rad, m; 1/s; N m, N] that `<ros2_control>` lets an
            interface have, by joint and name of the interface.
    """

    effort: tuple[str, ...] = ()
    transmitted: tuple[str, ...] = ()
    commanded: tuple[str, ...] = ()
    initial: dict[str, float] = field(default_factory=dict)
    params: dict[str, dict[str, str]] = field(default_factory=dict)
    limits: dict[str, dict[str, tuple[float, float]]] = field(default_factory=dict)

    @property
    def driven(self) -> tuple[str, ...]:
        """Those commanded by effort; without any those of transmissions, then all commanded."""
        return self.effort or self.transmitted or self.commanded

    @property
    def actuated(self) -> frozenset[str]:
        """All that have an actuator; empty where the file says nothing of any."""
        return frozenset((*self.commanded, *self.transmitted))

    def overridden(self, driven: tuple[str, ...]) -> Drives:
        """The drives where these joints are driven, and no others."""
        return replace(self, effort=driven, transmitted=(), commanded=driven)


class Motor(NamedTuple):
    """Motor of a joint: `armature`, and `friction_backward` or None if friction is symmetric.

    `home` is a position [rad or m], (1,), a floating joint's its pose (7,) [m, -], or None;
    `multi_turn` says that a continuous joint counts its turns.
    """

    armature: float = 0.0
    friction_backward: float | None = None
    home: tuple[float, ...] | None = None
    multi_turn: bool = False

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
    base_cone: float | None = None
    body_cone: float | None = None


def read_drives(robot: Element, source: str) -> Drives:
    """The drives of a `<robot>`.

    Raises:
        ModelError: a parameter that is given twice with different values.
    """
    # dictionaries for sets in document order
    effort: dict[str, None] = {}
    commanded: dict[str, None] = {}
    initial = {}
    params: dict[str, dict[str, str]] = {}
    limits: dict[str, dict[str, tuple[float, float]]] = {}
    for joint in robot.iterfind("ros2_control/joint"):
        name = joint.get("name", "")
        commands = [item.get("name") for item in joint.iterfind("command_interface")]
        _add_limits(limits.setdefault(name, {}), joint, source)
        _add_params(params.setdefault(name, {}), joint, source)
        if commands:
            commanded[name] = None
        if "effort" in commands:
            effort[name] = None
        path = "state_interface[@name='position']/param[@name='initial_value']"
        for value in joint.iterfind(path):
            number = number_in(value.text or "")
            if math.isfinite(number):
                initial[name] = number
    transmitted = dict.fromkeys(j.get("name", "") for j in robot.iterfind("transmission/joint"))
    for transmission in robot.iterfind(".//transmission"):
        _add_rotor(params, transmission, source)
    return Drives(tuple(effort), tuple(transmitted), tuple(commanded), initial, params, limits)


def _add_limits(limits: dict[str, tuple[float, float]], joint: Element, source: str) -> None:
    """Add the `min` and `max` of a joint's command interfaces, unless they are switched off.

    Raises:
        ModelError: `min` above `max`.
    """
    where = f"{source}: <ros2_control>: joint {joint.get('name', '')!r}"
    for interface in joint.iterfind("command_interface"):
        switches = [*joint.iterfind("limits"), *interface.iterfind("limits")]
        params = {param.get("name", ""): param.text or "" for param in interface.iterfind("param")}
        stated = {key: params[key].strip() for key in ("min", "max") if params.get(key)}
        if not stated or any(part.get("enable", "").lower() == "false" for part in switches):
            continue
        kind = interface.get("name", "")
        numbers = {key: number_in(text) for key, text in stated.items()}
        if any(map(math.isnan, numbers.values())):  # such as {-2*pi}, in files of manufacturers
            shown = ", ".join(f"{key} {text[:100]!r}" for key, text in stated.items())
            warn(f"{where}: {kind}: left out is {shown}, expected numbers")
            continue
        low, high = numbers.get("min", -math.inf), numbers.get("max", math.inf)
        if low > high:
            raise ModelError(
                f"{where}: {kind}: min is {low:g}, expected at most {high:g}, which is its max",
                value=low,
            )
        limits[kind] = low, high


def _add_rotor(params: dict[str, dict[str, str]], transmission: Element, source: str) -> None:
    """Add rotor inertia and gear ratio of a `<transmission>` to the parameters of its joint.

    Raises:
        ModelError: a number that is not right, or one that is stated twice and differently.
    """
    joints, actuators = transmission.findall("joint"), transmission.findall("actuator")
    where = f"{source}: <transmission> {transmission.get('name', '')!r}"
    found: dict[str, float] = {}
    for part in (inner for outer in (transmission, *joints, *actuators) for inner in outer):
        if part.tag not in ROTORS:
            continue
        name, neutral, least = ROTORS[part.tag]
        text, place = part.get("value") or part.text or "", f"{where}: {part.tag}"
        value = numbers_in(text, 1, place, at_least=least)[0]
        if value == 0.0 and name == "gear_ratio":
            raise ModelError(f"{place} is 0, expected a number that is not 0", value=value)
        if value != neutral and found.setdefault(name, value) != value:
            raise ModelError(
                f"{place} is {value:g}, but another value there is {found[name]:g}; remove one",
                value=value,
            )
    if found and (len(joints) != 1 or len(actuators) > 1):
        warn(
            f"{where}: left out is {' and '.join(found)} of a transmission between "
            f"{len(actuators)} actuators and {len(joints)} joints; give each joint a "
            '<param name="rotor_inertia"> and a <param name="gear_ratio"> in <ros2_control>'
        )
        return
    for name, value in found.items():
        own = params.setdefault(joints[0].get("name", ""), {})
        if number_in(own.setdefault(name, repr(value))) != value:
            raise ModelError(
                f"{where}: {name} is {value:g}, but that of joint "
                f"{joints[0].get('name', '')!r} in <ros2_control> is {own[name]}; remove one",
                value=value,
            )


def _add_params(params: dict[str, str], joint: Element, source: str) -> None:
    for param in joint.iterfind("param"):
        key = param.get("name", "").strip()
        text = (param.text or "").strip()
        if params.setdefault(key, text) != text:
            raise ModelError(
                f"{source}: <ros2_control>: joint {joint.get('name', '')!r} has the parameter "
                f"{key!r} twice, {params[key]!r} and {text!r}; remove one",
                value=key,
            )


def read_motors(robot: Element, source: str) -> dict[str, Motor]:
    """The motors of a `<robot>` by joint name.

    Raises:
        ModelError: an unknown attribute, or a value that is not a finite number of at least 0.
    """
    motors = {}
    for joint in robot.iterfind(f"joint[{TAG}]"):
        where = f"{source}: joint {joint.get('name', '')!r}: <{TAG}>"
        values: dict[str, Any] = {}
        for key, text in _attributes(joint.findall(TAG)[0], Motor._fields, where).items():
            if key == "multi_turn":
                values[key] = _switch(text, f"{where} {key}")
                continue
            size = 7 if key == "home" and joint.get("type") == "floating" else 1
            at_least = -math.inf if key == "home" else 0.0
            numbers = numbers_in(text, size, f"{where} {key}", at_least=at_least)
            values[key] = tuple(numbers) if key == "home" else numbers[0]
        motors[joint.get("name", "")] = Motor(**values)
    return motors


def _switch(text: str, where: str) -> bool:
    if text not in ("true", "false"):
        raise ModelError(f"{where} is {text!r}, expected true or false", value=text)
    return text == "true"


def read_settings(robot: Element, source: str) -> Settings:
    """What a `<robot>` says of itself.

    Raises:
        ModelError: two elements, an unknown attribute, or one that is not right.
    """
    found = robot.findall(TAG)
    where = f"{source}: <{TAG}> of the robot"
    if len(found) > 1:
        raise ModelError(f"{where} is there {len(found)} times, expected once", value=len(found))
    given: dict[str, Any] = _attributes(found[0], Settings._fields, where) if found else {}
    for key, text in given.items():
        if key in ("gravity", "weights"):
            count = 3 if key == "gravity" else len(text.split())
            given[key] = tuple(numbers_in(text, count, f"{where} {key}"))
        elif key.endswith("_cone"):
            given[key] = numbers_in(text, 1, f"{where} {key}", at_least=0.0)[0]
        elif key.endswith("_joints"):
            given[key] = tuple(name.strip() for name in text.split(",") if name.strip())
    return Settings(**given)


def _attributes(element: Element, known: tuple[str, ...], where: str) -> dict[str, str]:
    for key in element.attrib:
        if key not in known:
            raise ModelError(
                f"{where} has an unknown attribute {key!r}, known are {', '.join(known)}",
                value=key,
            )
    return dict(element.attrib)
