# SPDX-License-Identifier: Apache-2.0

"""Trajectories from ROS messages.

Any objects with the fields of the messages are accepted, from rclpy or from rosbags.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from robodyn.algorithms import motions
from robodyn.arrays import FloatArray
from robodyn.checks import LARGEST_STATE, as_pose, refuse_beyond
from robodyn.errors import InvalidInput
from robodyn.mechanism.mechanism import Mechanism
from robodyn.numerics.turns import unwrap
from robodyn.trajectories.base import Motion
from robodyn.trajectories.sampled import SampledTrajectory

NANOSECONDS = 1_000_000_000


def to_nanoseconds(stamp: Any) -> int:
    """Convert a stamp or a duration of a ROS message to nanoseconds."""
    return int(stamp.sec) * NANOSECONDS + int(stamp.nanosec)


def pose_array(message: Any) -> FloatArray:
    """Convert a Pose or Transform message to a pose (7,): x y z [m], qx qy qz qw."""
    is_pose = hasattr(message, "position")
    position = message.position if is_pose else message.translation
    q = message.orientation if is_pose else message.rotation
    return np.array([position.x, position.y, position.z, q.x, q.y, q.z, q.w])


def twist_array(message: Any) -> FloatArray:
    """Return the components (6,) of a Twist message, linear before angular."""
    return vector_pair(message.linear, message.angular)


def vector_pair(first: Any, second: Any) -> FloatArray:
    """Return the components of two Vector3 messages as one array (6,)."""
    return np.array([first.x, first.y, first.z, second.x, second.y, second.z])


def sampled_trajectory(message: Any, mechanism: Mechanism) -> SampledTrajectory:
    """Convert a MultiDOFJointTrajectory message to a trajectory of the body's pose.

    Missing velocities and accelerations are zero.

    Returns:
        The trajectory, with a knot for each point of the message.

    Raises:
        InvalidInput: the frame is not the base of the mechanism, there are no points or several
            joints, times do not increase, numbers are not finite or implausibly large, or a
            quaternion is not of unit length.
    """
    base = mechanism.frames[0]
    if message.header.frame_id not in ("", base):
        raise InvalidInput(f"frame is {message.header.frame_id!r}, expected {base!r}", value=base)
    if not len(message.points):
        raise InvalidInput("the trajectory has no points", value=message)
    rows = []
    for index, point in enumerate(message.points):
        if len(point.transforms) != 1:
            raise InvalidInput(
                f"point {index} has {len(point.transforms)} transforms, expected 1", value=index
            )
        twist = twist_array(point.velocities[0]) if len(point.velocities) else np.zeros(6)
        accel = twist_array(point.accelerations[0]) if len(point.accelerations) else np.zeros(6)
        pose = as_pose(f"pose of point {index}", pose_array(point.transforms[0]))
        rows.append((pose, twist, accel))
    motion = Motion(*map(np.array, zip(*rows, strict=True)))
    _refuse_beyond(motion)
    return SampledTrajectory(mechanism, point_times(message.points), motion)


def joint_rows(
    message: Any, names: Sequence[str]
) -> tuple[FloatArray, tuple[FloatArray, FloatArray, FloatArray]]:
    """Read the points of a JointTrajectory message, with joints ordered as `names`.

    Missing velocities and accelerations are zero.

    Returns:
        Times (K,) [s], and a tuple of positions, velocities and accelerations (K, n) of the joints
        in the order of `names`.

    Raises:
        InvalidInput: there are no points, joints are missing, unknown or named twice, lists have
            the wrong length, or numbers are implausibly large.
    """
    given = list(message.joint_names)
    if not len(message.points):
        raise InvalidInput("the trajectory has no points", value=message)
    if sorted(given) != sorted(names):
        raise InvalidInput(
            f"joints are {', '.join(given) or 'none'}, expected {', '.join(names)}", value=given
        )
    order = [given.index(name) for name in names]
    rows = []
    for index, point in enumerate(message.points):
        zero = [0.0] * len(given)
        rates, changes = (
            values if len(values) else zero for values in (point.velocities, point.accelerations)
        )
        lists = [point.positions, rates, changes]
        if any(len(values) != len(given) for values in lists):
            raise InvalidInput(
                f"point {index} must have {len(given)} positions, velocities and accelerations",
                value=index,
            )
        rows.append([np.array(values)[order] for values in lists])
    position, velocity, acceleration = map(np.array, zip(*rows, strict=True))
    _refuse_beyond((position, velocity, acceleration))
    return point_times(message.points), (position, velocity, acceleration)


def without_turns(
    mechanism: Mechanism,
    names: Sequence[str],
    times: FloatArray,
    rows: tuple[FloatArray, FloatArray, FloatArray],
    near: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Remove full turns of continuous joints between the points of a joint trajectory.

    Between two points a continuous joint turns as far as its velocities require, and takes the
    short way if it rests there.

    Args:
        mechanism: mechanism with these joints.
        names: (n,) names of the joints.
        times: (K,) [s] of the points.
        rows: positions, velocities and accelerations (K, n).
        near: (n,) positions within half a turn of the first point, if known.

    Returns:
        Positions (K, n) without full turns, and the unchanged velocities and accelerations.
    """
    wraps = np.flatnonzero(motions.wrapping(mechanism, names))
    if not wraps.size:
        return rows
    positions, rates, changes = rows
    positions, turning = np.array(positions), rates[:, wraps]
    if near is not None:
        start = near[wraps] + motions.joint_difference(mechanism, near, positions[0], names)[wraps]
        positions[:, wraps] += start - positions[0, wraps]
    steps = 0.5 * np.diff(times)[:, None] * (turning[1:] + turning[:-1])
    positions[:, wraps] = unwrap(positions[:, wraps], steps)
    return positions, rates, changes


def point_times(points: Sequence[Any]) -> FloatArray:
    """Return the times (K,) [s] of a trajectory's points, counted from its start."""
    return np.array([to_nanoseconds(point.time_from_start) for point in points]) * 1e-9


def _refuse_beyond(motion: Sequence[FloatArray]) -> None:
    """Reject trajectory values so large that interpolation might overflow."""
    for name, values in zip(Motion._fields, motion, strict=True):
        if np.abs(values).max() > LARGEST_STATE:
            index = int(np.abs(values).max(axis=-1).argmax())
            refuse_beyond(f"{name} of point {index}", values[index])
