# SPDX-License-Identifier: Apache-2.0
"""Straight motions of any mechanism, from one configuration to another."""

from __future__ import annotations

import numpy as np

from robodyn.arrays import ArrayLike
from robodyn.mechanisms.mechanism import Mechanism
from robodyn.trajectories.base import Trajectory
from robodyn.trajectories.line import plan_joints, plan_line
from robodyn.trajectories.sampled import SampledTrajectory, knot_times

# Between the knots of a motion whose configurations are found from independent joints [s].
PERIOD = 0.01


def plan_straight(
    mechanism: Mechanism,
    start: ArrayLike,
    goal: ArrayLike,
    *,
    duration: float | None = None,
    v_max: float | None = None,
    w_max: float | None = None,
    profile: str = "lspb",
) -> Trajectory:
    """Plan a straight motion: of a body in space (`plan_line`), or of joints (`plan_joints`).

    Args:
        mechanism: what is to move.
        start, goal: configurations (nq,).
        duration: [s]; computed from the limits where it is None.
        v_max: [m/s] of a body, [rad/s or m/s] of joints.
        w_max: [rad/s] of a body's roll, pitch and yaw; joints have none.
        profile: `lspb`, `cubic`, `quintic` or `cycloidal`.

    Raises:
        InvalidInput: bad arrays, or neither duration nor limits given.
        InfeasibleTrajectory: the limits do not allow the duration.
        NoSolution: a closed loop cannot be assembled on the way.
    """
    if mechanism.configuration_is_pose:
        return plan_line(start, goal, duration, v_max, w_max, profile=profile)
    if len(mechanism.independent_joints) == mechanism.coordinates.configuration_size:
        return plan_joints(start, goal, duration, v_max, profile)
    first, last = mechanism.values_of(np.array([start, goal]))
    line = plan_joints(first, last, duration, v_max, profile)
    times = knot_times(line.duration, line.switching_times, PERIOD)
    motion = mechanism.motion_of_independent(*line.sample(times), guess=start)
    return SampledTrajectory(mechanism, times, motion)
