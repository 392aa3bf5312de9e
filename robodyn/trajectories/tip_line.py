# SPDX-License-Identifier: Apache-2.0

"""Motions of the body that a mechanism moves, in the mechanism's own coordinates."""

from __future__ import annotations

from typing import Any

from robodyn.arrays import ArrayLike
from robodyn.errors import NoSolution
from robodyn.mechanisms.mechanism import Mechanism
from robodyn.trajectories.base import Trajectory
from robodyn.trajectories.line import plan_line
from robodyn.trajectories.sampled import SampledTrajectory, knot_times

# Time between knots [s].
PERIOD = 0.005


def plan_tip_line(
    mechanism: Mechanism,
    start: ArrayLike,
    goal: ArrayLike,
    *,
    period: float = PERIOD,
    **profile: Any,
) -> Trajectory:
    """The mechanism's motion that takes its platform or tip to a pose along a straight line.

    Position and roll, pitch and yaw run with parabolic blends, as a platform's do (Dasgupta and
    Mruthyunjaya, 1998, section 6); the joints follow by inverse kinematics at knots and by the
    cubic through configurations and rates between them.

    Args:
        mechanism: whose body it is.
        start: (nq,) configuration to start from.
        goal: (7,) pose [m, -] of the body, base frame.
        period: [s] between knots.
        profile: `duration`, `v_max`, `w_max`, `profile`, as for `plan_line`.

    Raises:
        InvalidInput: shapes that do not match, or not finite.
        InfeasibleTrajectory: as `plan_line`.
        NoSolution: a pose on the way that the mechanism cannot reach from the one before.
    """
    first = mechanism.coordinates.single("start", start)
    line = plan_line(mechanism.body_pose(first), goal, **profile)
    return along_body(mechanism, line, first, period)


def along_body(
    mechanism: Mechanism, path: Trajectory, start: ArrayLike, period: float = PERIOD
) -> Trajectory:
    """The mechanism's motion that takes its body along a path of poses, known to be of the body.

    Args:
        mechanism: whose body it is.
        path: of poses (7,), twists and accelerations (6,), base frame.
        start: (nq,) configuration at, or near, the first pose.
        period: [s] between knots.

    Raises:
        InvalidInput: shapes that do not match, or not finite.
        NoSolution: a pose on the way that the mechanism cannot reach from the one before.
    """
    if mechanism.configuration_is_pose:
        return path
    times = knot_times(path.duration, path.switching_times, period)
    try:
        motion = mechanism.motion_of_body(times, *path.sample(times), start)
    except NoSolution as error:
        knot = error.index[0] if error.index else 0
        why = str(error).replace(f" (element [{knot}])", "")
        raise NoSolution(
            f"at t = {times[knot]:.3f} s: {why}",
            residual=error.residual,
            value=error.value,
            index=error.index,
        ) from error
    return SampledTrajectory(mechanism, times, motion, of_body=True)


def is_of_body(mechanism: Mechanism, trajectory: Trajectory) -> bool:
    """Whether a motion was asked for by poses of the body, so that conditioning matters to it.

    A mechanism whose configuration is a pose is always asked so. Joints that move together from
    one configuration to another need no Jacobian, and may do so through singular ones.
    """
    if mechanism.configuration_is_pose:
        return True
    parts = getattr(trajectory, "segments", ())
    return bool(getattr(trajectory, "of_body", False)) or any(
        is_of_body(mechanism, part) for part in parts
    )
