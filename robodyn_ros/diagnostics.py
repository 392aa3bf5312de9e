# SPDX-License-Identifier: Apache-2.0

"""Publication of status messages on `/diagnostics`, as diagnostic_updater does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node

from robodyn_ros import qos
from robodyn_ros.messages import to_stamp

# `level` is a byte in Python; these are indexed by 0, 1, 2.
LEVELS = (DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR)


class Status(NamedTuple):
    """Diagnostic status of one task of a node.

    Attributes:
        task: name of the task.
        level: 0 (OK), 1 (WARN) or 2 (ERROR).
        text: message.
        values: further values by name.
    """

    task: str
    level: int
    text: str
    values: Mapping[str, object] = {}


def log_at_level(node: Node, level: int, text: str) -> None:
    """Log a message at a status level: 0 (info), 1 (warning) or 2 (error).

    rclpy permits only one severity for each line of code that logs.
    """
    if level == 0:
        node.get_logger().info(text)
    elif level == 1:
        node.get_logger().warning(text)
    else:
        node.get_logger().error(text)


def reporter(node: Node) -> Callable[..., None]:
    """Create the publisher of `/diagnostics` of a node.

    The statuses are named `<node>: <task>`; the name of a node in a namespace includes it, such as
    `left/inverse_dynamics`.

    Returns:
        A function (time [ns], *statuses) that publishes statuses.
    """
    publisher = node.create_publisher(DiagnosticArray, "/diagnostics", qos.EVENTS)

    def report(stamp: int, *statuses: Status) -> None:
        message = DiagnosticArray()
        message.header.stamp = to_stamp(stamp)
        for task, level, text, values in statuses:
            message.status.append(
                DiagnosticStatus(
                    name=f"{node.get_fully_qualified_name()[1:]}: {task}",
                    hardware_id="none",
                    level=LEVELS[level],
                    message=text,
                    values=[KeyValue(key=key, value=str(value)) for key, value in values.items()],
                )
            )
        publisher.publish(message)

    return report
