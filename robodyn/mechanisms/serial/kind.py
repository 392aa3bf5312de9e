# SPDX-License-Identifier: Apache-2.0

"""Serial arms in the registry: how their descriptions are recognised and read."""

from __future__ import annotations

from typing import Any

from robodyn.formats.urdf_text import UrdfDocument
from robodyn.mechanisms.common.template import Template
from robodyn.mechanisms.kind import Kind, ReadOptions
from robodyn.mechanisms.mechanism import Mechanism


def _from_yaml(document: dict[str, Any], source: str, options: ReadOptions) -> Mechanism:
    from robodyn.mechanisms.serial.arm import SerialArm
    from robodyn.mechanisms.serial.description.from_yaml import serial_model_from_yaml

    return SerialArm(serial_model_from_yaml(document, source, options.strict))


def _from_urdf(document: UrdfDocument, options: ReadOptions) -> Mechanism:
    from robodyn.mechanisms.serial.arm import SerialArm
    from robodyn.mechanisms.serial.description.from_urdf import serial_model_from_urdf

    return SerialArm(serial_model_from_urdf(document, options))


def _to_urdf(arm: Any) -> str:
    from robodyn.mechanisms.common.urdf_writer import tree_urdf

    return tree_urdf(arm.model, arm.kind, arm.model.base_link)


def _recognises(document: UrdfDocument) -> bool:
    """Whether it has no closures; a tree that is not a chain is rejected when it is read."""
    return not document.closures


# a small arm of six joints
TEMPLATE = Template("arm")
SERIAL = Kind(
    "serial",
    from_yaml=_from_yaml,
    recognises_urdf=_recognises,
    from_urdf=_from_urdf,
    to_urdf=_to_urdf,
    adapters={
        "export": "robodyn.exporting.serial:answers",
        "model_file": "robodyn.mechanisms.serial.description.to_yaml:write_serial",
        "as_closed_loop": "robodyn.mechanisms.as_closed_loop:from_tree",
        "loose_tree": "robodyn.mechanisms.as_closed_loop:from_loose_tree",
        "template": "robodyn.mechanisms.serial.kind:TEMPLATE",
    },
    example="puma560",
)
