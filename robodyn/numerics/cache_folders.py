# SPDX-License-Identifier: Apache-2.0

"""Folders of the kernels' machine code: folders to search, and one that is writable.

A folder is named after a hash of the compiler and the processor, below NUMBA_CACHE_DIR if that is
set, otherwise below the user's cache directory. A read-only folder, as in a container image, is
searched; kernels that it lacks are saved in the next folder. If none is writable (a service without
a home directory, a container), a private temporary one is used.

Machine code is executed, so a folder or a file is used only if this user or root owns it and no
other user can write to it.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np

from robodyn.numerics.numba_compat import compiler_version

# Number of most recently used caches to keep, of environments and, in each folder, of versions of a
# compiled function, so that switching between them does not recompile.
KEPT_VERSIONS = 10


class Folder(NamedTuple):
    """Machine-code folder: its path, and whether it is writable and temporary."""

    path: Path
    writable: bool
    temporary: bool = False


class UntrustedFolder(NamedTuple):
    """Machine-code folder that is not trusted: its path and the reason."""

    path: Path
    reason: str


@cache
def _search() -> tuple[tuple[Folder, ...], tuple[UntrustedFolder, ...]]:
    """Find the cache folders for machine code; return trusted and untrusted ones."""
    name = f"kernels-{compiler_digest()}"
    found: list[Folder] = []
    refused: list[UntrustedFolder] = []
    for root in _roots():
        writable = _make(root, root / name)
        if not (root / name).is_dir():
            continue
        doubts = [
            UntrustedFolder(path, why)
            for path in (root, root / name)
            if (why := untrusted_reason(path))
        ]
        if doubts:
            refused += doubts
            continue
        found.append(Folder(root / name, writable))
        if writable:
            _drop_old(root)
            return tuple(found), tuple(refused)
    temporary = _temporary_root()
    if temporary is not None and _make(temporary, temporary / name):
        _drop_old(temporary)
        found.append(Folder(temporary / name, writable=True, temporary=True))
    return tuple(found), tuple(refused)


def cache_folders() -> tuple[Folder, ...]:
    """Return the folders to search for machine code.

    The last one is writable, unless none is.
    """
    return _search()[0]


def refused_folders() -> tuple[UntrustedFolder, ...]:
    """Return the folders not used because other users own them or can write to them."""
    return _search()[1]


def compiler_digest() -> str:
    """Return a hash of everything that machine code depends on, apart from its sources."""
    versions = [sys.implementation.cache_tag, np.__version__, *compiler_version()]
    return hashlib.sha256("\n".join(map(str, versions)).encode()).hexdigest()[:16]


def untrusted_reason(path: Path) -> str | None:
    """Return the reason not to execute machine code in a folder, or None."""
    try:
        return untrusted_status(path.stat())
    except OSError as error:
        return error.strerror or str(error)


def untrusted_status(found: os.stat_result) -> str | None:
    """Return the reason not to trust a file or folder with a given status, or None."""
    if os.name == "nt":
        return None
    if found.st_uid not in (os.getuid(), 0):
        return f"user {found.st_uid} owns it, not user {os.getuid()} or root"
    mode = stat.S_IMODE(found.st_mode)
    if mode & 0o022:
        return f"others can write to it (mode {mode:03o}, expected no more than 755)"
    return None


def private_folder(path: Path) -> bool:
    """Create a folder that only this user can access; return whether it is private.

    All users can create folders in a temporary directory. Code loaded from this one is executed, so
    it must be owned by this user, not be a link, and be closed to others.
    """
    try:
        path.mkdir(mode=0o700, exist_ok=True)
        found = path.lstat()
    except OSError:
        return False
    own = not hasattr(os, "getuid") or found.st_uid == os.getuid()
    closed = os.name == "nt" or not stat.S_IMODE(found.st_mode) & 0o077
    return stat.S_ISDIR(found.st_mode) and own and closed


def _roots() -> Iterator[Path]:
    if numba.config.CACHE_DIR:
        yield Path(numba.config.CACHE_DIR) / "robodyn"
    try:
        yield Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "robodyn"
    except RuntimeError:  # a user unknown to the system has no home directory
        return


def _make(root: Path, folder: Path) -> bool:
    """Create `root` and `folder` if possible; return whether `folder` is writable.

    Other users cannot write to the two folders, regardless of this user's umask. Group write
    permission, as set by earlier versions, is removed.
    """
    try:
        root.parent.mkdir(parents=True, exist_ok=True)
        for path in (root, folder):
            with_mode = 0o755
            path.mkdir(mode=with_mode, exist_ok=True)
        if os.name != "nt" and stat.S_IMODE(mode := root.stat().st_mode) & 0o022 == 0o020:
            root.chmod(stat.S_IMODE(mode) & ~0o020)
        tempfile.TemporaryFile(dir=folder).close()
        folder.touch()  # the newest versions are kept
    except OSError:
        return False
    return True


def _temporary_root() -> Path | None:
    user = os.getuid() if hasattr(os, "getuid") else "user"
    try:
        root = Path(tempfile.gettempdir()) / f"robodyn-{user}"
        if private_folder(root):
            return root
        # another user has taken the name; this folder is deleted when the process ends
        root = Path(tempfile.mkdtemp(prefix="robodyn-"))
    except OSError:  # no writable folder at all: machine code stays in memory
        return None
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    return root


def _drop_old(root: Path) -> None:
    try:
        versions = sorted(root.glob("kernels-*"), key=lambda path: path.stat().st_mtime)
    except OSError:  # another process is using it
        return
    for old in versions[:-KEPT_VERSIONS]:
        shutil.rmtree(old, ignore_errors=True)
