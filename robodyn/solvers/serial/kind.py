# SPDX-License-Identifier: Apache-2.0

"""Registration of serial arms: recognition and reading of their descriptions."""

from __future__ import annotations

from robodyn.mechanism.kind import Kind, import_and_call
from robodyn.model.builder import ModelBuilder
from robodyn.parsing.template import Template


def _recognizes(builder: ModelBuilder) -> bool:
    """Return whether a model may be a serial arm: no loop closures or point springs.

    A tree that is not a chain is rejected later.
    """
    return not (builder.closures or builder.springs)


# a small arm of six joints
TEMPLATE = Template("arm")
SERIAL = Kind(
    "serial",
    from_yaml=import_and_call(
        "robodyn.solvers.serial.description.yaml_form:serial_model_from_yaml",
        "robodyn.solvers.serial.arm:SerialArm",
    ),
    recognizes_urdf=_recognizes,
    from_urdf=import_and_call(
        "robodyn.solvers.serial.description.from_urdf:serial_model_from_urdf",
        "robodyn.solvers.serial.arm:SerialArm",
    ),
    to_urdf=import_and_call("robodyn.writing.urdf:mechanism_urdf"),
    adapters={
        "springs": "robodyn.parsing.model_file:with_document_springs",
        "model_file": "robodyn.solvers.serial.description.yaml_form:write_serial",
        "template": "robodyn.solvers.serial.kind:TEMPLATE",
    },
    example="puma560",
)
