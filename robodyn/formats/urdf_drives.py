# SPDX-License-Identifier: Apache-2.0

"""Which joints of a URDF are driven: what `<ros2_control>` and `<transmission>` say."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from xml.etree.ElementTree import Element

from robodyn.errors import ModelError


@dataclass(frozen=True)
class Drives:
    """Joints by name, in document order.

    Attributes:
        effort: with an effort command interface in `<ros2_control>`.
        transmitted: with a `<transmission>`.
        commanded: with any command interface in `<ros2_control>`.
        initial: position [rad or m] at which a `<ros2_control>` starts a joint.
        params: the texts of the joints' `<param>`s in `<ros2_control>`, by name.
    """

    effort: tuple[str, ...] = ()
    transmitted: tuple[str, ...] = ()
    commanded: tuple[str, ...] = ()
    initial: dict[str, float] = field(default_factory=dict)
    params: dict[str, dict[str, str]] = field(default_factory=dict)

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


def read_drives(robot: Element, source: str) -> Drives:
    """The drives of a `<robot>`.

    Raises:
        ModelError: a parameter that is given twice with different values.
    """
    effort: dict[str, None] = {}
    commanded: dict[str, None] = {}
    transmitted: dict[str, None] = {}
    initial = {}
    params: dict[str, dict[str, str]] = {}
    for joint in robot.iterfind("ros2_control/joint"):
        name = joint.get("name", "")
        commands = [item.get("name") for item in joint.iterfind("command_interface")]
        _add_params(params.setdefault(name, {}), joint, source)
        if commands:
            commanded[name] = None
        if "effort" in commands:
            effort[name] = None
        for state in joint.iterfind("state_interface"):
            if state.get("name") == "position":
                for value in state.iterfind("param"):
                    number = _number(value.text)
                    if value.get("name") == "initial_value" and number is not None:
                        initial[name] = number
    for joint in robot.iterfind("transmission/joint"):
        transmitted[joint.get("name", "")] = None
    return Drives(tuple(effort), tuple(transmitted), tuple(commanded), initial, params)


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


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) else None
