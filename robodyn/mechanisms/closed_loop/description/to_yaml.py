# SPDX-License-Identifier: Apache-2.0

"""A mechanism with closed loops as a YAML file and the URDF that it names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from robodyn.errors import OutputError
from robodyn.mechanisms.common.model_file import write_text, write_yaml
from robodyn.mechanisms.common.urdf_writer import tree_urdf


def write_closed_loop(mechanism: Any, path: Path) -> list[Path]:
    """Write `path` and the URDF that it names, beside it; returns the files written.

    Raises:
        OutputError: a file cannot be written, the URDF cannot state the mechanism, or a YAML file
            that is new would take the place of another URDF.
    """
    model, urdf = mechanism.model, path.with_suffix(".urdf")
    text = tree_urdf(model, mechanism.kind)
    if urdf.exists() and not path.exists() and urdf.read_text("utf-8", "replace") != text:
        raise OutputError(
            f"{path}: the URDF that it names would be written over {urdf}; choose another name",
            value=str(urdf),
        )
    write_text(urdf, text)
    document = {
        "type": mechanism.kind,
        "name": model.name,
        "urdf": urdf.name,
        "tip_link": model.tip_link,
        "actuated_joints": list(model.driven),
    }
    write_yaml(path, document)
    return [path, urdf]
