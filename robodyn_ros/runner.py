# SPDX-License-Identifier: Apache-2.0

"""Start and stop a node: one error line if it cannot start, no output on Ctrl-C."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable

import numpy as np
import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.logging import get_logger
from rclpy.node import Node

from robodyn.errors import RobodynError
from robodyn_ros.executor import spin
from robodyn_ros.parameter_files import ignored, read_sections


class Finished(Exception):
    """Raised in a callback to end the process with an exit code; the text is logged, if any."""

    def __init__(self, code: int, text: str = "") -> None:
        super().__init__(text)
        self.code = code


def run(make_node: Callable[[], Node], name: str, args: list[str] | None = None) -> int:
    """Run a node until it is stopped; return the process's exit code.

    A RobodynError ends the node with a one-line message. Any other exception is a bug and keeps
    its traceback.
    """
    node = None
    code = 0
    # Making a node may take as long as compiling; until it exists, Ctrl-C ends the process at once.
    # Afterwards rclpy ends the spinning itself, and a KeyboardInterrupt inside a callback would do
    # harm. (rclpy chains its handler to ours: setting another one later would remove it.)
    signal.signal(signal.SIGINT, lambda *_: os._exit(0) if node is None else None)
    try:
        words = sys.argv if args is None else args
        for flag, word in zip(words[:-1], words[1:], strict=True):
            if flag == "--params-file":
                read_sections(word)  # rclpy refuses it with a traceback
        rclpy.init(args=args)
        node = make_node()
        for line in ignored(node, words):
            node.get_logger().warning(line)
        if not rclpy.ok():
            return 0  # interrupted meanwhile: the context is gone
        _settle()
        spin(node)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    except (Finished, RobodynError) as end:
        _ignore_interrupts()
        if str(end):
            get_logger(name).fatal(str(end))
        code = end.code if isinstance(end, Finished) else 1
    except Exception:
        # on Ctrl-C the context may be shut down while a callback is publishing: not a bug
        if rclpy.ok():
            raise
    finally:
        _ignore_interrupts()
        if node is not None:
            try:
                node.destroy_node()
            except Finished as end:  # what it had to bring to an end failed; it has said so
                code = end.code
        rclpy.try_shutdown()
    return code


def _settle() -> None:
    """Settings of the process for a running node."""
    # intermediate overflow is allowed: results are checked
    np.seterr(over="ignore", invalid="ignore")
    # do not scan long-lived objects for garbage: that would delay answers
    gc.freeze()


def _ignore_interrupts() -> None:
    """A second Ctrl-C, or the one that a launch forwards, must not interrupt the shutdown."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
