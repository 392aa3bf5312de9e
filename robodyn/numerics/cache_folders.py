# SPDX-License-Identifier: Apache-2.0

"""Where the kernels' machine code is cached: folders to search, and one that is writable.

A folder is named after a hash of all compiled sources, of what compiles them and of the processor,
and is below NUMBA_CACHE_DIR if that is set, else below the user's cache directory. A read-only
folder, as in a container image, is used for what it contains; what it lacks goes to the next. If
none is writable (a service without a home directory, a container), a private temporary one is used
instead.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import llvmlite.binding
import numba
import numpy as np

PACKAGE = Path(__file__).parents[1]
# At most this many caches are kept, those that were used last: branches and environments with other
# packages can be switched between without compiling anew.
KEPT_VERSIONS = 10


class Folder(NamedTuple):
    """A folder of machine code, whether it is writable, and whether it survives a restart."""

    path: Path
    writable: bool
    temporary: bool = False


@cache
def cache_folders() -> tuple[Folder, ...]:
    """Folders to search, in this order; the last one is writable, unless none is."""
    name = f"kernels-{sources_digest()}"
    found = []
    for root in _roots():
        folder = Folder(root / name, _make(root / name))
        if folder.writable:
            _drop_old(root)
        if folder.writable or folder.path.is_dir():
            found.append(folder)
        if folder.writable:
            return tuple(found)
    temporary = _temporary_root()
    if temporary is not None and _make(temporary / name):
        _drop_old(temporary)
        found.append(Folder(temporary / name, writable=True, temporary=True))
    return tuple(found)


def sources_digest() -> str:
    """A hash of everything that the machine code depends on."""
    digest = hashlib.sha256("\n".join(_compiler()).encode())
    for source in compiled_sources():
        digest.update(source.relative_to(PACKAGE).as_posix().encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _compiler() -> Iterator[str]:
    """What decides on the machine code besides its source.

    Numba takes files that another version of it made for none, and overwrites them.
    """
    yield from (numba.__version__, llvmlite.__version__, np.__version__)
    yield numba.config.CPU_NAME or llvmlite.binding.get_host_cpu_name()
    yield numba.config.CPU_FEATURES or llvmlite.binding.get_host_cpu_features().flatten()


def compiled_sources() -> list[Path]:
    """Source files of compiled code, in a fixed order."""
    return [
        source
        for source in sorted(PACKAGE.rglob("*.py"))
        if not {"numerics", "kernels"}.isdisjoint(source.relative_to(PACKAGE).parts[:-1])
    ]


def private_folder(path: Path) -> bool:
    """Create a folder that only this user can access; False if others own it or have access.

    Everybody can create folders in a temporary directory. Code loaded from this one is executed, so
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


def _make(folder: Path) -> bool:
    """Create a folder if possible; return whether files can be created in it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
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
        # Another user has taken the name; this folder is deleted when the process ends.
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
