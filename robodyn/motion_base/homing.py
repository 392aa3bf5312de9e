# SPDX-License-Identifier: Apache-2.0

"""Finding where the joints are: each is moved slowly to its lower stop."""

from __future__ import annotations

from typing import Final

import numpy as np

from robodyn.arrays import BoolArray, FloatArray
from robodyn.mechanisms.mechanism import Mechanism
from robodyn.motion_base.commander import SetPoint
from robodyn.motion_base.limits import DriveLimits
from robodyn.motion_base.set_points import SetPoints

HOMINGS: Final = ("absolute", "assumed", "stall")
# Share of the range of a joint by which a drive that has stalled is behind its command.
STALLED = 0.02


class Homing:
    """Moves every joint towards its lower end until a switch closes or the drive falls behind.

    Set-points are in the drives' own positions; `offset` is what they lack. No joint is moved
    further than its range, and a little for the drive to fall behind.

    Args:
        mechanism: whose joints are homed.
        limits: of the joints.
        dt: [s] a tick.
        start: (n,) positions that the drives tell.
        slow: share of the limits of rate, acceleration and jerk.

    Attributes:
        offset: (n,) positions less what drives tell, once `is_done`.
        ends: (n, 2) between which the drives' positions are commanded.
        points: in the drives' positions.
        problem: why homing cannot succeed, or nothing.
    """

    def __init__(
        self, mechanism: Mechanism, limits: DriveLimits, dt: float, start: FloatArray, slow: float
    ) -> None:
        self._names, self._units = mechanism.joint_names, mechanism.joint_units
        self._lower, self._width = limits.positions[:, 0], np.diff(limits.positions, axis=1)[:, 0]
        self._stalled, self._start = STALLED * self._width, start
        self.ends = np.column_stack(
            [start - self._width - 2.0 * self._stalled, start + self._stalled]
        )
        self.points = SetPoints(DriveLimits(self.ends, *(slow * limits.rows)), dt, start)
        self._goal = self.ends[:, 0].copy()
        self._found = np.zeros(len(start), dtype=bool)
        self._switches = self._found.copy()
        self.offset = np.full(len(start), np.nan)
        self.problem = ""

    @property
    def is_done(self) -> bool:
        """Whether all joints have been at their stops and are at rest."""
        away = np.abs(self.points.state[0] - self._goal)
        return bool(
            self._found.all() and self.points.is_at_rest and (away < 1e-3 * self._stalled).all()
        )

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
        position = self.points.state[0]
        away = ~self._found & ((measured < self.ends[:, 0]) | (measured > self.ends[:, 1]))
        missed = ~self._found & (position <= self.ends[:, 0] + 1e-3 * self._stalled)
        if away.any():
            self.problem = self._describe(away, measured, "reports {}, more than its range away")
        elif missed.any():
            travel = self._start - position
            self.problem = self._describe(missed, travel, "met no stop within {}, its whole range")
        if self.problem:
            self.stop()
            return
        reached = ~self._found & (self._switches | (measured - position > self._stalled))
        self.offset[reached] = (self._lower - measured)[reached]
        # back to where the stop was met: nothing is pressed against it
        self._goal[reached] = measured[reached]
        self._found |= reached
        self.points.take(*self.points.peek(np.array([self._goal, *np.zeros((2, len(measured)))])))

    def _describe(self, joints: BoolArray, values: FloatArray, text: str) -> str:
        first = int(np.flatnonzero(joints)[0])
        value = text.format(f"{values[first]:.4g} {self._units[first]}")
        return f"{self._names[first]} {value} ({self._width[first]:.4g} {self._units[first]})"
