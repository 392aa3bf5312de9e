# SPDX-License-Identifier: Apache-2.0

"""Conversion of actuators from and to blocks of a YAML file and `<param>`s of a URDF."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from robodyn.actuators.actuator import HANDS, IDEAL, UNITS, Actuator
from robodyn.checks import number_in
from robodyn.errors import ModelError, RobodynError
from robodyn.formats.documents import Fields

NAMES = tuple(item.name for item in fields(Actuator))


def actuator_from_fields(block: Fields) -> Actuator:
    """Create the actuator that an `actuator:` block of a YAML file describes.

    Missing fields have the values of an ideal actuator.

    Raises:
        ModelError: a field is unknown or invalid; the error states the file and the dotted path.
    """
    block.only(*NAMES)

    def read(name: str) -> Any:
        if name == "handed":
            return block.text(name, choices=tuple(HANDS))
        if name == "torque_speed":
            return block.get(name, "a list of pairs [speed, torque]")
        return block.number(name, UNITS[name])

    return _build_actuator(block, read, f"{block.source}: {block.path}: ")


def actuator_from_params(params: Mapping[str, str], where: str) -> Actuator:
    """Create the actuator that a joint's `<param>`s in `<ros2_control>` describe.

    Missing parameters have the values of an ideal actuator; unknown ones are ignored.
    `torque_speed` alternates speeds and torques.

    Args:
        params: values by name.
        where: file and joint, for messages.

    Raises:
        ModelError: a value is invalid.
    """

    def read(name: str) -> Any:
        text = params[name].strip()
        if name == "handed":
            return text
        if name == "torque_speed":
            numbers = [_number(part, name, where) for part in text.split()]
            return [numbers[i : i + 2] for i in range(0, len(numbers), 2)]
        return _number(text, name, where)

    return _build_actuator(params, read, f"{where}: <param> ")


def _build_actuator(
    given: Fields | Mapping[str, str], read: Callable[[str], Any], where: str
) -> Actuator:
    """Create an actuator from the given fields; all other fields keep ideal values."""
    values = {name: read(name) for name in NAMES if name in given}
    try:
        return Actuator(**values)
    except RobodynError as error:
        raise ModelError(f"{where}{error}", value=error.value) from error


def describes(params: Mapping[str, str]) -> bool:
    """Return whether any `<param>` of a joint describes its actuator."""
    return any(name in params for name in NAMES)


def actuator_of_joint(
    params: Mapping[str, str],
    where: str,
    friction: tuple[float, float],
    has_motor: bool = False,
) -> Actuator:
    """Create the actuator of a URDF joint from its `<param>`s and other elements.

    Args:
        params: `<param>` values of the joint in `<ros2_control>`, by name.
        where: file and joint, for messages.
        friction: Coulomb friction [N or N m] in forward and backward motion from other elements; 0
            if missing.
        has_motor: whether a `<robodyn>` element describes the motor.

    Raises:
        ModelError: a value is invalid, or stated twice with different numbers.
    """
    if has_motor and any(name in params for name in ("rotor_inertia", "coulomb_backward")):
        raise ModelError(
            f"{where}: <robodyn> and the actuator's <param>s in <ros2_control> both describe its "
            "motor; remove one of the two",
            value=dict(params),
        )
    given = dict(params)
    forward, backward = (float(level) for level in friction)
    if "coulomb" not in given:
        given["coulomb"] = repr(forward)
        if backward != forward:
            given.setdefault("coulomb_backward", repr(backward))
    actuator = actuator_from_params(given, where)
    if forward and actuator.coulomb != forward:
        raise ModelError(
            f"{where}: the friction of <dynamics> is {forward:g}, expected {actuator.coulomb:g} "
            "as in its "
            '<param name="coulomb">; remove one of the two',
            value=forward,
        )
    return actuator


def params_of(actuator: Actuator) -> dict[str, str]:
    """Return an actuator as `<param>` values by name; ideal properties are omitted."""
    out = {}
    for name in NAMES:
        value = getattr(actuator, name)
        if value == getattr(IDEAL, name):
            continue
        if name == "torque_speed":
            out[name] = " ".join(repr(number) for point in value for number in point)
        else:
            out[name] = value if isinstance(value, str) else repr(value)
    return out


def _number(text: str, name: str, where: str) -> float:
    value = number_in(text)
    if not math.isfinite(value):
        raise ModelError(
            f'{where}: <param name="{name}"> is {text[:100]!r}, expected a number', value=text
        )
    return value
