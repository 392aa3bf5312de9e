# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Where the kernels' machine code is kept: folders to look in, and one that can be written.

A folder is named after a hash of all sources that are compiled, and is below NUMBA_CACHE_DIR where
that is set, else below the user's cache directory. One that can be read but not written, as in an
image, is used for what it holds; what it lacks goes to the next. Where no folder at all can be
written (a service without a home, a container), a temporary one of the user's own takes its place.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import stat
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numba

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(__file__).parents[1]
# Caches of other versions are kept this many at most, so that switching branches stays cheap.
KEPT_VERSIONS = 4


class Folder(NamedTuple):
    """A folder of machine code, whether it can be written, and whether it outlives a restart."""

    path: Path
    writable: bool
    temporary: bool = False


@cache
def cache_folders() -> tuple[Folder, ...]:
    """Folders to look in, in this order; the last one can be written, unless none can."""
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
    """A hash of all that machine code is made of."""
    digest = hashlib.sha256()
    for source in compiled_sources():
        digest.update(source.relative_to(PACKAGE).as_posix().encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def compiled_sources() -> list[Path]:
    """Files that compiled code is made of, in a fixed order."""
    return [
        source
        for source in sorted(PACKAGE.rglob("*.py"))
        if not {"numerics", "kernels"}.isdisjoint(source.relative_to(PACKAGE).parts[:-1])
    ]


def private_folder(path: Path) -> bool:
    """Make a folder that nobody but this user can enter; False if somebody else has or may.

    Below a temporary directory everybody can make folders. What is loaded from this one is run,
    so it has to be ours, not a link, and closed to others.
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
    except RuntimeError:  # a user whom the system does not know has no home
        return


def _make(folder: Path) -> bool:
    """Make a folder where it can be made; whether files can be made in it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
        folder.touch()  # the newest versions are the ones kept
    except OSError:
        return False
    return True


def _temporary_root() -> Path | None:
    user = os.getuid() if hasattr(os, "getuid") else "user"
    try:
        root = Path(tempfile.gettempdir()) / f"robodyn-{user}"
        if private_folder(root):
            return root
        # The name is taken by somebody else; this one is gone when the process ends.
        root = Path(tempfile.mkdtemp(prefix="robodyn-"))
    except OSError:  # nothing can be written anywhere: machine code stays in memory
        return None
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    return root


def _drop_old(root: Path) -> None:
    try:
        versions = sorted(root.glob("kernels-*"), key=lambda path: path.stat().st_mtime)
    except OSError:  # another process is at it
        return
    for old in versions[:-KEPT_VERSIONS]:
        shutil.rmtree(old, ignore_errors=True)
