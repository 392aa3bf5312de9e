# SPDX-License-Identifier: Apache-2.0

"""Constrained minimization of a function from its values alone.

Points are ranked by Deb's rules (2000): feasible ones by their value, before infeasible ones by
their violation. A value is the maximum of many, over drives and motions. Its minimum has a kink,
which linear programs within a trust region (Madsen 1975) reach in a few steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog

from robodyn.arrays import FloatArray

# Step of finite differences, in units of the box.
DIFFERENCE = 1e-5
# Step size that ends a descent, and predicted gain that ends it temporarily.
TINY, COARSE = 1e-7, 2e-3
# First radius of the trust region; weight of a violation against the logarithm of the value.
RADIUS, WEIGHT = 0.1, 10.0
# Fraction of the predicted gain that a step needs, and one that enlarges the trust region.
ACCEPTED_GAIN, ENLARGING_GAIN = 0.05, 0.7


class Point(NamedTuple):
    """Evaluated point of the unit box.

    Attributes:
        x: (d,).
        value: exp(weights . logarithms of the objectives), where an objective is its largest part;
            infinite if there is nothing at that point.
        violations: (k,) of the constraints, positive if violated.
        parts: for each objective, logarithms of its parts, whose maximum counts.
        bounds: (l,) parts of the constraints, whose maxima are the violations.
    """

    x: FloatArray
    value: float
    violations: FloatArray
    parts: tuple[FloatArray, ...]
    bounds: FloatArray

    @property
    def rank(self) -> tuple[float, float]:
        """Sort key: the smaller, the better."""
        excess = float(np.maximum(self.violations, 0.0).sum())
        return (0.0, self.value) if excess <= 0.0 else (excess, 0.0)


Examine = Callable[[Sequence[FloatArray]], Sequence[Point]]


def spread(dimension: int, count: int, seed: int) -> list[FloatArray]:
    """Return `count` points spread evenly over the unit box (scrambled Sobol)."""
    from scipy.stats import qmc  # takes half a second, and only a search needs it

    power = int(np.ceil(np.log2(max(count, 2))))
    points = qmc.Sobol(dimension, seed=seed).random_base2(power)[:count]
    return [np.asarray(point) for point in points]


class Descent:
    """Descent by linear programs within a trust region.

    Args:
        examine: function that evaluates points.
        start: starting point.
        weights: (g,) of the logarithms of the objectives.
        radius: initial radius of the trust region.

    Attributes:
        examine: function that evaluates points.
        best: best point so far.
    """

    def __init__(
        self, examine: Examine, start: Point, weights: FloatArray, radius: float = RADIUS
    ) -> None:
        self.examine, self._weights, self._radius = examine, weights, radius
        self._here = self.best = start
        self._model: tuple[FloatArray, FloatArray] | None = None
        # whether the slopes are difference quotients at the current point
        self._is_exact = False

    def advance(self, budget: int, tolerance: float = COARSE) -> None:
        """Continue the descent until steps gain less than a tolerance.

        Args:
            budget: largest number of evaluations.
            tolerance: bound of the predicted decrease of the logarithm of the value.
        """
        n = len(self._here.x)
        while np.isfinite(self._here.value) and self._radius > TINY:
            budget -= 1 if self._model is not None else n + 1
            if budget < 0:
                return
            if self._model is None:
                self._model, self._is_exact = self._linearize(), True
            value, slopes = self._model
            step, predicted = _linear_step(self._here, value, slopes, self._weights, self._radius)
            if not predicted > tolerance:
                if self._is_exact:
                    return
                self._model = None
                continue
            there, gain = self._try(step)
            if gain <= ACCEPTED_GAIN * predicted and np.isfinite(there.value) and budget > 0:
                # the curvature of the parts, as this step shows it
                budget -= 1
                curved = _stack(there) - slopes @ (there.x - self._here.x)
                step, _ = _linear_step(self._here, curved, slopes, self._weights, self._radius)
                there, gain = max((there, gain), self._try(step), key=lambda each: each[1])
            if gain > ACCEPTED_GAIN * predicted:
                moved, found = there.x - self._here.x, _stack(there)
                error = found - value - slopes @ moved
                # Broyden's update
                self._model = found, slopes + np.outer(error, moved / (moved @ moved))
                self._here, self._is_exact = there, False
                if gain > ENLARGING_GAIN * predicted:
                    self._radius = min(2.0 * self._radius, 0.5)
            elif self._is_exact:
                self._radius = 0.3 * min(self._radius, float(np.abs(step).max()))
            else:
                self._model = None

    def _try(self, step: FloatArray) -> tuple[Point, float]:
        """Evaluate the point after a step, and its gain."""
        (there,) = self.examine([np.clip(self._here.x + step, 0.0, 1.0)])
        self.best = min(self.best, there, key=lambda point: point.rank)
        return there, _merit(self._here, self._weights) - _merit(there, self._weights)

    def _linearize(self) -> tuple[FloatArray, FloatArray]:
        """Return all parts at the current point, and their difference quotients."""
        x, value = self._here.x, _stack(self._here)
        inward = np.where(x < 0.5, DIFFERENCE, -DIFFERENCE)
        beside = self.examine(list(x + np.diag(inward)))
        self.best = min(self.best, *beside, key=lambda point: point.rank)
        slopes = [(_stack(p) - value) / d for p, d in zip(beside, inward, strict=True)]
        return value, np.stack(slopes, axis=-1)


def _stack(point: Point) -> FloatArray:
    return np.concatenate([*point.parts, point.bounds])


def _merit(point: Point, weights: FloatArray) -> float:
    if not np.isfinite(point.value):
        return np.inf
    tops = np.array([part.max() for part in point.parts])
    return float(weights @ tops + WEIGHT * max(point.bounds.max(initial=0.0), 0.0))


def _linear_step(
    here: Point, value: FloatArray, slopes: FloatArray, weights: FloatArray, radius: float
) -> tuple[FloatArray, float]:
    """Return the step (d,) that is best for the linear model, and its predicted gain.

    The unknowns are the step, the largest part of each objective, and the largest violation.
    """
    n, goals = len(here.x), len(here.parts)
    owners = np.repeat(np.arange(goals), [len(part) for part in here.parts])
    tops = np.zeros((len(value), goals + 1))
    tops[np.arange(len(owners)), owners] = -1.0
    tops[len(owners) :, goals] = -1.0
    lower, upper = np.maximum(-radius, -here.x), np.minimum(radius, 1.0 - here.x)
    sides = [*zip(lower, upper, strict=True), *[(None, None)] * goals, (0.0, None)]
    cost = np.concatenate([np.zeros(n), weights, [WEIGHT]])
    found = linprog(cost, np.hstack([slopes, tops]), -value, bounds=sides, method="highs")
    if found.x is None:
        return np.zeros(n), 0.0
    return found.x[:n], _merit(here, weights) - float(found.fun)
