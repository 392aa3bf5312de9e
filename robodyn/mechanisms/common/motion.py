# SPDX-License-Identifier: Apache-2.0


"""A motion in a mechanism's own coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray


class Motion(NamedTuple):
    """Configuration (..., nq), velocity and acceleration (..., nv) at one or many times.

    For a platform: pose (..., 7) [m, -], twist (..., 6) [m/s, rad/s], accel (..., 6) [m/s^2,
    rad/s^2]. For an arm: q, qd, qdd (..., n).
    """

    configuration: FloatArray
    velocity: FloatArray
    acceleration: FloatArray
