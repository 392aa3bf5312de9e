# SPDX-License-Identifier: Apache-2.0

"""What a time-optimal motion is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

from robodyn.arrays import ArrayLike


@dataclass(frozen=True)
class TimeOptimalSettings:
    """Limits, ends and resolution of a time-optimal motion.

    Attributes:
        effort_limits: [N or N m] a number or (n,) either way, or (n, 2) least and largest; by
            default the mechanism's.
        velocity_limits: [m/s or rad/s] a number or (n,), of the driven joints; likewise.
        acceleration_limits: [m/s^2 or rad/s^2] a number or (n,), of the driven joints; by default
            none.
        jerk_limits: [m/s^3 or rad/s^3] a number or (n,), of the driven joints; by default none.
            With these, or with limits of the effort's rate, accelerations do not jump, and rests
            have none.
        effort_rate_limits: [N/s or N m/s] a number or (n,), of what efforts change without dry
            friction, which jumps where a joint turns round; by default none.
        tip_speed: [m/s] of the platform's reference point or the arm's tip.
        condition_limit: condition number that the path may not exceed.
        characteristic_length: [m] of that number.
        reserve: share of the effort limits that is left to a controller.
        wrench: (6,) [N, N m] that acts on the mechanism throughout, base frame.
        start_velocity, goal_velocity: (nv,) along the path; by default rest.
        points: intervals in which the acceleration along the path is constant.
    """

    effort_limits: ArrayLike | None = None
    velocity_limits: ArrayLike | None = None
    acceleration_limits: ArrayLike | None = None
    jerk_limits: ArrayLike | None = None
    effort_rate_limits: ArrayLike | None = None
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
    tip_speed: float | None
    characteristic_length: float
    reserve: float
    wrench: ArrayLike | None
    start_velocity: ArrayLike | None
    goal_velocity: ArrayLike | None
    points: int
