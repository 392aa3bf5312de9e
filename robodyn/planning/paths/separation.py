# SPDX-License-Identifier: Apache-2.0
"""Explanation of why two configurations are not connected: the message and fields of `NoPath`.

Two explanations are proofs: a start or goal that violates a bound, and determinants of opposite
signs at start and goal, because the determinant is a continuous function of the configuration and
so passes through zero on every path. The others come from another search with one bound relaxed: if
it finds a path, that bound blocks the way, and the path shows where and by how much.

With up to three degrees of freedom, an exhaustive search on a lattice covers every configuration
that can be reached from the start: it expands each configuration within the bounds by a step along
each coordinate. Configurations of a closed loop with the same coordinates count as different if
they were reached from different sides. If the search ends without reaching the goal, no path wider
than the lattice exists.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from robodyn.algorithms import conditioning, motions
from robodyn.analysis.bisection import bisect
from robodyn.arrays import FloatArray
from robodyn.errors import NoPath
from robodyn.mechanism.mechanism import Mechanism
from robodyn.planning.paths.bounds import Bounds
from robodyn.planning.paths.tree_search import Budget, PlanningProblem
from robodyn.presentation import presentation
from robodyn.presentation.nouns import nouns_of

Find = Callable[["PlanningProblem", int, Budget], FloatArray | None]

# Resolution [rad] of the exhaustive search, by degrees of freedom.
LATTICE = {1: 0.01, 2: 0.03, 3: 0.1}
# Largest number of configurations of the exhaustive search.
MOST = 150_000
# Factors on the requested condition limit that are tried if it leaves no path.
RELAXED = (1.25, 1.6, 2.5, 5.0, 20.0, 1000.0)


def refuse_ends(bounds: Bounds, start: FloatArray, goal: FloatArray) -> None:
    """Raise an error if the start or the goal (nq,) violates a bound.

    Raises:
        NoPath: the error names the bound, the configuration and the value.
    """
    for name, configuration in (("start", start), ("goal", goal)):
        found = bounds.find_violation(configuration)
        if found is not None:
            text = f"no path: the {name} itself violates a bound: {found.text}"
            raise found.no_path(text, name, configuration, certain=True)


def refuse_apart(bounds: Bounds, start: FloatArray, goal: FloatArray, sides: FloatArray) -> None:
    """Raise the error for a start and goal that the singular surface separates.

    `sides` are the determinants at start and goal, from `conditioning.side`: they have opposite
    signs, or one is zero.

    Raises:
        NoPath: always; the message states both determinants.
    """
    mechanism = bounds.mechanism
    where = _singular_crossing(mechanism, start, goal) if mechanism.coordinates.is_pose else None
    straight = (
        ""
        if where is None
        else f"; the straight path crosses the surface at {format_configuration(mechanism, where)}"
    )
    mode = differ_in_passive_joints(mechanism, start, goal)
    modes = f" (two assembly modes of the same {nouns_of(mechanism).joint} positions)"
    ends = (("start", bounds.find_violation(start)), ("goal", bounds.find_violation(goal)))
    besides = "".join(f"; at the {name}, {found.text}" for name, found in ends if found)
    raise NoPath(
        f"no path: start and goal are on different sides of the singular surface: the determinant "
        f"is {sides[0]:.3g} at the start and {sides[1]:.3g} at the goal, so every path passes "
        f"through zero{modes if mode else ''}{straight}{besides}",
        separated_by="assembly mode" if mode else "singular surface",
        certain=True,
        value=0.0,
        limit=bounds.condition_limit,
        configuration=where,
    )


def explain_failure(problem: PlanningProblem, find: Find, seed: int, budget: Budget) -> NoPath:
    """Create the error that explains why a search found no path.

    Args:
        problem: planning problem that was not solved.
        find: search function, which is called again with relaxed bounds.
        seed: seed of the random numbers.
        budget: limits of these searches.

    Returns:
        The error to raise, with the bound that blocks the path, if one was identified.
    """
    if budget.stopped():
        return NoPath("the search was stopped before a path was found", separated_by="unknown")
    began = time.monotonic()
    left = max(budget.deadline - began, 0.0)
    full = _search_exhaustively(problem, replace(budget, deadline=began + 0.5 * left))
    bounds, known = problem.bounds, ""
    if full is not None:
        known = (
            f"; all {full[1]} configurations that can be reached from the start at a resolution "
            f"of {full[0]:.3g} rad were searched"
        )
    facts: dict[str, Any] = {"certain": full is not None, "resolution": full[0] if full else None}

    def again(relaxed: Bounds, fraction: float) -> FloatArray | None:
        now = time.monotonic()
        if now >= budget.deadline:
            return None
        limit = replace(budget, deadline=now + fraction * left, nodes=8000)
        return find(replace(problem, bounds=relaxed), seed, limit)

    if bounds.condition_limit < np.inf:
        for factor in RELAXED:
            wider = bounds.condition_limit * factor
            path = again(replace(bounds, condition_limit=wider, singular_value_limit=0.0), 0.06)
            if path is not None:
                return _no_path(problem, path, facts, known)
    path = again(replace(bounds, within_limits=False), 0.15)
    if path is None and bounds.clearance is not None:
        path = again(replace(bounds, clearance=None), 0.1)
    if path is not None:
        return _no_path(problem, path, facts, known)
    if differ_in_passive_joints(problem.mechanism, problem.start, problem.goal):
        return NoPath(
            "no path: start and goal are two assembly modes of the same driven positions, and "
            f"no path between them that avoids singularities was found{known}",
            separated_by="assembly mode", **facts,
        )  # fmt: skip
    return NoPath(
        f"no path was found within the time limit, even with any single bound relaxed{known}",
        separated_by="singular surface" if full is not None else "unknown", **facts,
    )  # fmt: skip


def _no_path(
    problem: PlanningProblem, path: FloatArray, facts: dict[str, Any], known: str
) -> NoPath:
    """Create the `NoPath` error for the bound that a path violates most.

    The path was found with that bound relaxed.
    """
    margins = problem.bounds.margins(path)
    margins = np.where(np.isfinite(margins), margins, 0.0)
    worst = int(margins.min(axis=1).argmin())
    found = problem.bounds.nearest(path[worst])
    kinds = {"position": "limit", "clearance": "clearance", "singular surface": "singular surface"}
    text = (
        f"no path was found within the bounds{known}; the best path violates one at "
        f"{format_configuration(problem.mechanism, path[worst])}: {found.text}"
    )
    kind = kinds.get(found.quantity, "condition limit")
    return found.no_path(text, kind, path[worst], **facts)


def _search_exhaustively(problem: PlanningProblem, budget: Budget) -> tuple[float, int] | None:
    """Search a lattice of configurations; return its resolution [rad] and node count.

    Returns None if the budget ends before the search is complete, or if the mechanism has too many
    coordinates for a lattice.
    """
    space, start = problem.space, problem.start
    size = len(space.weights)
    if size not in LATTICE:
        return None
    resolution = LATTICE[size]
    steps = np.diag(resolution / space.weights)
    branches: dict[tuple[int, ...], list[FloatArray]] = {(0,) * size: [space.embed(start[None])[0]]}
    count, front = 1, [((0,) * size, start)]
    while front:
        following: list[tuple[tuple[int, ...], FloatArray]] = []
        for key, here in front:
            if budget.is_exhausted or count > MOST:
                return None
            for axis in range(size):
                for sign in (1, -1):
                    way = space.along(here, sign * steps[axis], resolution)
                    if way is None:
                        continue
                    moved = way[-1]
                    there = (*key[:axis], key[axis] + sign, *key[axis + 1 :])
                    place = space.embed(moved[None])[0]
                    known = branches.setdefault(there, [])
                    if known and space.distances(place, np.array(known)).min() < resolution:
                        continue
                    if not problem.bounds.are_satisfied(moved[None]).all():
                        continue
                    known.append(place)
                    count += 1
                    following.append((there, moved))
        front = following
    return resolution, count


def differ_in_passive_joints(mechanism: Mechanism, start: FloatArray, goal: FloatArray) -> bool:
    """Return whether configurations with equal driven positions differ elsewhere.

    They are two assembly modes of a closed loop. `start` and `goal` are configurations (nq,); the
    result is true if their driven positions are equal and their body poses are not.
    """
    driven = mechanism.joint_positions(np.stack([start, goal]))
    span = 1e-6 * max(mechanism.size, 1.0)
    there = mechanism.body_pose(np.stack([start, goal]))
    return bool(
        np.abs(motions.joint_difference(mechanism, driven[0], driven[1])).max() < span
        and np.abs(np.diff(there, axis=0)).max() > span
    )


def _singular_crossing(mechanism: Mechanism, start: FloatArray, goal: FloatArray) -> FloatArray:
    """Find the singular configuration (nq,) on the line from start to goal."""
    way, first = mechanism.difference(start, goal), conditioning.determinant(mechanism, start)

    def is_before(fraction: float) -> bool:
        here = conditioning.determinant(mechanism, mechanism.advance(start, fraction * way))
        assert first is not None
        assert here is not None
        return bool(here * first > 0.0)

    return mechanism.advance(start, bisect(is_before, 0.0, 1.0, 60)[1] * way)


def format_configuration(mechanism: Mechanism, configuration: FloatArray) -> str:
    """Format a configuration as names and values of its position variables."""
    values = presentation.values_of(mechanism, configuration)
    names = [
        n
        for n, variable in presentation.variables(mechanism).items()
        if variable.role == "position"
    ]
    return ", ".join(f"{name} {value:.4g}" for name, value in zip(names, values, strict=True))
