# SPDX-License-Identifier: Apache-2.0

"""Processes that need the same kernel take turns: the first compiles it, the others load it.

A kernel only calls kernels that do not call it, so that two processes never wait for each other.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING

try:
    import fcntl
except ImportError:  # Windows: every process compiles what it needs
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path
    from typing import Protocol

    class Store(Protocol):
        """A folder of machine code, and the file to lock in it."""

        writable: bool

        @property
        def turn_file(self) -> Path:
            """The file to lock."""


# Between two looks whether the lock is free [s].
LOOK = 0.02
# A process that is stopped, or hangs, holds its locks; nobody waits longer for it [s].
PATIENCE = 120.0


class Turn:
    """One kernel's lock between processes. One that dies gives its locks away."""

    def __init__(self) -> None:
        self._file: int | None = None

    def take(self, stores: Iterable[Store]) -> bool:
        """Wait until no other process compiles the kernel; False if that cannot be known."""
        self.give()  # left from a compilation that failed
        place = next((store.turn_file for store in stores if store.writable), None)
        if place is None or fcntl is None:
            return False
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:  # the disk is full, or the folder is no longer writable
            return False
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(LOOK)
            except OSError:  # a file system without locks
                break
            else:
                return True
        self.give()
        return False

    def give(self) -> None:
        """Let the next process have its turn."""
        if self._file is not None:
            with suppress(OSError):
                os.close(self._file)
            self._file = None
