# SPDX-License-Identifier: Apache-2.0

"""What a joint of a URDF says of its place, axis, limits and friction."""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.formats.urdf_motors import Motor
from robodyn.poses import pose_from_rpy, rotation_matrix

# As in SDFormat, a limit from here on means unlimited: XML has no portable infinity.
UNLIMITED = 1e16


def axis(joint: Any) -> FloatArray:
    """(3,) as stated; x where none is, or the joint has none: exporters state zeros there."""
    stated = None if joint.type in ("fixed", "floating") else joint.axis
    return np.array(stated or (1.0, 0.0, 0.0), dtype=np.float64)


def transform(origin: Any) -> FloatArray:
    """Homogeneous transform (4, 4) of a URDF `<origin>`, child frame to parent frame."""
    out = np.eye(4)
    if origin is not None:
        out[:3, 3] = origin.xyz or (0.0, 0.0, 0.0)
        out[:3, :3] = rotation_matrix(pose_from_rpy((0.0, 0.0, 0.0), origin.rpy or (0.0, 0.0, 0.0)))
    return out


def position_limits(joint: Any) -> FloatArray:
    """(2,) [rad or m]; where both ends are absent or 0, as exporters leave them, none are meant."""
    limit = joint.limit
    ends = (0.0, 0.0) if limit is None else (float(limit.lower or 0.0), float(limit.upper or 0.0))
    if ends == (0.0, 0.0) or joint.type in ("continuous", "floating", "fixed"):
        return np.array([-np.inf, np.inf])
    return np.array([finite(end) for end in ends])


def limit(joint: Any, name: str) -> float:
    """Of `effort` or `velocity`; absent or 0, as in many published models, none is meant."""
    value = 0.0 if joint.limit is None else float(getattr(joint.limit, name) or 0.0)
    return finite(abs(value)) or np.inf


def finite(value: float) -> float:
    """A limit, infinite from `UNLIMITED` on."""
    return float(np.copysign(np.inf, value)) if abs(value) >= UNLIMITED else float(value)


def damping(joint: Any) -> float:
    """[N m s/rad or N s/m]."""
    return float((joint.dynamics and joint.dynamics.damping) or 0.0)


def friction(joint: Any, motor: Motor) -> FloatArray:
    """(2,) [N m or N] Coulomb friction, forward and backward."""
    forward = float((joint.dynamics and joint.dynamics.friction) or 0.0)
    backward = forward if motor.friction_backward is None else motor.friction_backward
    return np.array([forward, backward])
