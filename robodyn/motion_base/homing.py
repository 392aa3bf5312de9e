# SPDX-License-Identifier: Apache-2.0

"""Finding where the joints are: each is moved slowly to its lower stop."""

from __future__ import annotations

from typing import Final

import numpy as np

from robodyn.arrays import BoolArray, FloatArray
from robodyn.motion_base.commander import SetPoint
from robodyn.motion_base.limits import DriveLimits
from robodyn.motion_base.set_points import SetPoints

HOMINGS: Final = ("absolute", "assumed", "stall")
# Share of the range of a joint by which a drive that has stalled is behind its command.
STALLED = 0.02


class Homing:
    """Moves every joint towards its lower end until a switch closes or the drive falls behind.

    Set-points are in the drives' own positions; `offset` is what they lack.

    Args:
        limits: of the joints.
        dt: [s] a tick.
        start: (n,) positions that the drives tell.
        slow: share of the limits of rate, acceleration and jerk.

    Attributes:
        offset: (n,) positions less what drives tell, once `is_done`.
        points: in the drives' positions.
    """

    def __init__(self, limits: DriveLimits, dt: float, start: FloatArray, slow: float) -> None:
        self._lower, width = limits.positions[:, 0], np.diff(limits.positions, axis=1)[:, 0]
        self._stalled = STALLED * width
        free = np.tile([-np.inf, np.inf], (len(start), 1))
        own = DriveLimits(free, *(slow * limits.rows))
        self.points = SetPoints(own, dt, start)
        # further than any joint can be from its stop
        self._end = start - 2.0 * width
        self._found = np.zeros(len(start), dtype=bool)
        self._switches = self._found.copy()
        self.offset = np.full(len(start), np.nan)

    @property
    def is_done(self) -> bool:
        """Whether all joints have been at their stops and are at rest."""
        away = np.abs(self.points.state[0] - self._end).max()
        return bool(self._found.all()) and self.points.is_at_rest and away < self._stalled.min()

    @property
    def point(self) -> SetPoint:
        """The last set-point."""
        p, v, a = self.points.state
        return SetPoint(p, v, a, np.zeros_like(p))

    def touch(self, joints: BoolArray) -> None:
        """Switches (n,) that are closed."""
        self._switches = joints

    def stop(self) -> None:
        """A tick of coming to rest, wherever the joints are."""
        self.points.brake()

    def step(self, measured: FloatArray) -> None:
        """A tick of homing, when drives tell that they are at (n,)."""
        reached = ~self._found & (
            self._switches | (measured - self.points.state[0] > self._stalled)
        )
        self.offset[reached] = (self._lower - measured)[reached]
        # back to where the stop was met: nothing is pressed against it
        self._end[reached] = measured[reached]
        self._found |= reached
        target = np.array([self._end, 0.0 * self._end, 0.0 * self._end])
        self.points.take(*self.points.peek(target))
