"""A description without the friction of its joints, as `Mechanism.without_friction` is a model."""

from __future__ import annotations

from xml.etree import ElementTree

from robodyn.loading.xml_text import parse_xml

# Of `<dynamics>`, of a closure, and of our own element for motors.
FRICTION = ("damping", "friction", "friction_backward")


def frictionless(description: str) -> str:
    """The same URDF text with no friction; loading it gives the model without friction.

    Raises:
        ModelError: text that is no XML.
    """
    root = parse_xml(description, "URDF text")
    for element in root.iter():
        for name in FRICTION:
            element.attrib.pop(name, None)
    return ElementTree.tostring(root, encoding="unicode")
