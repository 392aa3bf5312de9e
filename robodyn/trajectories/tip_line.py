# SPDX-License-Identifier: Apache-2.0

"""Motions of the body of a mechanism, in the coordinates of the mechanism."""

from __future__ import annotations

from robodyn.algorithms import motions
from robodyn.arrays import ArrayLike
from robodyn.errors import NoSolution
from robodyn.mechanism.mechanism import Mechanism
from robodyn.trajectories.base import Trajectory
from robodyn.trajectories.line import plan_line
from robodyn.trajectories.profiles import ProfileName
from robodyn.trajectories.sampled import SampledTrajectory, knot_times

# Time between knots [s].
PERIOD = 0.005


def plan_tip_line(
    mechanism: Mechanism,
    start: ArrayLike,
    goal: ArrayLike,
    *,
    duration: float | None = None,
    v_max: float | None = None,
    w_max: float | None = None,
    profile: ProfileName = "lspb",
    period: float = PERIOD,
) -> Trajectory:
    """Plan a motion that moves a mechanism's body to a pose along a straight line.

    Position and roll, pitch and yaw follow parabolic blends, as for a platform (Dasgupta and
    Mruthyunjaya, 1998, section 6). The joints follow by inverse kinematics at knots and cubics
    between them.

    Args:
        mechanism: mechanism with the body.
        start: (nq,) initial configuration.
        goal: (7,) pose [m, -] of the body, base frame.
        duration, v_max, w_max, profile: as for `plan_line`.
        period: time [s] between knots.

    Returns:
        The motion of the mechanism, from rest to rest.

    Raises:
        InvalidInput: shapes do not match, or values are not finite.
        InfeasibleTrajectory: as for `plan_line`.
        NoSolution: the mechanism cannot reach a pose of the path from the previous one.
    """
    first = mechanism.coordinates.single("start", start)
    line = plan_line(mechanism.body_pose(first), goal, duration, v_max, w_max, profile)
    return follow_body_path(mechanism, line, first, period)


def follow_body_path(
    mechanism: Mechanism, path: Trajectory, start: ArrayLike, period: float = PERIOD
) -> Trajectory:
    """Convert a path of poses of the body into a motion of the mechanism.

    Args:
        mechanism: mechanism with the body.
        path: path of poses (7,), twists and accelerations (6,), base frame.
        start: (nq,) configuration at, or near, the first pose.
        period: time [s] between knots.

    Returns:
        The motion of the mechanism, with knots every `period`.

    Raises:
        InvalidInput: shapes do not match, or values are not finite.
        NoSolution: the mechanism cannot reach a pose of the path from the previous one.
    """
    if mechanism.coordinates.is_pose:
        return path
    times = knot_times(path.duration, path.switching_times, period)
    try:
        motion = motions.motion_of_body(mechanism, times, *path.sample(times), start)
    except NoSolution as error:
        knot = error.index[0] if error.index else 0
        raise NoSolution(
            f"at t = {times[knot]:.3f} s: {error.reason}",
            residual=error.residual,
            value=error.value,
            index=error.index,
        ) from error
    return SampledTrajectory(mechanism, times, motion, of_body=True)


def is_body_motion(mechanism: Mechanism, trajectory: Trajectory) -> bool:
    """Return whether a motion was planned for poses of the body, not for its joints.

    The condition number matters for motions of the body. If the configuration of the mechanism is a
    pose, all motions are motions of the body. Joints that move together from one configuration to
    another need no Jacobian, and may pass singular configurations.
    """
    if mechanism.coordinates.is_pose:
        return True
    parts = getattr(trajectory, "segments", ())
    return bool(getattr(trajectory, "of_body", False)) or any(
        is_body_motion(mechanism, part) for part in parts
    )
