"""Starting and stopping a node: one clear line when it cannot start, silence on Ctrl-C."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.logging import get_logger

from robodyn.errors import RobodynError

if TYPE_CHECKING:
    from collections.abc import Callable

    from rclpy.node import Node


class Finished(Exception):
    """Raised in a callback to end the process with an exit code; the text is logged, if any."""

    def __init__(self, code: int, text: str = "") -> None:
        super().__init__(text)
        self.code = code


def run(make_node: Callable[[], Node], name: str, args: list[str] | None = None) -> int:
    """Run a node until it is told to stop; return the process's exit code.

    An error that robodyn raises on purpose ends the node with its one line. Anything else is a
    fault of ours and keeps its traceback.
    """
    node = None
    try:
        rclpy.init(args=args)
        node = make_node()
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        executor.spin()
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    except Finished as end:
        if str(end):
            get_logger(name).fatal(str(end))
        return end.code
    except RobodynError as error:
        get_logger(name).fatal(str(error))
        return 1
    finally:
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()
    return 0


def main(make_node: Callable[[], Node], name: str) -> None:
    """Entry point of a node's executable."""
    sys.exit(run(make_node, name))
