# SPDX-License-Identifier: Apache-2.0

"""A description without joint friction: the counterpart of `Mechanism.without_friction`."""

from __future__ import annotations

from xml.etree import ElementTree

from robodyn.actuators.actuator import NO_FRICTION
from robodyn.formats.xml_text import parse_xml

# Attributes of `<dynamics>`, of a closure, and of our own element for motors.
FRICTION = ("damping", "friction", "friction_backward")


def frictionless(description: str) -> str:
    """The same URDF text without friction; loading it gives the model without friction.

    Raises:
        ModelError: not well-formed XML.
    """
    root = parse_xml(description, "URDF text")
    for element in root.iter():
        for name in FRICTION:
            element.attrib.pop(name, None)
    for joint in root.iterfind("ros2_control/joint"):
        for param in joint.findall("param"):
            if param.get("name") in NO_FRICTION:
                joint.remove(param)
    return ElementTree.tostring(root, encoding="unicode")
