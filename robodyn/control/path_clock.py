# SPDX-License-Identifier: Apache-2.0

"""Time along a path: real time, or slower by a speed scale with a bounded rate of change.

With path time s(t), a trajectory q(s) is followed as q(s), qd = q' s', qdd = q'' s'^2 + q' s''. The
speed s' approaches the requested scale at a constant rate, so s'' is known and only the
acceleration is discontinuous. If the scale has always been 1, s is exactly the time since the
beginning.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from robodyn.checks import as_scalar
from robodyn.trajectories.base import Motion, Trajectory

# A state that is older than the previous one by up to this time is late; if it is older still, the
# clock was set back.
LATE = 100_000_000  # [ns]


class Pace(NamedTuple):
    """Time along a path, speed and rate of change of the speed.

    Attributes:
        path: time [s] on the trajectory, negative before it begins.
        speed: s', 1 for real time.
        change: s'' [1/s], constant from this time.
    """

    path: float
    speed: float
    change: float

    def motion(self, trajectory: Trajectory, ahead: float = 0.0) -> Motion:
        """Compute the motion over real time of a mechanism that follows a path.

        Args:
            trajectory: motion over path time.
            ahead: [s] real time from now at which to evaluate the motion; the speed is treated as
                constant until then.

        Returns:
            Configuration, and velocity and acceleration with respect to real time.
        """
        motion = trajectory.sample(self.path + self.speed * ahead)
        if self.speed == 1.0 and self.change == 0.0:
            return motion
        return Motion(
            motion.configuration,
            self.speed * motion.velocity,
            self.speed**2 * motion.acceleration + self.change * motion.velocity,
        )


class PathClock:
    """Converter from the time of states [ns] to the time along a path.

    Args:
        rate: largest rate of change of the speed [1/s].

    Attributes:
        target: requested speed, 0 to 1; it takes effect at the next state.

    Raises:
        InvalidInput: the rate is not positive.
    """

    def __init__(self, rate: float) -> None:
        self._rate = as_scalar("scale_rate", rate, "1/s", above=0.0)
        self.target = 1.0
        self._speed, self._change, self._goal = 1.0, 0.0, 1.0
        self._origin, self._offset = 0, 0.0
        self._has_begun = False

    def begin(self, time: int) -> None:
        """Start at path time 0 at `time` [ns].

        The mechanism is at rest, so the speed may start at any value.
        """
        self._origin, self._offset, self._has_begun = time, 0.0, False

    def continue_on(self, time: int, start: int) -> float:
        """Switch to another path at `time` [ns], keeping the current speed.

        `start` [ns] is the time at which the other path began.

        Returns:
            Time [s] along the other path at `time`.
        """
        since = (time - start) * 1e-9
        real = self._is_real
        self._origin, self._offset = (start, 0.0) if real else (time, since)
        self._has_begun = True
        return since

    def at(self, time: int) -> Pace:
        """Return the `Pace` at `time` [ns]: path time, speed, and change of the speed.

        For a time before the previous one, the result is nearly the previous pace.
        """
        since = (time - self._origin) * 1e-9
        if not self._has_begun:
            self._speed = self._goal = self.target
            self._change = 0.0
            if since < 0.0:
                return Pace(since, self._speed, 0.0)
            self._has_begun = True
        was_real = self._is_real
        if was_real:
            path = self._offset + since
        elif since < 0.0:
            path = max(self._offset + self._speed * since, 0.0)
            if time < self._origin - LATE:
                self._origin, self._offset = time, path
            return Pace(path, self._speed, self._change)
        else:
            path = self._offset + self._advance(since)
        self._update_rate()
        if not (was_real and self._is_real):
            self._origin, self._offset = time, path
        return Pace(path, self._speed, self._change)

    @property
    def _is_real(self) -> bool:
        return self._speed == 1.0 and self._change == 0.0

    def _advance(self, dt: float) -> float:
        """Advance by `dt` [s] while the speed factor changes; return the elapsed path time."""
        if not self._change:
            return self._speed * dt
        ramp = min((self._goal - self._speed) / self._change, dt)
        covered = ramp * (self._speed + 0.5 * self._change * ramp)
        self._speed = self._goal if ramp < dt else self._speed + self._change * ramp
        return covered + self._speed * (dt - ramp)

    def _update_rate(self) -> None:
        self._goal = self.target
        if self._speed == self._goal:
            self._change = 0.0
        else:
            self._change = math.copysign(self._rate, self._goal - self._speed)
