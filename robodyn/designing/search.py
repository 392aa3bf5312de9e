# SPDX-License-Identifier: Apache-2.0

"""Constrained minimization of a function from its values alone.

Points are ranked by Deb's rules (2000): feasible ones by their value, before infeasible ones by
their violation. A value is the maximum of many values, over drives and motions, so the function has
a kink at its minimum. Each of these values is a constraint of quadratic programs within a trust
region.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls

from robodyn.arrays import FloatArray

# Step of finite differences, relative to the range of a parameter; distance from the constraints.
DIFFERENCE, SLACK = 1e-5, 1e-7
# Step size that ends a descent, and predicted gain that ends it temporarily.
TINY, COARSE = 1e-7, 2e-3
# First radius of the trust region; weight of a violation against the logarithm of the value.
RADIUS, WEIGHT = 0.1, 10.0
# Fraction of the predicted gain that a step needs, and one that enlarges the trust region.
ACCEPTED_GAIN, ENLARGING_GAIN = 0.05, 0.7
# Violation from which a point shows no curvature; largest fraction of the distance to an
# end in one step.
JUMP, TO_END = 1.0, 0.5
# Smallest curvature along a step, relative to the known one; curvature that is added in all
# directions, and one at which the known ones are forgotten.
DAMPED, EVEN, LARGEST_CURVATURE = 0.2, 1e-2, 1e8
# Bound of the decrease of the logarithm of an objective in one step.
LARGEST_DECREASE = 10.0


class Point(NamedTuple):
    """Evaluated point of the unit box, whose coordinates are parameters scaled to 0 to 1.

    Attributes:
        x: (d,) coordinates, each from 0 to 1.
        value: weighted product of the objectives: the exponential of the weighted sum of their
            logarithms; infinite if the objectives do not exist at that point.
        violations: (k,) excess of each constraint, positive if violated.
        parts: for each objective, the logarithms of the values of which it is the maximum.
        bounds: (l,) values whose maxima are the violations.
        ends: number of leading elements of `bounds` that are negative and become zero at the edge
            of the region in which the values exist.
    """

    x: FloatArray
    value: float
    violations: FloatArray
    parts: tuple[FloatArray, ...]
    bounds: FloatArray
    ends: int = 0

    @property
    def rank(self) -> tuple[float, float]:
        """Sort key, lower is better: feasible points by value, then others by violation.

        It is a pair: sum of the violations, and the value of a feasible point (otherwise 0).
        """
        excess = float(np.maximum(self.violations, 0.0).sum())
        return (0.0, self.value) if excess <= 0.0 else (excess, 0.0)


Examine = Callable[[Sequence[FloatArray]], Sequence[Point]]


def sobol_points(dimension: int, count: int, seed: int) -> list[FloatArray]:
    """Create points that are distributed evenly over the unit box.

    Returns:
        `count` points (dimension,) of a scrambled Sobol sequence.
    """
    from scipy.stats import qmc  # takes half a second, and only a search needs it

    power = int(np.ceil(np.log2(max(count, 2))))
    points = qmc.Sobol(dimension, seed=seed).random_base2(power)[:count]
    return [np.asarray(point) for point in points]


class Descent:
    """Minimizer by sequential quadratic programming within a trust region.

    Args:
        examine: function that evaluates a sequence of coordinates (d,) and returns the points.
        start: evaluated starting point.
        weights: (g,) weights of the logarithms of the g objectives.

    Attributes:
        examine: function that evaluates points.
        best: best point so far.
    """

    def __init__(self, examine: Examine, start: Point, weights: FloatArray) -> None:
        self.examine, self._weights, self._radius = examine, weights, RADIUS
        self._here = self.best = start
        self._slopes = np.empty(0)  # (parts, d), once they are known
        # last step, and the multipliers and slopes before it
        self._last: tuple[FloatArray, FloatArray, FloatArray] | None = None
        # second derivatives of the Lagrangian function
        self._curvature = np.eye(len(start.x))

    def advance(self, budget: int, tolerance: float = COARSE) -> None:
        """Continue the descent until a step gains too little or the budget is used.

        The best point found is stored in `best`.

        Args:
            budget: largest number of evaluations.
            tolerance: the descent ends at a smaller predicted decrease of the logarithm of the
                value.
        """
        n = len(self._here.x)
        while np.isfinite(self._here.value) and self._radius > TINY:
            budget -= 1 if self._slopes.size else n + 1
            if budget < 0:
                return
            if not self._slopes.size:
                self._linearize()
            step, predicted, multipliers = self._step(_stack(self._here))
            if predicted <= tolerance:
                return
            there, gain = self._evaluate_step(step)
            alike = len(_stack(there)) == len(self._slopes) and there.bounds.max(initial=0.0) < JUMP
            if gain <= ACCEPTED_GAIN * predicted and alike and budget > 0:
                # the curvature of the parts, as this step shows it
                budget -= 1
                step, _, _ = self._step(_stack(there) - self._slopes @ (there.x - self._here.x))
                there, gain = max(
                    (there, gain), self._evaluate_step(step), key=lambda each: each[1]
                )
            if gain > ACCEPTED_GAIN * predicted:
                self._last = there.x - self._here.x, multipliers, self._slopes
                self._here, self._slopes = there, np.empty(0)
                if gain > ENLARGING_GAIN * predicted:
                    self._radius = min(2.0 * self._radius, 0.5)
            else:
                self._radius = 0.3 * min(self._radius, float(np.abs(step).max()))

    def _evaluate_step(self, step: FloatArray) -> tuple[Point, float]:
        """Evaluate the point after a step (d,); return it and the decrease in merit."""
        (there,) = self.examine([np.clip(self._here.x + step, 0.0, 1.0)])
        self.best = min(self.best, there, key=lambda point: point.rank)
        return there, _merit(self._here, self._weights) - _merit(there, self._weights)

    def _linearize(self) -> None:
        """Compute finite-difference gradients, and update the Hessian from the last step."""
        x, value = self._here.x, _stack(self._here)
        inward = np.where(x < 0.5, DIFFERENCE, -DIFFERENCE)
        beside = self.examine(list(x + np.diag(inward)))
        self.best = min(self.best, *beside, key=lambda point: point.rank)
        # no slope toward a point that has no machine
        beside = [p if len(_stack(p)) == len(value) else self._here for p in beside]
        slopes = [(_stack(p) - value) / d for p, d in zip(beside, inward, strict=True)]
        self._slopes = np.stack(slopes, axis=-1)
        if self._last is None or len(self._last[2]) != len(value):
            return
        # damped BFGS update (Powell 1978)
        step, multipliers, before = self._last
        change, pulled = multipliers @ (self._slopes - before), self._curvature @ step
        square, product = step @ pulled, step @ change
        if product < DAMPED * square:
            part = (1.0 - DAMPED) * square / (square - product)
            change = part * change + (1.0 - part) * pulled
        self._curvature = (
            self._curvature
            - np.outer(pulled, pulled) / square
            + np.outer(change, change) / (step @ change)
        )
        if not np.abs(self._curvature).max() < LARGEST_CURVATURE:
            self._curvature = np.eye(len(x))

    def _step(self, value: FloatArray) -> tuple[FloatArray, float, FloatArray]:
        """Compute the best step (d,) within the trust region by a quadratic program.

        The unknowns of the program are the step, the changes of all objectives, and the change of
        the largest violation.

        Returns:
            The step, the predicted decrease in merit, and the multipliers of objectives and
            constraints.
        """
        here, n, goals = self._here, len(self._here.x), len(self._here.parts)
        first = len(value) - len(here.bounds)
        value[first : first + here.ends] *= TO_END
        tops = np.append(
            [part.max() for part in here.parts], _constraint_values(here).max(initial=0.0)
        )
        owners = np.repeat(np.arange(goals + 1), [len(part) for part in (*here.parts, here.bounds)])
        known = np.hstack([-self._slopes, np.eye(goals + 1)[owners]])
        lower = np.maximum(-self._radius, -here.x), np.full(goals, -LARGEST_DECREASE), -tops[-1:]
        upper = np.minimum(self._radius, 1.0 - here.x)
        rows = np.vstack([known, np.eye(n + goals + 1), -np.eye(n, n + goals + 1)])
        least = np.concatenate([value - tops[owners], *lower, -upper])
        squares = EVEN * np.eye(n + goals + 1)
        squares[:n, :n] += self._curvature
        cost = np.concatenate([np.zeros(n), self._weights, [WEIGHT]])
        found, multipliers = _quadratic_program(squares, cost, rows, least)
        step = found[:n]
        gain = -float(cost @ found + 0.5 * step @ self._curvature @ step)
        return step, gain, multipliers[: len(value)]


def _quadratic_program(
    squares: FloatArray, cost: FloatArray, rows: FloatArray, least: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Minimize z' squares z / 2 + cost' z with rows z >= least.

    The problem is converted to nonnegative least squares (Lawson and Hanson 1974).

    Returns:
        The minimizer z, and the multipliers of the constraints.
    """
    L = np.linalg.cholesky(squares)
    pull, across = np.linalg.solve(L, cost), np.linalg.solve(L, rows.T)
    away = least + across.T @ pull
    try:
        u, _ = nnls(np.vstack([across, away]), np.append(np.zeros(len(cost)), 1.0))
    except RuntimeError:  # too many iterations
        return np.zeros(len(cost)), np.zeros(len(least))
    multipliers = u / (1.0 - away @ u)
    return np.linalg.solve(L.T, across @ multipliers - pull), multipliers


def _constraint_values(point: Point) -> FloatArray:
    """Add a safety margin to constraint values so that descents end at valid points."""
    return np.where(point.bounds == 0.0, 0.0, point.bounds + SLACK)


def _stack(point: Point) -> FloatArray:
    return np.concatenate([*point.parts, _constraint_values(point)])


def _merit(point: Point, weights: FloatArray) -> float:
    if not np.isfinite(point.value):
        return np.inf
    tops = np.array([part.max() for part in point.parts])
    return float(weights @ tops + WEIGHT * _constraint_values(point).max(initial=0.0))
