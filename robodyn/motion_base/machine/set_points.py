# SPDX-License-Identifier: Apache-2.0

"""Set-points of the driven joints, continuous and within limits for any target."""

from __future__ import annotations

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_exact, as_scalar
from robodyn.motion_base.kernels import set_points as kernels
from robodyn.motion_base.machine.limits import DriveLimits

# Least fraction of the limits of a joint with a short way ahead.
LEAST_SHARE = 0.05


class SetPoints:
    """Generator of set-points that follow targets within limits, as fast as these allow.

    From rest to a target at rest all joints move in a straight line and arrive together; otherwise
    each arrives as soon as it can.

    Args:
        limits: limits of the joints.
        dt: [s] between steps.
        positions: (n,) initial positions, at rest.

    Attributes:
        state: (3, n) position [m or rad], rate and acceleration of each joint; not to be changed.
        rest: (n,) positions at which the joints come to rest if they brake as fast as possible.

    Raises:
        InvalidInput: `dt` is not positive, or positions are not n finite numbers.
    """

    def __init__(self, limits: DriveLimits, dt: float, positions: ArrayLike) -> None:
        self.limits, self.dt = limits, as_scalar("dt", dt, "s", above=0.0)
        self._rows = limits.rows
        self._bounds = np.ascontiguousarray(limits.positions.T)
        self.reset(positions)

    def reset(self, positions: ArrayLike) -> None:
        """Set the state to rest at positions (n,) [m or rad]."""
        start = as_exact("positions", positions, (self._rows.shape[1],), "m or rad")
        self.state = np.array([start, 0.0 * start, 0.0 * start])
        self.rest = start.copy()
        self._goal: FloatArray | None = None
        self._fractions = np.ones_like(self._rows)

    @property
    def is_at_rest(self) -> bool:
        """Whether all joints are at rest."""
        return bool((np.abs(self.state[1:]) <= 1e-9 * self._rows[:2]).all())

    def next_state(self, target: FloatArray, pace: float = 1.0) -> tuple[FloatArray, FloatArray]:
        """Compute the joints' state one step later, as close to the target as allowed.

        Args:
            target: (3, n) positions, rates and accelerations one step later; a joint whose target
                is not finite brakes.
            pace: fraction of the limits that may be used, above 0 and at most 1.

        Returns:
            Positions, rates and accelerations (3, n) one step later, and the positions (n,) at
            which the joints come to rest if they brake from there.
        """
        later, rest = np.empty_like(self.state), np.empty_like(self.rest)
        own = self._rows * self._limit_fractions(target) * pace
        # a larger current acceleration must be able to end as quickly
        own[1:] = np.maximum(own[1:], np.abs(self.state[2]) / self._rows[1] * self._rows[1:])
        kernels.advance(self.state, target, self._bounds, own, self._rows, self.dt, later, rest)
        return later, rest

    def take(self, later: FloatArray, rest: FloatArray) -> None:
        """Adopt a state (3, n) and the stopping positions (n,) computed by `next_state`."""
        self.state, self.rest = later, rest

    def brake(self) -> None:
        """Brake all joints for one step."""
        later = np.empty_like(self.state)
        kernels.brake(self.state, self._rows, self.dt, later)
        self.state, self._goal = later, None

    def _limit_fractions(self, target: FloatArray) -> FloatArray:
        """Return the fractions (3, n) of the limits for a straight line in joint space.

        The rows are for rates, accelerations and jerks.
        """
        if target[1:].any() or not np.isfinite(target).all():
            self._goal = None
            return np.ones_like(self._rows)
        if self._goal is None or (self._goal != target[0]).any():
            self._goal, self._fractions = target[0].copy(), np.ones_like(self._rows)
            way = np.abs(target[0] - self.state[0])
            if self.is_at_rest and way.any():
                with np.errstate(divide="ignore"):
                    pace = (self._rows / way).min(axis=1)
                self._fractions = np.maximum(pace[:, None] * way / self._rows, LEAST_SHARE)
        return self._fractions
