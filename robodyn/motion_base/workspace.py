# SPDX-License-Identifier: Apache-2.0

"""Where a machine may be: joints within their ranges, away from singularities, on its own side."""

from __future__ import annotations

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.errors import KinematicsError
from robodyn.mechanisms.mechanism import Mechanism

# Linearisations of one search, of which one is enough to go on from the last tick's.
STEPS = 4
# [m, rad] of the differences; shares of a step that are tried.
DIFFERENCE, SHARES = 1e-5, (1.0, 0.5, 0.25, 0.1)
# [m, rad] by which a joint may be beyond an end: rounding.
ROUNDING = 1e-9


def twist_weights(mechanism: Mechanism) -> FloatArray:
    """(6,) [1, m] by which a twist of the body counts: turns times the characteristic length."""
    return np.repeat([1.0, mechanism.characteristic_length], 3)


class Workspace:
    """The configurations in which a machine may be, and which of them is nearest to a wish.

    Singularities in which efforts do not suffice (of type 2) count; an arm, whose joints are
    commanded, has none.

    Args:
        mechanism: whose condition number, with its characteristic length, is limited.
        positions: (n, 2) ranges of the driven joints.
        condition_limit: where the condition number at home is larger, half as much again as that.
    """

    def __init__(
        self, mechanism: Mechanism, positions: FloatArray, condition_limit: float = 60.0
    ) -> None:
        self._mechanism = mechanism
        self.lower, self.upper = positions[:, 0], positions[:, 1]
        side = mechanism.side(mechanism.home)
        self._side = 0.0 if side is None else float(np.sign(side))
        self._limit = np.inf
        if self._side:
            self._limit = max(condition_limit, 1.5 * float(self._condition(mechanism.home)))
        self._weights = twist_weights(mechanism)

    def objection(self, configuration: FloatArray) -> str:
        """Why a machine may not be there; empty where it may."""
        value = self._excess(configuration)
        worst = int(np.argmax(value))
        if value[worst] <= ROUNDING:
            return self._beyond(configuration)
        n = len(self.lower)
        if worst == 2 * n:
            number = float(self._condition(configuration))
            return f"the condition number is {number:.4g}, its limit is {self._limit:g}"
        joint, end = worst % n, "longest" if worst < n else "shortest"
        limit = (self.upper if worst < n else self.lower)[joint]
        unit = self._mechanism.joint_units[joint]
        name = self._mechanism.joint_names[joint]
        return f"{name} would be {value[worst]:.4g} {unit} beyond its {end}, {limit:.4g} {unit}"

    def closes_in(self, configurations: FloatArray) -> str:
        """Why a machine may not go along configurations (k, nq), as far as singularities go.

        One that is beyond the limit of the condition number may go where it is smaller.
        """
        if not self._side:
            return ""
        worst = float(self._condition(configurations[1:]).max())
        if worst > self._limit and worst > float(self._condition(configurations[0])):
            return f"the condition number would be {worst:.4g}, its limit is {self._limit:g}"
        return self._beyond(configurations[1:])

    def is_conditioned(self, configurations: FloatArray) -> bool:
        """Whether condition numbers at configurations (k, nq) are within their limit."""
        return not self._side or bool((self._condition(configurations) <= self._limit).all())

    def nearest(self, wish: FloatArray, inside: FloatArray, steps: int = STEPS) -> FloatArray:
        """The configuration nearest to a wish, found from one that is inside in so many steps.

        Distances are of the body: its displacement, and its turn times the characteristic length.
        Each step is the nearest point of what is allowed to first order (least-distance
        programming, Lawson and Hanson 1974, chapter 23).
        """
        from scipy.optimize import nnls  # slow to import

        mechanism, here = self._mechanism, inside
        try:
            for _ in range(steps):
                value, slope = self._linearized(here)
                way = mechanism.difference(here, wish)
                body = self._weights[:, None] * mechanism.twist_jacobian(here)
                root = np.linalg.qr(body)[1]
                turned = np.linalg.solve(root.T, -slope.T)
                stacked = np.vstack([turned, value + slope @ way])
                multipliers = nnls(stacked, np.eye(len(stacked))[-1])[0]
                rest = stacked @ multipliers
                rest[-1] -= 1.0
                step = way - np.linalg.solve(root, rest[:-1] / rest[-1])
                here = self._as_far_as_allowed(here, step, max(float(value.max()), ROUNDING))
        except (KinematicsError, np.linalg.LinAlgError, RuntimeError):
            pass  # what has been found so far is inside
        return here

    def _linearized(self, here: FloatArray) -> tuple[FloatArray, FloatArray]:
        """How far limits are exceeded (k,), and the slopes (k, nv) of that, where they have one."""
        size = self._mechanism.coordinates.velocity_size
        beside = DIFFERENCE * np.vstack([np.zeros(size), np.eye(size)])
        excess = self._excess(self._mechanism.advance(here, beside))
        with np.errstate(invalid="ignore"):  # a joint without an end
            slope = (excess[1:] - excess[0]).T / DIFFERENCE
        known = np.isfinite(slope).all(axis=1)
        return excess[0][known], slope[known]

    def _as_far_as_allowed(self, here: FloatArray, step: FloatArray, most: float) -> FloatArray:
        """Go along a step, or as large a part of it as exceeds no limit by more than `most`."""
        for share in SHARES:
            try:
                there = self._mechanism.advance_near(here, share * step)
                if self._positions_excess(there).max() > most:
                    continue
                if self._excess(there).max() <= most and not self._beyond(there):
                    return there
            except KinematicsError:
                pass
        return here

    def _positions_excess(self, configurations: FloatArray) -> FloatArray:
        """(..., 2 n) how far each joint is beyond its ends; negative within."""
        positions = self._mechanism.joint_positions(configurations)
        return np.concatenate([positions - self.upper, self.lower - positions], axis=-1)

    def _excess(self, configurations: FloatArray) -> FloatArray:
        """(..., 2 n + 1) how far each limit is exceeded; negative within."""
        number = np.full((*configurations.shape[:-1], 1), -np.inf)
        if self._side:
            number[..., 0] = np.log(self._condition(configurations) / self._limit)
        return np.concatenate([self._positions_excess(configurations), number], axis=-1)

    def _condition(self, configuration: FloatArray) -> FloatArray:
        return self._mechanism.condition_number(
            configuration, self._mechanism.characteristic_length
        )

    def _beyond(self, configurations: FloatArray) -> str:
        """Whether one of configurations (..., nq) is not on the side of home."""
        side = self._mechanism.side(configurations) if self._side else None
        if side is None or bool((side * self._side > 0.0).all()):
            return ""
        return "a singularity lies between"
