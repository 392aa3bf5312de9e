# SPDX-License-Identifier: Apache-2.0
"""Shortening and smoothing of a path within its bounds."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.planning.paths.bounds import Bounds
from robodyn.planning.paths.curves import DEGREE, Curve, curve_along
from robodyn.planning.paths.spaces import Space
from robodyn.planning.paths.tree_search import Budget, PlanningProblem

# Number of shortcuts tried on a path, and of smoothing sweeps.
TRIES, SWEEPS = 150, 60
# Numbers of control points to try, in increasing order: fewer points give a smoother curve.
COUNTS = (8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
# Samples per control point for the first check of a curve.
PER_CONTROL = 8
# Smoothing ends when a sweep shortens the curve by less than this fraction.
SETTLED = 1e-4


def densify(space: Space, path: FloatArray, step: float) -> FloatArray:
    """Insert configurations into a path until neighbors are within `step` [rad].

    The path is (n, nq). Nothing is inserted between two neighbors that `space` cannot connect by a
    segment.

    Returns:
        The path (N, nq) with the added configurations.
    """
    parts = [path[:1]]
    for one, other in pairwise(path):
        way = space.segment(one, other, step)
        parts.append(other[None] if way is None else way[1:])
    return np.concatenate(parts)


def shortcut(
    problem: PlanningProblem,
    least: FloatArray,
    path: FloatArray,
    random: np.random.Generator,
    budget: Budget,
) -> FloatArray:
    """Replace detours of a path (n, nq) by straight segments within the bounds.

    `least` (c,) are the smallest permitted margins of the bounds.

    Returns:
        The path (n, nq), shorter than the given one if a shortcut was found.
    """
    space, bounds, step = problem.space, problem.bounds, problem.step
    whole = space.segment(path[0], path[-1], step)
    if whole is not None and bounds.are_satisfied(whole, least).all():
        return whole
    path = densify(space, path, step)
    for _ in range(TRIES):
        if budget.is_exhausted or len(path) < 3:
            break
        first, last = np.sort(random.integers(0, len(path), 2))
        if last - first < 2:
            continue
        way = space.segment(path[first], path[last], step)
        if way is None or space.length(way) >= space.length(path[first : last + 1]):
            continue
        # the middle first: most shortcuts that fail do so there
        middle = len(way) // 2
        if (
            bounds.are_satisfied(way[middle : middle + 1], least).all()
            and bounds.are_satisfied(way, least).all()
        ):
            path = np.concatenate([path[:first], way, path[last + 1 :]])
    return path


def fit_smooth_curve(
    problem: PlanningProblem, least: FloatArray, path: FloatArray, budget: Budget
) -> Curve | None:
    """Fit a smooth curve to a path (n, nq), and shorten it within the bounds.

    `least` (c,) are the smallest permitted margins of the bounds.

    Returns:
        The curve; None if no fitted curve is within the bounds.
    """
    space, bounds = problem.space, problem.bounds
    for count in COUNTS:
        curve = curve_along(problem.mechanism, space, path, count)
        if curve is None:
            continue
        s = np.linspace(0.0, 1.0, PER_CONTROL * count + 1)
        along = curve.configurations(s)
        if bounds.are_satisfied(along, least).all() and space.is_on_one_sheet(along):
            return _shorten(curve, bounds, least, budget)
    return None


def _shorten(curve: Curve, bounds: Bounds, least: FloatArray, budget: Budget) -> Curve:
    """Shorten a curve by moving control points towards their neighbors' midpoints."""
    count = len(curve.controls)
    pulls = np.ones(count)
    length = _polygon_length(curve.controls)
    for sweep in range(SWEEPS):
        order = range(1, count - 1) if sweep % 2 else range(count - 2, 0, -1)
        for k in order:
            if budget.is_exhausted:
                return curve
            if pulls[k] < 0.05:
                pulls[k] *= 1.2  # a blocking neighbor may have moved
                continue
            controls = curve.controls.copy()
            middle = 0.5 * (controls[k - 1] + controls[k + 1])
            controls[k] += pulls[k] * (middle - controls[k])
            moved = curve.with_controls(controls)
            if moved is not None and bounds.are_satisfied(_section(moved, k, count), least).all():
                curve = moved
                pulls[k] = min(1.0, 2.0 * pulls[k])
            else:
                pulls[k] *= 0.3
        before, length = length, _polygon_length(curve.controls)
        if before - length < SETTLED * length and sweep > 5:
            break
    return curve


def _section(curve: Curve, k: int, count: int) -> FloatArray:
    """Sample the section (n, nq) of a curve that its control point k affects."""
    spans = count - DEGREE
    first, last = max(k - DEGREE, 0) / spans, min(k + 1, spans) / spans
    number = max(round((last - first) * spans * PER_CONTROL), PER_CONTROL)
    return curve.configurations(np.linspace(first, last, number + 1))


def _polygon_length(controls: FloatArray) -> float:
    return float(np.linalg.norm(np.diff(controls, axis=0), axis=1).sum())
