# SPDX-License-Identifier: Apache-2.0

"""The figure of a model: from the URDF it was loaded from, or from the model itself."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from robodyn.mechanisms.common.figure import Figure
from robodyn.mechanisms.common.figure_from_urdf import figure_from_urdf
from robodyn.mechanisms.mechanism import Mechanism
from robodyn.mechanisms.robot_description import exported_urdf, source_urdf
from robodyn.parsing.source import models


def figure_of(
    source: str | Path, mechanism: Mechanism, mesh_folders: Collection[Path] | None = None
) -> Figure:
    """The figure of a mechanism that was loaded from `source`.

    Meshes are read from `mesh_folders` only, where they are given (see `mesh_file`).

    A URDF or xacro is drawn by its visuals. A bundled model or a YAML file is drawn by the URDF
    that its kind exports; where that has no visuals, a bundled model is drawn by its
    xacro, if the package xacro is installed, and any other by `mechanism.figure()`. A URDF without
    visuals is drawn as sticks from joint to joint.

    Raises:
        ModelError: invalid visuals; the message is one line.
    """
    name = f"URDF of {mechanism.name}"
    text = source_urdf(source)
    if str(source) in models() or not text:
        exported = exported_urdf(mechanism)
        drawn = (
            figure_from_urdf(exported, name, _file(source), mesh_folders)
            if exported
            else mechanism.figure()
        )
        if drawn.shapes or not text:
            return drawn if drawn.shapes else mechanism.figure()
    figure = figure_from_urdf(text, name, _file(source), mesh_folders)
    if figure.shapes:
        return figure
    remark = f"{name}: no visuals to draw, only sticks from joint to joint"
    bare = Figure(figure.joints, (), figure.links[0], (*figure.remarks, remark))
    return bare.with_sticks(mechanism.size)


def _file(source: str | Path) -> Path | None:
    """The file that a URDF's relative meshes are beside; none for URDF text and bundled models."""
    text = str(source)
    if text.lstrip("\ufeff \t\r\n").startswith("<") or text in models():
        return None
    return Path(source)
