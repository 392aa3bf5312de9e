# SPDX-License-Identifier: Apache-2.0

"""An arm as a YAML file, its joints by their frames, so that any arm can be written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.mechanisms.common.model_file import (
    actuator_fields,
    body_fields,
    finite,
    numbers,
    write_yaml,
)
from robodyn.poses import rpy_of_rotation

if TYPE_CHECKING:
    from pathlib import Path

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.serial.model import SerialJoint


def write_serial(mechanism: Any, path: Path) -> list[Path]:
    """Write an arm as a file that `load` reads; returns the files written.

    Raises:
        OutputError: the file cannot be written.
    """
    model = mechanism.model
    write_yaml(
        path,
        {
            "type": "serial",
            "name": model.name,
            "gravity": numbers(model.gravity),
            "convention": "joint_frames",
            "home": numbers(model.home),
            "base_link": model.base_link,
            "tip_link": model.tip_link,
            "tip": _frame(model.tip_rotation, model.tip_translation),
            "links": [_link(joint) for joint in model.joints],
        },
    )
    return [path]


def _frame(rotation: FloatArray, translation: FloatArray) -> dict[str, Any]:
    return {"xyz": numbers(translation), "rpy": numbers(rpy_of_rotation(rotation))}


def _link(joint: SerialJoint) -> dict[str, Any]:
    limits: dict[str, Any] = finite(velocity=joint.velocity, effort=joint.effort)
    if np.isfinite(joint.position).all():
        limits["position"] = numbers(joint.position)
    out = {
        "name": joint.name,
        "joint": joint.kind,
        **_frame(joint.rotation, joint.translation),
        "axis": numbers(joint.axis),
        **body_fields(joint),
        "damping": joint.damping,
    }
    out |= {"armature": joint.armature, "friction": numbers(joint.friction)}
    parts = {"actuator": actuator_fields(joint.drive), "limits": limits}
    return out | {name: value for name, value in parts.items() if value}
