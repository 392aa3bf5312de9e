# SPDX-License-Identifier: Apache-2.0

"""Background thread for work that would block callbacks, with progress on `/diagnostics`."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from rclpy.node import Node

import robodyn as rd
from robodyn_ros.diagnostics import Status, reporter

# Period of progress messages [s].
PERIOD = 0.5


class Canceled(Exception):
    """Error raised in the thread of a canceled task when the task reports progress."""


class Background:
    """Runner of long tasks in a background thread of a node; a new task cancels the last one.

    Args:
        node: node whose executor calls the callbacks.
        stamp: returns the current time [ns] for status messages.
    """

    def __init__(self, node: Node, stamp: Callable[[], int]) -> None:
        self._node, self._stamp = node, stamp
        self._report = reporter(node)
        self._turn = 0
        self._activity, self._progress = "", 0.0
        self._timer: Any = None

    @property
    def is_busy(self) -> bool:
        """Whether a task is running."""
        return bool(self._activity)

    def begin(
        self,
        what: str,
        work: Callable[[Callable[[float], None]], Any],
        done: Callable[[Any], object],
        failed: Callable[[rd.RobodynError], None],
    ) -> None:
        """Start a task in the background; callbacks run in the thread of the node.

        Args:
            what: name of the task, for messages.
            work: task; its argument is a function to report progress, from 0 to 1.
            done: called with the result of the task.
            failed: called with a RobodynError that `work` or `done` raises.
        """
        self._turn += 1
        turn = self._turn
        self._activity, self._progress = what, 0.0

        def report_progress(fraction: float) -> None:
            if turn != self._turn:
                raise Canceled
            self._progress = fraction

        def run() -> None:
            try:
                result, error = work(report_progress), None
            except Canceled:
                return
            except rd.RobodynError as problem:
                result, error = None, problem
            executor = self._node.executor
            if executor is not None:
                executor.create_task(finish, result, error)

        def finish(result: Any, error: rd.RobodynError | None) -> None:
            if turn != self._turn:
                return
            self._stop("idle")
            try:
                if error is not None:
                    raise error
                done(result)
            except rd.RobodynError as problem:
                failed(problem)

        if self._timer is None:
            self._timer = self._node.create_timer(PERIOD, self._log_progress)
        threading.Thread(target=run, daemon=True).start()

    def cancel(self) -> str:
        """Cancel the running task; return its name, empty if there is none."""
        what = self._activity
        self._turn += 1
        if what:
            self._stop("canceled")
        return what

    def _stop(self, text: str) -> None:
        self._activity = ""
        if self._timer is not None:
            self._node.destroy_timer(self._timer)
            self._timer = None
        self._publish(text, {})

    def _log_progress(self) -> None:
        self._publish(f"planning {self._activity}", {"progress": f"{100.0 * self._progress:.0f} %"})

    def _publish(self, text: str, values: dict[str, object]) -> None:
        self._report(self._stamp(), Status("planning", 0, text, values))
