# SPDX-License-Identifier: Apache-2.0

"""Parts of model files that kinds write: documents as YAML text, actuators, files."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
import yaml

from robodyn.actuators import Actuator
from robodyn.errors import OutputError

if TYPE_CHECKING:
    from pathlib import Path

    from robodyn.arrays import FloatArray

HEADER = "# Written by robodyn; `robodyn check {name}` shows how it is read.\n"


def numbers(values: FloatArray) -> Any:
    """An array as nested lists of plain numbers."""
    return np.asarray(values, dtype=np.float64).tolist()


def body_fields(body: Any) -> dict[str, Any]:
    """Mass, com and inertia of a body as model files have them."""
    return {"mass": float(body.mass), "com": numbers(body.com), "inertia": numbers(body.inertia)}


def actuator_fields(actuator: Actuator) -> dict[str, Any]:
    """What of an actuator is not ideal."""
    ideal = Actuator()
    out: dict[str, Any] = {}
    for item in fields(Actuator):
        value = getattr(actuator, item.name)
        if value != getattr(ideal, item.name):
            out[item.name] = [list(pair) for pair in value] if isinstance(value, tuple) else value
    return out


def finite(**values: float) -> dict[str, float]:
    """Those of the values that are finite: limits that there are."""
    return {name: float(value) for name, value in values.items() if np.isfinite(value)}


def write_yaml(path: Path, document: dict[str, Any]) -> None:
    """Write a document that `load` reads.

    Raises:
        OutputError: the file cannot be written.
    """
    text = yaml.safe_dump(document, sort_keys=False, default_flow_style=None, width=100)
    write_text(path, HEADER.format(name=path.name) + text)


def write_text(path: Path, text: str) -> None:
    """Write a file, and its folder where there is none.

    Raises:
        OutputError: it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error}", value=str(path)) from error
