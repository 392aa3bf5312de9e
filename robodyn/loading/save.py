# SPDX-License-Identifier: Apache-2.0

"""Saving of a mechanism to a file that `load` reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from robodyn.errors import InvalidInput, OutputError
from robodyn.formats.output_file import write_text
from robodyn.loading.registry import kind_of, written_model
from robodyn.mechanism.kind import import_and_call
from robodyn.mechanism.mechanism import Mechanism
from robodyn.model.model import Model
from robodyn.parsing.source import YAML_SUFFIXES
from robodyn.solvers.tree.closing.structure import structure_of
from robodyn.writing.urdf import settings_of

# Formats with positions in which loops are closed, and their writers.
TREES = {
    ".sdf": "robodyn.writing.sdf:tree_sdf",
    ".xml": "robodyn.writing.mjcf:tree_mjcf",
}


def save(mechanism: Mechanism, file: str | Path) -> list[Path]:
    """Write a mechanism to a URDF, SDF, MJCF or YAML file that `load` can read.

    `load` reproduces the mechanism: the file contains bodies, joints, closures, friction,
    actuators, limits, gravity and home. Data that a format cannot represent is in an element
    `<robodyn>`, which other programs ignore. The YAML file of a closed loop references a URDF,
    which is written beside it.

    Args:
        mechanism: mechanism of any kind with a file format.
        file: path ending in .urdf, .sdf, .xml (MJCF), .yaml or .yml; its folder is created if
            necessary.

    Returns:
        The files written, `file` first.

    Raises:
        InvalidInput: the file extension is unknown, or the kind of mechanism has no such format.
        OutputError: the file cannot be written, or cannot represent the mechanism.
    """
    path = Path(file).expanduser()
    ending = path.suffix.lower()
    known = (".urdf", *TREES, *YAML_SUFFIXES)
    if ending not in known:
        raise InvalidInput(
            f"{file}: unknown file type, expected {', '.join(known)}", value=str(file)
        )
    kind, made = kind_of(mechanism), cast(Any, type(mechanism))
    if mechanism._options and made(mechanism.model)._options != mechanism._options:
        raise OutputError(
            f"{file}: {mechanism.name} was made with {mechanism._options}, which a model file "
            "cannot store; save the mechanism without it, and pass it when you load the file",
            value=mechanism._options,
        )
    write = kind.adapter("model_file")
    if ending in YAML_SUFFIXES and write is not None:
        written: list[Path] = write(mechanism, path)
        return written
    if ending in YAML_SUFFIXES or kind.to_urdf is None:
        remedy = "an adapter `model_file`" if ending in YAML_SUFFIXES else "its `to_urdf`"
        raise InvalidInput(
            f"{mechanism.name}: mechanisms of the kind {mechanism.kind!r} cannot be saved as "
            f"{ending}; register the kind with {remedy}",
            value=mechanism.kind,
        )
    model = written_model(mechanism)
    if ending not in TREES:
        write_text(path, kind.to_urdf(mechanism))
    elif model is not None:
        write_text(path, _tree_text(model, mechanism.kind, ending))
    else:
        raise InvalidInput(
            f"{mechanism.name}: a mechanism of the kind {mechanism.kind!r} has no model of links "
            "and joints; save it as .urdf, or register the kind with an adapter `written_model`",
            value=mechanism.kind,
        )
    return [path]


def _tree_text(model: Model, kind: str, ending: str) -> str:
    """Return a model as URDF, SDF or MJCF text.

    If the model has closures, its joints are written in a configuration with closed loops.
    """
    positions = {}
    if model.closures:
        found = structure_of(model)
        for joint in found.tree.joints:
            at = found.tree.position_of[joint.name]
            floats = joint.kind == "floating"
            positions[joint.name] = found.home[at : at + 7] if floats else float(found.home[at])
    text: str = import_and_call(TREES[ending])(model, settings_of(model, kind), positions)
    return text
