# SPDX-License-Identifier: Apache-2.0

"""Fastest motion along a path within the limits of a mechanism and its motors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import numpy as np

from robodyn.arrays import ArrayLike, Unpack
from robodyn.checks import as_exact, as_integer
from robodyn.errors import InfeasibleTrajectory, InvalidInput, KinematicsError
from robodyn.mechanism.mechanism import Mechanism
from robodyn.planning.time_optimal import explanations, search
from robodyn.planning.time_optimal.constraints.all import Constraints
from robodyn.planning.time_optimal.curves import WaypointSpline, coordinate_weights
from robodyn.planning.time_optimal.easing import Easing
from robodyn.planning.time_optimal.motion import ActiveLimit, TimeOptimal
from robodyn.planning.time_optimal.path import PathPieces, Piece, Placing
from robodyn.planning.time_optimal.sampled_path import IMPOSED, VERIFIED, sample_path
from robodyn.planning.time_optimal.settings import TimeOptimalOptions, TimeOptimalSettings
from robodyn.planning.time_optimal.shaping import limit_vibration
from robodyn.planning.time_optimal.smooth import SmoothSearch
from robodyn.planning.time_optimal.spacing import spacing
from robodyn.trajectories.base import Trajectory

DEFAULT = TimeOptimalSettings()
FEWEST_POINTS = 10
MOST_POINTS = 200_000
# Largest number of halvings of intervals in which limits do not hold between their ends.
REFINEMENTS = 3
# Number of intervals above which a coarse motion distributes them, and its reduction factor.
SPACED, COARSER = 400, 6
# Largest relative component of an end's velocity across the path.
TRANSVERSE_TOLERANCE = 1e-3


def time_optimal(
    mechanism: Mechanism,
    path: Trajectory | ArrayLike,
    effort_limits: ArrayLike | None = None,
    velocity_limits: ArrayLike | None = None,
    condition_limit: float | None = None,
    *,
    settings: TimeOptimalSettings = DEFAULT,
    progress: Callable[[float], None] | None = None,
    **options: Unpack[TimeOptimalOptions],
) -> TimeOptimal:
    """Compute the fastest motion along a path, from rest to rest, within limits.

    The limits also hold between the points of the solution: the result is verified between them,
    and limits are tightened until it respects them. Viscous, Coulomb and Stribeck friction and the
    motors' torque-speed curves are taken into account.

    Args:
        mechanism: mechanism that moves, including its payload, see `with_payload`.
        path: trajectory, whose timing is ignored, or configurations (k, nq) to pass through on a
            smooth curve. The motion rests at corners.
        effort_limits: [N or N m] symmetric limits, one number or (n,), or least and largest efforts
            (n, 2); by default the mechanism's limits.
        velocity_limits: largest speeds of the driven joints [m/s or rad/s]; a number or (n,); by
            default the mechanism's limits.
        condition_limit: largest permitted condition number of the Jacobian along the path.
        settings: all other settings.
        progress: called with the completed fraction of the path.
        options: keyword arguments that override fields of `settings`.

    Returns:
        The trajectory, with the limits that it reaches and a bound on its distance from the
        optimum.

    Raises:
        InvalidInput: arguments are out of range, or the path belongs to another mechanism.
        InfeasibleTrajectory: the path leaves a joint's range or exceeds the condition limit, or no
            speed is within the limits; the error names the limit, the place and the value.
        TypeError: an option is not a field of the settings.
    """
    limits: dict[str, Any] = {
        "effort_limits": effort_limits,
        "velocity_limits": velocity_limits,
        "condition_limit": condition_limit,
    }
    given = {name: limit for name, limit in limits.items() if limit is not None}
    settings = replace(settings, **options, **given)
    constraints = Constraints(mechanism, settings)
    count = as_integer("points", settings.points, at_least=FEWEST_POINTS, at_most=MOST_POINTS)
    line = cast("Trajectory", path if hasattr(path, "sample") else WaypointSpline(mechanism, path))
    ends = (settings.start_velocity, settings.goal_velocity)
    report_progress = progress or (lambda _: None)
    for refined in range(REFINEMENTS):
        try:
            motion = _plan(line, count << refined, constraints, ends, report_progress)
            bound = settings.vibration
            return motion if bound is None else limit_vibration(motion, constraints, bound)
        except search.UnverifiedMotion:
            continue
        except KinematicsError as error:
            raise InfeasibleTrajectory(f"the path cannot be followed: {error}") from error
    raise InfeasibleTrajectory(
        f"with {count << (REFINEMENTS - 1)} intervals, every motion exceeds limits inside an "
        "interval; the path bends too sharply for these points: use more points or a smoother path",
        value=settings.points,
    )


def _plan(
    line: Trajectory,
    count: int,
    constraints: Constraints,
    ends: tuple[ArrayLike | None, ArrayLike | None],
    progress: Callable[[float], None],
) -> TimeOptimal:
    """Compute the fastest motion with a given number of intervals.

    Raises:
        UnverifiedMotion: the motion exceeds its limits between the points where they are imposed.
    """
    mechanism = constraints.mechanism
    path = PathPieces(mechanism, line)
    placings: list[Placing | None] = [None] * len(path)
    easings: list[Easing | None] = [None] * len(path)
    if constraints.third:
        # a smooth motion rests at all ends of pieces but the path's own
        rests = [True] * (len(path) + 1)
        rests[0], rests[-1] = (given is None or not np.any(given) for given in ends)
        for k in range(len(path)):
            easing = easings[k] = Easing(rests[k], rests[k + 1])
            placings[k] = easing.nodes
    elif count >= SPACED:
        coarse = _with_boundary_speeds(mechanism, path.cut(count // COARSER), *ends)
        placings = [_node_spacing(piece, constraints) for piece in coarse]
    found: list[search.PieceMotion] = []
    reasons: list[ActiveLimit] = []
    start = 0.0
    pieces = _with_boundary_speeds(mechanism, path.cut(count, placings), *ends)
    for piece, easing_of_it in zip(pieces, easings, strict=True):

        def report_progress(s: float, piece: Piece = piece) -> None:
            progress(piece.fraction(s))

        part, why = _piece_motion(constraints, piece, easing_of_it, report_progress)
        found.append(part)
        reasons += [
            reason._replace(start=reason.start + start, end=reason.end + start) for reason in why
        ]
        start += part.timed.duration
        report_progress(1.0)
    gap = float(np.max([0.0, *(part.gap for part in found)]))
    return TimeOptimal(tuple(part.timed for part in found), gap, tuple(reasons))


def _node_spacing(piece: Piece, constraints: Constraints) -> Placing | None:
    """Return a function that places a piece's nodes, or None for the default spacing."""
    try:
        path = sample_path(constraints.mechanism, piece, IMPOSED)
        problem = constraints.intervals(path, piece.ends)
        return spacing(problem, search.reachable_motion(problem, piece.ends))
    except (KinematicsError, search.SearchFailed):
        # the error of the finer intervals is more precise
        return None


def _piece_motion(
    constraints: Constraints,
    piece: Piece,
    easing: Easing | None,
    report_progress: Callable[[float], None],
) -> tuple[search.PieceMotion, list[ActiveLimit]]:
    """Compute the fastest motion along a path piece, and the limits that it reaches."""
    mechanism = constraints.mechanism
    smooth: SmoothSearch | None = None
    try:
        if easing is not None:
            smooth = SmoothSearch(constraints, piece, easing)
            piece = smooth.piece
        path = sample_path(mechanism, piece) if smooth is None else smooth.course.path
        explanations.refuse_positions(mechanism, path, piece)
        explanations.refuse_conditioning(constraints, piece)
        problem = constraints.intervals(path, piece.ends)
    except KinematicsError as error:
        raise explanations.kinematics_failure(error, piece, len(VERIFIED)) from error
    try:
        if smooth is not None:
            found = smooth.fastest(problem, report_progress)
        else:
            explanations.refuse_unlimited(mechanism, piece, problem)
            found = search.find_fastest_motion(path, problem, constraints, piece, report_progress)
            explanations.refuse_unlimited(mechanism, piece, problem, found)
    except search.SearchFailed as failed:
        raise explanations.infeasibility_error(constraints, piece, problem, failed) from failed
    return found, explanations.find_active_limits(path, problem, constraints, found)


def _with_boundary_speeds(
    mechanism: Mechanism, pieces: list[Piece], start: ArrayLike | None, goal: ArrayLike | None
) -> list[Piece]:
    """Return path pieces with their spans and the squared path speeds at their ends.

    The speeds follow from the given velocities at the start and at the goal of the path.
    """
    fractions = np.concatenate([[0.0], np.cumsum([piece.length for piece in pieces])])
    fractions = (fractions / fractions[-1]).tolist()
    speeds = [[0.0, 0.0] for _ in pieces]
    for name, given, k, side in (
        ("start_velocity", start, 0, 0),
        ("goal_velocity", goal, -1, 1),
    ):
        if given is None:
            continue
        size = mechanism.coordinates.velocity_size
        velocity = as_exact(name, given, (size,))
        tangent = pieces[k].curve.sample(float(side)).velocity
        weights = coordinate_weights(mechanism)
        v, u = weights * velocity, weights * tangent
        speed = float(v @ u / (u @ u))
        aside = float(np.linalg.norm(v - speed * u))
        if speed < 0.0 or aside > TRANSVERSE_TOLERANCE * float(np.linalg.norm(v)):
            raise InvalidInput(
                f"{name} is {velocity.tolist()}, expected a multiple of the path's direction "
                f"there, {tangent.tolist()}",
                value=given,
            )
        speeds[k][side] = speed**2
    return [
        piece._replace(span=(fractions[k], fractions[k + 1]), ends=(speeds[k][0], speeds[k][1]))
        for k, piece in enumerate(pieces)
    ]
