# SPDX-License-Identifier: Apache-2.0

"""A description in a file or a text: URDF, SDF and MJCF by their root elements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from robodyn.errors import warn
from robodyn.formats.inertia import check_inertias
from robodyn.formats.xacro_text import expand_xacro
from robodyn.formats.xml_text import root_tag
from robodyn.formats.yaml_text import read_text
from robodyn.model.builder import ModelBuilder
from robodyn.model.model import Model
from robodyn.parsing.urdf import parse_urdf

# At most as many names in one message.
NAMED = 8


def read_description(
    source: str | Path, xacro_args: Mapping[str, str] | None = None
) -> ModelBuilder:
    """Read a file, or text (which starts with `<`), of URDF, SDF or MJCF.

    `xacro_args` are the arguments of a .xacro file.

    Raises:
        ModelError: cannot be read, not well-formed, or an element is invalid; in one line with
            the file, the link or joint, the attribute and its value.
        MissingExtra: a .xacro file without the xacro package, MJCF without mujoco.
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


def name_zero_limits(builder: ModelBuilder, driven: Sequence[str]) -> None:
    """Warn of limits of 0 of driven joints, which could neither move nor hold anything."""
    for key in ("velocity", "effort"):
        zero = [repr(name) for name in driven if key in builder.zero_limits.get(name, ())]
        if zero:
            more = " ..." if len(zero) > NAMED else ""
            warn(
                f"{builder.source}: joints {', '.join(zero[:NAMED])}{more}: left out is the limit "
                f"of {key}, which is 0, as exporters leave it; state one above 0, or 1e16 for none"
            )


def check_links(model: Model, *, strict: bool) -> Model:
    """The model; warns about unphysical inertias, or rejects them with `strict=True`.

    Raises:
        UnphysicalInertia: with `strict=True`.
    """
    links = ((f"link {link.name!r}", link.inertia) for link in model.links)
    check_inertias(model.source or model.name, links, strict=strict)
    return model
