# SPDX-License-Identifier: Apache-2.0

"""Times at which a motion is singular, or its condition number crosses a threshold.

At a singularity, a number of the mechanism, such as the determinant of its Jacobian, is zero. The
condition number has a pole there, so that a search on it would be unreliable.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from robodyn.algorithms.conditioning import SINGULAR, Singularity, singularities
from robodyn.arrays import FloatArray, Indices
from robodyn.checks import as_integer, as_scalar
from robodyn.errors import InvalidInput
from robodyn.mechanism.mechanism import Mechanism
from robodyn.trajectories.base import Trajectory

TIME_TOLERANCE = 1e-12
INTERVALS = 1000
# A sign change is a zero if the number is at most this fraction of its neighbors, or the condition
# number at least this; otherwise it is a jump.
CONTINUOUS, REGULAR = 1e-3, 1e3
# Numbers without a sign below this fraction of their maximum along the path are zero.
ZERO = 1e-7


class Crossing(NamedTuple):
    """Instant at which the condition number crosses a threshold.

    Attributes:
        time: time [s] of the crossing.
        upward: whether the condition number increases.
    """

    time: float
    upward: bool


class MotionSingularity(NamedTuple):
    """Singularity of a motion.

    Attributes:
        time: time [s] at which the motion is singular.
        name: type of the singularity.
        meaning: description of the type.
    """

    time: float
    name: str
    meaning: str


def singular_times(
    mechanism: Mechanism, trajectory: Trajectory, samples: int = INTERVALS
) -> FloatArray:
    """Return the times (K,) [s] at which a motion is singular.

    `samples` is the number of sampled intervals, see `motion_singularities`.
    """
    return np.array(
        [meeting.time for meeting in motion_singularities(mechanism, trajectory, samples)]
    )


def motion_singularities(
    mechanism: Mechanism, trajectory: Trajectory, samples: int = INTERVALS
) -> tuple[MotionSingularity, ...]:
    """Find the singularities of a motion in order of time, to 1e-12 of its duration.

    If an interval of the motion is singular throughout, its start is reported.

    Args:
        mechanism: mechanism that moves. For arms whose number of joints differs from the freedoms
            of their tip, no singularities are found.
        trajectory: the motion.
        samples: number of intervals at whose ends the determinants (or similar measures) are
            compared. Two singularities within one interval, and a signed measure that only touches
            zero, are not detected.

    Returns:
        The singularities, each with time [s], type and description.

    Raises:
        InvalidInput: there is no interval, or the motion cannot be evaluated.
    """
    intervals = as_integer("samples", samples, at_least=1)
    kinds = singularities(mechanism)
    if not kinds:
        return ()
    grid = np.linspace(0.0, trajectory.duration, intervals + 1)
    configurations = trajectory.sample(grid).configuration
    found = [
        MotionSingularity(time, kind.name, kind.meaning)
        for kind in kinds
        for time in _zeros(kind, trajectory, grid, configurations)
    ]
    return tuple(sorted(found))


def threshold_crossings(
    mechanism: Mechanism,
    trajectory: Trajectory,
    threshold: float,
    characteristic_length: float = 1.0,
    singular: FloatArray | None = None,
) -> tuple[Crossing, ...]:
    """Find the times at which the Jacobian's condition number crosses a threshold.

    A rise above the threshold and back within one of 1000 intervals is found only around a
    singularity, because the intervals also end at the times `singular`.

    Args:
        mechanism: mechanism that moves.
        trajectory: the motion.
        threshold: condition number, above 1.
        characteristic_length: length [m] by which moments are divided in the condition number.
        singular: [s] times at which the motion is singular; computed if not given.

    Returns:
        The crossings in order of time, each with its direction.

    Raises:
        InvalidInput: no condition number can cross the threshold, or there is no interval.
    """
    as_scalar("threshold", threshold, above=1.0)

    def excess(t: FloatArray) -> FloatArray:
        # the inverse has a zero where the condition number has a pole
        configuration = trajectory.sample(t).configuration
        return np.asarray(
            1.0 / threshold - 1.0 / mechanism.condition_number(configuration, characteristic_length)
        )

    poles = singular_times(mechanism, trajectory) if singular is None else singular
    grid = np.union1d(np.linspace(0.0, trajectory.duration, INTERVALS + 1), poles)
    values = excess(grid)
    return tuple(
        Crossing(
            _root(lambda t: float(excess(np.asarray(t))), grid[i], grid[i + 1], trajectory),
            bool(values[i + 1] > 0.0),
        )
        for i in _sign_changes(values)
    )


def _zeros(
    kind: Singularity, trajectory: Trajectory, grid: FloatArray, configurations: FloatArray
) -> list[float]:
    """Return the times [s] of singularities of one type along a trajectory.

    The trajectory is sampled at times `grid`. For an interval that is singular throughout, such as
    a straight wrist at rest, the start is returned.
    """
    values = kind.number(configurations)
    if not kind.is_signed:
        return _tangential_zeros(kind, trajectory, grid, values)
    singular = np.asarray(kind.condition(configurations, 1.0)) > SINGULAR
    throughout = singular[1:] & singular[:-1]
    starts = throughout & ~np.concatenate([[False], throughout[:-1]])
    times = [float(time) for time in grid[:-1][starts]]
    for i in _sign_changes(values):
        if throughout[i]:
            continue
        if values[i] == 0.0 or values[i + 1] == 0.0:
            times.append(float(grid[i] if values[i] == 0.0 else grid[i + 1]))
            continue

        def signed_measure(t: float, i: int = int(i)) -> float:
            # a sign is meaningful only relative to a neighbor
            there = trajectory.sample(np.array([t])).configuration
            first, number = kind.number(np.concatenate([configurations[i : i + 1], there]))
            return float(number if (first > 0.0) == (values[i] > 0.0) else -number)

        time = _root(signed_measure, grid[i], grid[i + 1], trajectory)
        # if all singular values vanish together their ratio stays small, and if all are rounding
        # errors the number does not fall: it is a jump if neither indicates a singularity
        beside = max(abs(values[i]), abs(values[i + 1]))
        condition = float(kind.condition(trajectory.sample(time).configuration, 1.0))
        if abs(signed_measure(time)) > CONTINUOUS * beside and condition < REGULAR:
            raise InvalidInput(
                f"the motion jumps at t = {time:.4g} s, from one assembly mode of the mechanism "
                "to another; choose another path, or smaller steps",
                value=time,
            )
        times.append(time)
    return times


def _tangential_zeros(
    kind: Singularity, trajectory: Trajectory, grid: FloatArray, values: FloatArray
) -> list[float]:
    """Return the times [s] at which a nonnegative sampled measure (N,) reaches zero."""
    from scipy.optimize import minimize_scalar  # slow to import and rarely needed

    largest = float(values.max())
    if not largest > 0.0:
        return [float(grid[0])]
    padded = np.concatenate([[np.inf], values, [np.inf]])
    lowest = np.flatnonzero((values <= padded[:-2]) & (values <= padded[2:]))
    times: list[float] = []
    for i in lowest:
        low, high = grid[max(i - 1, 0)], grid[min(i + 1, len(grid) - 1)]
        found = minimize_scalar(
            lambda t: float(kind.number(trajectory.sample(np.array([t])).configuration)[0]),
            bounds=(low, high),
            method="bounded",
            options={"xatol": TIME_TOLERANCE * trajectory.duration},
        )
        time, number = float(found.x), float(found.fun)
        if values[i] <= number:
            time, number = float(grid[i]), float(values[i])
        if number <= ZERO * largest and not (times and times[-1] >= low):
            times.append(time)
    return times


def _sign_changes(values: FloatArray) -> Indices:
    """Return the indices of the intervals over which values (N,) change sign."""
    positive = values > 0.0
    return np.flatnonzero(positive[1:] != positive[:-1])


def _root(
    function: Callable[[float], float], first: float, last: float, trajectory: Trajectory
) -> float:
    # slow to import and rarely needed
    from scipy.optimize import brentq

    try:
        return float(brentq(function, first, last, xtol=TIME_TOLERANCE * trajectory.duration))
    except ValueError as error:  # intermediate overflow is allowed; results are checked
        raise InvalidInput(
            f"the motion cannot be examined near t = {first:.6g} s: {error}", value=first
        ) from error
