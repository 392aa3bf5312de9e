# SPDX-License-Identifier: Apache-2.0

"""A mechanism written to a file that `load` reads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from robodyn.errors import InvalidInput, OutputError
from robodyn.mechanisms.common.model_file import write_text
from robodyn.mechanisms.registry import kind_of

if TYPE_CHECKING:
    from robodyn.mechanisms.mechanism import Mechanism

YAML_SUFFIXES = (".yaml", ".yml")


def save(mechanism: Mechanism, file: str | Path) -> list[Path]:
    """Write a mechanism as a URDF or a YAML file; `load` of it gives an equal one.

    Bodies, joints, closures, friction, actuators, limits, gravity and home are all in the file.
    What URDF has no word for is in an element `<robodyn>`, which other programs pass over. The
    YAML file of a closed loop names a URDF, which is written beside it.

    Args:
        mechanism: of any kind that has such a file.
        file: .urdf, .yaml or .yml; its folder is made where there is none.

    Returns:
        The files written, the one asked for first.

    Raises:
        InvalidInput: another ending, or a kind of mechanism that has no such file.
        OutputError: the file cannot be written, or cannot say what the mechanism is.
    """
    path = Path(file).expanduser()
    ending = path.suffix.lower()
    if ending not in (".urdf", *YAML_SUFFIXES):
        raise InvalidInput(
            f"{file}: models are written as .urdf, .yaml or .yml files", value=str(file)
        )
    kind, made = kind_of(mechanism), cast(Any, type(mechanism))
    if mechanism.options and made(mechanism.model).options != mechanism.options:
        raise OutputError(
            f"{file}: {mechanism.name} was made with {mechanism.options}, which a model file "
            "cannot say; save one without, and give it when the mechanism is made",
            value=mechanism.options,
        )
    write = kind.adapter("model_file")
    if ending in YAML_SUFFIXES and write is not None:
        written: list[Path] = write(mechanism, path)
        return written
    if ending in YAML_SUFFIXES or kind.to_urdf is None:
        remedy = "its `to_urdf`" if ending == ".urdf" else "an adapter `model_file`"
        raise InvalidInput(
            f"{mechanism.name}: a mechanism of the kind {mechanism.kind!r} has no {ending} file; "
            f"register the kind with {remedy}",
            value=mechanism.kind,
        )
    write_text(path, kind.to_urdf(mechanism))
    return [path]
