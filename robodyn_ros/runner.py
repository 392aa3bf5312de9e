# SPDX-License-Identifier: Apache-2.0

"""Start and stop a node: one error line if it cannot start, no output on Ctrl-C."""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator

import numpy as np
import rclpy
from rclpy.clock import Clock, ClockType
from rclpy.executors import ExternalShutdownException
from rclpy.logging import get_logger
from rclpy.node import Node

from robodyn.errors import RobodynError
from robodyn_ros.executor import Finished as Finished
from robodyn_ros.executor import shut_down, spin
from robodyn_ros.parameter_files import read_sections, unused_parameter_messages
from robodyn_ros.process_environment import domain_problem, set_log_folder
from robodyn_ros.publishers import publisher_names

ENDING = (signal.SIGINT, signal.SIGTERM)
# Time for a callback to end after a signal [s]. Launch kills a process 10 s after Ctrl-C.
GRACE = 3.0
# Time for a node to complete its output and to leave the graph [s]. After that, the process ends
# with exit code 1 and the traceback of each thread, since a lock inside the DDS library would block
# it forever.
LEAVE = 60.0
# Time without /clock after which a node with simulated time reports it [s].
NO_CLOCK = 2.0
ERRORS = 2  # file descriptor of standard error


def run(make_node: Callable[[], Node], name: str, args: list[str] | None = None) -> int:
    """Run a node until it is stopped; return the process's exit code.

    A RobodynError ends the node with a one-line message. Any other exception is a bug and keeps
    its traceback.
    """
    if problem := domain_problem(os.environ):
        sys.stderr.write(f"{name}: {problem}\n")
        return 1
    set_log_folder(os.environ)
    node = None
    code = 0
    initialized = False
    # Creating a node may take as long as compiling; until it exists, a signal ends the process at
    # once. Afterward rclpy ends the spinning itself, and an exception inside a callback would do
    # harm. (rclpy chains its handlers to ours: setting others later would remove them.)
    for number in ENDING:
        signal.signal(number, lambda *_: os._exit(0) if node is None else None)
    try:
        words = sys.argv if args is None else args
        for flag, word in zip(words[:-1], words[1:], strict=True):
            if flag == "--params-file":
                read_sections(word)  # rclpy rejects it with a traceback
        with exit_after_signal(GRACE):
            rclpy.init(args=args)
            initialized = True
            node = make_node()
            for line in unused_parameter_messages(node, words):
                node.get_logger().warning(line)
            if not rclpy.ok():
                return 0  # interrupted meanwhile: the context no longer exists
            _warn_without_clock(node)
            _apply_process_settings()
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
        if rclpy.ok() or not initialized:
            raise
    finally:
        _ignore_interrupts()
        faulthandler.dump_traceback_later(LEAVE, file=ERRORS, exit=True)
        if node is not None:
            try:
                node.destroy_node()
            except Finished as end:  # completing its output failed, which is logged
                code = end.code
        shut_down()
        faulthandler.cancel_dump_traceback_later()
    return code


@contextlib.contextmanager
def exit_after_signal(grace: float) -> Iterator[None]:
    """End the process after SIGINT or SIGTERM if this context does not end in time.

    The process ends `grace` seconds after the signal if the context is then still active. rclpy
    leaves its loop only between two callbacks. A callback that compiles a function takes longer
    than launch waits, and Python runs no signal handlers during that time, so a thread waits for
    the signal.
    """
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    done = threading.Event()

    def watch() -> None:
        # one byte, the signal's number, for each signal
        while (received := os.read(reader, 1)) and received[0] not in ENDING:
            continue
        if received and not done.wait(grace):
            os._exit(0)

    previous = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        signal.set_wakeup_fd(previous)
        os.close(writer)
        watcher.join()
        os.close(reader)


def _warn_without_clock(node: Node) -> None:
    """Log a warning if no `/clock` message arrives: simulated time then remains 0."""

    def look() -> None:
        timer.cancel()
        if node.get_parameter("use_sim_time").value and not node.get_clock().now().nanoseconds:
            names = sorted(set(publisher_names(node, "/clock")))
            why = f"no message was received from {', '.join(names)}" if names else "no publisher"
            node.get_logger().warning(f"waiting for /clock, because use_sim_time is true: {why}")

    timer = node.create_timer(NO_CLOCK, look, clock=Clock(clock_type=ClockType.STEADY_TIME))


def _apply_process_settings() -> None:
    """Apply settings for the whole process while a node runs."""
    # intermediate overflow is allowed: results are checked
    np.seterr(over="ignore", invalid="ignore")
    # do not scan long-lived objects for garbage: that would delay callbacks
    gc.freeze()


def _ignore_interrupts() -> None:
    """Ignore further signals during shutdown, even those forwarded by a launch."""
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)
