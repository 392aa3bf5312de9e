# SPDX-License-Identifier: Apache-2.0

"""Registration of mechanisms with closed loops: recognition and reading."""

from __future__ import annotations

from robodyn.mechanism.kind import Kind, import_and_call
from robodyn.model.builder import ModelBuilder


def _recognizes(builder: ModelBuilder) -> bool:
    """Return whether a URDF has closed loops or springs between points of links.

    Stewart platforms have been recognized before this test.
    """
    return bool(builder.closures or builder.springs)


CLOSED_LOOP = Kind(
    "closed_loop",
    from_yaml=import_and_call(
        "robodyn.solvers.tree.description.yaml_form:closed_loop_model_from_yaml",
        "robodyn.solvers.tree.loop:ClosedLoop",
    ),
    recognizes_urdf=_recognizes,
    from_urdf=import_and_call(
        "robodyn.solvers.tree.description.from_urdf:closed_loop_model_from_urdf",
        "robodyn.solvers.tree.loop:ClosedLoop",
    ),
    to_urdf=import_and_call("robodyn.writing.urdf:mechanism_urdf"),
    adapters={
        "springs": "robodyn.parsing.model_file:with_document_springs",
        "model_file": "robodyn.solvers.tree.description.yaml_form:write_closed_loop",
        "template": "robodyn.solvers.tree.description.leg_templates:TEMPLATES",
    },
    example="delta",
    recognizes_yaml=import_and_call("robodyn.solvers.tree.description.gepetto:is_gepetto"),
)
