# SPDX-License-Identifier: Apache-2.0

"""Conversion of messages to arrays and back, with the frames and orders that ROS prescribes."""

from __future__ import annotations

from functools import lru_cache
from struct import unpack_from
from typing import TYPE_CHECKING, Any

import numpy as np
from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import Pose, PoseStamped, Transform, Twist
from nav_msgs.msg import Odometry, Path
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import (
    JointTrajectory,
    JointTrajectoryPoint,
    MultiDOFJointTrajectory,
    MultiDOFJointTrajectoryPoint,
)

from robodyn.checks import BEYOND, all_finite, as_pose, refuse_beyond
from robodyn.errors import InvalidInput
from robodyn.poses import resolved_unchecked
from robodyn.trajectories import Motion, SampledTrajectory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from geometry_msgs.msg import Vector3, Wrench
    from numpy.typing import NDArray

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.mechanism import Mechanism


NANOSECONDS = 1_000_000_000
# Range of a stamp, whose seconds have 32 bits [ns].
FIRST, LAST = -(2**31) * NANOSECONDS, 2**31 * NANOSECONDS - 1


def to_nanoseconds(stamp: Time | Duration) -> int:
    """A stamp or a duration as whole nanoseconds."""
    return int(stamp.sec) * NANOSECONDS + int(stamp.nanosec)


def first_stamp(data: bytes) -> int:
    """The stamp [ns] of a serialised message that begins with a header; no more is read."""
    seconds, rest = unpack_from("<iI" if data[1] & 1 else ">iI", data, 4)
    return int(seconds * NANOSECONDS + rest)


def fill_stamp(stamp: Time, nanoseconds: int) -> None:
    """Write whole nanoseconds into a stamp, clipped to its range.

    The nanoseconds of a received stamp may exceed a second, so the total can exceed the range.
    """
    nanoseconds = min(max(nanoseconds, FIRST), LAST)
    stamp.sec, stamp.nanosec = divmod(nanoseconds, NANOSECONDS)


def to_stamp(nanoseconds: int) -> Time:
    """Whole nanoseconds as a stamp; see `fill_stamp`."""
    stamp = Time()
    fill_stamp(stamp, nanoseconds)
    return stamp


def to_duration(nanoseconds: int) -> Duration:
    """Whole nanoseconds as a duration."""
    return Duration(sec=nanoseconds // NANOSECONDS, nanosec=nanoseconds % NANOSECONDS)


def pose_array(message: Pose | Transform) -> FloatArray:
    """(7,) x y z qx qy qz qw of a Pose or a Transform."""
    position = message.position if isinstance(message, Pose) else message.translation
    q = message.orientation if isinstance(message, Pose) else message.rotation
    return np.array([position.x, position.y, position.z, q.x, q.y, q.z, q.w])


def fill_pose(message: Pose | Transform, pose: FloatArray) -> None:
    """Write pose (7,) into a Pose or a Transform."""
    position = message.position if isinstance(message, Pose) else message.translation
    q = message.orientation if isinstance(message, Pose) else message.rotation
    position.x, position.y, position.z, q.x, q.y, q.z, q.w = np.asarray(
        pose, dtype=np.float64
    ).tolist()


def twist_array(message: Twist) -> FloatArray:
    """(6,) linear, then angular."""
    return vector_pair(message.linear, message.angular)


def wrench_array(message: Wrench) -> FloatArray:
    """(6,) force, then torque."""
    return vector_pair(message.force, message.torque)


def vector_pair(first: Vector3, second: Vector3) -> FloatArray:
    """(6,) of two Vector3 messages."""
    return np.array([first.x, first.y, first.z, second.x, second.y, second.z])


def fill_twist(message: Twist, twist: FloatArray) -> None:
    """Write twist (6,), or an acceleration, into a Twist."""
    (
        message.linear.x,
        message.linear.y,
        message.linear.z,
        message.angular.x,
        message.angular.y,
        message.angular.z,
    ) = np.asarray(twist, dtype=np.float64).tolist()


def platform_state(message: Odometry) -> tuple[int, FloatArray, FloatArray]:
    """Stamp [ns], pose (7,), normalised, and twist (6,) turned back into the base frame.

    Raises:
        InvalidInput: numbers that are not finite or implausibly large, or a quaternion not of
            unit length.
    """
    pose = as_pose("pose", pose_array(message.pose.pose))
    twist = finite("twist", twist_array(message.twist.twist))
    refuse_beyond("pose", pose)
    refuse_beyond("twist", twist)
    return to_nanoseconds(message.header.stamp), pose, resolved_unchecked(pose, twist, to_base=True)


def path(frame: str, poses: FloatArray) -> Path:
    """Poses (n, 7) as a Path for RViz."""
    message = Path()
    message.header.frame_id = frame
    for pose in poses:
        stamped = PoseStamped(header=message.header)
        fill_pose(stamped.pose, pose)
        message.poses.append(stamped)
    return message


def joint_values(message: JointState, names: Sequence[str], field: str) -> FloatArray:
    """(n,) of `position`, `velocity` or `effort` in the order of `names`.

    Raises:
        InvalidInput: a joint is missing, lists of different length, or not finite.
    """
    values = getattr(message, field)
    if len(values) != len(message.name):
        raise InvalidInput(
            f"{len(message.name)} joint names but {len(values)} values of {field}", value=values
        )
    given, wanted = tuple(message.name), tuple(names)
    if given == wanted:
        return finite(field, np.array(values))
    order = joint_order(given, wanted)
    if order is None:
        missing = [name for name in names if name not in message.name]
        raise InvalidInput(f"no {field} for joint {', '.join(missing)}", value=missing)
    return finite(field, np.array(values)[order])


def has_no_efforts(message: JointState) -> bool:
    """Whether a command holds nothing but NaN, as ros2_control has it before the first one."""
    return len(message.effort) > 0 and bool(np.isnan(message.effort).all())


@lru_cache(maxsize=16)
def joint_order(given: tuple[str, ...], names: tuple[str, ...]) -> NDArray[np.intp] | None:
    """Index of each of `names` among those given, the last of duplicates; None if one is missing.

    Publishers send the same names with every message, so the result is cached.
    """
    where = {name: index for index, name in enumerate(given)}
    if not where.keys() >= set(names):
        return None
    return np.array([where[name] for name in names], dtype=np.intp)


def finite(name: str, values: FloatArray) -> FloatArray:
    """The values, if all are finite.

    Raises:
        InvalidInput: names the first that is not.
    """
    if not all_finite(values):
        first = int(np.flatnonzero(~np.isfinite(values))[0])
        raise InvalidInput(f"{name}[{first}] is {values[first]}", value=values)
    return values


def platform_trajectory(
    frame: str, joint: str, times: FloatArray, motion: Motion
) -> MultiDOFJointTrajectory:
    """A trajectory message with position, velocity and acceleration at every knot.

    Velocities and accelerations are in the frame of the header. The stamp is zero: start at once.
    """
    message = MultiDOFJointTrajectory(joint_names=[joint])
    message.header.frame_id = frame
    for t, pose, twist, accel in zip(times, *motion, strict=True):
        point = MultiDOFJointTrajectoryPoint(
            transforms=[Transform()], velocities=[Twist()], accelerations=[Twist()]
        )
        fill_pose(point.transforms[0], pose)
        fill_twist(point.velocities[0], twist)
        fill_twist(point.accelerations[0], accel)
        point.time_from_start = to_duration(round(t * NANOSECONDS))
        message.points.append(point)
    return message


def joint_trajectory(
    names: Sequence[str], times: FloatArray, motion: Sequence[FloatArray]
) -> JointTrajectory:
    """A trajectory message; `motion` is position, velocity, acceleration and perhaps effort."""
    fields = ("positions", "velocities", "accelerations", "effort")[: len(motion)]
    message = JointTrajectory(joint_names=list(names))
    for t, *rows in zip(times, *motion, strict=True):
        point = JointTrajectoryPoint(time_from_start=to_duration(round(t * NANOSECONDS)))
        for field, row in zip(fields, rows, strict=True):
            setattr(point, field, row.tolist())
        message.points.append(point)
    return message


def sampled_trajectory(message: MultiDOFJointTrajectory, mechanism: Mechanism) -> SampledTrajectory:
    """The trajectory of a message; missing velocities and accelerations are zero.

    Raises:
        InvalidInput: another frame than the mechanism's base, no points, several joints, times
            that do not increase, numbers not finite or implausibly large, a quaternion not of unit
            length.
    """
    base = mechanism.frames[0]
    if message.header.frame_id not in ("", base):
        raise InvalidInput(f"frame is {message.header.frame_id!r}, expected {base!r}", value=base)
    if not message.points:
        raise InvalidInput("a trajectory without points", value=message)
    rows = []
    for index, point in enumerate(message.points):
        if len(point.transforms) != 1:
            raise InvalidInput(
                f"point {index} has {len(point.transforms)} transforms, expected 1", value=index
            )
        twist = twist_array(point.velocities[0]) if point.velocities else np.zeros(6)
        accel = twist_array(point.accelerations[0]) if point.accelerations else np.zeros(6)
        pose = as_pose(f"pose of point {index}", pose_array(point.transforms[0]))
        rows.append((pose, twist, accel))
    motion = Motion(*map(np.array, zip(*rows, strict=True)))
    _refuse_beyond(motion)
    return SampledTrajectory(mechanism, point_times(message.points), motion)


def joint_rows(
    message: JointTrajectory, names: Sequence[str]
) -> tuple[FloatArray, tuple[FloatArray, FloatArray, FloatArray]]:
    """Times (K,) [s], and positions, velocities, accelerations (K, n) in the order of `names`.

    Missing velocities and accelerations are zero.

    Raises:
        InvalidInput: no points, joints missing, unknown or named twice, lists of wrong length, or
            implausibly large numbers.
    """
    given = list(message.joint_names)
    if not message.points:
        raise InvalidInput("a trajectory without points", value=message)
    if sorted(given) != sorted(names):
        raise InvalidInput(
            f"joints are {', '.join(given) or 'none'}, expected {', '.join(names)}", value=given
        )
    order = [given.index(name) for name in names]
    rows = []
    for index, point in enumerate(message.points):
        zero = [0.0] * len(given)
        lists = [point.positions, point.velocities or zero, point.accelerations or zero]
        if any(len(values) != len(given) for values in lists):
            raise InvalidInput(
                f"point {index} does not have {len(given)} values of each kind", value=index
            )
        rows.append([np.array(values)[order] for values in lists])
    position, velocity, acceleration = map(np.array, zip(*rows, strict=True))
    _refuse_beyond((position, velocity, acceleration))
    return point_times(message.points), (position, velocity, acceleration)


def _refuse_beyond(motion: Sequence[FloatArray]) -> None:
    """Refuse a motion whose interpolation might overflow later."""
    for name, values in zip(Motion._fields, motion, strict=True):
        if np.abs(values).max() > BEYOND:
            index = int(np.abs(values).max(axis=-1).argmax())
            refuse_beyond(f"{name} of point {index}", values[index])


def point_times(points: Sequence[Any]) -> FloatArray:
    """Times from start (K,) [s] of a trajectory's points."""
    return np.array([to_nanoseconds(point.time_from_start) for point in points]) * 1e-9
