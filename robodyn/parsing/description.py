# SPDX-License-Identifier: Apache-2.0

"""Readers of descriptions, selected by the root element: URDF, SDF and MJCF."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from robodyn.errors import warn
from robodyn.formats import expand_xacro, root_tag
from robodyn.formats.inertia import check_inertias
from robodyn.formats.yaml_text import read_text
from robodyn.model import Model, ModelBuilder
from robodyn.parsing.urdf import parse_urdf

# Largest number of names in one message.
NAMED = 8


def read_description(
    source: str | Path, xacro_args: Mapping[str, str] | None = None
) -> ModelBuilder:
    """Read a mechanism from a URDF, SDF or MJCF file, or from text in these formats.

    Args:
        source: path of a file, or text that starts with `<`.
        xacro_args: arguments for a .xacro file.

    Returns:
        A `ModelBuilder` with the links, joints, closures and actuators that the source describes.

    Raises:
        ModelError: the source cannot be read, is not well-formed, or has an invalid element; the
            error names the file, the link or joint, the attribute and its value.
        MissingExtra: the package xacro is missing for a .xacro file, or mujoco for MJCF.
    """
    given = isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith("<")
    path = Path() if given else Path(source)
    if given:
        text = str(source)
    else:
        text = expand_xacro(path, xacro_args) if path.suffix == ".xacro" else read_text(path)
    root = root_tag(text)
    if root == "mujoco":
        from robodyn.parsing.mjcf.reader import read_mjcf  # SciPy's rotations take long to import

        return read_mjcf(text if given else path)
    if root == "sdf":
        from robodyn.parsing.sdf.reader import read_sdf

        return read_sdf(text, "SDF text" if given else str(path))
    return parse_urdf(text, "URDF text" if given else str(path))


def warn_of_zero_limits(builder: ModelBuilder, driven: Sequence[str]) -> None:
    """Warn about driven joints with a velocity or effort limit of 0, which is ignored.

    A joint with such a limit could neither move nor support a load.

    Args:
        builder: builder with the joints that have such limits.
        driven: names of the driven joints.
    """
    for key in ("velocity", "effort"):
        zero = [repr(name) for name in driven if key in builder.zero_limits.get(name, ())]
        if zero:
            more = " ..." if len(zero) > NAMED else ""
            warn(
                f"{builder.source}: joints {', '.join(zero[:NAMED])}{more}: ignored the {key} "
                "limit of 0, a placeholder of exporters; give one above 0, or 1e16 for no limit"
            )


def check_links(model: Model, *, strict: bool) -> Model:
    """Warn about link inertias that no rigid body can have; reject them if `strict`.

    Returns:
        The model, unchanged.

    Raises:
        UnphysicalInertia: an inertia is unphysical and `strict` is True.
    """
    links = ((f"link {link.name!r}", link.inertia) for link in model.links)
    check_inertias(model.source or model.name, links, strict=strict)
    return model
