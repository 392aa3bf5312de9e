# SPDX-License-Identifier: Apache-2.0

"""Subscription to the states of a mechanism, used by every node.

It accepts reliable and best-effort publishers, uses the time of receipt for states without usable
stamps, merges and differentiates joint readings, selects one of several contradicting publishers,
and reports why a node has no state.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from nav_msgs.msg import Odometry
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos import HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState

from robodyn.algorithms import motions
from robodyn.arrays import FloatArray
from robodyn.checks import refuse_beyond
from robodyn.control.joint_readings import JointReadings, Reading, foreign_names
from robodyn.control.state_stamps import PublisherVote, StateStamps
from robodyn.errors import RobodynError, shorten
from robodyn.mechanism.mechanism import Mechanism
from robodyn_ros import messages
from robodyn_ros.diagnostics import Status, log_at_level
from robodyn_ros.publishers import other_publishers, publisher_names
from robodyn_ros.refusals import Refusals

try:
    from rclpy.event_handler import SubscriptionEventCallbacks
except ImportError:  # Humble
    from rclpy.qos_event import SubscriptionEventCallbacks

# Settings for nodes that do not declare the parameters of the group `states`.
DEFAULTS: dict[str, Any] = {
    "best_effort": False,
    "differentiate": True,
    "differentiate_cutoff": 200.0,
    "max_joint_age": 0.1,
}
# Whether callbacks can take the source timestamp of a message.
STAMPED = hasattr(Subscription, "CallbackType")
# [s] Period of checks for log lines; time for which a rejection is reported.
LOOK, REMEMBER = 0.5, 2.0
# Value in a status that only reports a waiting node.
WAITS: dict[str, object] = {"waiting": True}
# Queue depth if a state arrives in several messages, or other nodes publish on the topic, too.
SHARED = 10


class StateTopic:
    """Subscription to the states of a mechanism on one topic.

    Args:
        node: node that subscribes.
        topic: `platform_state` or `joint_states`.
        source: reader of the messages, `PoseSource` or `JointSource`.
        callback: called with the time [ns] of each state and its pose (7,) and twist (6,), or the
            positions and velocities (k,) of its joints; may raise a RobodynError.
        profile: QoS of the subscription; its reliability is adapted to the publishers.
        is_needed: called with the time [ns] of a state; if it returns False, the rest of the
            message is not converted.

    Attributes:
        on_switch: called when another publisher is selected.
        on_refused: called with the error of a rejected message; by default it is logged.
    """

    def __init__(
        self,
        node: Node,
        topic: str,
        source: PoseSource | JointSource,
        callback: Callable[[int, FloatArray, FloatArray], None],
        profile: QoSProfile,
        is_needed: Callable[[int], bool] | None = None,
    ) -> None:
        self._node, self._topic, self._source = node, topic, source
        self._callback, self._is_needed = callback, is_needed
        self.on_switch: Callable[[], None] = lambda: None
        self._stamps = StateStamps()
        self._vote = PublisherVote(source.difference, self._count_publishers)
        self._refusals = Refusals(node)
        self._refusal, self._refused_at = "", -np.inf
        self.on_refused: Callable[[RobodynError], None] = lambda error: self._refusals.add(
            topic, f"refused: {error}"
        )
        self._begun, self._received = time.monotonic(), -np.inf
        self._logged: set[str] = set()
        self._reported = False
        self._profile = profile
        if setting(node, "best_effort"):
            self._profile = changed_profile(profile, reliability=ReliabilityPolicy.BEST_EFFORT)
        self._is_incompatible = False
        self._subscription = self._subscribe()
        # a timer on the node's clock would not fire while simulated time is paused
        self._timer = node.create_timer(
            LOOK, self._look, clock=Clock(clock_type=ClockType.STEADY_TIME)
        )

    def reset(self) -> None:
        """Discard the selected publisher, and wait for the next message of any publisher."""
        self._vote.reset()
        self._begun = time.monotonic()

    def status(self, timeout: float = 0.0) -> Status | None:
        """Return a diagnostic status on a problem with the states; None without a problem.

        Args:
            timeout: time [s] of waiting after which a missing state is an error; 0: never.
        """
        values: dict[str, object] = {"refused_of_other_publishers": self._vote.refused}
        if self._vote.conflict:
            return Status("states", 2, self._conflict, values)
        if waits := self.waiting(timeout):
            return Status("states", *waits, values | WAITS)
        if lacking := self._missing_joints():
            return Status("states", 2, lacking, values)
        notes = self._notes()
        return Status("states", 1, "; ".join(notes), values) if notes else None

    def report(self, timeout: float = 0.0) -> list[Status]:
        """Return the diagnostic statuses to publish about the states.

        The list contains the current problem, if any. After a problem is solved, it contains a note
        of this once; otherwise it is empty.
        """
        found, had = self.status(timeout), self._reported
        self._reported = found is not None
        if found is not None:
            return [found]
        return [Status("states", 0, "received")] if had else []

    def waiting(self, timeout: float = 0.0) -> tuple[int, str] | None:
        """Return why no state was received so far.

        Args:
            timeout: time [s] of waiting after which this is an error; 0: never.

        Returns:
            Status level and message; None after the first state.
        """
        if self._received > -np.inf:
            return None
        # a warning comes first, however short the timeout is
        late = timeout > 0.0 and time.monotonic() - self._begun > max(timeout, 2.0 * LOOK)
        return 1 + late, f"waiting for {self._topic}: {self._reason()}"

    def _reason(self) -> str:
        if self._vote.conflict:
            return self._conflict
        if time.monotonic() - self._refused_at < REMEMBER:
            return f"refused: {shorten(self._refusal, 300)}"
        if reason := self._source.reason():
            return reason
        found = other_publishers(self._node, self._topic)
        if not found:
            return "it has no publisher"
        names = ", ".join(sorted(p.node_name for p in found))
        kind = self._source.kind
        expected = f"{kind.__module__.split('.')[0]}/msg/{kind.__name__}"
        if others := {end.topic_type for end in found} - {expected}:
            return f"{names} publishes {', '.join(sorted(others))}, not {expected}"
        return f"no message was received from {names}"

    def _missing_joints(self) -> str:
        """Return a message that names joints missing in the latest messages; else empty."""
        silent = time.monotonic() - self._received
        joints = self._source.pending
        if not joints or silent < LOOK:
            return ""
        return f"{self._topic}: no positions of {', '.join(joints)} for {silent:.1f} s"

    @property
    def _conflict(self) -> str:
        names = self._publishers()
        return (
            f"{self._topic} has {len(names)} publishers ({', '.join(names)}) that contradict each "
            f"other: the states of one are refused ({self._vote.refused} so far); stop one of them"
        )

    def _notes(self) -> list[str]:
        found = [self._stamps.problem, *self._source.notes()]
        return [f"{self._topic}: {note}" for note in found if note]

    def _look(self) -> None:
        """Log each new problem of the topic; resubscribe with best-effort QoS if necessary."""
        if self._is_incompatible:
            self._is_incompatible = False
            self._subscribe_by(reliability=ReliabilityPolicy.BEST_EFFORT)
            self._node.get_logger().info(
                f"{self._topic}: a publisher uses best-effort QoS, so the subscription does, too"
            )
        is_short = self._profile.history == HistoryPolicy.KEEP_LAST and self._profile.depth < SHARED
        if self._source.is_shared and is_short:
            self._subscribe_by(depth=SHARED)
        found = [(1, note) for note in self._notes()]
        if lacking := self._missing_joints():
            self._log_new("lacking", 2, lacking)
        else:
            self._logged.discard("lacking")
        if self._vote.conflict:
            self._log_new("conflict", 2, self._conflict)
        else:
            self._logged.discard("conflict")
        if (waits := self.waiting()) and time.monotonic() - self._begun > 2.0 * LOOK:
            found.append(waits)
        for level, text in found:
            self._log_new(text, level, text)

    def _subscribe_by(self, **changes: Any) -> None:
        """Subscribe again with a changed QoS profile."""
        self._node.destroy_subscription(self._subscription)
        self._profile = changed_profile(self._profile, **changes)
        self._subscription = self._subscribe()

    def _log_new(self, key: str, level: int, text: str) -> None:
        if key not in self._logged:
            if len(self._logged) > 20:  # texts with changing numbers
                return
            self._logged.add(key)
            log_at_level(self._node, level, text)

    def _subscribe(self) -> Subscription:
        def incompatible(_: Any) -> None:
            if self._profile.reliability != ReliabilityPolicy.BEST_EFFORT:
                self._is_incompatible = True

        events = SubscriptionEventCallbacks(incompatible_qos=incompatible)
        receive: Any = self._receive
        if not STAMPED:  # Humble
            receive = lambda message: self._receive(message, {})  # noqa: E731
        return self._node.create_subscription(
            self._source.kind,
            self._topic,
            receive,
            self._profile,
            event_callbacks=events,
            raw=self._is_needed is not None,
        )

    def _receive(self, message: Any, info: Any) -> None:
        try:
            self._take(message, info.get("source_timestamp", 0) or time.monotonic_ns())
        except RobodynError as error:
            self._stamps.discard()
            self._refusal, self._refused_at = str(error), time.monotonic()
            self.on_refused(error)

    def _take(self, message: Any, published: int) -> None:
        if self._is_needed is not None:
            at = self._time_of(messages.first_stamp(message), published)
            if not self._is_needed(at):
                return
            message = messages.deserialize(message, self._source.kind)
            if self._source.is_of_others(message):
                return
        else:
            if self._source.is_of_others(message):
                return
            at = self._time_of(messages.to_nanoseconds(message.header.stamp), published)
        reading = self._source.read(at, message)
        if reading is None:
            return
        switched = self._vote.switched
        if not self._vote.accepts(reading.time, time.monotonic(), *reading[1:]):
            return
        if self._vote.switched > switched:
            self.on_switch()
        self._callback(*reading)
        self._received = time.monotonic()

    def _time_of(self, stamp: int, published: int) -> int:
        return self._stamps.time_of(stamp, published, self._node.get_clock().now().nanoseconds)

    def _publishers(self) -> list[str]:
        return publisher_names(self._node, self._topic)

    def _count_publishers(self) -> int:
        return len(self._publishers())


def changed_profile(profile: QoSProfile, **changes: Any) -> QoSProfile:
    """Return a copy of a QoS profile with other policies or another queue depth."""
    names = "history", "depth", "durability", "reliability"
    return QoSProfile(**{name: getattr(profile, name) for name in names} | changes)


def setting(node: Node, name: str) -> Any:
    """Return a parameter of the group `states`, or its default if it is not declared."""
    return node.get_parameter(name).value if node.has_parameter(name) else DEFAULTS[name]


class PoseSource:
    """Reader of Odometry messages as poses (7,) and twists (6,) in the base frame."""

    kind: type[Any] = Odometry
    is_shared = False  # whether messages with other joints, or parts of a state, arrive
    pending: tuple[str, ...] = ()  # joints whose readings are older than those of others

    def __init__(self, mechanism: Mechanism) -> None:
        self.difference = mechanism.solver.unchecked.difference

    def is_of_others(self, message: Any) -> bool:
        """Return whether a message belongs to another mechanism: always False."""
        return False

    def read(self, stamp: int, message: Any) -> Reading:
        """Convert a message to a reading of pose and twist at `stamp` [ns].

        Raises:
            InvalidInput: the message is malformed.
        """
        _, pose, twist = messages.platform_state(message)
        return Reading(stamp, pose, twist)

    def reason(self) -> str:
        """Return why there is no state yet: an empty string, as each message is a state."""
        return ""

    def notes(self) -> list[str]:
        """Return remarks about replaced values: an empty list, as none are replaced."""
        return []


class JointSource:
    """Reader of JointState messages as positions and velocities (k,) of given joints.

    Args:
        node: node with the parameters for reading.
        mechanism: mechanism with the joints.
        names: names of the k joints.
        needs_velocities: see `JointReadings`.
    """

    kind: type[Any] = JointState

    def __init__(
        self,
        node: Node,
        mechanism: Mechanism,
        names: Sequence[str],
        *,
        needs_velocities: bool = True,
    ) -> None:
        self._names, self._measured = tuple(names), frozenset(names)
        self._known = frozenset(mechanism.all_joint_names)
        self._readings = JointReadings(
            names,
            motions.wrapping(mechanism, names),
            differentiate=setting(node, "differentiate"),
            cutoff=setting(node, "differentiate_cutoff"),
            max_age=setting(node, "max_joint_age"),
            needs_velocities=needs_velocities,
        )
        self.message: Any = None  # last message read
        self._foreign = ""
        self._has_own = self._has_others = False

        def difference(start: FloatArray, goal: FloatArray) -> FloatArray:
            return motions.joint_difference(mechanism, start, goal, names)

        self.difference = difference

    def is_of_others(self, message: Any) -> bool:
        """Return whether a message contains only joints of other mechanisms."""
        if not self._measured.isdisjoint(message.name):
            self._has_own = True
            return False
        if not self._has_own and self._known.isdisjoint(message.name):
            self._foreign = foreign_names(list(message.name), self._names)
        self._has_others = True
        return True

    @property
    def is_shared(self) -> bool:
        """Whether messages contain joints of other mechanisms, or only some of the joints."""
        return self._has_others or self._readings.is_merged

    @property
    def pending(self) -> tuple[str, ...]:
        """Names of the joints whose readings are older than those of the other joints."""
        return self._readings.pending

    def read(self, stamp: int, message: Any) -> Reading | None:
        """Convert a message to a reading of all joints at `stamp` [ns].

        Returns:
            The reading; None while joints are missing.

        Raises:
            InvalidInput: a value is implausibly large.
        """
        position, velocity = np.array(message.position), np.array(message.velocity)
        reading = self._readings.take(stamp, message.name, position, velocity)
        self.message = message
        if reading is not None:
            refuse_beyond("position", reading.positions)
            if np.isfinite(reading.velocities).all():
                refuse_beyond("velocity", reading.velocities)
        return reading

    def reason(self) -> str:
        """Return why the messages so far do not form a state, to end a sentence."""
        missing = self._readings.missing
        if self._has_own and missing:
            return f"no message contains the joints {', '.join(missing)}"
        if self._has_own:
            return "one more message is needed for velocities"
        return f"it has {shorten(self._foreign, 300)}" if self._foreign else ""

    def notes(self) -> list[str]:
        """Return remarks about replaced values: joints whose positions are differentiated."""
        found = []
        if names := self._readings.differentiated:
            found.append(f"no velocities of {', '.join(names)}: their positions are differentiated")
        return found
