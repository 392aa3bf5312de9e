# SPDX-License-Identifier: Apache-2.0

"""Figure of a mechanism, from its description or its model."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from robodyn.loading.registry import written_model
from robodyn.loading.robot_description import source_builder
from robodyn.mechanism.mechanism import Mechanism
from robodyn.parsing.source import is_text, models
from robodyn.presentation import Figure, figure_of_links, presentation


def figure_of(
    source: str | Path, mechanism: Mechanism, mesh_folders: Collection[Path] | None = None
) -> Figure:
    """Create the figure of a mechanism, its shapes for drawing, from its source.

    A URDF, xacro, SDF or MJCF is drawn by its visuals; without visuals, as sticks from joint to
    joint. A bundled model or a YAML file is drawn by the visuals of its model; without these, a
    bundled model is drawn by its xacro, if the package xacro is installed, and others by
    `presentation.figure`.

    Args:
        source: source from which the mechanism was loaded.
        mechanism: the loaded mechanism.
        mesh_folders: the only folders from which meshes are read, see `mesh_file`; None for any.

    Returns:
        The figure; its remarks list what could not be drawn.
    """
    name, near = f"URDF of {mechanism.name}", _file(source)
    builder = source_builder(source)
    if builder is None or str(source) in models():
        model = written_model(mechanism)
        if model is not None and any(link.visuals for link in model.links):
            return figure_of_links(model.links, model.joints, name, near, mesh_folders)
        if builder is None:
            return presentation.figure(mechanism)
    links, joints = list(builder.links.values()), list(builder.joints.values())
    figure = figure_of_links(links, joints, name, near, mesh_folders)
    if figure.shapes:
        return figure
    remark = f"{name}: the model has no visuals; only sticks from joint to joint are drawn"
    bare = Figure(figure.joints, (), figure.links[0], (*figure.remarks, remark))
    return bare.with_sticks(mechanism.size)


def _file(source: str | Path) -> Path | None:
    """Return the file to which mesh paths are relative; None if the model has no file."""
    text = str(source)
    if is_text(source) or text in models():
        return None
    return Path(source)
