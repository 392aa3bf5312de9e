# SPDX-License-Identifier: Apache-2.0

"""Settings of a time-optimal motion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

from robodyn.arrays import ArrayLike


@dataclass(frozen=True)
class TimeOptimalSettings:
    """Settings of a time-optimal motion: limits, ends and resolution.

    Attributes:
        effort_limits: [N or N m] symmetric limits, one number or (n,), or least and largest efforts
            (n, 2); by default the mechanism's limits.
        velocity_limits: largest speeds of the driven joints [m/s or rad/s]; a number or (n,); by
            default the mechanism's limits.
        acceleration_limits: largest accelerations of the driven joints [m/s^2 or rad/s^2]; a number
            or (n,); by default no limits.
        jerk_limits: largest jerks of the driven joints [m/s^3 or rad/s^3]; a number or (n,); by
            default no limits. Limits of jerk or of effort rates make accelerations continuous, and
            zero whenever the motion rests.
        effort_rate_limits: largest rates of change of the efforts [N/s or N m/s], without dry
            friction, which jumps when a joint reverses; a number or (n,); by default no limits.
        vibration: limit of the residual vibration after the motion, for every natural mode of
            elastic drives, relative to the vibration after the fastest motion; by default no limit.
            The motion is shaped by averaging its progress over time, see `shaping`.
        tip_speed: largest speed [m/s] of the platform's reference point or the arm's tip.
        condition_limit: largest permitted condition number of the Jacobian along the path.
        characteristic_length: length [m] by which moments are divided in the condition number.
        reserve: fraction of the effort limits that is reserved for a controller.
        wrench: (6,) [N, N m] constant wrench of the environment on the body, base frame.
        start_velocity, goal_velocity: (nv,) generalized velocities at the ends of the path, along
            the path; by default at rest.
        points: number of intervals with constant acceleration along the path.
    """

    effort_limits: ArrayLike | None = None
    velocity_limits: ArrayLike | None = None
    acceleration_limits: ArrayLike | None = None
    jerk_limits: ArrayLike | None = None
    effort_rate_limits: ArrayLike | None = None
    vibration: float | None = None
    tip_speed: float | None = None
    condition_limit: float | None = None
    characteristic_length: float = 1.0
    reserve: float = 0.0
    wrench: ArrayLike | None = None
    start_velocity: ArrayLike | None = None
    goal_velocity: ArrayLike | None = None
    points: int = 1000


class TimeOptimalOptions(TypedDict, total=False):
    """Fields of `TimeOptimalSettings` as keyword arguments."""

    acceleration_limits: ArrayLike | None
    jerk_limits: ArrayLike | None
    effort_rate_limits: ArrayLike | None
    vibration: float | None
    tip_speed: float | None
    characteristic_length: float
    reserve: float
    wrench: ArrayLike | None
    start_velocity: ArrayLike | None
    goal_velocity: ArrayLike | None
    points: int
