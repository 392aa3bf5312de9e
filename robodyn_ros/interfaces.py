# SPDX-License-Identifier: Apache-2.0
"""Subscriptions and publishers of a node for the states and trajectories of its mechanism.

Nodes work with configurations, velocities and trajectories; `mechanism_messages` converts them to
messages and back. Malformed messages are logged and dropped, never raised.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.subscription import Subscription
from rclpy.timer import Timer
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from robodyn.arrays import FloatArray
from robodyn.errors import RobodynError
from robodyn.mechanism.mechanism import Mechanism
from robodyn.simulation import Pacer
from robodyn.trajectories import Motion, SampledTrajectory
from robodyn_ros import messages, qos
from robodyn_ros.mechanism_messages import messages_of
from robodyn_ros.refusals import Refusals
from robodyn_ros.state_topic import StateTopic

try:
    from rclpy.event_handler import SubscriptionEventCallbacks
except ImportError:  # Humble
    from rclpy.qos_event import SubscriptionEventCallbacks

OnState = Callable[[int, FloatArray, FloatArray], None]
OnTrajectory = Callable[[SampledTrajectory, int | None], None]

# Ratio of the time for reading a trajectory to that for writing it, if several nodes read it at the
# same time: 4,801 points took 0.5 to 2.5 s on a busy machine.
READING = 4.0
# Largest difference between the time of ticks and the node's clock [ns].
APART = 10_000_000
# A larger difference than this [ns], beyond the delay of the process, means that the clock was set:
# simulated clocks advance in smaller steps.
SET = 250_000_000
# Longest time [s] between two readings of the steady clock that count as one instant.
INSTANT = 1e-3
# Copies that the other subscription has yet to deliver; older ones are lost.
PENDING = 10
# Whether callbacks can take the source timestamp of a message.
STAMPED = hasattr(Subscription, "CallbackType")


def serve_trigger(node: Node, name: str, act: Callable[[], str]) -> None:
    """Create a service of the type `std_srvs/Trigger`.

    Args:
        node: node that offers the service.
        name: name of the service.
        act: performs the request; returns the message for the response, or raises a RobodynError
            whose message becomes that of a failure.
    """

    def trigger(_: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        try:
            response.message, response.success = act(), True
        except RobodynError as error:
            response.message = str(error)
        return response

    node.create_service(Trigger, name, trigger)


def subscribe(
    node: Node,
    kind: type[Any],
    topic: str,
    callback: Callable[[Any], None],
    profile: QoSProfile,
    **more: Any,
) -> Subscription:
    """Subscribe to a topic; messages that the callback rejects are logged.

    A publisher of invalid messages often sends many, so the log is throttled, see `Refusals`.

    Args:
        node: node that subscribes.
        kind: type of the messages.
        topic: name of the topic.
        callback: called with each message; raises a RobodynError to reject it.
        profile: QoS of the subscription.
        more: further arguments of `Node.create_subscription`.

    Returns:
        The subscription.
    """
    receive = logging_rejections(node, topic, callback)
    return node.create_subscription(kind, topic, receive, profile, **more)


def logging_rejections(
    node: Node, topic: str, callback: Callable[[Any], None]
) -> Callable[[Any], None]:
    """Wrap a callback so that its RobodynErrors are logged as rejected messages.

    Returns:
        The callback, which then only raises other errors.
    """
    refusals = Refusals(node)

    def receive(message: Any) -> None:
        try:
            callback(message)
        except RobodynError as error:
            refusals.add(topic, f"refused: {error}")

    return receive


def steady_timer(node: Node, period: float, callback: Callable[[], None]) -> Timer:
    """Create a timer on the steady clock, which runs independently of simulated time.

    Args:
        node: node of the timer.
        period: period [s].
        callback: called once per period.
    """
    return node.create_timer(period, callback, clock=Clock(clock_type=ClockType.STEADY_TIME))


class Ticks:
    """Wall-clock timer with a fixed rate that catches up after a delay.

    A late tick has the stamp of its scheduled time.

    Args:
        node: node with the clock and the executor.
        rate: rate [Hz] of the ticks.
        tick: called at each tick.
        skip: called with the time [ns] that is skipped if the process is too late to catch up.
        set_clock: called with the time [ns] by which the node's clock was shifted.

    Attributes:
        period: period [ns] of the ticks.
        time: time [ns] of the latest tick.
        pacer: counter of due ticks.
    """

    def __init__(
        self,
        node: Node,
        rate: float,
        tick: Callable[[], None],
        skip: Callable[[int], None] = lambda _: None,
        set_clock: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._clock, self._tick, self._skip = node.get_clock(), tick, skip
        self._set_clock = set_clock
        self.period = round(1e9 / rate)
        self.restart()
        # twice per tick, so that late ticks are made up for soon
        steady_timer(node, 0.5e-9 * self.period, self._follow_clock)

    def restart(self) -> None:
        """Restart the ticks at the current time."""
        self.pacer = Pacer(1e-9 * self.period)
        begun, self.time = self._read_clocks()
        self.pacer.due(begun)

    def _read_clocks(self) -> tuple[float, int]:
        """Return the steady time [s] and the node's time [ns] at one instant."""
        while True:  # again if the process is interrupted in between
            begun, clock = time.monotonic(), self._clock.now().nanoseconds
            if time.monotonic() - begun < INSTANT:
                return begun, clock

    def _follow_clock(self) -> None:
        # Read the clocks once: ticks that take longer than their period would otherwise be due
        # without end, and no message would be received.
        (begun, clock), lost = self._read_clocks(), self.pacer.lost
        while self.pacer.due(begun):
            now = clock - round(1e9 * self.pacer.lag)
            self.time += self.period
            late = round(1e9 * (self.pacer.lost - lost))
            if late or abs(now - self.time) > APART:
                change = now - self.time - late
                if abs(change) > SET:
                    self._skip(late)
                    self._set_clock(change)
                else:
                    self._skip(late + change)
                self.time, lost = now, self.pacer.lost
            self._tick()


class Interface:
    """Publishers and subscriptions of a node for states and trajectories of a mechanism.

    Attributes:
        state_topic, trajectory_topic: names of the state topic and the trajectory topic.
        base_frame: name of the frame of poses.
        states: subscription to states, set by `on_state`.
    """

    states: StateTopic

    def __init__(self, node: Node, mechanism: Mechanism) -> None:
        self._node, self._mechanism = node, mechanism
        self._messages = messages_of(mechanism)
        self.state_topic = self._messages.state_topic
        self.trajectory_topic = self._messages.trajectory_topic
        self.base_frame = mechanism.frames[0]

    def on_state(
        self,
        callback: OnState,
        profile: QoSProfile,
        is_needed: Callable[[int], bool] | None = None,
    ) -> None:
        """Subscribe to the states of the mechanism.

        Args:
            callback: called with stamp [ns], configuration (nq,) and velocity (nv,) of each state.
            profile: QoS of the subscription.
            is_needed: called with the stamp [ns] of a message first; if it returns False, the rest
                of the message is not converted, which would take longer than most computations.
        """
        state_of = self._messages.state_of

        def receive(stamp: int, place: FloatArray, rate: FloatArray) -> None:
            callback(stamp, *state_of(place, rate))

        source = self._messages.source(self._node)
        self.states = StateTopic(self._node, self.state_topic, source, receive, profile, is_needed)

    def on_trajectory(
        self, callback: OnTrajectory, here: Callable[[], FloatArray | None] | None = None
    ) -> None:
        """Subscribe to trajectories of the mechanism.

        Args:
            callback: called with each trajectory and its start time [ns]; None means to start at
                once.
            here: returns the current configuration, from which the search for the first point
                starts. If given, joint trajectories are accepted even if the mechanism's own
                trajectories consist of poses.
        """
        own, topic, read = self._messages, "joint_trajectory", self._messages.read_joint_trajectory
        self._on(self.trajectory_topic, own.trajectory_type, own.read_trajectory, callback)
        if here is not None and self.trajectory_topic != topic:
            self._on(topic, JointTrajectory, lambda message: read(message, here()), callback)

    def trajectory_publisher(self) -> Callable[[FloatArray, Motion, int, bool], int]:
        """Create a latched publisher of trajectories.

        Returns:
            A function that publishes a trajectory and returns its start [ns]. Its arguments are the
            times [s] of the knots, the motion, the start [ns] (0: at once), and whether the start
            may be delayed until subscribers have had time to read the knots.
        """
        publisher = self._node.create_publisher(
            self._messages.trajectory_type, self.trajectory_topic, qos.LATCHED
        )

        def publish(times: FloatArray, motion: Motion, start: int, may_wait: bool) -> int:
            began = time.monotonic()
            message = self._messages.write_trajectory(times, motion)
            if may_wait:
                elapsed = time.monotonic() - began
                start += round(READING * elapsed * messages.NANOSECONDS)
            message.header.stamp = messages.to_stamp(start)
            publisher.publish(message)
            return start

        return publish

    def state_publisher(self, profile: QoSProfile) -> Callable[..., None]:
        """Create the publishers of simulated states.

        Returns:
            A function that publishes a state. Its arguments are the stamp [ns], configuration
            (nq,), velocity (nv,) and efforts (n,).
        """
        return self._messages.state_publisher(self._node, profile)

    def _on(
        self,
        topic: str,
        kind: type[Any],
        read: Callable[[Any], SampledTrajectory],
        callback: OnTrajectory,
    ) -> None:
        def receive(message: Any) -> None:
            callback(read(message), messages.to_nanoseconds(message.header.stamp) or None)

        subscribe_latched_or_not(self._node, kind, topic, receive)


def subscribe_latched_or_not(
    node: Node, kind: type[Any], topic: str, callback: Callable[[Any], None]
) -> None:
    """Subscribe to volatile and latched publishers of a topic.

    The callback is called once for each message.

    In DDS a volatile subscription receives messages of latched (transient local) publishers, but
    not those sent before. A transient local subscription receives these, but none of volatile
    publishers. This function creates both subscriptions and removes duplicates. The two copies of a
    message have the same source timestamp. If rclpy passes none to callbacks, as on Humble, copies
    are recognized by their content.
    """
    take = logging_rejections(node, topic, callback)
    volatile: deque[Any] = deque(maxlen=PENDING)
    latched: deque[Any] = deque(maxlen=PENDING)

    def receiver(mine: deque[Any], other: deque[Any]) -> Callable[..., None]:
        def receive(message: Any, copy: Any) -> None:
            if copy in other:
                other.remove(copy)
                return
            mine.append(copy)
            take(message)

        if STAMPED:
            return lambda message, info: receive(message, info["source_timestamp"] or message)
        return lambda message: receive(message, message)

    # rclpy would warn that a volatile publisher does not match the second subscription
    quiet = SubscriptionEventCallbacks(incompatible_qos=lambda _: None)
    node.create_subscription(kind, topic, receiver(volatile, latched), qos.RECENT)
    node.create_subscription(
        kind, topic, receiver(latched, volatile), qos.LATCHED_RECENT, event_callbacks=quiet
    )
