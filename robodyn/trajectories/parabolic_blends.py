# SPDX-License-Identifier: Apache-2.0

"""Motions past points without stopping: linear segments with parabolic blends at the points.

Paul (1981), section 5.4; Craig, Introduction to Robotics, section 7.3. Every coordinate has a
constant rate along a segment and a constant acceleration during a blend, which is centered on the
time of its point. The motion misses the point by (rate after - rate before) blend/8. It rests at
both ends; the first and last blends are within their segments, whose rate is chosen so that the
ends are met exactly.
"""

from __future__ import annotations

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_array, as_exact
from robodyn.errors import InfeasibleTrajectory, InvalidInput
from robodyn.trajectories.base import Motion
from robodyn.trajectories.line import pose_motion
from robodyn.trajectories.piecewise import PiecewisePolynomial

# Relative tolerance: blends that fill a segment to within this have its duration.
BLEND_TOLERANCE = 1e-9


class ViaPoints(PiecewisePolynomial):
    """Trajectory that passes near points without stopping.

    Args:
        points: (K, n) [rad or m] joint positions; with `poses` (K, 6) x y z [m], roll pitch yaw
            [rad], interpolated linearly.
        durations: (K - 1,) [s] from point to point.
        blends: (K,) [s] duration of the blend at each point.
        poses: whether the points are poses of a platform instead of joint positions.

    Raises:
        InvalidInput: shapes do not match, values are not finite, or times are not positive.
        InfeasibleTrajectory: blends are longer than a segment.
    """

    def __init__(
        self, points: ArrayLike, durations: ArrayLike, blends: ArrayLike, *, poses: bool = False
    ) -> None:
        self.points = as_array("points", points, (6,) if poses else ())
        if self.points.ndim != 2 or len(self.points) < 2:
            raise InvalidInput(
                f"points has shape {self.points.shape}, expected (K, n) with at least two points",
                value=points,
            )
        size = len(self.points)
        self.durations = as_exact("durations", durations, (size - 1,), "s")
        self.blends = as_exact("blends", blends, (size,), "s")
        for name, times in (("durations", self.durations), ("blends", self.blends)):
            if not (times > 0.0).all():
                raise InvalidInput(f"{name} is {times.tolist()}, must be positive [s]", value=times)
        crowded = find_overlong_blends(self.durations, self.blends)
        if crowded is not None:
            needed = float(blend_times(self.blends)[crowded])
            raise InfeasibleTrajectory(
                f"the blends of points {crowded} and {crowded + 1} take {needed:.6g} s, but only "
                f"{self.durations[crowded]:.6g} s lie between them; shorten the blends",
                value=needed,
            )
        self._poses = poses
        rate = np.diff(self.points, axis=0) / cruise_durations(self.durations, self.blends)[:, None]
        at = np.concatenate([[0.0], np.cumsum(self.durations)])
        half = 0.5 * self.blends
        # the first and last blends are centered half a blend inside
        at[0], at[-1] = half[0], at[-1] - half[-1]
        rest = np.zeros((1, rate.shape[1]))
        before, after = np.concatenate([rest, rate]), np.concatenate([rate, rest])
        knots = np.stack([at - half, at + half], axis=1).reshape(-1)
        knots[0] = 0.0
        # blend, segment, blend, ..., blend
        c = np.zeros((3, len(knots) - 1, rate.shape[1]))
        c[0, ::2] = self.points - half[:, None] * before
        c[0, 1::2] = (self.points + half[:, None] * after)[:-1]
        c[0, 0] = self.points[0]
        c[1, ::2], c[1, 1::2] = before, rate
        c[2, ::2] = 0.5 * ((after - before) / self.blends[:, None])
        super().__init__(knots, c, self.points[-1])

    @property
    def switching_times(self) -> tuple[float, ...]:
        """Times [s] at which a blend begins or ends and the acceleration changes."""
        changes = np.diff(self._derivatives[2][0], axis=0).any(axis=1)
        inner = np.unique(self._knots[1:-1][changes]).tolist()
        return tuple(t for t in inner if 0.0 < t < self.duration)

    def _rows(self, t: FloatArray) -> Motion:
        motion = super()._rows(t)
        motion.velocity[t >= self.duration] = 0.0
        if not self._poses:
            return motion
        x, v, a = motion
        place, angles = ((x[:, k], v[:, k], a[:, k]) for k in (slice(3), slice(3, None)))
        return pose_motion(place, angles)


def blend_times(blends: FloatArray) -> FloatArray:
    """Return the time (K - 1,) [s] that blends take from each segment.

    A blend takes half of its duration from each neighboring segment; the first and the last blend
    are entirely within their segments.

    Args:
        blends: (K,) [s] durations of the blends.
    """
    fraction = 0.5 * blends
    fraction[0], fraction[-1] = blends[0], blends[-1]
    return np.asarray(fraction[:-1] + fraction[1:])


def cruise_durations(durations: FloatArray, blends: FloatArray) -> FloatArray:
    """Return the durations (K - 1,) [s] from which constant rates are computed.

    The rate in a segment is the displacement from point to point divided by this duration. In the
    first and the last segment, the duration is that of the segment minus half a blend, because the
    motion starts and stops within these segments.

    Args:
        durations: (K - 1,) [s] of the segments.
        blends: (K,) [s] of the blends.
    """
    times: FloatArray = durations.copy()
    times[0] -= 0.5 * blends[0]
    times[-1] -= 0.5 * blends[-1]
    return times


def find_overlong_blends(durations: FloatArray, blends: FloatArray) -> int | None:
    """Return the index of the first segment that is shorter than its blends.

    Args:
        durations: (K - 1,) [s] of the segments.
        blends: (K,) [s] of the blends.

    Returns:
        The index; None if all blends fit.
    """
    crowded = np.flatnonzero(blend_times(blends) > durations * (1.0 + BLEND_TOLERANCE))
    return int(crowded[0]) if crowded.size else None
