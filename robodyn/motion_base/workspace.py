# SPDX-License-Identifier: Apache-2.0

"""Where a machine may be: joints within their ranges, away from singularities, on its own side."""

from __future__ import annotations

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.errors import KinematicsError
from robodyn.mechanisms.mechanism import Mechanism

# Linearisations of one search, of which one is enough to go on from the last tick's.
STEPS = 4
# [m, rad] of the differences; halvings of the way back inside.
DIFFERENCE, HALVINGS = 1e-5, 12
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
        self._lower, self._upper = positions[:, 0], positions[:, 1]
        side = mechanism.side(mechanism.home)
        self._side = 0.0 if side is None else float(np.sign(side))
        self._limit = np.inf
        if self._side:
            self._limit = max(condition_limit, 1.5 * float(self._condition(mechanism.home)))
        self._weights = twist_weights(mechanism)

    def objection(self, configuration: FloatArray) -> str:
        """Why a machine may not be there; empty where it may."""
        value = self._excess(configuration[None])[0]
        worst = int(np.argmax(value))
        if value[worst] <= ROUNDING:
            return self._beyond(configuration)
        n = len(self._lower)
        if worst == 2 * n:
            number = float(self._condition(configuration))
            return f"the condition number is {number:.4g}, its limit is {self._limit:g}"
        joint, end = worst % n, "longest" if worst < n else "shortest"
        limit = (self._upper if worst < n else self._lower)[joint]
        unit = self._mechanism.joint_units[joint]
        name = self._mechanism.joint_names[joint]
        return f"{name} would be {value[worst]:.4g} {unit} beyond its {end}, {limit:.4g} {unit}"

    def closes_in(self, configurations: FloatArray) -> str:
        """Why a machine may not go along configurations (k, nq), as far as singularities go.

        One that is beyond the limit of the condition number may go where it is smaller.
        """
        if not self._side:
            return ""
        numbers = self._condition(configurations)
        worst = numbers[1:].max()
        if worst > self._limit and worst > numbers[0]:
            return f"the condition number would be {worst:.4g}, its limit is {self._limit:g}"
        return next(filter(None, map(self._beyond, configurations[1:])), "")

    def nearest(self, wish: FloatArray, inside: FloatArray, steps: int = STEPS) -> FloatArray:
        """The configuration nearest to a wish, found from one that is inside in so many steps.

        Distances are of the body: its displacement, and its turn times the characteristic length.
        Each step is the nearest point of what is allowed to first order (least-distance
        programming, Lawson and Hanson 1974, chapter 23).
        """
        from scipy.optimize import nnls  # slow to import

        mechanism, here = self._mechanism, inside
        size = mechanism.coordinates.velocity_size
        beside = DIFFERENCE * np.vstack([np.zeros(size), np.eye(size)])
        try:
            for _ in range(steps):
                excess = self._excess(mechanism.advance(here, beside))
                with np.errstate(invalid="ignore"):  # a joint without an end
                    slope = (excess[1:] - excess[0]).T / DIFFERENCE
                known = np.isfinite(slope).all(axis=1)
                value, slope = excess[0][known], slope[known]
                way = mechanism.difference(here, wish)
                body = self._weights[:, None] * mechanism.twist_jacobian(here)
                root = np.linalg.qr(body)[1]
                turned = np.linalg.solve(root.T, -slope.T)
                stacked = np.vstack([turned, value + slope @ way])
                multipliers = nnls(stacked, np.eye(len(stacked))[-1])[0]
                rest = stacked @ multipliers
                rest[-1] -= 1.0
                step = way - np.linalg.solve(root, rest[:-1] / rest[-1])
                here = self._as_far_as_allowed(here, step)
        except (KinematicsError, np.linalg.LinAlgError, RuntimeError):
            pass  # what has been found so far is inside
        return here

    def _as_far_as_allowed(self, here: FloatArray, step: FloatArray) -> FloatArray:
        share, most = 1.0, max(float(self._excess(here[None]).max()), ROUNDING)
        for _ in range(HALVINGS):
            try:
                there = self._mechanism.advance_near(here, share * step)
                if self._excess(there[None]).max() <= most and not self._beyond(there):
                    return there
            except KinematicsError:
                pass
            share *= 0.5
        return here

    def _excess(self, configurations: FloatArray) -> FloatArray:
        """(k, 2 n + 1) how far each limit is exceeded; negative within."""
        positions = self._mechanism.joint_positions(configurations)
        number = np.full((len(configurations), 1), -np.inf)
        if self._side:
            number[:, 0] = np.log(self._condition(configurations) / self._limit)
        return np.hstack([positions - self._upper, self._lower - positions, number])

    def _condition(self, configuration: FloatArray) -> FloatArray:
        return self._mechanism.condition_number(
            configuration, self._mechanism.characteristic_length
        )

    def _beyond(self, configuration: FloatArray) -> str:
        side = self._mechanism.side(configuration) if self._side else None
        if side is None or float(side) * self._side > 0.0:
            return ""
        return "a singularity lies between"
