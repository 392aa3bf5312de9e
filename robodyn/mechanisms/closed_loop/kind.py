# SPDX-License-Identifier: Apache-2.0

"""Mechanisms with closed loops in the registry: how they are recognised and read."""

from __future__ import annotations

from typing import Any

from robodyn.formats.urdf_text import UrdfDocument
from robodyn.mechanisms.kind import Kind, ReadOptions
from robodyn.mechanisms.mechanism import Mechanism


def _from_urdf(document: UrdfDocument, options: ReadOptions) -> Mechanism:
    from robodyn.mechanisms.closed_loop.loop import ClosedLoop
    from robodyn.mechanisms.common.urdf_model import check_links, model_from_urdf

    return ClosedLoop(
        check_links(model_from_urdf(document, options.tip_link), strict=options.strict)
    )


def _from_yaml(document: dict[str, Any], source: str, options: ReadOptions) -> Mechanism:
    from robodyn.mechanisms.closed_loop.description.from_yaml import closed_loop_model_from_yaml
    from robodyn.mechanisms.closed_loop.description.gepetto import (
        closed_loop_model_from_gepetto,
        is_gepetto,
    )
    from robodyn.mechanisms.closed_loop.loop import ClosedLoop
    from robodyn.mechanisms.common.urdf_model import check_links

    read = closed_loop_model_from_gepetto if is_gepetto(document) else closed_loop_model_from_yaml
    model = read(document, source, options.tip_link, options.folder, options.driven)
    return ClosedLoop(check_links(model, strict=options.strict))


def _recognises_yaml(document: dict[str, Any]) -> bool:
    from robodyn.mechanisms.closed_loop.description.gepetto import is_gepetto

    return is_gepetto(document)


def _recognises(document: UrdfDocument) -> bool:
    """Whether a URDF closes loops; platforms are asked before."""
    return bool(document.closures)


def _to_urdf(mechanism: Any) -> str:
    from robodyn.mechanisms.common.urdf_writer import tree_urdf

    return tree_urdf(mechanism.model, mechanism.kind)


CLOSED_LOOP = Kind(
    "closed_loop",
    from_yaml=_from_yaml,
    recognises_urdf=_recognises,
    from_urdf=_from_urdf,
    to_urdf=_to_urdf,
    adapters={
        "export": "robodyn.exporting.closed_loop:answers",
        "model_file": "robodyn.mechanisms.closed_loop.description.to_yaml:write_closed_loop",
        "template": "robodyn.mechanisms.closed_loop.description.leg_templates:TEMPLATES",
    },
    example="delta",
    recognises_yaml=_recognises_yaml,
)
