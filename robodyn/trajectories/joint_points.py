# SPDX-License-Identifier: Apache-2.0

"""Motions of joints through points in time, as a joint_trajectory_controller interpolates them.

Points with positions only are connected by straight segments, points with velocities by cubics,
points with accelerations by quintics. At corners of straight segments the velocity would jump,
which no effort can produce, so they are connected by parabolic blends, see `ViaPoints`.
"""

from __future__ import annotations

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_array, as_exact
from robodyn.errors import InvalidInput
from robodyn.trajectories.base import Trajectory
from robodyn.trajectories.displacements import hermite_quintic
from robodyn.trajectories.parabolic_blends import ViaPoints
from robodyn.trajectories.piecewise import PiecewisePolynomial

# Duration [s] of blends at the ends of straight segments; shorter for short segments.
BLEND = 0.1


def through_points(
    times: ArrayLike,
    positions: ArrayLike,
    velocities: ArrayLike | None = None,
    accelerations: ArrayLike | None = None,
) -> Trajectory:
    """Interpolate n joints through K points in time.

    Without velocities, the motion rests at both ends.

    Args:
        times: (K,) [s] from 0, strictly increasing.
        positions: (K, n) [m or rad] of the joints.
        velocities: (K, n) [m/s or rad/s] of the joints.
        accelerations: (K, n) [m/s^2 or rad/s^2]; ignored without velocities.

    Returns:
        The trajectory of the joints.

    Raises:
        InvalidInput: there are no points, shapes do not match, values are not finite, or times do
            not increase.
    """
    times, positions = as_array("times", times, (), "s"), as_array("positions", positions, ())
    if times.ndim != 1 or not times.size or positions.shape[:-1] != times.shape:
        raise InvalidInput(
            f"times has shape {times.shape} and positions {positions.shape}, expected (K,) and "
            "(K, n) with at least one point",
            value=times,
        )
    if times[0] != 0.0 or (np.diff(times) <= 0.0).any():
        raise InvalidInput(
            f"times are {times.tolist()}, must begin at 0 and be strictly increasing [s]",
            value=times,
        )
    if velocities is None and len(times) > 1:
        return ViaPoints(positions, np.diff(times), _blends(np.diff(times)))
    rates = np.zeros_like(positions) if velocities is None else velocities
    v = as_exact("velocities", rates, positions.shape)
    if len(times) == 1:
        return PiecewisePolynomial(np.zeros(2), positions[None], positions[0])
    h = np.diff(times)[:, None]
    first, last = (positions[:-1], h * v[:-1]), (positions[1:], h * v[1:])
    if accelerations is None:
        d = last[0] - first[0]
        c = np.stack([*first, 3.0 * d - 2.0 * first[1] - last[1], first[1] + last[1] - 2.0 * d])
    else:
        a = as_exact("accelerations", accelerations, positions.shape)
        c = hermite_quintic((*first, h**2 * a[:-1]), (*last, h**2 * a[1:]))
    # in powers of the fraction of a segment's duration, then of time
    c /= h ** np.arange(len(c))[:, None, None]
    return PiecewisePolynomial(times, c, positions[-1])


def _blends(durations: FloatArray) -> FloatArray:
    """Return durations (K,) [s] of the blends at K points.

    No blend is longer than a segment next to its point; `durations` (K - 1,) are those of the
    segments.
    """
    shortest = np.minimum(np.append(durations, np.inf), np.append(np.inf, durations))
    shortest[[0, -1]] *= 0.5
    return np.asarray(np.minimum(shortest, BLEND))
