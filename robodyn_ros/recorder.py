"""Node `recorder`: every topic of a run in a rosbag2 folder, by the optional package rosbags.

Subscribes whatever is published, or the topics it is told to, as they appear, and writes the
serialized messages as they are; publishes nothing. Stamps are those of `/clock` where it runs,
else of the wall clock. The bag is complete when the node has ended, by Ctrl-C too.
"""

from __future__ import annotations

import time
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rclpy.clock import Clock as RosClock
from rclpy.clock import ClockType
from rclpy.logging import get_logger
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock

import robodyn as rd
from robodyn_ros import messages
from robodyn_ros.bag_clock import BagClock
from robodyn_ros.bag_writer import BagWriter, RecordingFailed
from robodyn_ros.message_definitions import definition, message_class
from robodyn_ros.parameters import Spec, declare

if TYPE_CHECKING:
    from rclpy.subscription import Subscription

PARAMETERS = {
    "output": Spec("runs/latest", "folder to put the bag in"),
    "name": Spec("", "folder of the bag, which must not exist; empty: rosbag2_<date and time>"),
    "topics": Spec(Parameter.Type.STRING_ARRAY, "topics to record; not set: all that are there"),
    "exclude": Spec(Parameter.Type.STRING_ARRAY, "topics not to record; not set: none"),
    "compression": Spec("none", "of the bag's chunks", choices=("none", "zstd")),
    "time": Spec(
        "auto",
        "stamps: sim: of /clock; wall; auto: of /clock if it runs within clock_wait",
        choices=("auto", "sim", "wall"),
    ),
    "clock_wait": Spec(10.0, "auto: how long to wait for /clock [s]", 0.0, 3600.0),
}
# How often new topics are looked for [s].
LOOK = 0.1
# How many messages of a topic may wait for this node. The oldest go first when there are more,
# and no publisher is ever held up: a recorder must not change the run that it records.
DEPTH = 5000


class Recorder(Node):
    """Hands serialized messages to a `BagWriter`."""

    def __init__(self) -> None:
        super().__init__("recorder")
        self._p = p = declare(self, PARAMETERS)
        self._wanted = self._names(p["topics"])
        self._unwanted = self._names(p["exclude"]) or set()
        self._folder = _folder(Path(p["output"]).expanduser(), p["name"])
        self._bag: BagWriter | None = BagWriter(self._folder, compress=p["compression"] == "zstd")
        self._clock = BagClock(p["time"], self._bag.write)
        self._begun = time.monotonic()
        self._known: set[str] = set()
        self._recorded: list[tuple[int, Subscription]] = []
        # the first subscription of all: executors take a new time before what happened at it
        clock_profile = QoSProfile(depth=DEPTH, reliability=ReliabilityPolicy.BEST_EFFORT)
        self.create_subscription(Clock, "/clock", self._on_clock, clock_profile)
        # by the steady clock: it must look while simulated time stands still, too
        self.create_timer(LOOK, self._look, clock=RosClock(clock_type=ClockType.STEADY_TIME))
        self.get_logger().info(f"recording to {self._folder}")

    def _names(self, given: list[str] | None) -> set[str] | None:
        return None if given is None else {self.resolve_topic_name(name) for name in given}

    def _look(self) -> None:
        """Record what has appeared since the last look."""
        for name, kinds in self.get_topic_names_and_types():
            if name in self._known or not self._chosen(name) or not self.count_publishers(name):
                continue
            self._known.add(name)
            if len(kinds) > 1:
                self.get_logger().warn(f"{name} has types {', '.join(kinds)}: {kinds[0]} recorded")
            try:
                self._record(name, kinds[0])
            except rd.InvalidInput as error:
                self.get_logger().warn(f"{name} is not recorded: {error}")
        if self._clock.source == "auto" and time.monotonic() - self._begun > self._p["clock_wait"]:
            self._clock.give_up()
            self.get_logger().info("no /clock: stamps are those of the wall clock")

    def _chosen(self, name: str) -> bool:
        if self._wanted is not None:
            return name in self._wanted
        hidden = any(part.startswith("_") for part in name.split("/"))
        return not hidden and name not in self._unwanted

    def _record(self, name: str, kind: str) -> None:
        offered = [info.qos_profile for info in self.get_publishers_info_by_topic(name)]
        made = message_class(kind)
        topic = self._bag.add_topic(name, kind, definition(kind), offered)

        def take(data: bytes, info: Any) -> None:
            self._clock.take(topic, *_times(info), data)

        subscription = self.create_subscription(made, name, take, _requested(offered), raw=True)
        self._recorded.append((topic, subscription))

    def _on_clock(self, message: Clock, info: Any) -> None:
        before, source = self._clock.now, self._clock.source
        now = messages.to_nanoseconds(message.clock)
        if self._clock.tick(now, _times(info)[0]):
            self.get_logger().warn(
                f"/clock went back from {before * 1e-9:.3f} s to {now * 1e-9:.3f} s: players will "
                "mix what came before with what comes after"
            )
        elif before is None and source == "wall" and self._p["time"] == "auto":
            self.get_logger().warn("/clock came too late: stamps stay those of the wall clock")

    def destroy_node(self) -> None:
        """Complete the bag; what has arrived but was not taken yet is in it."""
        if self._bag is not None:
            bag, self._bag = self._bag, None
            # the node's own logger publishes, which Ctrl-C has ended already
            log = get_logger("recorder.bag")
            try:
                self._take_rest()
                self._clock.give_up()
                bag.close()
                log.info(
                    f"recorded {bag.messages} messages of {len(self._recorded)} topics "
                    f"in {self._folder}"
                )
            except RecordingFailed as error:
                log.fatal(str(error))
        super().destroy_node()

    def _take_rest(self) -> None:
        for topic, subscription in self._recorded:
            with subscription.handle:
                while taken := subscription.handle.take_message(subscription.msg_type, True):
                    data, info = taken
                    self._clock.take(topic, *_times(info), data)


def _times(info: Any) -> tuple[int, int]:
    """When a message was sent and received [ns]; not every middleware tells."""
    received = int(info["received_timestamp"]) or time.time_ns()
    return int(info["source_timestamp"]) or received, received


def _requested(offered: list[QoSProfile]) -> QoSProfile:
    """What suits every publisher, and gets the most of them: reliable and latched if all are."""
    reliable = all(p.reliability == ReliabilityPolicy.RELIABLE for p in offered)
    latched = all(p.durability == DurabilityPolicy.TRANSIENT_LOCAL for p in offered)
    return QoSProfile(
        depth=DEPTH,
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
    )


def _folder(parent: Path, name: str) -> Path:
    """A folder for the bag: of that name, or of the present time and then one that is free."""
    if name:
        return parent / name
    stem = f"rosbag2_{datetime.now():%Y_%m_%d-%H_%M_%S}"
    numbers = ("", *(f"_{number}" for number in range(1, 1000)))
    return next(parent / f"{stem}{n}" for n in numbers if not (parent / f"{stem}{n}").exists())
