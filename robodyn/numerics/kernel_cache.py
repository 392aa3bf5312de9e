# SPDX-License-Identifier: Apache-2.0

"""One kernel's machine code on disk, in one of several folders; damaged files are replaced.

Each file contains the machine code for one signature. Its name contains the keys of the sources and
of the signature, and it starts with a checksum of its name and content: a truncated or altered file
is never loaded. Numba's own cache has no checksum, requires a writable folder even for reading, and
compares a function's own file only.

If several processes start at the same time, as the nodes of a launch do, one compiles a kernel and
the others wait for it. A kernel only calls kernels that do not call it, so that two processes never
wait for each other.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
import uuid
import weakref
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from robodyn.numerics import numba_compat
from robodyn.numerics.cache_folders import (
    KEPT_VERSIONS,
    cache_folders,
    refused_folders,
    untrusted_status,
)
from robodyn.numerics.compilation_notes import notes
from robodyn.numerics.kernel_keys import signature_key, sources_key

try:
    import fcntl
except ImportError:  # Windows: every process compiles what it needs
    fcntl = None  # type: ignore[assignment]

# Interval [s] between checks whether another process has compiled a kernel.
LOOK = 0.02
# Longest wait [s] for another process to release its lock; it may be stopped or hang.
LOCK_TIMEOUT = 120.0
MAGIC = b"robodyn kernel 1\n"
SUFFIX = ".nbc"


class KernelCache(numba_compat.NullCache):  # type: ignore[misc]
    """Disk cache for the machine code of a compiled function, for Numba's dispatcher.

    Folders are searched on first use, not on import of the library.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._sources: str | None = None
        self._described = False
        self._lock: int | None = None
        _known.add(self)

    @property
    def cache_path(self) -> str | None:
        """Path of the folder that is searched first for machine code."""
        return str(cache_folders()[0].path) if cache_folders() else None

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Load machine code for a signature; return None if it has to be compiled."""
        notes.report_untrusted(refused_folders())
        name = self._file_name(signature)
        found = self._find(name, target)
        if found is None and name is not None and self._acquire_lock():
            # another process may have compiled it meanwhile
            found = self._find(name, target)
            if found is not None:
                self._release_lock()
        if found is None:
            notes.begin(is_cached)
        return found

    def _find(self, name: str | None, target: Any) -> Any:
        if name is None:
            return None
        for folder in cache_folders():
            path = folder.path / name
            try:
                content = _read(path)
                if content is None:
                    continue
                found = numba_compat.machine_code_from(content, target)
            except OSError:
                continue
            except Exception as error:  # pickle and LLVM may raise anything
                with suppress(OSError):  # no permission, or removed by another process
                    path.unlink()
                notes.report_damaged(path, error)
                continue
            if folder.writable:
                with suppress(OSError):
                    os.utime(path)  # the versions used last are kept
            return found
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Save machine code in a writable folder, if there is one."""
        name = self._file_name(signature)
        if name is not None and numba_compat.can_be_saved(compiled):
            for folder in cache_folders():
                if folder.writable:
                    try:
                        _write(folder.path / name, numba_compat.saved_bytes(compiled))
                        self._drop_old(folder.path)
                        break
                    except OSError:  # the disk is full, or the folder was removed
                        continue
        self._release_lock()
        notes.end()

    def flush(self) -> None:
        """Delete this function's machine code on disk."""
        for folder in cache_folders():
            for path in self._files(folder.path):
                with suppress(OSError):
                    path.unlink()

    @property
    def saved_as(self) -> str | None:
        """Prefix of this function's file names; None if its machine code cannot be saved."""
        if not self._described:
            self._sources, self._described = sources_key(self._function), True
        return None if self._sources is None else f"{self._base}.{self._sources}."

    @property
    def _base(self) -> str:
        # Windows allows no < and >, as in <locals>
        name = f"{self._function.__module__}.{self._function.__qualname__}"
        return re.sub(r"[^\w.]", "", name)

    def _file_name(self, signature: Any) -> str | None:
        key = signature_key(signature)
        return f"{self.saved_as}{key}{SUFFIX}" if self.saved_as and key else None

    def _drop_old(self, folder: Path) -> None:
        """Delete this function's machine code in a folder, except the newest versions."""
        ages: dict[str, float] = {}
        for path in self._files(folder):
            version = _version(path.name)
            ages[version] = max(ages.get(version, 0.0), path.stat().st_mtime)
        dropped = sorted(ages, key=ages.__getitem__)[:-KEPT_VERSIONS]
        for path in self._files(folder):
            if _version(path.name) in dropped:
                path.unlink()

    def _files(self, folder: Path) -> list[Path]:
        """Return the files of this function's machine code in a folder, of all versions."""
        found = folder.glob(f"{self._base}.*{SUFFIX}")
        # otherwise it belongs to a longer name
        return [path for path in found if path.name.count(".") == self._base.count(".") + 3]

    def _acquire_lock(self) -> bool:
        """Wait until this process may compile the function; lock it for other processes.

        Return False if locks are not available or the wait takes too long.
        """
        self._release_lock()  # left from a compilation that failed
        folder = next((folder for folder in cache_folders() if folder.writable), None)
        if folder is None or fcntl is None:
            return False
        end = time.monotonic() + LOCK_TIMEOUT
        with suppress(OSError):  # the disk is full, or the file system has no locks
            place = folder.path / f"{self._base}.lock"
            self._lock = os.open(place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            while time.monotonic() < end:
                try:
                    fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    return True
                except BlockingIOError:
                    time.sleep(LOOK)
        self._release_lock()
        return False

    def _release_lock(self) -> None:
        """Release the lock, so that the next process can compile the function."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


_known: weakref.WeakSet[KernelCache] = weakref.WeakSet()


def is_cached() -> bool:
    """Return whether up-to-date machine code of any imported kernel is on disk."""
    names = [path.name for folder in cache_folders() for path in folder.path.glob(f"*{SUFFIX}")]
    versions = {_version(name) for name in names}
    return not versions.isdisjoint(kernel.saved_as for kernel in _known)


def _version(name: str) -> str:
    """Return the prefix of a cache file's name: function name and source hash."""
    return name[: name.rindex(".", 0, -len(SUFFIX)) + 1]


def _checksum(name: str, content: bytes) -> bytes:
    return hashlib.sha256(name.encode() + b"\0" + content).digest()


def _read(path: Path) -> bytes | None:
    """Read machine code from a file; None if there is no such file.

    Raises:
        ValueError: the file is damaged or must not be used.
    """
    try:
        number = os.open(path, os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0))
    except FileNotFoundError:
        return None
    with open(number, "rb") as file:
        if reason := untrusted_status(os.fstat(file.fileno())):
            raise ValueError(reason)
        data = file.read()
    start = len(MAGIC) + hashlib.sha256().digest_size
    content = data[start:]
    if data[:start] != MAGIC + _checksum(path.name, content):
        raise ValueError("the checksum differs")
    return content


def _write(path: Path, content: bytes) -> None:
    """Write machine code atomically: a reader sees the whole file or none."""
    draft = path.with_name(f"{path.name}.{uuid.uuid4().hex[:16]}.tmp")
    try:
        # readable by others, such as the user of a container image
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "wb") as file:
            file.write(MAGIC + _checksum(path.name, content) + content)
        os.replace(draft, path)
    except OSError:
        with suppress(OSError):
            draft.unlink()
        raise
