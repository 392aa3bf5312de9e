"""What calls the callbacks: rclpy's executors, the quickest that is at hand.

The usual executor builds a set of everything that a node waits for, in Python, before each wait;
the more publishers, services and timers a node has, the longer every message takes. The events
executor is told by the middleware what has come. `ROBODYN_EXECUTOR` chooses: `events` (the
default, where rclpy has it), `single` or `multi`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from rclpy.executors import MultiThreadedExecutor, SingleThreadedExecutor

from robodyn.errors import InvalidInput

try:
    from rclpy.experimental import EventsExecutor
except ImportError:  # Humble, and the first releases of Jazzy
    EventsExecutor = None

if TYPE_CHECKING:
    from rclpy.node import Node

VARIABLE = "ROBODYN_EXECUTOR"
KINDS = ("events", "single", "multi")
# Its spin() in one go is not ended by Ctrl-C or by shutdown(), in rclpy 7.1.6 and 9.1.2; one that
# comes back this often [s] is.
LOOK_UP = 0.1


def chosen() -> str:
    """The kind that the environment asks for, or the best at hand.

    Raises:
        InvalidInput: an unknown kind.
    """
    kind = os.environ.get(VARIABLE, "events")
    if kind not in KINDS:
        raise InvalidInput(f"{VARIABLE} is {kind!r}, expected {', '.join(KINDS)}", value=kind)
    return "single" if kind == "events" and EventsExecutor is None else kind


def spin(node: Node) -> None:
    """Call a node's callbacks until rclpy is shut down, or one of them raises.

    Raises:
        ExternalShutdownException: shut down, by a signal too.
        InvalidInput: `ROBODYN_EXECUTOR` names no executor.
    """
    kind = chosen()
    if kind == "events":
        executor = EventsExecutor()
    else:
        executor = SingleThreadedExecutor() if kind == "single" else MultiThreadedExecutor()
    executor.add_node(node)
    try:
        if kind != "events":
            executor.spin()
        while True:
            executor.spin_once(timeout_sec=LOOK_UP)
    finally:
        executor.shutdown()
