# SPDX-License-Identifier: Apache-2.0

"""Conversion of messages to arrays and back, with the frames and orders that ROS prescribes.

The classes at the end are messages that are reused for each publication, because making one takes
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

# Range of a stamp, whose seconds have 32 bits [ns].
FIRST, LAST = -(2**31) * NANOSECONDS, 2**31 * NANOSECONDS - 1
# Those of a serialized message up to its stamp: four that name the encoding, and the stamp.
FIRST_BYTES = 12
POINT_FIELDS = ("positions", "velocities", "accelerations", "effort")


def deserialized(data: bytes, kind: type[Any]) -> Any:
    """Return the message of type `kind` that was serialized as `data`.

    Raises:
        InvalidInput: it is not one.
    """
    try:
        return deserialize_message(data, kind)
    # rclpy raises RMWError, or whatever its conversion of a field does
    except Exception as error:
        raise InvalidInput(f"{len(data)} bytes are no {kind.__name__}", value=data) from error


def first_stamp(data: bytes) -> int:
    """The stamp [ns] of a serialized message that begins with a header; no more is read.

    Raises:
        InvalidInput: too few bytes.
    """
    if len(data) < FIRST_BYTES:
        raise InvalidInput(f"{len(data)} bytes are too few for a header", value=data)
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


def fill_vector(message: Point | Vector3, values: FloatArray) -> None:
    """Write (3,) into a Vector3 or a Point."""
    message.x, message.y, message.z = np.asarray(values, dtype=np.float64).tolist()


def fill_pose(message: Pose | Transform, pose: FloatArray) -> None:
    """Write pose (7,) into a Pose or a Transform."""
    position = message.position if isinstance(message, Pose) else message.translation
    q = message.orientation if isinstance(message, Pose) else message.rotation
    fill_vector(position, pose[:3])
    q.x, q.y, q.z, q.w = np.asarray(pose[3:], dtype=np.float64).tolist()


def wrench_array(message: Wrench) -> FloatArray:
    """(6,) force, then torque."""
    return vector_pair(message.force, message.torque)


def wrench_stamped(stamp: int, frame: str, wrench: FloatArray) -> WrenchStamped:
    """A message of a wrench (6,) [N, N m] in a frame, at a stamp [ns]."""
    message = WrenchStamped()
    message.header.stamp, message.header.frame_id = to_stamp(stamp), frame
    fill_vector(message.wrench.force, wrench[:3])
    fill_vector(message.wrench.torque, wrench[3:])
    return message


def fill_twist(message: Twist, twist: FloatArray) -> None:
    """Write twist (6,), or an acceleration, into a Twist."""
    fill_vector(message.linear, twist[:3])
    fill_vector(message.angular, twist[3:])


def platform_state(message: Odometry) -> tuple[int, FloatArray, FloatArray]:
    """Stamp [ns], pose (7,), normalized, and twist (6,) turned back into the base frame.

    Raises:
        InvalidInput: numbers that are not finite or implausibly large, or a quaternion not of
            unit length.
    """
    pose = as_pose("pose", pose_array(message.pose.pose))
    twist = finite("twist", twist_array(message.twist.twist))
    refuse_beyond("pose", pose)
    refuse_beyond("twist", twist)
    return to_nanoseconds(message.header.stamp), pose, resolved_unchecked(pose, twist, to_base=True)


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


def joint_goal(message: JointState, names: Sequence[str], present: FloatArray) -> FloatArray:
    """Positions (n,) of the joints `names`: those given, and the present ones of all others.

    Raises:
        InvalidInput: no joint or an unknown one is named, lists of different length, not finite.
    """
    given = list(message.name)
    if not given:
        raise InvalidInput(f"no joint is named, expected some of {', '.join(names)}", value=given)
    for name in given:
        if name not in names:
            near = get_close_matches(name, names, 1, cutoff=0.0)[0]
            raise InvalidInput(
                f"no joint {name!r}, did you mean {near!r}? The joints are {', '.join(names)}",
                value=name,
            )
    asked = [name for name in names if name in given]
    goal = np.array(present, dtype=np.float64)
    goal[[names.index(name) for name in asked]] = joint_values(message, asked, "position")
    return goal


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


def array_values(message: Float64MultiArray, count: int, name: str) -> FloatArray:
    """(n,) of the numbers of a command to `count` joints; `name` is what each of them is.

    Raises:
        InvalidInput: another count, or not finite.
    """
    values = finite(name, np.array(message.data))
    if len(values) != count:
        raise InvalidInput(f"{len(values)} {name}s for {count} joints", value=values)
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
    message = JointTrajectory(joint_names=list(names))
    for t, *rows in zip(times, *motion, strict=True):
        message.points.append(joint_point(round(t * NANOSECONDS), rows))
    return message


def joint_point(time: int, rows: Sequence[FloatArray]) -> JointTrajectoryPoint:
    """A point at a time [ns]; `rows` (n,) are position, velocity, acceleration and effort."""
    point = JointTrajectoryPoint(time_from_start=to_duration(time))
    for field, row in zip(POINT_FIELDS, rows, strict=False):
        setattr(point, field, row.tolist())
    return point


def numbers(values: FloatArray) -> array[float]:
    """Float64 values in the form that a message field accepts fastest."""
    return array("d", values.tobytes())


class JointStateMessage:
    """A JointState of fixed joints; a field that is None keeps its value, initially empty.

    `told_in` is the unit of commands: the message has no other place for it than its frame.
    """

    def __init__(self, names: Sequence[str], told_in: str = "") -> None:
        self._message = JointState(name=list(names))
        self._message.header.frame_id = told_in
        self._stamp = self._message.header.stamp

    def filled(
        self,
        stamp: int,
        position: FloatArray | None = None,
        velocity: FloatArray | None = None,
        effort: FloatArray | None = None,
    ) -> JointState:
        """The message at a stamp [ns]."""
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
    """A Float64MultiArray of one dimension, labeled with the unit of commands if one is given."""

    def __init__(self, size: int = 0, told_in: str = "") -> None:
        self._message = Float64MultiArray()
        if told_in:
            dimension = MultiArrayDimension(label=told_in, size=size, stride=size)
            self._message.layout.dim = [dimension]

    def filled(self, values: FloatArray) -> Float64MultiArray:
        """The message with values (n,)."""
        self._message.data = numbers(values)
        return self._message


class OdometryMessage:
    """A platform's state; its twist is, as Odometry prescribes, in the platform's frame."""

    def __init__(self, frames: tuple[str, str]) -> None:
        self._message = Odometry()
        self._message.header.frame_id, self._message.child_frame_id = frames

    def filled(self, stamp: int, pose: FloatArray, twist: FloatArray) -> Odometry:
        """Pose (7,) and twist (6,) in the base frame, at a stamp [ns]."""
        message = self._message
        fill_stamp(message.header.stamp, stamp)
        fill_pose(message.pose.pose, pose)
        fill_twist(message.twist.twist, twist_in_body(pose, twist))
        return message
