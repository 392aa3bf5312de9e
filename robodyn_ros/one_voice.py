# SPDX-License-Identifier: Apache-2.0

"""What many processes would say at the same time, such as that they compile, is said by one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

try:
    import fcntl
except ImportError:  # not a Unix: everyone speaks
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class OneVoice:
    """Passes lines on while no other process of this user does.

    Args:
        tell: takes a line.
        file: whose lock says who speaks; all that share it are one choir. None: everyone speaks.
    """

    def __init__(self, tell: Callable[[str], object], file: Path | None) -> None:
        self._tell, self._file = tell, file
        self._lock: int | None = None

    def __call__(self, line: str) -> None:
        """Say a line, unless another process speaks."""
        if self._may_speak():
            self._tell(line)

    def release(self) -> None:
        """Let another one speak."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _may_speak(self) -> bool:
        if self._lock is not None or fcntl is None or self._file is None:
            return True
        try:
            lock = os.open(self._file, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        except OSError:  # nowhere to agree: better twice than not at all
            return True
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            return False
        self._lock = lock
        return True
