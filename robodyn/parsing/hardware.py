# SPDX-License-Identifier: Apache-2.0

"""Actuators of the joints of a URDF: `<ros2_control>` and `<transmission>`."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from robodyn.checks import number_in
from robodyn.errors import ModelError, warn
from robodyn.formats.xml_text import numbers_in
from robodyn.model.builder import Drives

# Elements of a `<transmission>` for rotor and gear in URDF, ros2_control and Drake: the parameter,
# its default, and its least value.
ROTORS = {
    "motorInertia": ("rotor_inertia", 0.0, 0.0),
    "drake:rotor_inertia": ("rotor_inertia", 0.0, 0.0),
    "mechanicalReduction": ("gear_ratio", 1.0, -math.inf),
    "mechanical_reduction": ("gear_ratio", 1.0, -math.inf),
    "drake:gear_ratio": ("gear_ratio", 1.0, -math.inf),
}


@dataclass(frozen=True)
class Hardware:
    """Contents of `<ros2_control>` and `<transmission>` in a URDF; result of `read_hardware`.

    Attributes:
        drives: names of the joints that have actuators.
        initial: for each joint, the position [rad or m] at which a `<ros2_control>` starts it.
        params: values, as strings, of the `<param>`s in `<ros2_control>` by joint and name, with
            rotors and gears of `<transmission>`s.
        limits: least and largest command [rad, m; 1/s; N m, N] of an interface in `<ros2_control>`,
            by joint and name of the interface.
    """

    drives: Drives = field(default_factory=Drives)
    initial: dict[str, float] = field(default_factory=dict)
    params: dict[str, dict[str, str]] = field(default_factory=dict)
    limits: dict[str, dict[str, tuple[float, float]]] = field(default_factory=dict)


def read_hardware(robot: Element, source: str) -> Hardware:
    """Read `<ros2_control>` and `<transmission>` elements of a URDF.

    Args:
        robot: root element of the URDF.
        source: name of the file, for messages.

    Returns:
        Driven joints, initial positions, actuator parameters and command limits.

    Raises:
        ModelError: a number is invalid, a minimum is above its maximum, or a parameter has two
            different values.
    """
    # dictionaries serve as sets in document order
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
    drives = Drives(tuple(effort), tuple(transmitted), tuple(commanded))
    return Hardware(drives, initial, params, limits)


def _add_limits(limits: dict[str, tuple[float, float]], joint: Element, source: str) -> None:
    """Store the `min` and `max` of a joint's command interfaces in `limits`.

    Disabled limits are left out.

    Raises:
        ModelError: `min` is above `max`.
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
        if any(map(math.isnan, numbers.values())):  # such as {-2*pi}, in manufacturers' files
            shown = ", ".join(f"{key} {text[:100]!r}" for key, text in stated.items())
            warn(f"{where}: {kind}: ignored {shown}, expected numbers")
            continue
        low, high = numbers.get("min", -math.inf), numbers.get("max", math.inf)
        if low > high:
            raise ModelError(
                f"{where}: {kind}: min is {low:g}, expected at most its max, {high:g}",
                value=low,
            )
        limits[kind] = low, high


def _add_rotor(params: dict[str, dict[str, str]], transmission: Element, source: str) -> None:
    """Add rotor inertia and gear ratio of a `<transmission>` to the parameters.

    Raises:
        ModelError: a number is invalid, or is given twice with different values.
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
            raise ModelError(f"{place} is 0, expected a nonzero number", value=value)
        if value != neutral and found.setdefault(name, value) != value:
            raise ModelError(
                f"{place} is {value:g}, but it is also given as {found[name]:g}; remove one",
                value=value,
            )
    if found and (len(joints) != 1 or len(actuators) > 1):
        warn(
            f"{where}: ignored {' and '.join(found)} of a transmission between "
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
