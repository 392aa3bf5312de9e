# SPDX-License-Identifier: Apache-2.0

"""Streams of single points, as servoing and teleoperation send them.

A point that arrives soon after the previous one is a target one period of the stream later, with
the velocity of the stream; then the next point takes over. A steady motion is thus followed with a
delay of one period.
"""

from __future__ import annotations

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.mechanism.mechanism import Mechanism
from robodyn.trajectories.base import Motion, RowTrajectory
from robodyn.trajectories.sampled import SampledTrajectory

# Points with longer intervals than this [s] are separate goals.
SLOWEST = 0.2
# Smallest period [s]: two points may arrive at the same tick.
QUICKEST = 2e-3
# Periods without a point after which the stream has ended.
PATIENCE = 3.0
# Weight of a new interval in the period, which smooths jitter of arrivals.
NEWER = 0.3


class StreamedPoint(RowTrajectory):
    """Motion at constant velocity through a streamed point, reached after one period.

    Args:
        mechanism: mechanism that moves.
        configuration: (nq,) configuration at the point.
        velocity: (nv,) velocity of the stream of points.
        period: [s] after which the point is reached.

    Attributes:
        moves: whether the velocity is not zero.
    """

    switching_times: tuple[float, ...] = ()

    def __init__(
        self, mechanism: Mechanism, configuration: FloatArray, velocity: FloatArray, period: float
    ) -> None:
        self._mechanism, self._at, self._velocity = mechanism, configuration, velocity
        self.period, self.moves = period, bool(velocity.any())

    @property
    def duration(self) -> float:
        """Time [s] until the stream counts as ended, if no further point arrives."""
        return PATIENCE * self.period

    def _rows(self, t: FloatArray) -> Motion:
        since = np.minimum(t, self.duration)[:, None] - self.period
        start = np.tile(self._at, (len(t), 1))
        velocity = np.tile(self._velocity, (len(t), 1))
        at = self._mechanism.advance(start, since * self._velocity) if self.moves else start
        return Motion(at, velocity, np.zeros_like(velocity))


class PointStream:
    """Converter of single points that arrive at short intervals into motions.

    Args:
        mechanism: mechanism that moves.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        self._mechanism = mechanism
        self._arrived: int | None = None
        self._at: FloatArray | None = None
        self._period: float | None = None

    def take(self, trajectory: SampledTrajectory, now: int) -> StreamedPoint | None:
        """Convert a single point that arrives at `now` [ns] to a motion through it.

        Returns:
            The motion; None if the trajectory has several points, or its point does not continue a
            stream. The caller then follows the trajectory itself.

        Raises:
            KinematicsError: the velocity of the joints is not determined at the point.
        """
        before, last = self._arrived, self._at
        self._arrived = self._at = None
        if len(trajectory.times) > 1:
            return None
        at, velocity, _ = (values[0] for values in trajectory.knots)
        self._arrived, self._at = now, at
        since = np.inf if before is None else 1e-9 * (now - before)
        if last is None or not 0.0 <= since <= SLOWEST:
            self._period = None
            return None
        old = since if self._period is None else self._period
        self._period = period = max(old + NEWER * (since - old), QUICKEST)
        if not velocity.any():
            velocity = self._mechanism.difference(last, at) / period
        # a stream beyond the limits is followed as fast as these allow
        rates = np.abs(self._mechanism.joint_velocities(at, velocity))
        velocity = velocity / max(float((rates / self._mechanism.velocity_limits).max()), 1.0)
        return StreamedPoint(self._mechanism, at, velocity, period)
