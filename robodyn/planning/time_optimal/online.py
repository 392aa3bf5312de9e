# SPDX-License-Identifier: Apache-2.0

"""Fastest motion from the current state to a goal, without stopping first.

The path is a cubic in displacements: it starts in the direction of the current velocity and ends in
the direction of the goal. Several weights of the velocity are tried, and the fastest motion is
used.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray, Unpack
from robodyn.checks import as_exact
from robodyn.control.path_progress import PathProgress
from robodyn.errors import InfeasibleTrajectory, RobodynError
from robodyn.mechanism.mechanism import Mechanism
from robodyn.planning.time_optimal.curves import coordinate_weights, cubic_to_goal
from robodyn.planning.time_optimal.motion import TimeOptimal
from robodyn.planning.time_optimal.settings import TimeOptimalOptions, TimeOptimalSettings
from robodyn.planning.time_optimal.time_optimal import time_optimal
from robodyn.trajectories import Motion, Trajectory, plan_tip_line

# Weights of the velocity, relative to the time in which it would cover the distance.
VELOCITY_WEIGHTS = (0.25, 0.5, 1.0, 2.0)
# Weights [s] to try if none of these is feasible, as when the goal is too near to stop there.
LONGER_WEIGHTS = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
# Number of intervals of a motion that is only compared with others.
COARSE = 150
# Time [s] between knots of an arm's motion along a line of its tip at 1 m/s.
LINE_PERIOD = 2e-3
# Rate below which a joint rests, relative to its limit, or [m/s, rad/s] without one.
REST_RATE = 1e-3


class OnlineOptions(TimeOptimalOptions, total=False):
    """Keyword arguments that `time_optimal_from` passes to `time_optimal`."""

    effort_limits: ArrayLike | None
    velocity_limits: ArrayLike | None
    condition_limit: float | None
    settings: TimeOptimalSettings
    progress: Callable[[float], None] | None


def is_moving(mechanism: Mechanism, configuration: ArrayLike, velocity: ArrayLike) -> bool:
    """Return whether any driven joint moves faster than measurement noise.

    `configuration` (nq,) and `velocity` (nv,) are the state of the mechanism. A joint counts as
    moving above a small fraction of its velocity limit.
    """
    rates = np.abs(mechanism.joint_velocities(configuration, velocity))
    limits = mechanism.velocity_limits
    return bool((rates > REST_RATE * np.where(np.isfinite(limits), limits, 1.0)).any())


def time_optimal_from(
    mechanism: Mechanism,
    configuration: ArrayLike,
    velocity: ArrayLike,
    goal: ArrayLike,
    **options: Unpack[OnlineOptions],
) -> TimeOptimal:
    """Compute a fast motion from a moving state to rest at a goal.

    Args:
        mechanism: mechanism that moves.
        configuration, velocity: (nq,) and (nv,) current configuration and generalized velocity.
        goal: (nq,) configuration at the end.
        options: as for `time_optimal`, except `start_velocity` and `goal_velocity`.

    Returns:
        The fastest of several motions, each along a different curve to the goal.

    Raises:
        InvalidInput: arguments have wrong shapes or are out of range.
        InfeasibleTrajectory: no path from that state can be followed within the limits.
    """
    here = mechanism.coordinates.single("configuration", configuration)
    there = mechanism.coordinates.single("goal", goal)
    rate = as_exact("velocity", velocity, (mechanism.coordinates.velocity_size,))
    if not is_moving(mechanism, here, rate):
        straight = cubic_to_goal(mechanism, here, rate, there, 0.0)
        return time_optimal(mechanism, straight, **options)

    options["start_velocity"] = rate
    coarse = options.copy()
    coarse["points"] = COARSE

    def motion(velocity_weight: float, requested: OnlineOptions) -> TimeOptimal:
        path = cubic_to_goal(mechanism, here, rate, there, velocity_weight)
        return time_optimal(mechanism, path, **requested)

    way = mechanism.difference(here, there)
    weights = coordinate_weights(mechanism)
    speed = float(np.linalg.norm(weights * rate))
    whole = float(np.linalg.norm(weights * way)) / speed
    found: list[tuple[float, float]] = []
    problem: RobodynError | None = None
    for velocity_weight in (*(fraction * whole for fraction in VELOCITY_WEIGHTS), *LONGER_WEIGHTS):
        if found and velocity_weight in LONGER_WEIGHTS:
            break
        try:
            found.append((motion(velocity_weight, coarse).duration, velocity_weight))
        except RobodynError as error:
            problem = problem or error
    for _, velocity_weight in sorted(found):
        try:
            return motion(velocity_weight, options)
        except RobodynError as error:
            problem = error
    raise InfeasibleTrajectory(
        f"no motion to the goal was found from the current velocity: {problem}", value=rate
    )


def time_optimal_line(
    mechanism: Mechanism,
    configuration: ArrayLike,
    pose: ArrayLike,
    **options: Unpack[OnlineOptions],
) -> TimeOptimal:
    """Compute the fastest motion of the body along a straight line to a pose (7,).

    The motion begins and ends at rest. Roll, pitch and yaw change in proportion to the position.

    Args:
        mechanism: mechanism that moves.
        configuration: (nq,) current configuration.
        pose: (7,) goal of the body, base frame.
        options: as for `time_optimal`.

    Returns:
        The motion.

    Raises:
        InvalidInput, InfeasibleTrajectory: as for `time_optimal`.
        NoSolution: the mechanism cannot reach a pose on the line from the previous pose.
    """
    # the timing of the line does not matter
    line = plan_tip_line(mechanism, configuration, pose, v_max=1.0, w_max=1.0, period=LINE_PERIOD)
    return time_optimal(mechanism, line, **options)


def predict_state(
    mechanism: Mechanism,
    stamp: int,
    configuration: FloatArray,
    velocity: FloatArray,
    lead: float,
    followed: tuple[Trajectory, int] | None,
) -> Motion:
    """Predict the state of a mechanism `lead` [s] after a measurement.

    Args:
        mechanism: mechanism that moves.
        stamp: time [ns] of the measurement.
        configuration, velocity: (nq,) and (nv,) measured configuration and generalized velocity.
        lead: time [s] to look ahead.
        followed: trajectory that the mechanism follows, and its start time [ns]; None if unknown.
            Without it, or if the mechanism is not on the trajectory, the velocity is extrapolated.

    Returns:
        Configuration (nq,), and generalized velocity and acceleration (nv,), `lead` after `stamp`.
    """
    if followed is not None:
        trajectory, start = followed
        reached = PathProgress(mechanism, trajectory, start).at(stamp, configuration)
        if reached is not None:
            return trajectory.sample(reached + lead)
    ahead = mechanism.advance(configuration, lead * velocity)
    return Motion(ahead, velocity, 0.0 * velocity)
