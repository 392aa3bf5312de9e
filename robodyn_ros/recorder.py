# SPDX-License-Identifier: Apache-2.0

"""Node that records topics to a bag.

The node subscribes to all topics, or to the selected topics, as they appear, and writes the
serialized messages unchanged. The recorder publishes nothing. The stamps are those of `/clock` if
`/clock` is published, otherwise those of the wall clock. The bag is complete when the node has
ended, even after Ctrl-C.

If tf2_msgs is not installed, no node publishes transforms. The recorder then computes `/tf` from
`platform_state` and `joint_states`, because viewers such as Foxglove need it to move the mechanism.

The subscriptions keep all messages. Publishers with a "keep all" history, as in lockstep, wait for
the recorder. The recorder counts and reports lost messages of other publishers.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.logging import get_logger
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import serialize_message
from rclpy.subscription import Subscription
from rosgraph_msgs.msg import Clock
from std_msgs.msg import String

import robodyn as rd
from robodyn.errors import shorten
from robodyn.parsing import parse_urdf
from robodyn_ros import messages, qos
from robodyn_ros.bag_writer import BagClock, BagWriter, RecordingFailed
from robodyn_ros.interfaces import steady_timer
from robodyn_ros.losses import Losses
from robodyn_ros.parameters import declare, load_description, table
from robodyn_ros.recorded_transforms import (
    JOINTS_KIND,
    STATE_KIND,
    TOPIC,
    RecordedTransforms,
    transforms_are_missing,
)
from robodyn_ros.refusals import Refusals
from robodyn_ros.runner import Finished

PARAMETERS = table("mechanism", "recorder")
# Period of the search for new topics [s].
LOOK = 0.1
# Period of flushing messages to the file, which keeps them if the recorder is killed [s].
FLUSH = 1.0
# On shutdown the recorder waits for messages sent before: until none has arrived for QUIET, at most
# for LONGEST [s]. A topic on which a later message has arrived has no earlier ones left. Once this
# holds for all topics with at least BUSY messages, SHORTER is sufficient.
QUIET, SHORTER, LONGEST, BUSY = 1.0, 0.2, 4.0, 10
STATES = ("joint_states", "platform_state")


class Recorder(Node):
    """Node that records topics to a bag."""

    def __init__(self) -> None:
        super().__init__("recorder")
        self._p = p = declare(self, PARAMETERS)
        self._selected = self._names(p["topics"])
        self._excluded = self._names(p["exclude"]) or set()
        self._first = self._names(p["begin_with"]) or set()
        self._folder = _folder(Path(p["output"]).expanduser(), p["name"])
        self._bag: BagWriter | None = BagWriter(self._folder, compress=p["compression"] == "zstd")
        simulated = p["time"] == "auto" and bool(self.get_parameter("use_sim_time").value)
        self._bag_clock = BagClock("sim" if simulated else p["time"], self._bag.write)
        self._begun, self._changed = time.time_ns(), time.monotonic()
        self._known: set[str] = set()
        self._recorded: list[tuple[Any, Subscription]] = []
        self._losses, self._refusals = Losses(self._is_shared), Refusals(self)
        self._transforms: RecordedTransforms | None = None
        self._derived: dict[str, Callable[[bytes], bytes | None]] = {}
        self._counts: dict[str, tuple[int, int]] = {}  # count, and time of the last [ns]
        self._mechanism, self._description = load_description(p, self.get_logger())
        # first, as executors then take a clock tick before messages that were sent after it
        self._ticks = self._subscribe_clock(ReliabilityPolicy.RELIABLE)
        steady_timer(self, LOOK, self._look)
        steady_timer(self, FLUSH, self._flush)
        self.get_logger().info(f"recording to {self._folder}")

    def _flush(self) -> None:
        if self._bag is not None:
            with end_on_failure():
                self._bag.flush()

    def _names(self, given: list[str] | None) -> set[str] | None:
        return None if given is None else {self.resolve_topic_name(name) for name in given}

    def _look(self) -> None:
        """Subscribe to new topics that are to be recorded."""
        self._match_clock_qos()
        begins = self._first <= self._known or self._recorded_time() > self._p["clock_wait"]
        later: set[str] = set() if begins else self._names(list(STATES)) or set()
        for name, kinds in sorted(self.get_topic_names_and_types()):
            if name in self._known or name in later or not self._is_selected(name):
                continue
            if not self.count_publishers(name):
                continue
            self._known.add(name)
            self._changed = time.monotonic()
            if len(kinds) > 1:
                self.get_logger().warning(
                    f"{name} has several types, {', '.join(kinds)}: only {kinds[0]} is recorded"
                )
            try:
                with end_on_failure():
                    self._record(name, kinds[0])
            # rclpy raises RuntimeErrors for invalid names, types and qualities of service
            except (rd.InvalidInput, RuntimeError) as error:
                text = shorten(f"{name} is not recorded: {error}", 600)
                self.get_logger().warning(text)
        for name in filter(self._is_shared, self._known):
            self._losses.exclude(name)
        if self._bag_clock.now is not None:
            taken = ", ".join(f"{name} {count}" for name, (count, _) in self._counts.items())
            self.get_logger().debug(f"at t = {self._bag_clock.now * 1e-9:.3f} s: {taken}")
        gives_up = time.monotonic() - self._changed > self._p["clock_wait"]
        if self._bag_clock.source == "auto" and gives_up and not self.count_publishers("/clock"):
            self._bag_clock.use_wall_clock()
            self.get_logger().info("no /clock: stamps are those of the wall clock")

    def _recorded_time(self) -> float:
        """Return the recorded duration [s], by the clock that the bag uses."""
        if self._bag_clock.source == "wall":
            return (time.time_ns() - self._begun) * 1e-9
        return self._bag_clock.elapsed * 1e-9

    def _is_shared(self, name: str) -> bool:
        """Return whether a topic has several publishers; False if ROS 2 is shut down."""
        with suppress(RuntimeError):  # the context is shut down
            return self.count_publishers(name) > 1
        return False

    def _match_clock_qos(self) -> None:
        """Subscribe to `/clock` as best effort if its publisher is not reliable."""
        if self._ticks.qos_profile.reliability != ReliabilityPolicy.RELIABLE:
            return
        offered = [info.qos_profile for info in self.get_publishers_info_by_topic("/clock")]
        if offered and _requested_profile(offered).reliability != ReliabilityPolicy.RELIABLE:
            self.destroy_subscription(self._ticks)
            self._ticks = self._subscribe_clock(ReliabilityPolicy.BEST_EFFORT)

    def _is_selected(self, name: str) -> bool:
        if self._selected is not None:
            return name in self._selected
        hidden = any(part.startswith("_") for part in name.split("/"))
        return not hidden and name not in self._excluded

    def _record(self, name: str, kind: str) -> None:
        publishers = self.get_publishers_info_by_topic(name)
        offered = [info.qos_profile for info in publishers]
        digests = [str(getattr(info, "topic_type_hash", "")) for info in publishers]
        made = _message_class(kind)
        assert self._bag is not None  # it exists until the node ends
        topic = self._bag.add_topic(name, kind, offered, next(iter(digests), ""))
        profile = _requested_profile(offered)
        if self._is_selected(TOPIC):
            self._derive_transforms(name, kind)

        def take(data: bytes, info: Any) -> None:
            with end_on_failure():
                first_loss = self._take(topic, name, data, info)
            if first_loss:
                self.get_logger().warning(f"{name}: a message was lost, more may follow")

        callback: Any = take  # rclpy's types have no callback with two arguments
        subscription = self.create_subscription(made, name, callback, profile, raw=True)
        self._recorded.append((topic, subscription))

    def _derive_transforms(self, name: str, kind: str) -> None:
        """Prepare to compute `/tf` from a topic with states if tf2_msgs is not installed."""
        state, joints = (
            self.resolve_topic_name(each) for each in ("platform_state", "joint_states")
        )
        described = [(state, STATE_KIND), *([(joints, JOINTS_KIND)] if self._description else [])]
        if (name, kind) not in described or not transforms_are_missing():
            return
        if self._transforms is None:
            assert self._bag is not None  # it exists until the node ends
            text = self._description
            known = list(parse_urdf(text, "robot_description").joints.values()) if text else []
            self._transforms = RecordedTransforms(self._bag, known, self._mechanism)
        to = self._transforms
        self._derived[name] = to.of_state if kind == STATE_KIND else to.of_joints
        self.get_logger().info(f"tf2_msgs is not installed: {TOPIC} written from {name}")

    def _take(self, topic: Any, name: str, data: bytes, info: Any) -> bool:
        """Write a message to the bag; return whether it is the first to reveal a loss."""
        sent, received = _times(info)
        self._counts[name] = self._counts.get(name, (0, 0))[0] + 1, sent
        self._bag_clock.take(topic, sent, received, data)
        if self._transforms is not None and name in self._derived:
            transforms = None
            try:
                transforms = self._derived[name](data)
            except rd.InvalidInput as error:
                self._refusals.add(name, f"not converted to a transform in {TOPIC}: {error}")
            if transforms is not None:
                self._bag_clock.take(self._transforms.topic, sent, received, transforms)
        return self._losses.count_message(name, info.get("publication_sequence_number"))

    def _subscribe_clock(self, reliability: ReliabilityPolicy) -> Subscription:
        profile = QoSProfile(history=HistoryPolicy.KEEP_ALL, reliability=reliability)
        callback: Any = self._on_clock  # rclpy's types have no callback with two arguments
        return self.create_subscription(Clock, "/clock", callback, profile)

    def _on_clock(self, message: Clock, info: Any) -> None:
        before, source = self._bag_clock.now, self._bag_clock.source
        now = messages.to_nanoseconds(message.clock)
        back = self._bag_clock.tick(now, _times(info)[0])
        if back and before is not None:
            self.get_logger().warning(
                f"/clock went back from {before * 1e-9:.3f} s to {now * 1e-9:.3f} s: players will "
                "interleave messages from before and after the jump"
            )
        elif before is None and source == "wall" and self._p["time"] == "auto":
            self.get_logger().warning(
                "/clock appeared too late: stamps remain those of the wall clock"
            )

    def destroy_node(self) -> None:
        """Complete the bag with the messages sent before shutdown.

        Raises:
            Finished: with exit code 1, the bag could not be completed.
        """
        if self._bag is not None:
            bag, self._bag = self._bag, None
            # the node's own logger publishes to /rosout, which is closed after Ctrl-C
            log = get_logger("recorder.bag")
            try:
                self._drain()
                self._bag_clock.use_wall_clock()
                self._describe(bag)
                bag.close({"lost_messages": self._losses.text})
                if bag.has_failed:  # this ended the node
                    log.warning(
                        f"{self._folder} is incomplete: robodyn reads the part that was written, "
                        "with a warning"
                    )
                    super().destroy_node()
                    return
                topics = len(self._recorded) + (self._transforms is not None)
                log.info(f"recorded {bag.messages} messages of {topics} topics in {self._folder}")
                if self._losses.lost:
                    log.warning(f"messages lost: {self._losses.text}")
            except RecordingFailed as error:
                log.fatal(str(error))
                super().destroy_node()
                raise Finished(1) from error
        super().destroy_node()

    def _drain(self) -> None:
        called, now = time.time_ns(), time.monotonic()
        since, deadline, quiet = now, now + LONGEST, QUIET
        while now < min(since + quiet, deadline):
            if self._take_queued(called, deadline):
                since = now
            else:
                time.sleep(0.01)
            busy = (sent for count, sent in self._counts.values() if count >= BUSY)
            quiet = SHORTER if all(sent > called for sent in busy) else QUIET
            now = time.monotonic()

    def _take_queued(self, called: int, deadline: float) -> bool:
        """Write all received messages to the bag, at most until a deadline [s].

        The deadline refers to the monotonic clock. Without a deadline, publishers that send faster
        than this node can write would keep it busy.

        Returns:
            Whether any of the messages was sent before `called` [ns].
        """
        old = False
        # do not wait for a clock that cannot be read
        with self._ticks.handle, suppress(rclpy_implementation.RCLError):
            while time.monotonic() < deadline and (
                taken := self._ticks.handle.take_message(Clock, False)
            ):
                now = messages.to_nanoseconds(taken[0].clock)
                self._bag_clock.tick(now, _times(taken[1])[0])
        for topic, subscription in self._recorded:
            with subscription.handle:
                while time.monotonic() < deadline and (
                    taken := subscription.handle.take_message(subscription.msg_type, True)
                ):
                    data, info = taken
                    self._take(topic, subscription.topic_name, data, info)
                    old = old or _times(info)[0] <= called
        return old

    def _describe(self, bag: BagWriter) -> None:
        """Add the model's URDF to the bag if no node published it."""
        name = self.resolve_topic_name("robot_description")
        if not self._description or name in self._known or not self._recorded:
            return
        kind = "std_msgs/msg/String"
        topic = bag.add_topic(name, kind, [qos.LATCHED])
        data = serialize_message(String(data=self._description))
        self._bag_clock.take(topic, self._begun, self._begun, data)


@contextmanager
def end_on_failure() -> Iterator[None]:
    """End the node if writing the bag fails within this context."""
    try:
        yield
    except RecordingFailed as error:
        raise Finished(1, str(error)) from error


def _message_class(name: str) -> Any:
    """Return the class of a message type `package/msg/Type`."""
    try:
        package, folder, kind = name.split("/")
        if folder != "msg" or not package.isidentifier():
            raise ValueError("expected package/msg/Type")
        made = getattr(importlib.import_module(f"{package}.msg"), kind)
        if not hasattr(made, "get_fields_and_field_types"):
            raise ValueError("it is not a message type")
    except (ImportError, AttributeError, ValueError) as error:
        raise rd.InvalidInput(
            f"message type {name} is not installed: {error}", value=name
        ) from error
    return made


def _times(info: Any) -> tuple[int, int]:
    """Return the times [ns] at which a message was sent and received."""
    received = int(info["received_timestamp"]) or time.time_ns()
    return int(info["source_timestamp"]) or received, received


def _requested_profile(offered: list[QoSProfile]) -> QoSProfile:
    """Return a QoS profile that matches all publishers with these profiles.

    It is reliable and transient local only if all publishers are.
    """
    reliable = all(p.reliability == ReliabilityPolicy.RELIABLE for p in offered)
    latched = all(p.durability == DurabilityPolicy.TRANSIENT_LOCAL for p in offered)
    return QoSProfile(
        history=HistoryPolicy.KEEP_ALL,
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
    )


def _folder(parent: Path, name: str) -> Path:
    """Return a new folder for the bag, named `name` or by the current time."""
    if name:
        return parent / name
    stem = f"rosbag2_{datetime.now():%Y_%m_%d-%H_%M_%S}"
    numbers = ("", *(f"_{number}" for number in range(1, 1000)))
    return next(parent / f"{stem}{n}" for n in numbers if not (parent / f"{stem}{n}").exists())
