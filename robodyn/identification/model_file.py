# SPDX-License-Identifier: Apache-2.0

"""An identified mechanism as a model file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from robodyn.errors import InvalidInput
from robodyn.mechanisms.registry import kind_of

if TYPE_CHECKING:
    from robodyn.mechanisms.mechanism import Mechanism


def write_model(mechanism: Mechanism, path: str | Path) -> list[Path]:
    """Write a mechanism as a .yaml file that `load` reads; returns the files written.

    A closed loop is written as a URDF as well, beside the .yaml file that names it.

    Raises:
        InvalidInput: another kind of file, or a kind of mechanism that has no model file.
        OutputError: a file cannot be written.
    """
    target = Path(path).expanduser()
    if target.suffix.lower() not in (".yaml", ".yml"):
        raise InvalidInput(f"{path}: models are written as .yaml files", value=str(path))
    write = kind_of(mechanism).adapter("model_file")
    if write is None:
        raise InvalidInput(
            f"{mechanism.name}: there is no model file of the kind {mechanism.kind!r}",
            value=mechanism.kind,
        )
    written: list[Path] = write(mechanism, target)
    return written
