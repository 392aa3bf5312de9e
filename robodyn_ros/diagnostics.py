# SPDX-License-Identifier: Apache-2.0

"""`/diagnostics`, with the names and levels of diagnostic_updater."""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from robodyn_ros import qos
from robodyn_ros.messages import to_stamp

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rclpy.node import Node

# `level` is a byte in Python; these are indexed by 0, 1, 2.
LEVELS = (DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR)


def status(
    node: Node, task: str, level: int, message: str, values: Mapping[str, object]
) -> DiagnosticStatus:
    """One status, `level` 0 (OK), 1 (WARN) or 2 (ERROR), named `<node>: <task>`.

    A node in a namespace is named with it, as `left/inverse_dynamics`.
    """
    return DiagnosticStatus(
        name=f"{node.get_fully_qualified_name()[1:]}: {task}",
        hardware_id="none",
        level=LEVELS[level],
        message=message,
        values=[KeyValue(key=key, value=str(value)) for key, value in values.items()],
    )


def say(node: Node, level: int, text: str) -> None:
    """Log a text at the severity of a level; rclpy allows one severity per line of code."""
    if level == 0:
        node.get_logger().info(text)
    elif level == 1:
        node.get_logger().warning(text)
    else:
        node.get_logger().error(text)


def reporter(node: Node) -> Callable[..., None]:
    """A function that publishes statuses on `/diagnostics`, after their time [ns]."""
    publisher = node.create_publisher(DiagnosticArray, "/diagnostics", qos.EVENTS)

    def report(stamp: int, *statuses: DiagnosticStatus) -> None:
        message = DiagnosticArray(status=statuses)
        message.header.stamp = to_stamp(stamp)
        publisher.publish(message)

    return report
