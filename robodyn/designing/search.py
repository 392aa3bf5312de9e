# SPDX-License-Identifier: Apache-2.0

"""Search for the least value of a function under constraints, from its values alone.

Evolution with adaptation of the covariance (CMA-ES; Hansen and Ostermeier 2001) ranks points by
Deb's rules (2000): feasible ones by their value, before all others by what they violate. A value
is the largest of many: of drives, of motions. Its minimum has a kink, towards which an evolution
creeps; linear programs within a trust region (Madsen 1975) go there in a few steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog
from scipy.stats import qmc

from robodyn.arrays import FloatArray

# Of the first step, in units of the box; of the differences that slopes are found by.
SIGMA, DIFFERENCE = 0.25, 1e-5
# Steps of this size end an evolution, and a descent.
SMALL, TINY = 1e-4, 1e-7
# First radius of the trust region; what a violation weighs against the logarithm of the value.
RADIUS, WEIGHT = 0.1, 10.0
# Share of the predicted gain that a step needs, and that which widens the trust region.
ENOUGH, GOOD = 0.05, 0.7


class Point(NamedTuple):
    """A point of the unit box, and what is known of it.

    Attributes:
        x: (d,).
        value: exp(weights . logarithms of the objectives), an objective being its largest part;
            infinite if there is nothing at that point.
        violations: (k,) of the constraints, positive where violated.
        parts: for each objective logarithms of its parts, the largest of which counts.
        bounds: (l,) parts of the constraints, the largest of each is its violation.
    """

    x: FloatArray
    value: float
    violations: FloatArray
    parts: tuple[FloatArray, ...]
    bounds: FloatArray

    @property
    def rank(self) -> tuple[float, float]:
        """Less is better."""
        excess = float(np.maximum(self.violations, 0.0).sum())
        return (0.0, self.value) if excess <= 0.0 else (excess, 0.0)


Examine = Callable[[Sequence[FloatArray]], Sequence[Point]]


def spread(dimension: int, count: int, seed: int) -> list[FloatArray]:
    """`count` points of the unit box of that dimension, spread evenly (scrambled Sobol)."""
    power = int(np.ceil(np.log2(max(count, 2))))
    points = qmc.Sobol(dimension, seed=seed).random_base2(power)[:count]
    return [np.asarray(point) for point in points]


def evolve(examine: Examine, start: Point, sigma: float, budget: int, seed: int) -> Point:
    """The best point of an evolution that begins at one, of at most `budget` examinations."""
    rng = np.random.default_rng(seed)
    n = len(start.x)
    size = 4 + int(3.0 * np.log(n))
    parents = size // 2
    weights = np.log(parents + 0.5) - np.log(np.arange(1, parents + 1))
    weights /= weights.sum()
    effective = 1.0 / (weights**2).sum()
    c_sigma = (effective + 2.0) / (n + effective + 5.0)
    damping = 1.0 + 2.0 * max(0.0, np.sqrt((effective - 1.0) / (n + 1.0)) - 1.0) + c_sigma
    c_path = (4.0 + effective / n) / (n + 4.0 + 2.0 * effective / n)
    c_one = 2.0 / ((n + 1.3) ** 2 + effective)
    c_many = min(1.0 - c_one, 2.0 * (effective - 2.0 + 1.0 / effective)
                 / ((n + 2.0) ** 2 + effective))  # fmt: skip
    expected = np.sqrt(n) * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n**2))
    mean, best = start.x.copy(), start
    path, path_sigma, covariance = np.zeros(n), np.zeros(n), np.eye(n)
    for generation in range(1, budget // size + 1):
        scales, axes = np.linalg.eigh(covariance)
        scales = np.sqrt(np.maximum(scales, 1e-20))
        steps = (rng.standard_normal((size, n)) * scales) @ axes.T
        # reflected at the sides of the box
        moved = np.abs((mean + sigma * steps) % 2.0)
        inside = np.where(moved > 1.0, 2.0 - moved, moved)
        found = examine(list(inside))
        order = sorted(range(size), key=lambda k: found[k].rank)
        best = min(best, found[order[0]], key=lambda point: point.rank)
        chosen = (inside[order[:parents]] - mean) / sigma
        step = weights @ chosen
        mean = mean + sigma * step
        path_sigma = (1.0 - c_sigma) * path_sigma + np.sqrt(
            c_sigma * (2.0 - c_sigma) * effective
        ) * (axes @ ((axes.T @ step) / scales))
        length = float(np.linalg.norm(path_sigma))
        long = length / np.sqrt(1.0 - (1.0 - c_sigma) ** (2 * generation)) / expected
        moves = float(long < 1.4 + 2.0 / (n + 1.0))
        path = (1.0 - c_path) * path + moves * np.sqrt(c_path * (2.0 - c_path) * effective) * step
        spread_of = np.einsum("k,ki,kj->ij", weights, chosen, chosen)
        stays = (1.0 - moves) * c_path * (2.0 - c_path)
        covariance = (
            (1.0 - c_one - c_many) * covariance
            + c_one * (np.outer(path, path) + stays * covariance)
            + c_many * spread_of
        )
        sigma = min(sigma * np.exp(c_sigma / damping * (length / expected - 1.0)), 0.5)
        if sigma * scales.max() < SMALL:
            break
    return best


def descend(
    examine: Examine, start: Point, weights: FloatArray, budget: int, radius: float = RADIUS
) -> Point:
    """The best point of a descent by linear programs, of at most some `budget` examinations."""
    best = here = start
    n, used = len(start.x), 0
    model: tuple[FloatArray, FloatArray] | None = None
    while np.isfinite(here.value) and radius > TINY:
        if model is None:
            if used + n + 1 > budget:
                break
            inward = np.where(here.x < 0.5, DIFFERENCE, -DIFFERENCE)
            beside = examine([here.x + inward[i] * np.eye(n)[i] for i in range(n)])
            used += n
            value = _stacked(here)
            model = (
                value,
                np.stack(
                    [(_stacked(p) - value) / d for p, d in zip(beside, inward, strict=True)],
                    axis=-1,
                ),
            )
            best = min(best, *beside, key=lambda point: point.rank)
        step, predicted = _linear_step(here, *model, weights, radius)
        if used + 1 > budget or not predicted > 0.0:
            break
        (there,) = examine([np.clip(here.x + step, 0.0, 1.0)])
        used += 1
        best = min(best, there, key=lambda point: point.rank)
        gain = _merit(here, weights) - _merit(there, weights)
        if gain > ENOUGH * predicted:
            here, model = there, None
            radius = min(2.0 * radius, 0.5) if gain > GOOD * predicted else radius
        else:
            radius = 0.3 * min(radius, float(np.abs(step).max()))
    return best


def _stacked(point: Point) -> FloatArray:
    return np.concatenate([*point.parts, point.bounds])


def _merit(point: Point, weights: FloatArray) -> float:
    if not np.isfinite(point.value):
        return np.inf
    tops = np.array([part.max() for part in point.parts])
    return float(weights @ tops + WEIGHT * max(point.bounds.max(initial=0.0), 0.0))


def _linear_step(
    here: Point, value: FloatArray, slopes: FloatArray, weights: FloatArray, radius: float
) -> tuple[FloatArray, float]:
    """The step (d,) that is best for the linear model, and the gain that it predicts.

    Unknown are the step, the largest part of each objective, and the largest violation.
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
