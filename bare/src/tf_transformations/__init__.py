# SPDX-License-Identifier: Apache-2.0

"""Roll, pitch and yaw as quaternions and back, as upstream's: R = Rz(yaw) Ry(pitch) Rx(roll)."""

from __future__ import annotations

from collections.abc import Iterable
from math import atan2, cos, hypot, sin

__all__ = ["euler_from_quaternion", "quaternion_from_euler"]

# Below this cosine of the pitch only the sum, or difference, of roll and yaw is determined.
LOCKED = 8.881784197001252e-16


def quaternion_from_euler(ai: float, aj: float, ak: float) -> tuple[float, float, float, float]:
    """Return x, y, z, w of roll, pitch and yaw [rad], about the axes of the fixed frame."""
    (cr, cp, cy), (sr, sp, sy) = ([f(0.5 * angle) for angle in (ai, aj, ak)] for f in (cos, sin))
    return (
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
        cr * cp * cy + sr * sp * sy,
    )


def euler_from_quaternion(quaternion: Iterable[float]) -> tuple[float, float, float]:
    """Return roll, pitch and yaw [rad] of x, y, z, w; no yaw where the pitch is +-90 deg."""
    x, y, z, w = quaternion
    scale = 2.0 / (x * x + y * y + z * z + w * w)
    forward = 1.0 - scale * (y * y + z * z), scale * (x * y + w * z)
    pitch = atan2(scale * (w * y - x * z), hypot(*forward))
    if hypot(*forward) > LOCKED:
        roll = atan2(scale * (y * z + w * x), 1.0 - scale * (x * x + y * y))
        return roll, pitch, atan2(forward[1], forward[0])
    return atan2(scale * (w * x - y * z), 1.0 - scale * (x * x + z * z)), pitch, 0.0
