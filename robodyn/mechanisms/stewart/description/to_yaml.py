# SPDX-License-Identifier: Apache-2.0

"""A platform as a YAML file."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from robodyn.mechanisms.common.model_file import (
    actuator_fields,
    body_fields,
    finite,
    numbers,
    write_yaml,
)
from robodyn.mechanisms.stewart.six_legs import Leg
from robodyn.poses import rpy_from_pose


def write_stewart(mechanism: Any, path: Path) -> list[Path]:
    """Write a platform as a file that `load` reads; returns the files written.

    Raises:
        OutputError: the file cannot be written.
    """
    six = mechanism.six_legs
    document = {
        "type": "stewart",
        "name": six.name,
        "gravity": numbers(six.gravity),
        "platform": body_fields(six.platform),
        "legs": [_leg(leg) for leg in six.legs],
    }
    if six.home is not None:
        xyz, rpy = rpy_from_pose(six.home)
        document["home"] = {"xyz": numbers(xyz), "rpy": numbers(rpy)}
    write_yaml(path, document)
    return [path]


def _leg(leg: Leg) -> dict[str, Any]:
    limits: dict[str, Any] = finite(velocity=leg.limits.velocity, effort=leg.limits.effort)
    shortest, longest = leg.limits.length
    if longest < float("inf"):
        limits["length"] = [float(shortest), float(longest)]
    out = {
        "base": numbers(leg.base),
        "platform": numbers(leg.platform),
        "universal_axis": numbers(leg.universal_axis),
        "lower": body_fields(leg.lower),
        "upper": body_fields(leg.upper),
        "damping": {name: float(value) for name, value in asdict(leg.damping).items()},
    }
    drive = actuator_fields(leg.actuator)
    reading = leg.joints.actuator
    measured = {"name": reading.name, "sign": float(reading.sign), "offset": float(reading.offset)}
    parts = {"actuator": drive, "armature": float(leg.armature), "limits": limits}
    parts["reading"] = measured
    return out | {name: value for name, value in parts.items() if value}
