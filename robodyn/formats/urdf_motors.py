# SPDX-License-Identifier: Apache-2.0

"""The motor of a joint, for which URDF has no element.

A joint may hold `<robodyn armature="0.78" friction_backward="27.2"/>`: reflected inertia of the
motor [kg m^2 or kg], and Coulomb friction [N m or N] in the negative direction where it differs
from `<dynamics friction>`. Other parsers ignore the element; it is removed before the text is
passed to one that does not.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from robodyn.errors import ModelError

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

TAG = "robodyn"


class Motor(NamedTuple):
    """Motor of a joint: `armature`, and `friction_backward` or None if friction is symmetric."""

    armature: float = 0.0
    friction_backward: float | None = None


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
        for key in element.attrib:
            if key not in Motor._fields:
                raise ModelError(
                    f"{where} has an unknown attribute {key!r}, known are "
                    f"{', '.join(Motor._fields)}",
                    value=key,
                )
        values = {key: _number(text, f"{where} {key}") for key, text in element.attrib.items()}
        motors[joint.get("name", "")] = Motor(**values)
    return motors


def _number(text: str, where: str) -> float:
    try:
        # Python reads 1_0 as ten; no other URDF parser does
        value = math.nan if "_" in text else float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0.0):
        raise ModelError(f"{where} is {text[:100]!r}, expected a number of at least 0", value=text)
    return value
