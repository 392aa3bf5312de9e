# SPDX-License-Identifier: Apache-2.0

"""Parts of model files that kinds read and write: frames, bodies, actuators; documents, files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from robodyn.actuators import Actuator
from robodyn.arrays import FloatArray
from robodyn.errors import ModelError, OutputError, RobodynError
from robodyn.formats.documents import Fields
from robodyn.model.body import Body
from robodyn.model.fields import inertia_tensor
from robodyn.model.placement import Placement
from robodyn.poses import pose_from_rpy, rotation_matrix, rpy_of_rotation

HEADER = "# Written by robodyn; `robodyn check {name}` shows how it is read.\n"


def numbers(values: FloatArray) -> Any:
    """An array as nested lists of plain numbers."""
    return np.asarray(values, dtype=np.float64).tolist()


@contextmanager
def stated_in(block: Fields, name: str = "") -> Iterator[None]:
    """What is wrong with a model's part is told with the file and the field that state it.

    Raises:
        ModelError: instead of an error that names neither.
    """
    try:
        yield
    except RobodynError as error:
        where = block.where(name) if name else block.path
        raise ModelError(f"{block.source}: {where}: {error}", value=error.value) from error


def placement_of(block: Fields) -> Placement:
    """The frame of `xyz` [m] and `rpy` [rad], as a URDF states an origin; none by default."""
    rpy = block.array("rpy", (3,), "rad", default=[0.0] * 3)
    xyz = block.array("xyz", (3,), "m", default=[0.0] * 3)
    return Placement(rotation_matrix(pose_from_rpy(np.zeros(3), rpy)), xyz)


def placement_fields(at: Placement) -> dict[str, Any]:
    """A frame as `placement_of` reads it."""
    return {"xyz": numbers(at.translation), "rpy": numbers(rpy_of_rotation(at.rotation))}


def body_of(block: Fields) -> Body:
    """The body of `mass`, `com` and `inertia`.

    Raises:
        ModelError: a field that is missing or wrong.
    """
    mass, com = block.number("mass", "kg", at_least=0.0), block.array("com", (3,), "m")
    inertia, where = block.array("inertia", (3, 3), "kg m^2"), block.where("inertia")
    return Body(mass, com, inertia_tensor(f"{block.source}: {where}", inertia))


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
