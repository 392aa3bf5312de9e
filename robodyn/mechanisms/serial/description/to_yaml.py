# SPDX-License-Identifier: Apache-2.0

"""An arm as a YAML file, its joints by their frames, so that any arm can be written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from robodyn.mechanisms.common.model_file import (
    actuator_fields,
    body_fields,
    finite,
    numbers,
    placement_fields,
    write_yaml,
)
from robodyn.model.body import Link
from robodyn.model.joint import Joint


def write_serial(mechanism: Any, path: Path) -> list[Path]:
    """Write an arm as a file that `load` reads; returns the files written.

    Raises:
        OutputError: the file cannot be written.
    """
    model, chain = mechanism.model, mechanism.chain
    write_yaml(
        path,
        {
            "type": "serial",
            "name": model.name,
            "gravity": numbers(model.gravity),
            "convention": "joint_frames",
            "home": numbers(mechanism.home),
            "base_link": model.base_link,
            "tip_link": model.tip_link,
            "tip": placement_fields(chain.tip),
            "links": [_link(*part) for part in zip(chain.joints, chain.links, strict=True)],
        },
    )
    return [path]


def _link(joint: Joint, link: Link) -> dict[str, Any]:
    limits: dict[str, Any] = finite(velocity=joint.velocity, effort=joint.effort)
    if np.isfinite(joint.position).all():
        limits["position"] = numbers(joint.position)
    out = {
        "name": joint.name,
        "joint": joint.kind,
        **placement_fields(joint.at),
        "axis": numbers(joint.axis),
        **body_fields(link),
        "damping": joint.damping,
    }
    out |= {"armature": joint.armature, "friction": numbers(joint.friction)}
    parts = {"actuator": actuator_fields(joint.drive), "limits": limits}
    return out | {name: value for name, value in parts.items() if value}
