# SPDX-License-Identifier: Apache-2.0

"""Motions of a mechanism in its own coordinates, of its driven joints, and of all joints."""

from __future__ import annotations

from typing import NamedTuple

from robodyn.arrays import FloatArray, short_repr


class Motion(NamedTuple):
    """Configuration (..., nq), velocity (..., nv) and acceleration (..., nv) over time.

    For a platform: pose (..., 7) [m, -], twist (..., 6) [m/s, rad/s], accel (..., 6) [m/s^2,
    rad/s^2]. For an arm: q, qd, qdd (..., n).
    """

    configuration: FloatArray
    velocity: FloatArray
    acceleration: FloatArray

    def __repr__(self) -> str:
        return short_repr(self)


class JointStates(NamedTuple):
    """Positions and velocities of all joints, including passive ones, as in `JointState`.

    Attributes:
        names: (k,) in the order of the values.
        positions: (..., k) [rad or m] as the URDF measures them.
        velocities: (..., k) [rad/s or m/s].
    """

    names: tuple[str, ...]
    positions: FloatArray
    velocities: FloatArray

    def __repr__(self) -> str:
        return short_repr(self)


class DrivenMotion(NamedTuple):
    """Positions, velocities and accelerations (..., n) of the driven joints.

    Attributes:
        positions: [m or rad].
        velocities: [m/s or rad/s].
        accelerations: [m/s^2 or rad/s^2].
    """

    positions: FloatArray
    velocities: FloatArray
    accelerations: FloatArray

    def __repr__(self) -> str:
        return short_repr(self)
