# SPDX-License-Identifier: Apache-2.0

"""Motions of joints through points in time, as a joint_trajectory_controller interpolates them.

What the points have decides: positions only, straight segments; velocities too, cubics;
accelerations too, quintics. Straight segments would have rates that jump, for which no efforts are
enough: they are joined by parabolic blends, see `ViaPoints`.
"""

from __future__ import annotations

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_array, as_exact
from robodyn.errors import InvalidInput
from robodyn.trajectories.base import Motion, RowTrajectory, Trajectory
from robodyn.trajectories.via_points import ViaPoints

# Of a straight segment's ends [s]; shorter where segments are short.
BLEND = 0.1


def through_points(
    times: ArrayLike,
    positions: ArrayLike,
    velocities: ArrayLike | None = None,
    accelerations: ArrayLike | None = None,
) -> Trajectory:
    """The motion of n joints through K points; without velocities it rests at both ends.

    Args:
        times: (K,) [s] from 0, strictly increasing.
        positions: (K, n) [m or rad].
        velocities: (K, n) [m/s or rad/s].
        accelerations: (K, n) [m/s^2 or rad/s^2]; without velocities they are not looked at.

    Raises:
        InvalidInput: no points, shapes that do not match, not finite, other times.
    """
    times, positions = as_array("times", times, (), "s"), as_array("positions", positions, ())
    if times.ndim != 1 or not times.size or positions.shape[:-1] != times.shape:
        raise InvalidInput(
            f"times has shape {times.shape} and positions {positions.shape}, expected (K,) and "
            "(K, n), one point or more",
            value=times,
        )
    if times[0] != 0.0 or (np.diff(times) <= 0.0).any():
        raise InvalidInput(
            f"times are {times.tolist()}, must begin at 0 and increase strictly [s]", value=times
        )
    if velocities is None and len(times) > 1:
        return ViaPoints(positions, np.diff(times), _blends(np.diff(times)))
    return JointSpline(times, positions, velocities, accelerations)


def _blends(durations: FloatArray) -> FloatArray:
    """Times (K,) [s] of the blends: none is longer than the segments that it takes up."""
    shortest = np.minimum(np.append(durations, np.inf), np.append(np.inf, durations))
    shortest[[0, -1]] *= 0.5
    return np.asarray(np.minimum(shortest, BLEND))


class JointSpline(RowTrajectory):
    """Cubics between points with velocities, quintics between points with accelerations.

    Args:
        times, positions, velocities, accelerations: as for `through_points`, and checked there.
    """

    def __init__(
        self,
        times: FloatArray,
        positions: FloatArray,
        velocities: ArrayLike | None,
        accelerations: ArrayLike | None,
    ) -> None:
        self._times, self._positions = times, positions
        shape = positions.shape
        if velocities is None:
            velocities = np.zeros(shape)
        v = as_exact("velocities", velocities, shape)
        h = np.diff(times)[:, None]
        whole, first, last = np.diff(positions, axis=0), h * v[:-1], h * v[1:]
        # displacements in powers of the share of a segment's time
        c = np.zeros((6, len(h), shape[1]))
        c[1] = first
        if accelerations is None:
            c[2] = 3.0 * whole - 2.0 * first - last
            c[3] = first + last - 2.0 * whole
        else:
            a = as_exact("accelerations", accelerations, shape)
            a0, a1 = 0.5 * h**2 * a[:-1], 0.5 * h**2 * a[1:]
            c[2] = a0
            c[3] = 10.0 * whole - 6.0 * first - 4.0 * last - 3.0 * a0 + a1
            c[4] = -15.0 * whole + 8.0 * first + 7.0 * last + 3.0 * a0 - 2.0 * a1
            c[5] = 6.0 * whole - 3.0 * (first + last) - a0 + a1
        self._c = c

    @property
    def duration(self) -> float:
        """Time of the last point [s]."""
        return float(self._times[-1])

    @property
    def switching_times(self) -> tuple[float, ...]:
        """Every inner point."""
        return tuple(float(t) for t in self._times[1:-1])

    def _rows(self, t: FloatArray) -> Motion:
        x = self._positions[np.where(t < self.duration, 0, -1)]
        v, a = np.zeros((2, *x.shape))
        rows, knots = np.flatnonzero((t >= 0.0) & (t <= self.duration)), self._times
        if not rows.size or len(knots) == 1:
            return Motion(x, v, a)
        piece = np.clip(np.searchsorted(knots, t[rows], side="right") - 1, 0, len(knots) - 2)
        h = (knots[piece + 1] - knots[piece])[:, None]
        s = (t[rows] - knots[piece])[:, None] / h
        c = self._c[:, piece]
        x[rows] = self._positions[piece] + sum(c[k] * s**k for k in range(1, 6))
        v[rows] = sum(k * c[k] * s ** (k - 1) for k in range(1, 6)) / h
        a[rows] = sum(k * (k - 1) * c[k] * s ** (k - 2) for k in range(2, 6)) / h**2
        return Motion(x, v, a)
