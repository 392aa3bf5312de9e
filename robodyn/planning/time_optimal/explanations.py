# SPDX-License-Identifier: Apache-2.0

"""Explanations of a motion's speed: limits that it reaches, or that make it infeasible."""

from __future__ import annotations

import numpy as np

from robodyn.algorithms import conditioning, travel
from robodyn.algorithms.motors import LIMIT_TOLERANCE
from robodyn.algorithms.travel import travel_limits, travel_positions
from robodyn.arrays import FloatArray
from robodyn.errors import InfeasibleTrajectory, KinematicsError
from robodyn.mechanism.mechanism import Mechanism
from robodyn.planning.kernels.intervals import Intervals
from robodyn.planning.paths.bounds import Bounds
from robodyn.planning.paths.verification import verify_curve
from robodyn.planning.time_optimal.constraints.all import UNBOUNDED, Constraints
from robodyn.planning.time_optimal.constraints.base import quantities
from robodyn.planning.time_optimal.constraints.motor_curves import MotorCurves
from robodyn.planning.time_optimal.motion import ActiveLimit
from robodyn.planning.time_optimal.path import Piece
from robodyn.planning.time_optimal.sampled_path import VERIFIED, SampledPath
from robodyn.planning.time_optimal.search import PieceMotion, SearchFailed

# Fraction of a limit above which it counts as reached.
USED = 0.98
# Fraction of the duration below which a reached limit is not listed.
BRIEF = 1e-3
# Samples of the condition number along a rejected path.
EXAMINED = 2000


def find_active_limits(
    path: SampledPath, problem: Intervals, constraints: Constraints, found: PieceMotion
) -> list[ActiveLimit]:
    """Find the limits that a motion along a piece of a path reaches.

    Args:
        path: samples of the piece.
        problem: limits in the intervals of the piece.
        constraints: all limits, with their names.
        found: motion along the piece.

    Returns:
        The limits in order of time, each with start and end time [s] from the start of the piece.
    """
    times = found.timed.times
    names, used = _fractions_used(path, problem, constraints, *found.middle)
    if found.used is not None:
        names += [name for each in constraints.third for name in each.names]
        used = np.concatenate([used, found.used], axis=1)
    which = used.argmax(axis=1)
    which[used[np.arange(len(used)), which] < USED] = -1
    starts = np.flatnonzero(np.concatenate([[True], np.diff(which) != 0]))
    parts: list[ActiveLimit] = []
    for first, last in zip(starts, [*starts[1:].tolist(), len(which)], strict=True):
        begin, end = float(times[first]), float(times[last])
        if end - begin < BRIEF * times[-1]:
            continue
        what = names[which[first]] if which[first] >= 0 else ""
        if parts and parts[-1].what == what:
            parts[-1] = parts[-1]._replace(end=end)
        elif what:
            parts.append(ActiveLimit(begin, end, what))
    return parts


def _fractions_used(
    path: SampledPath,
    problem: Intervals,
    constraints: Constraints,
    square: FloatArray,
    acceleration: FloatArray,
) -> tuple[list[str], FloatArray]:
    """Return names of K limits, and their used fractions (N, K) at interval midpoints."""
    speed, terms = np.sqrt(square)[:, None], problem.terms[:, 1]
    value = quantities(terms, square[:, None], acceleration[:, None])
    curves = MotorCurves(problem.speeds, problem.efforts, problem.counts)
    available = curves.at(terms[..., -1] * speed)
    upper, lower = np.minimum(problem.upper, available), np.maximum(problem.lower, -available)
    with np.errstate(invalid="ignore", divide="ignore"):
        fractions = np.where(value > 0.0, value / upper, value / lower)
    names = [name for each in constraints.second for name in each.names]
    columns = [np.nan_to_num(fractions, nan=0.0, posinf=1.0)]
    for first in constraints.first:
        names += first.names
        columns.append(first.fractions(path, speed[:, None])[:, len(VERIFIED) // 2])
    return names, np.concatenate(columns, axis=1)


def refuse_positions(mechanism: Mechanism, path: SampledPath, piece: Piece) -> None:
    """Reject a path that leaves a joint's range or passes through a singularity.

    Raises:
        InfeasibleTrajectory: the error names the joint, the place on the path and the position
            there.
    """
    bounds = travel.travel_bounds(mechanism)
    lower, upper = bounds.T
    size = np.where(np.isfinite(bounds), np.abs(bounds), 0.0)
    slack = LIMIT_TOLERANCE * np.maximum(size.max(axis=1), 1.0)
    positions = travel_positions(mechanism, path.motion.configuration)
    exceeds = np.maximum(positions - upper, lower - positions) - slack
    worst = exceeds.max(axis=1)
    if (worst > 0.0).any():
        interval, joint = np.unravel_index(int(worst.argmax()), worst.shape)
        at = int(exceeds[interval, :, joint].argmax())
        value = float(positions[interval, at, joint])
        bound = upper[joint] if value > upper[joint] else lower[joint]
        name, unit = travel_limits(mechanism)[joint][:2]
        raise InfeasibleTrajectory(
            f"{name} is at {value:.6g} {unit} at "
            f"{piece.text(float(piece.nodes[interval]))}, its limit is {bound:.6g} {unit}",
            value=value,
        )
    places = path.motion.configuration
    determinant = conditioning.determinant(
        mechanism, np.concatenate([places[:, 0], places[-1:, -1]])
    )
    if determinant is not None:
        changes = np.flatnonzero((determinant[1:] > 0.0) != (determinant[:-1] > 0.0))
        if changes.size:
            raise InfeasibleTrajectory(
                f"the path crosses a singularity at {piece.text(float(piece.nodes[changes[0]]))}: "
                "no efforts can hold the mechanism there",
                value=float(piece.nodes[changes[0]]),
            )


def refuse_conditioning(constraints: Constraints, piece: Piece) -> None:
    """Reject a path whose condition number exceeds its limit.

    Raises:
        InfeasibleTrajectory: the error names a place that exceeds the limit, and the largest
            condition number.
    """
    limit, length = constraints.condition, constraints.characteristic_length
    if not np.isfinite(limit):
        return
    mechanism = constraints.mechanism

    def along(s: FloatArray) -> FloatArray:
        return piece.curve.sample(s).configuration

    found = verify_curve(along, Bounds(mechanism, limit, 0.0, length, within_limits=False))
    if found.violation is None:
        return
    s = np.append(np.linspace(0.0, 1.0, EXAMINED + 1), found.place)
    values = mechanism.condition_number(along(s), length)
    worst = int(np.nanargmax(values))
    raise InfeasibleTrajectory(
        f"the condition number exceeds its limit of {limit:g} at {piece.text(found.place)} and "
        f"reaches {conditioning.condition_text(values[worst])} at {piece.text(float(s[worst]))}",
        value=float(values[worst]),
    )


def refuse_unlimited(
    mechanism: Mechanism, piece: Piece, problem: Intervals, found: PieceMotion | None = None
) -> None:
    """Reject a motion along a piece of a path if no limit bounds its speed.

    Raises:
        InfeasibleTrajectory: the motion would be infinitely fast.
    """
    if found is None:
        efforts = np.isfinite(problem.upper) | np.isfinite(problem.lower)
        limited = efforts.any() or problem.counts.any() or problem.bounds.max() < UNBOUNDED
    else:
        slow = found.middle[0].max() <= 1e-3 * UNBOUNDED
        limited = slow and np.isfinite(found.timed.duration)
    if limited:
        return
    raise InfeasibleTrajectory(
        f"nothing limits how fast {mechanism.name} moves from {100.0 * piece.span[0]:.3g} to "
        f"{100.0 * piece.span[1]:.3g} % of the path; give effort_limits, velocity_limits or "
        "acceleration_limits (robodyn plan: --acceleration), or add joint limits to its "
        "description",
        value=np.inf,
    )


def kinematics_failure(error: KinematicsError, piece: Piece, places: int) -> InfeasibleTrajectory:
    """Convert an error of the kinematics along a piece of a path to a planning error.

    `places` is the number of sampled points per interval.

    Returns:
        The error to raise, whose message states the point on the path and the reason.
    """
    fraction = 0.0
    if error.index:
        flat = error.index[0] if len(error.index) > 1 else error.index[0] // places
        fraction = float(piece.nodes[min(flat, len(piece.nodes) - 1)])
    return InfeasibleTrajectory(f"at {piece.text(fraction)}: {error.reason}", value=error.value)


def infeasibility_error(
    constraints: Constraints, piece: Piece, problem: Intervals, failed: SearchFailed
) -> InfeasibleTrajectory:
    """Create the error for limits that no speed along a path satisfies.

    Args:
        constraints: all limits, with their names.
        piece: piece of the path.
        problem: limits in the intervals of the piece.
        failed: error of the search, with the index of an interval.

    Returns:
        The error, whose message names the place and, if possible, the limit.
    """
    efforts = constraints.efforts
    joints = len(efforts.names)
    still = problem.terms[:, :, :joints, 3] + problem.terms[:, :, :joints, 4]
    lower, upper = efforts.limits.T
    size = np.where(np.isfinite(upper - lower), upper - lower, efforts.sizes.min(axis=0))
    with np.errstate(invalid="ignore"):  # efforts may have no limits
        exceeds = np.nan_to_num(np.maximum(still - upper, lower - still) / np.maximum(size, 1e-300))
    worst = np.unravel_index(int(exceeds.argmax()), exceeds.shape)
    if exceeds[worst] > 0.0:
        interval, at, joint = (int(i) for i in worst)
        value = float(still[interval, at, joint])
        where = piece.text(float(piece.nodes[interval]))
        return InfeasibleTrajectory(efforts.describe_shortage(joint, value, where), value=value)
    where = piece.text(float(piece.nodes[failed.interval]))
    if piece.ends[0] > 0.0 and failed.interval == 0:
        speed = float(np.sqrt(piece.ends[0]))
        return InfeasibleTrajectory(
            f"no motion within the limits begins at {speed:.4g} path lengths per second, "
            "which is too fast to follow the path from there",
            value=speed,
        )
    interval = failed.interval
    middle = np.abs(problem.terms[interval, 1, :joints, 0])
    joint = int((middle / np.maximum(size, 1e-300)).argmax())
    return InfeasibleTrajectory(
        f"no speed satisfies all limits at {where}: the limits of {efforts.subjects[joint]} do "
        "not permit the acceleration that the other limits require",
        value=float(upper[joint]),
    )
