# SPDX-License-Identifier: Apache-2.0

"""Homing by stops: each joint moves slowly to the stop at its lower end."""

from __future__ import annotations

from typing import Final

import numpy as np

from robodyn.arrays import BoolArray, FloatArray
from robodyn.mechanism.mechanism import Mechanism
from robodyn.motion_base.machine.commander import SetPoint
from robodyn.motion_base.machine.limits import DriveLimits
from robodyn.motion_base.machine.set_points import SetPoints

HOMINGS: Final = ("absolute", "assumed", "stall")
# Least lag of a drive at its stop, relative to the joint's range. Relative to that lag: the largest
# lead of a command over its drive, and the largest motion of a drive at rest.
STALLED, LEASH, REST_MOTION = 0.02, 2.0, 0.1
# Time [s] for which a drive at its stop is at rest, and in which it follows a command away from it.
# A drive with a time constant of 10 s that lags as far as at a stop still moves in the former.
REST, FOLLOWS = 1.0, 5.0


class Homing:
    """Homing of all joints: slow motion to the switch or stop at each lower end.

    A drive is at its stop if it does not move although its command is ahead. The command leads the
    drive only slightly and waits for slow ones, so lag is not mistaken for a stop, and no drive is
    pressed hard against one. Then the drive moves slightly away from its stop, which shows that it
    follows commands. Set-points are in the drives' own positions; `offset` converts them. No joint
    moves further than its range plus the lag at a stop.

    Args:
        mechanism: mechanism to home.
        limits: limits of the joints.
        dt: [s] duration of a tick.
        start: (n,) positions reported by the drives.
        slow: fraction of the limits of rate, acceleration and jerk.

    Attributes:
        offset: (n,) joint positions minus those reported by the drives, once `is_done`.
        ends: (n, 2) range of the commands, in the drives' positions.
        points: set-points, in the drives' positions.
        problem: reason for a failure, or empty.
    """

    def __init__(
        self, mechanism: Mechanism, limits: DriveLimits, dt: float, start: FloatArray, slow: float
    ) -> None:
        self._names, self._units, self._dt = mechanism.joint_names, mechanism.drives.units, dt
        self._lower, self._width = limits.positions[:, 0], np.diff(limits.positions, axis=1)[:, 0]
        self._stalled, self._start = STALLED * self._width, start
        self.ends = np.column_stack(
            [start - self._width - LEASH * self._stalled, start + self._stalled]
        )
        self.points = SetPoints(DriveLimits(self.ends, *(slow * limits.rows)), dt, start)
        self._goal, self._last = start.copy(), start.copy()
        self._found, self._left = np.zeros((2, len(start)), dtype=bool)
        self._switches = self._found.copy()
        self._still, self._waited = np.zeros((2, len(start)))
        self._report, self._since = start, 0.0
        self.offset = np.full(len(start), np.nan)
        self.problem = ""

    @property
    def is_done(self) -> bool:
        """Whether all joints have been at their stops, have left them and are at rest."""
        away = np.abs(self.points.state[0] - self._goal)
        return bool(
            self._left.all() and self.points.is_at_rest and (away < 1e-3 * self._stalled).all()
        )

    @property
    def point(self) -> SetPoint:
        """Last set-point of the drives, in their own positions."""
        p, v, a = self.points.state
        return SetPoint(p, v, a, np.zeros_like(p))

    def touch(self, joints: BoolArray) -> None:
        """Record which of the switches (n,) at the stops are closed."""
        self._switches = joints

    def stop(self) -> None:
        """Brake all joints for one tick."""
        self.points.brake()

    def step(self, measured: FloatArray) -> None:
        """Advance homing by one tick.

        `measured` (n,) [m or rad] are the positions last reported by the drives.
        """
        searching, position = ~self._found, self.points.state[0]
        away = searching & ((measured < self.ends[:, 0]) | (measured > self.ends[:, 1]))
        missed = searching & (measured < self._start - self._width - self._stalled)
        stuck = self._found & ~self._left & (self._waited > FOLLOWS)
        if away.any():
            self.problem = self._describe(
                away, measured, "reports {}, outside its range by more than the range itself"
            )
        elif missed.any():
            travel = self._start - measured
            self.problem = self._describe(
                missed, travel, "found no stop within {}, which is more than its range"
            )
        elif stuck.any():
            self.problem = self._describe(
                stuck, measured, "remains at {} although it is commanded away from its stop"
            )
        if self.problem:
            self.stop()
            return
        self._update_rest_times(measured)
        is_stalled = (measured - position > self._stalled) & (self._still >= REST)
        reached = searching & (self._switches | is_stalled)
        self.offset[reached] = (self._lower - measured)[reached]
        self._found |= reached
        self._leave_stops(measured, reached)
        ahead = np.minimum(self._goal, measured - LEASH * self._stalled)
        self._goal = np.where(self._found, self._goal, np.maximum(ahead, self.ends[:, 0]))
        self.points.take(
            *self.points.next_state(np.array([self._goal, *np.zeros((2, len(measured)))]))
        )

    def _update_rest_times(self, measured: FloatArray) -> None:
        """Measure how long each drive has been at rest, as of its last position report."""
        self._since += self._dt
        if measured is self._report:
            return
        moves = np.abs(measured - self._last) > REST_MOTION * self._stalled
        self._last[moves] = measured[moves]
        self._still = np.where(moves, 0.0, self._still + self._since)
        self._report, self._since = measured, 0.0

    def _leave_stops(self, measured: FloatArray, reached: BoolArray) -> None:
        """Command drives at their stops to move away, and check whether they follow."""
        self._goal[reached] = np.minimum(measured + self._stalled, self.ends[:, 1])[reached]
        # half of the way: a drive that lags, or yields, does not arrive
        followed = measured - (self._lower - self.offset) > 0.5 * self._stalled
        self._left |= self._found & followed
        there = np.abs(self.points.state[0] - self._goal) < 1e-3 * self._stalled
        self._waited[self._found & there] += self._dt

    def _describe(self, joints: BoolArray, values: FloatArray, text: str) -> str:
        first = int(np.flatnonzero(joints)[0])
        value = text.format(f"{values[first]:.4g} {self._units[first]}")
        return f"{self._names[first]} {value} ({self._width[first]:.4g} {self._units[first]})"
