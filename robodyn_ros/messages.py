# SPDX-License-Identifier: Apache-2.0

"""Conversion between ROS messages and arrays, with the frames that ROS prescribes.

The classes at the end are messages that are reused for each publication, because creating one takes
longer than filling it. Publishing serializes a message before it returns, so one object suffices.
Numbers are assigned as `array.array`, which rosidl accepts without checking each element.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from difflib import get_close_matches
from functools import lru_cache
from struct import unpack_from
from typing import Any

import numpy as np
from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import Point, Pose, Transform, Twist, Vector3, Wrench, WrenchStamped
from nav_msgs.msg import Odometry
from numpy.typing import NDArray
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, MultiArrayDimension
from trajectory_msgs.msg import (
    JointTrajectory,
    JointTrajectoryPoint,
    MultiDOFJointTrajectory,
    MultiDOFJointTrajectoryPoint,
)

from robodyn.arrays import FloatArray
from robodyn.checks import all_finite, as_pose, refuse_beyond
from robodyn.errors import InvalidInput
from robodyn.poses import resolved_unchecked, twist_in_body
from robodyn.trajectories import Motion
from robodyn.trajectories.messages import NANOSECONDS as NANOSECONDS
from robodyn.trajectories.messages import pose_array as pose_array
from robodyn.trajectories.messages import to_nanoseconds as to_nanoseconds
from robodyn.trajectories.messages import twist_array as twist_array
from robodyn.trajectories.messages import vector_pair as vector_pair

# Range of a stamp [ns]; its seconds have 32 bits.
FIRST, LAST = -(2**31) * NANOSECONDS, 2**31 * NANOSECONDS - 1
# Bytes of a serialized message up to its stamp: four for the encoding, and the stamp.
FIRST_BYTES = 12
POINT_FIELDS = ("positions", "velocities", "accelerations", "effort")


def deserialize(data: bytes, kind: type[Any]) -> Any:
    """Deserialize a message.

    Args:
        data: serialized message.
        kind: type of the message.

    Returns:
        The message.

    Raises:
        InvalidInput: the data are not a message of this type.
    """
    try:
        return deserialize_message(data, kind)
    # rclpy raises RMWError, or an error from the conversion of a field
    except Exception as error:
        raise InvalidInput(
            f"{len(data)} bytes are not a valid {kind.__name__}", value=data
        ) from error


def first_stamp(data: bytes) -> int:
    """Read the stamp [ns] of a serialized message that begins with a header.

    Raises:
        InvalidInput: there are too few bytes.
    """
    if len(data) < FIRST_BYTES:
        raise InvalidInput(f"{len(data)} bytes are too few for a header", value=data)
    seconds, rest = unpack_from("<iI" if data[1] & 1 else ">iI", data, 4)
    return int(seconds * NANOSECONDS + rest)


def fill_stamp(stamp: Time, nanoseconds: int) -> None:
    """Write a time [ns] into a stamp message, clipped to the range of such messages.

    The nanoseconds of a received stamp may exceed a second, so the total can exceed the range.
    """
    nanoseconds = min(max(nanoseconds, FIRST), LAST)
    stamp.sec, stamp.nanosec = divmod(nanoseconds, NANOSECONDS)


def to_stamp(nanoseconds: int) -> Time:
    """Convert a time [ns] to a stamp message; see `fill_stamp`."""
    stamp = Time()
    fill_stamp(stamp, nanoseconds)
    return stamp


def to_duration(nanoseconds: int) -> Duration:
    """Convert a time span [ns] to a duration message."""
    return Duration(sec=nanoseconds // NANOSECONDS, nanosec=nanoseconds % NANOSECONDS)


def fill_vector(message: Point | Vector3, values: FloatArray) -> None:
    """Write components (3,) into a Vector3 or Point message."""
    message.x, message.y, message.z = np.asarray(values, dtype=np.float64).tolist()


def fill_pose(message: Pose | Transform, pose: FloatArray) -> None:
    """Write a pose (7,) into a Pose or Transform message."""
    position = message.position if isinstance(message, Pose) else message.translation
    q = message.orientation if isinstance(message, Pose) else message.rotation
    fill_vector(position, pose[:3])
    q.x, q.y, q.z, q.w = np.asarray(pose[3:], dtype=np.float64).tolist()


def wrench_array(message: Wrench) -> FloatArray:
    """Return the components (6,) of a wrench message: force [N], then torque [N m]."""
    return vector_pair(message.force, message.torque)


def wrench_stamped(stamp: int, frame: str, wrench: FloatArray) -> WrenchStamped:
    """Create a WrenchStamped message from a wrench (6,), a frame and a stamp [ns]."""
    message = WrenchStamped()
    message.header.stamp, message.header.frame_id = to_stamp(stamp), frame
    fill_vector(message.wrench.force, wrench[:3])
    fill_vector(message.wrench.torque, wrench[3:])
    return message


def fill_twist(message: Twist, twist: FloatArray) -> None:
    """Write a twist or an acceleration (6,) into a Twist message."""
    fill_vector(message.linear, twist[:3])
    fill_vector(message.angular, twist[3:])


def platform_state(message: Odometry) -> tuple[int, FloatArray, FloatArray]:
    """Read stamp, pose and twist from an Odometry message.

    Args:
        message: message to read.

    Returns:
        Stamp [ns], normalized pose (7,), and twist (6,) transformed to the base frame.

    Raises:
        InvalidInput: a value is not finite or is implausibly large, or the quaternion is not of
            unit length.
    """
    pose = as_pose("pose", pose_array(message.pose.pose))
    twist = check_finite("twist", twist_array(message.twist.twist))
    refuse_beyond("pose", pose)
    refuse_beyond("twist", twist)
    return to_nanoseconds(message.header.stamp), pose, resolved_unchecked(pose, twist, to_base=True)


def joint_values(message: JointState, names: Sequence[str], field: str) -> FloatArray:
    """Read one field of a JointState message in the order of given joints.

    Args:
        message: message to read.
        names: names of the n joints.
        field: `position`, `velocity` or `effort`.

    Returns:
        Values (n,).

    Raises:
        InvalidInput: a joint is missing, lists differ in length, or a value is not finite.
    """
    values = getattr(message, field)
    if len(values) != len(message.name):
        raise InvalidInput(
            f"{len(message.name)} joint names but {len(values)} values of {field}", value=values
        )
    given, expected = tuple(message.name), tuple(names)
    if given == expected:
        return check_finite(field, np.array(values))
    order = joint_order(given, expected)
    if order is None:
        missing = [name for name in names if name not in message.name]
        raise InvalidInput(f"no {field} for joint {', '.join(missing)}", value=missing)
    return check_finite(field, np.array(values)[order])


def has_no_efforts(message: JointState) -> bool:
    """Return whether all efforts of a command are NaN.

    ros2_control sends such commands before the first valid one.
    """
    return len(message.effort) > 0 and bool(np.isnan(message.effort).all())


def joint_goal(message: JointState, names: Sequence[str], present: FloatArray) -> FloatArray:
    """Read the goal positions of joints; joints that are omitted keep their positions.

    Args:
        message: message with the goals of some joints.
        names: names of the n joints.
        present: (n,) current positions.

    Returns:
        Goal positions (n,) [rad or m].

    Raises:
        InvalidInput: no joint or an unknown one is named, lists differ in length, or a value is not
            finite.
    """
    given = list(message.name)
    if not given:
        raise InvalidInput(
            f"no joint is named, expected at least one of {', '.join(names)}", value=given
        )
    for name in given:
        if name not in names:
            near = get_close_matches(name, names, 1, cutoff=0.0)[0]
            raise InvalidInput(
                f"no joint {name!r}, did you mean {near!r}? The joints are {', '.join(names)}",
                value=name,
            )
    listed = [name for name in names if name in given]
    goal = np.array(present, dtype=np.float64)
    goal[[names.index(name) for name in listed]] = joint_values(message, listed, "position")
    return goal


@lru_cache(maxsize=16)
def joint_order(given: tuple[str, ...], names: tuple[str, ...]) -> NDArray[np.intp] | None:
    """Return the index of each of `names` in a message's list of joints.

    Publishers send the same names with every message, so the result is cached.

    Returns:
        Indices (n,); None if one of the names is missing.
    """
    where = {name: index for index, name in enumerate(given)}
    if not where.keys() >= set(names):
        return None
    return np.array([where[name] for name in names], dtype=np.intp)


def check_finite(name: str, values: FloatArray) -> FloatArray:
    """Return an array unchanged if all its values are finite.

    Raises:
        InvalidInput: a value is not finite; the error names the first one.
    """
    if not all_finite(values):
        first = int(np.flatnonzero(~np.isfinite(values))[0])
        raise InvalidInput(f"{name}[{first}] is {values[first]}", value=values)
    return values


def array_values(message: Float64MultiArray, count: int, name: str) -> FloatArray:
    """Read the values of a command message.

    Args:
        message: message to read.
        count: number of joints.
        name: quantity, for messages, such as `effort`.

    Returns:
        Values (count,).

    Raises:
        InvalidInput: the number of values differs, or a value is not finite.
    """
    values = check_finite(name, np.array(message.data))
    if len(values) != count:
        raise InvalidInput(f"{len(values)} {name}s for {count} joints", value=values)
    return values


def platform_trajectory(
    frame: str, joint: str, times: FloatArray, motion: Motion
) -> MultiDOFJointTrajectory:
    """Create a MultiDOFJointTrajectory message from the knots of a motion.

    Velocities and accelerations are in the frame of the header. The stamp is zero: start at once.

    Args:
        frame: frame of the poses.
        joint: name of the joint.
        times: (N,) [s] times of the knots.
        motion: poses (N, 7), twists (N, 6) and accelerations (N, 6) at the knots.

    Returns:
        The message.
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
    """Create a JointTrajectory message with knots at times (N,) [s].

    Args:
        names: names of the n joints.
        times: (N,) [s] times of the knots.
        motion: positions (N, n), then optionally velocities, accelerations and efforts (N, n).
    """
    message = JointTrajectory(joint_names=list(names))
    for t, *rows in zip(times, *motion, strict=True):
        message.points.append(joint_point(round(t * NANOSECONDS), rows))
    return message


def joint_point(time: int, rows: Sequence[FloatArray]) -> JointTrajectoryPoint:
    """Create a JointTrajectoryPoint message.

    Args:
        time: time [ns] from the start of the trajectory.
        rows: position (n,), then optionally velocity, acceleration and effort (n,).
    """
    point = JointTrajectoryPoint(time_from_start=to_duration(time))
    for field, row in zip(POINT_FIELDS, rows, strict=False):
        setattr(point, field, row.tolist())
    return point


def numbers(values: FloatArray) -> array[float]:
    """Convert a float64 array to an `array.array`, as message fields require."""
    return array("d", values.tobytes())


class JointStateMessage:
    """Reusable JointState message for a fixed list of joints.

    A field that is not given keeps its last value, initially empty. `unit` is the unit of commands;
    the message contains it as `frame_id`.
    """

    def __init__(self, names: Sequence[str], unit: str = "") -> None:
        self._message = JointState(name=list(names))
        self._message.header.frame_id = unit
        self._stamp = self._message.header.stamp

    def filled(
        self,
        stamp: int,
        position: FloatArray | None = None,
        velocity: FloatArray | None = None,
        effort: FloatArray | None = None,
    ) -> JointState:
        """Fill the message with a stamp [ns] and given fields (n,), and return it."""
        message = self._message
        fill_stamp(self._stamp, stamp)
        if position is not None:
            message.position = numbers(position)
        if velocity is not None:
            message.velocity = numbers(velocity)
        if effort is not None:
            message.effort = numbers(effort)
        return message


class MultiArrayMessage:
    """Reusable one-dimensional Float64MultiArray, labeled with the unit of commands."""

    def __init__(self, size: int = 0, unit: str = "") -> None:
        self._message = Float64MultiArray()
        if unit:
            dimension = MultiArrayDimension(label=unit, size=size, stride=size)
            self._message.layout.dim = [dimension]

    def filled(self, values: FloatArray) -> Float64MultiArray:
        """Fill the message with values (n,), and return it."""
        self._message.data = numbers(values)
        return self._message


class OdometryMessage:
    """Reusable Odometry message for the state of a platform.

    Its twist is in the platform's frame, as the message type prescribes.
    """

    def __init__(self, frames: tuple[str, str]) -> None:
        self._message = Odometry()
        self._message.header.frame_id, self._message.child_frame_id = frames

    def filled(self, stamp: int, pose: FloatArray, twist: FloatArray) -> Odometry:
        """Fill the message with a stamp [ns], pose (7,) and twist (6,), and return it.

        Pose and twist are in the base frame.
        """
        message = self._message
        fill_stamp(message.header.stamp, stamp)
        fill_pose(message.pose.pose, pose)
        fill_twist(message.twist.twist, twist_in_body(pose, twist))
        return message
