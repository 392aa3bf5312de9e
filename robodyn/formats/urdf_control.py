# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

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
