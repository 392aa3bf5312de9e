# SPDX-License-Identifier: Apache-2.0

"""What `<ros2_control>` says of joints: the texts of their `<param>` elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robodyn.errors import ModelError

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


def read_control_params(robot: Element, source: str) -> dict[str, dict[str, str]]:
    """The parameters of every joint in the `<ros2_control>` elements of a `<robot>`, by name.

    Raises:
        ModelError: a parameter that is given twice with different values.
    """
    joints: dict[str, dict[str, str]] = {}
    for joint in robot.iterfind("ros2_control/joint"):
        name = joint.get("name", "")
        params = joints.setdefault(name, {})
        for param in joint.iterfind("param"):
            key = param.get("name", "").strip()
            text = (param.text or "").strip()
            if params.setdefault(key, text) != text:
                raise ModelError(
                    f"{source}: <ros2_control>: joint {name!r} has the parameter {key!r} twice, "
                    f"{params[key]!r} and {text!r}; remove one",
                    value=key,
                )
    return joints
