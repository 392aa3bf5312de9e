# SPDX-License-Identifier: Apache-2.0

"""Messages to the user while kernels are compiled, on the first use of each feature."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from robodyn.numerics.cache_folders import UntrustedFolder, cache_folders

# Shortest duration [s] of a compilation that is reported.
REPORT_AFTER = 2.0
# Interval between messages without a terminal [s].
INTERVAL = 10.0


class CompilationNotes:
    """Progress reports during the compilation of the numeric kernels.

    On a terminal the count is updated in place; elsewhere there is a message every ten seconds, to
    the logger `robodyn` or the function given to `report_to`.
    """

    def __init__(self) -> None:
        self._report: Callable[[str], object] | None = None
        self._lock = threading.Lock()
        self._done = 0
        self._spent = 0.0
        self._begun = 0.0
        self._reported_at: float | None = None
        self._reported_damaged = False
        self._reported_refused = False

    def report_to(self, report: Callable[[str], object] | None) -> None:
        """Set the function that receives messages, such as a node's logger; None resets it."""
        self._report = report

    def begin(self, is_cached: Callable[[], bool]) -> None:
        """Report that a kernel is about to be compiled.

        Args:
            is_cached: function that returns whether the cache contains machine code of any kernel.
        """
        with self._lock:
            self._begun = time.monotonic()
            if self._reported_at is None and (self._spent > REPORT_AFTER or not is_cached()):
                self._write_line(f"compiling kernels for their first use{_where()}")
                self._reported_at = self._begun
            if self._reported_at is not None and self._on_terminal():
                print(f"\r\033[K{self._so_far()}", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        """Record that a kernel was compiled."""
        with self._lock:
            now = time.monotonic()
            self._done += 1
            self._spent += now - self._begun
            if self._reported_at is None:
                return
            if self._on_terminal():
                print("\r\033[K", end="", file=sys.stderr, flush=True)
            elif now - self._reported_at > INTERVAL:
                self._reported_at = now
                self._write_line(self._so_far())

    def report_damaged(self, file: Path, reason: Exception) -> None:
        """Report that a file of machine code is damaged and ignored, once per process."""
        with self._lock:
            if not self._reported_damaged:
                self._reported_damaged = True
                self._write_line(
                    f"the kernel cache is damaged ({file}: {reason}): damaged files are removed "
                    "and their kernels compiled again"
                )

    def report_untrusted(self, folders: tuple[UntrustedFolder, ...]) -> None:
        """Report, once, the folders whose machine code is not trusted."""
        if not folders or self._reported_refused:
            return
        with self._lock:
            if not self._reported_refused:
                self._reported_refused = True
                for folder in folders:
                    self._write_line(refusal(folder))

    def _so_far(self) -> str:
        return f"compiling kernels: {self._done} done, {self._spent:.0f} s"

    def _on_terminal(self) -> bool:
        return self._report is None and sys.stderr is not None and sys.stderr.isatty()

    def _write_line(self, line: str) -> None:
        if self._report is not None:
            self._report(line)
        elif self._on_terminal():
            print(f"robodyn: {line}", file=sys.stderr, flush=True)
        else:
            logging.getLogger("robodyn").warning(line)


def refusal(folder: UntrustedFolder) -> str:
    """Return the warning about a folder whose machine code is not trusted."""
    return (
        f"kernel cache not used: {folder.path}: {folder.reason}; others could have replaced "
        "the machine code in it: remove the folder, or set NUMBA_CACHE_DIR to one that only you "
        "can write to"
    )


def _where() -> str:
    folders = cache_folders()
    if not folders or not folders[-1].writable:
        return "; no folder can store them, so the next start takes as long"
    if folders[-1].temporary:
        return f"; no cache folder is writable, so they are stored in {folders[-1].path.parent}"
    return ", and storing them for later runs"


notes = CompilationNotes()
