# SPDX-License-Identifier: Apache-2.0
"""Path planning between any two configurations, away from singularities and limits.

Two trees search the configurations (`tree_search`), several times with different random numbers.
Each path found is shortened; the shortest becomes a smooth curve that is pulled tight
(`shortening`) and verified, also between its samples (`verification`). If no path is found,
`separation` determines the reason.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from robodyn.algorithms import conditioning
from robodyn.arrays import ArrayLike, FloatArray, Unpack
from robodyn.checks import as_scalar
from robodyn.errors import NoPath
from robodyn.mechanism.mechanism import Mechanism
from robodyn.planning.paths.bounds import SINGULAR, Bounds
from robodyn.planning.paths.clearance import Clearance
from robodyn.planning.paths.curves import Curve
from robodyn.planning.paths.planned_path import PlannedPath, time_curve
from robodyn.planning.paths.projected_space import space_of
from robodyn.planning.paths.separation import explain_failure, refuse_apart, refuse_ends
from robodyn.planning.paths.settings import PathOptions, PathSettings
from robodyn.planning.paths.shortening import fit_smooth_curve, shortcut
from robodyn.planning.paths.tree_search import Budget, PlanningProblem, TreeSearch
from robodyn.planning.paths.verification import verify_curve

# Number of searches whose paths are compared.
SEARCHES = 4
# Longest segment [rad] of one growth step.
REACH = 0.6
# Margin of each bound in the search, which leaves room for smoothing.
SEARCH_MARGIN = 0.01
# Number of configurations along the final curve.
CURVE_SAMPLES = 501
# Fraction of the condition limit for another search if no smooth curve was found.
STRICTER = 0.2
# Fraction of the time for shortening a path.
SHORTENING = 0.15
# Fraction of the time for further searches after the first path.
FURTHER = 0.25
# Fraction of the time for all searches; the rest is for smoothing, or for finding what blocks the
# way.
SEARCHING = 0.65


DEFAULT = PathSettings()


def plan_path(
    mechanism: Mechanism,
    start: ArrayLike,
    goal: ArrayLike,
    condition_limit: float | None = None,
    *,
    settings: PathSettings = DEFAULT,
    progress: Callable[[str], None] | None = None,
    stopped: Callable[[], bool] = lambda: False,
    **options: Unpack[PathOptions],
) -> PlannedPath:
    """Plan a trajectory from start to goal, away from singularities and within limits.

    The result is deterministic for a seed, unless the search runs out of time. Bounds also hold
    between the samples, see `planning.paths.verification`.

    Args:
        mechanism: mechanism of any kind.
        start, goal: configurations (nq,) [m or rad; quaternions without unit].
        condition_limit: largest permitted condition number of the Jacobian along the path, see
            `PathSettings`.
        settings: all other settings.
        progress: called with a description of the current step.
        stopped: function that is polled during the search and returns True to end it.
        options: keyword arguments that override fields of `settings`.

    Returns:
        The trajectory, with its largest condition number and its length.

    Raises:
        NoPath: there is no path, or none was found; the error contains the reason.
        InvalidInput: shapes are wrong, values are not finite, or numbers are out of range.
        InfeasibleTrajectory: the duration is too short for the speed limits.
        TypeError: an option is not a field of the settings.
    """
    settings = replace(settings, **options)
    if condition_limit is not None:
        settings = replace(settings, condition_limit=condition_limit)
    began = time.monotonic()
    timeout = as_scalar("timeout", settings.timeout, "s", above=0.0)
    step = as_scalar("step", settings.step, "rad", above=0.0)
    first = mechanism.coordinates.single("start", start)
    last = mechanism.coordinates.wrap_near(mechanism.coordinates.single("goal", goal), first)
    given_limit = settings.condition_limit
    limit = default_limit(mechanism) if given_limit is None else given_limit
    parts = None if settings.clearance is None else Clearance(mechanism, settings.clearance)
    bounds = Bounds(
        mechanism,
        limit,
        settings.singular_value_limit,
        settings.characteristic_length,
        settings.within_limits,
        clearance=parts,
    )
    bounds = _with_determinant_sign(bounds, first, last)
    refuse_ends(bounds, first, last)
    problem = PlanningProblem(space_of(mechanism, first, last), bounds, first, last, step)
    budget = Budget(began + timeout, stopped=stopped, report_progress=progress or (lambda _: None))
    searching = replace(budget, deadline=began + SEARCHING * timeout)
    path = find_path(problem, settings.seed, searching)
    if path is None:
        raise explain_failure(
            problem, find_path, settings.seed, Budget(budget.deadline, stopped=stopped)
        )
    found = _fit_curve(problem, path, budget)
    if found is None and limit < np.inf:
        # the path may be too close to a singularity for a smooth curve
        stricter = replace(problem, bounds=replace(bounds, condition_limit=limit * STRICTER))
        if stricter.are_ends_valid:
            path = find_path(stricter, settings.seed + 1, budget)
            found = None if path is None else _fit_curve(stricter, path, budget)
    if found is None:
        raise NoPath(
            "a path was found, but no smooth curve along it stays within the bounds; "
            "widen them a little, or use a smaller step",
            separated_by="unknown",
            value=len(path) if path is not None else 0,
        )
    curve, samples = found
    along = curve.configurations(np.linspace(0.0, 1.0, CURVE_SAMPLES))
    worst = float(mechanism.condition_number(along, settings.characteristic_length).max())
    length = problem.space.length(along)
    law = time_curve(mechanism, curve, length, settings)
    return PlannedPath(curve, law, length, worst, samples, time.monotonic() - began)


def default_limit(mechanism: Mechanism) -> float:
    """Return the default limit of the Jacobian's condition number for path planning.

    The limit is finite if the mechanism can become uncontrollable (platforms, closed loops), and
    infinite otherwise.
    """
    redundant = len(mechanism.joint_names) > mechanism.coordinates.velocity_size
    return (
        SINGULAR
        if redundant or conditioning.determinant(mechanism, mechanism.home) is not None
        else np.inf
    )


def find_path(problem: PlanningProblem, seed: int, budget: Budget) -> FloatArray | None:
    """Search for a path several times, with different random numbers.

    Args:
        problem: planning problem.
        seed: seed of the random numbers.
        budget: limits of the search.

    Returns:
        The shortest path (n, nq) found, from start to goal; None if all searches fail.
    """
    space, least = problem.space, problem.minimum_margins(SEARCH_MARGIN)
    straight = space.segment(problem.start, problem.goal, problem.step)
    if straight is not None and problem.bounds.are_satisfied(straight, least).all():
        return straight
    best: FloatArray | None = None
    began = time.monotonic()
    for number in range(SEARCHES):
        budget.report_progress(f"search {number + 1} of {SEARCHES}")
        random = np.random.default_rng([seed, number])
        path = TreeSearch(problem, least, REACH).path(random, budget)
        if path is None:
            break
        fraction = SHORTENING * max(budget.deadline - began, 0.0)
        limited = replace(budget, deadline=time.monotonic() + fraction)
        path = shortcut(problem, least, path, random, limited)
        if best is None or space.length(path) < space.length(best):
            best = path
        if time.monotonic() - began > FURTHER * max(budget.deadline - began, 0.0):
            break
    return best


def _with_determinant_sign(bounds: Bounds, start: FloatArray, goal: FloatArray) -> Bounds:
    """Return bounds that also fix the sign of the Jacobian determinant on a path."""
    mechanism = bounds.mechanism
    if bounds.condition_limit == np.inf:
        return bounds
    if any(np.isneginf(bounds.margins(end[None])).all() for end in (start, goal)):
        return bounds
    sides = conditioning.side(mechanism, np.stack([start, goal]))
    if sides is None:
        return bounds
    if sides[0] * sides[1] <= 0.0:
        refuse_apart(bounds, start, goal, sides)
    return replace(bounds, side=float(np.sign(sides[0])))


def _fit_curve(
    problem: PlanningProblem, path: FloatArray, budget: Budget
) -> tuple[Curve, int] | None:
    """Fit a verified curve to a path (n, nq).

    Returns:
        The curve and its sample count, or None if no fitted curve passes verification.
    """
    budget.report_progress("smoothing")
    # a path that was found gets some time even after the deadline
    budget = replace(budget, deadline=max(budget.deadline, time.monotonic() + 10.0))
    for fraction in (SEARCH_MARGIN, 0.25 * SEARCH_MARGIN, 0.0):
        curve = fit_smooth_curve(problem, problem.minimum_margins(fraction), path, budget)
        if curve is None:
            continue
        found = verify_curve(curve.configurations, problem.bounds)
        along = curve.configurations(np.linspace(0.0, 1.0, CURVE_SAMPLES))
        if found.violation is None and problem.space.is_on_one_sheet(along):
            return curve, found.samples
    return None
