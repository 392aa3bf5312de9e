# SPDX-License-Identifier: Apache-2.0

"""One kernel's machine code on disk, in one of several folders; damaged files are replaced.

Numba's own cache requires a writable folder even for reading, and raises whatever `pickle` does for
a file that was truncated by a full disk or a power failure. Nor does it keep processes that start
together, as the nodes of a launch, from all compiling the same: here one does, and the others wait.
A kernel only calls kernels that do not call it, so that two processes never wait for each other.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba.core.caching import CompileResultCacheImpl, FunctionCache, NullCache
from numba.core.runtime import rtsys

from robodyn.numerics.cache_folders import cache_folders
from robodyn.numerics.compilation_notes import notes

try:
    import fcntl
except ImportError:  # Windows: every process compiles what it needs
    fcntl = None  # type: ignore[assignment]

# Between two looks whether another process has compiled a kernel [s].
LOOK = 0.02
# A process that is stopped, or hangs, holds its locks; nobody waits longer for it [s].
PATIENCE = 120.0


class KernelCache(NullCache):  # type: ignore[misc]
    """The cache of a Numba dispatcher: loads its machine code and saves what it compiled.

    Folders are searched on first use: importing the library touches no file.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._known: list[_Store] | None = None
        self._lock: int | None = None

    @property
    def cache_path(self) -> str | None:
        """The folder that is searched first."""
        return str(cache_folders()[0].path) if cache_folders() else None

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Machine code for a signature, or None if it has to be compiled, by this process."""
        found = self._find(signature, target)
        if found is None and self._has_turn():
            # another process may have compiled it meanwhile
            found = self._find(signature, target)
            if found is not None:
                self._end_turn()
        if found is None:
            notes.begin()
        return found

    def _find(self, signature: Any, target: Any) -> Any:
        for store in self._stores():
            try:
                found = store.load_overload(signature, target)
            except OSError:
                continue
            except Exception:  # pickle and LLVM may raise anything for a damaged file
                store.forget()
                notes.damaged(self._function.__name__)
                continue
            if found is not None:
                return found
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Save machine code in a writable folder; without one it is lost when the process ends."""
        for store in self._stores():
            if store.writable:
                try:
                    store.save_overload(signature, compiled)
                    break
                except OSError:  # the disk is full, or the folder was removed
                    continue
        self._end_turn()
        notes.end()

    def flush(self) -> None:
        """Delete what is on disk."""
        for store in self._stores():
            store.forget()

    def _has_turn(self) -> bool:
        """Wait until no other process compiles the kernel; False if that cannot be known."""
        self._end_turn()  # left from a compilation that failed
        place = next((store.lock_file for store in self._stores() if store.writable), None)
        if place is None or fcntl is None:
            return False
        end = time.monotonic() + PATIENCE
        with suppress(OSError):  # the disk is full, or the file system has no locks
            place.parent.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            while time.monotonic() < end:
                try:
                    fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    return True
                except BlockingIOError:
                    time.sleep(LOOK)
        self._end_turn()
        return False

    def _end_turn(self) -> None:
        """Let the next process have its turn, as one that dies does."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _stores(self) -> list[_Store]:
        if self._known is None:
            self._known = [
                _Store(self._function, folder.path, folder.writable) for folder in cache_folders()
            ]
        return self._known


class _Store(FunctionCache):  # type: ignore[misc]
    """Numba's cache for one function, in a given folder."""

    def __init__(self, function: Callable[..., Any], folder: Path, writable: bool) -> None:
        files = _Files(function, folder)
        self._impl_class = type("Files", (CompileResultCacheImpl,), {"_locator_classes": [files]})
        self.writable = writable
        super().__init__(function)

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Machine code for a signature, or None if it is not there.

        Numba would first load all that it can compile, which takes longer than loading a kernel.
        What is compiled already needs the runtime only; whoever compiles afterwards loads the rest.
        """
        rtsys.initialize(target)
        return self._load_overload(signature, target)

    @property
    def lock_file(self) -> Path:
        """Whoever compiles this function has it locked."""
        return Path(self._cache_path) / f"{self._impl.filename_base}.lock"

    def forget(self) -> None:
        """Remove the files of this function."""
        folder, base = Path(self._cache_path), self._impl.filename_base
        for path in (folder / f"{base}.nbi", *folder.glob(f"{base}.*.nbc")):
            with suppress(OSError):  # no permission, or removed by another process
                path.unlink()


class _Files:
    """The files of one function in a folder, in the form that Numba expects (a "locator").

    The folder is named after a hash of all sources, so that the files need no stamp.
    """

    def __init__(self, function: Callable[..., Any], folder: Path) -> None:
        self._py_file = function.__code__.co_filename  # for Numba's message on what it cannot cache
        self._line = function.__code__.co_firstlineno
        self._path = folder / function.__module__

    def from_function(self, function: Callable[..., Any], file: str) -> _Files:
        return self

    def ensure_cache_path(self) -> None:
        self._path.mkdir(parents=True, exist_ok=True)

    def get_cache_path(self) -> str:
        return str(self._path)

    def get_source_stamp(self) -> str:
        return ""

    def get_disambiguator(self) -> str:
        return str(self._line)
