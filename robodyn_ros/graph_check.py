# SPDX-License-Identifier: Apache-2.0

"""Check of a running graph: whether clock, QoS and controllers are consistent.

`python -m robodyn_ros.graph_check` prints findings as JSON; `robodyn doctor` shows them.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import rclpy
from rclpy.client import Client
from rclpy.node import Node
from rclpy.qos import QoSCompatibility, QoSProfile, ReliabilityPolicy, qos_check_compatible
from sensor_msgs.msg import JointState

from robodyn.control.state_stamps import LARGEST_STEP
from robodyn_ros.executor import shut_down

# A new node discovers the others one by one: time without a new one [s] after which it is done.
QUIET, LONGEST = 1.5, 8.0
STATES = QoSProfile(depth=1000, reliability=ReliabilityPolicy.BEST_EFFORT)
# Time for a controller manager to respond, and until the request is repeated [s].
RESPONSE_TIMEOUT, REQUEST_PERIOD = 3.0, 0.5
NAME = "robodyn_doctor"
# Topics that must have one publisher only.
SINGLE = ("effort_controller/commands", "joint_commands", "platform_trajectory",
          "joint_trajectory", "platform_state")  # fmt: skip
# Time to record joint states that several nodes publish [s].
LISTEN = 1.0
# Topics whose subscribers require a publisher.
NEEDED = ("platform_state", "joint_states", "clock")


def findings(node: Node) -> list[dict[str, str]]:
    """Check the ROS 2 graph that a node has discovered.

    Returns:
        A dictionary for each finding: `level` (ok, note, warning, error) and `text`.
    """
    others = [name for name in node.get_node_names() if name != NAME]
    if not others:
        return [_finding("note", "no ROS 2 node is running in this domain")]
    found = [_finding("ok", f"{len(others)} nodes: {', '.join(sorted(others))}")]
    for topic, _ in node.get_topic_names_and_types():
        found += _topic_findings(node, topic)
    found += _controllers(node)
    if all(entry["level"] in ("ok", "note") for entry in found):
        found.append(_finding("ok", "clock, QoS and publishers of the graph are consistent"))
    return found


def _topic_findings(node: Node, topic: str) -> Iterator[dict[str, str]]:
    publishers = [p for p in node.get_publishers_info_by_topic(topic) if p.node_name != NAME]
    subscribers = [s for s in node.get_subscriptions_info_by_topic(topic) if s.node_name != NAME]
    for publisher in publishers:
        for name in sorted({s.node_name for s in subscribers}):
            ends = [s for s in subscribers if s.node_name == name]
            # a node may have two subscriptions, for latched and for volatile publishers
            compatibilities = [
                qos_check_compatible(publisher.qos_profile, s.qos_profile) for s in ends
            ]
            if all(fits == QoSCompatibility.ERROR for fits, _ in compatibilities):
                why = compatibilities[0][1].rstrip(";. ").removeprefix("ERROR: ")
                yield _finding(
                    "error",
                    f"{topic}: {name} receives no messages from {publisher.node_name}: {why}",
                )
    kinds = sorted({end.topic_type for end in (*publishers, *subscribers)})
    if len(kinds) > 1:
        yield _finding("error", f"{topic} is used with several types: {', '.join(kinds)}")
    if topic.endswith(SINGLE) and len(publishers) > 1:
        names = ", ".join(sorted(p.node_name for p in publishers))
        yield _finding("warning", f"{topic} has {len(publishers)} publishers: {names}")
    if topic.endswith("joint_states") and len(publishers) > 1:
        yield from _joint_state_findings(node, topic, sorted(p.node_name for p in publishers))
    if topic.split("/")[-1] in NEEDED and subscribers and not publishers:
        names = ", ".join(sorted({s.node_name for s in subscribers}))
        why = (
            " (use_sim_time is true, but no node publishes the clock)" if topic == "/clock" else ""
        )
        yield _finding("warning", f"{topic} has no publisher; waiting for it: {names}{why}")


def _joint_state_findings(node: Node, topic: str, names: list[str]) -> Iterator[dict[str, str]]:
    """Yield a finding if several publishers may send states of the same joints."""
    messages: list[JointState] = []
    subscription = node.create_subscription(JointState, topic, messages.append, STATES)
    end = time.monotonic() + LISTEN
    while time.monotonic() < end:
        rclpy.spin_once(node, timeout_sec=0.1)
    node.destroy_subscription(subscription)
    # publishers of other joints use other names
    kinds = {tuple(message.name) for message in messages}
    joints = [name for kind in kinds for name in kind]
    shared = sorted({name for name in joints if joints.count(name) > 1})
    if not shared and len(kinds) >= len(names):
        return
    several = f"{topic} has {len(names)} publishers: {', '.join(names)}"
    torn = sorted(name for kind in kinds for name in _find_contradictions(messages, kind))
    if torn:
        yield _finding(
            "error",
            f"{several}; they contradict each other about {', '.join(torn)}: stop all but one",
        )
        return
    of = ", ".join(shared or sorted(set(joints)))
    what = f"each of these joints must have only one: {of}" if of else "no message was received"
    yield _finding("warning", f"{several}; {what}")


def _find_contradictions(messages: list[JointState], names: tuple[str, ...]) -> list[str]:
    """Return the joints whose positions jump back and forth between messages.

    Only messages whose joint names equal `names` are compared.
    """
    rows = [
        m.position for m in messages if tuple(m.name) == names and len(m.position) == len(names)
    ]
    if len(rows) < 3:
        return []
    jumps = np.diff(np.array(rows), axis=0)
    away, back = jumps[:-1], jumps[1:]
    torn = (np.abs(away) > LARGEST_STEP) & (np.abs(away + back) < 0.2 * np.abs(away))
    return [name for name, is_torn in zip(names, torn.any(axis=0), strict=True) if is_torn]


def _controllers(node: Node) -> Iterator[dict[str, str]]:
    """Yield the state of each controller if a ros2_control manager is running."""
    services = [
        name for name, _ in node.get_service_names_and_types() if name.endswith("/list_controllers")
    ]
    if not services:
        return
    try:
        from controller_manager_msgs.srv import ListControllers
    except ImportError:
        yield _finding(
            "note",
            "a controller manager is running, but its controllers are not checked, because "
            "controller_manager_msgs is not installed",
        )
        return
    for service in services:
        response = response_of(node, node.create_client(ListControllers, service))
        if response is None:
            yield _finding("warning", f"{service} does not respond within {RESPONSE_TIMEOUT:g} s")
            continue
        for controller in response.controller:
            level = "ok" if controller.state == "active" else "note"
            yield _finding(level, f"controller {controller.name}: {controller.state}")


def response_of(node: Node, client: Client) -> Any:
    """Call a service without parameters; return its response, or None after a timeout.

    A response is lost if the server has not discovered the client yet, so the request is repeated.
    """
    end = time.monotonic() + RESPONSE_TIMEOUT
    service: Any = client.srv_type
    while time.monotonic() < end:
        if client.wait_for_service(REQUEST_PERIOD):
            future = client.call_async(service.Request())
            rclpy.spin_until_future_complete(node, future, timeout_sec=REQUEST_PERIOD)
            if future.done():
                return future.result()
    return None


def _finding(level: str, text: str) -> dict[str, str]:
    return {"level": level, "text": text}


def _discover(node: Node) -> None:
    start = last = time.monotonic()
    seen: tuple[int, int] = (0, 0)
    while time.monotonic() < min(last + QUIET, start + LONGEST):
        rclpy.spin_once(node, timeout_sec=0.1)
        now = (len(node.get_node_names()), len(node.get_topic_names_and_types()))
        if now != seen:
            seen, last = now, time.monotonic()


def main() -> int:
    """Check the ROS 2 graph and print the findings as JSON; return the exit code 0."""
    rclpy.init()
    node = Node(NAME)
    try:
        _discover(node)
        print(json.dumps(findings(node)))
    finally:
        node.destroy_node()
        shut_down()
    return 0


if __name__ == "__main__":
    sys.exit(main())
