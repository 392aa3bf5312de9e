# SPDX-License-Identifier: Apache-2.0

"""Motion of the base from the messages of an inertial measurement unit (IMU) mounted on it."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.node import Node
from sensor_msgs.msg import Imu

from robodyn.arrays import FloatArray
from robodyn.base_motion import BaseMotion, BaseMotionFilter
from robodyn.checks import refuse_beyond
from robodyn.errors import InvalidInput, RobodynError
from robodyn.mechanism.mechanism import Mechanism
from robodyn_ros import messages, qos
from robodyn_ros.frames import Frames
from robodyn_ros.interfaces import subscribe

# A message older than this [s] relative to the state is ignored: the base is assumed to be at rest.
STALE = 0.2
# Larger values [m/s^2, rad/s] are rejected.
LARGEST = 1e4


def read_imu(message: Imu, largest: float = LARGEST) -> tuple[int, FloatArray, FloatArray]:
    """Read stamp, specific force and angular velocity from an IMU message.

    Args:
        message: message to read.
        largest: largest accepted magnitude [m/s^2, rad/s].

    Returns:
        Stamp [ns], specific force (3,) [m/s^2] and angular velocity (3,) [rad/s], both in the frame
        of the message.

    Raises:
        InvalidInput: a value is not finite or exceeds `largest`, or a covariance of -1 marks it as
            not measured.
    """
    felt = messages.vector_pair(message.linear_acceleration, message.angular_velocity)
    refuse_beyond("imu", messages.check_finite("imu", felt), largest)
    for name in ("linear_acceleration", "angular_velocity"):
        if getattr(message, f"{name}_covariance")[0] == -1.0:
            raise InvalidInput(f"{name} is not measured (its covariance is -1)", value=-1)
    return messages.to_nanoseconds(message.header.stamp), felt[:3], felt[3:]


def imu_message(stamp: int, frame: str, force: FloatArray, rate: FloatArray) -> Imu:
    """Create an IMU message without orientation.

    Args:
        stamp: time [ns].
        frame: name of the frame in which the vectors are given.
        force: (3,) [m/s^2] specific force.
        rate: (3,) [rad/s] angular velocity.
    """
    message = Imu()
    message.header.stamp, message.header.frame_id = messages.to_stamp(stamp), frame
    message.orientation_covariance[0] = -1.0  # REP-145: no orientation
    messages.fill_vector(message.linear_acceleration, force)
    messages.fill_vector(message.angular_velocity, rate)
    return message


class BaseImu:
    """Subscription to `base_imu` that provides the motion of a mechanism's base.

    The base counts as at rest until the first message arrives.

    By REP-145 the linear acceleration of the message is the specific force, +9.81 m/s^2 upward at
    rest. If the frame of the message is not the base frame, the mounting pose of the IMU is looked
    up once in TF.

    Args:
        node: node that subscribes; it has the parameters TRANSFORMS.
        mechanism: mechanism on the base.
        now: returns the stamp [ns] of the latest state.
        on_motion: called with the stamp [ns] and the base motion of each message; may raise a
            RobodynError to reject it.
        restarted: called when stamps start again because the clock was set back.
    """

    def __init__(
        self,
        node: Node,
        mechanism: Mechanism,
        now: Callable[[], int],
        on_motion: Callable[[int, BaseMotion], None] = lambda *_: None,
        restarted: Callable[[], None] = lambda: None,
    ) -> None:
        self._node, self._on_motion, self._restarted = node, on_motion, restarted
        self._own = mechanism.frames
        self._frames = Frames(node, self._own, now)
        self._filters: dict[str, BaseMotionFilter] = {}
        self._last: tuple[int, BaseMotion] | None = None
        subscribe(node, Imu, "base_imu", self._receive, qos.RECENT)

    def at(self, stamp: int) -> BaseMotion | None:
        """Return the motion of the base from the latest message, for a state's stamp [ns].

        The result is None, so that the base counts as at rest, if no message has arrived yet or if
        the stamps of the latest message and the state differ by more than 0.2 s.
        """
        if self._last is None:
            return None
        age = (stamp - self._last[0]) * 1e-9
        if abs(age) <= STALE:
            return self._last[1]
        self._node.get_logger().warning(
            f"base_imu is {age:.3g} s older than the state (limit: {STALE:g} s): the base is "
            "assumed to be at rest",
            throttle_duration_sec=1.0,
        )
        return None

    def _receive(self, message: Imu) -> None:
        try:
            stamp, force, rate = read_imu(message)
            if self._last is not None and stamp < self._last[0] - round(STALE * 1e9):
                self._filters.clear()
                self._restarted()
            moved = self._filter(message.header.frame_id).step(stamp * 1e-9, force, rate)
            self._last = stamp, moved
            self._on_motion(stamp, moved)
        except RobodynError:
            if not self._frames.is_new:  # its frame may still arrive
                raise

    def _filter(self, frame: str) -> BaseMotionFilter:
        base, body = self._own
        if frame in ("", base):
            return self._filters.setdefault(base, BaseMotionFilter())
        if frame not in self._filters:
            self._frames.subscribe()
            if frame == body or self._frames.is_on_body(frame):
                raise InvalidInput(
                    f"frame is {frame!r}, which moves with the mechanism; the IMU must be fixed to "
                    f"the base, {base!r}",
                    value=frame,
                )
            self._filters[frame] = BaseMotionFilter(pose=self._frames.pose(frame, base))
        return self._filters[frame]
