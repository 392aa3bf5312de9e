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

"""How the kernels are compiled, and where their machine code is kept.

Numba's own cache looks only at the file that holds a function, so a kernel would go on running a
stale copy of a helper it calls from another file. Ours lives in a folder named after a hash of
all sources that are compiled, under the user's cache directory (which also works when the package
is installed read-only). `NUMBA_CACHE_DIR`, where set, is obeyed instead.

Compiled code, and every constant it takes from another file, is in `robodyn.numerics` or in a
package named `kernels`: these are what is hashed.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import threading
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numba

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., Any]")

PACKAGE = Path(__file__).parents[1]
# Caches of other versions are kept this many at most, so that switching branches stays cheap.
KEPT_VERSIONS = 4
# Of several threads that call a kernel for the first time.
_ONE_AT_A_TIME = threading.RLock()


def kernel(function: F) -> F:
    """Compile a function of numbers and arrays, on demand.

    Division follows IEEE 754 (infinity and NaN instead of an exception), so that the callers'
    status codes, not the arithmetic, decide what is refused. Kernels become part of the kernels
    that call them: the calls would cost more than what they do.

    What Numba makes to call a function from Python takes it longer than most of the functions
    here, so it is made, and kept on disk, only for those that are called from there.
    """
    return _part(function)


def inner(function: F) -> F:
    """The same for one that sees numbers and views of arrays only, and allocates nothing.

    It does without the reference counts that Numba's arrays otherwise have, which take longer
    than the arithmetic between them.
    """
    return _part(function, _nrt=False)


def entry_kernel(function: F) -> F:
    """A kernel for `array_arguments.direct` that allocates nothing."""
    return _cached(function, _nrt=False)


def batch_entry(function: F) -> F:
    """The same for a loop over many states, which leaves the interpreter to other threads."""
    return _cached(function, _nrt=False, nogil=True)


def batch_kernel(function: F) -> F:
    """A loop over many states that allocates, and leaves the interpreter to other threads."""
    return _cached(function, nogil=True)


def _part(function: F, **options: bool) -> F:
    compiled: Any = _njit(
        function, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, **options
    )
    compiled.entry = cache(lambda: _cached(function, forceinline=True, **options))

    def remember(result: Any) -> None:
        compiled.overloads[tuple(result.signature.args)] = result  # and not for calls from Python

    def call_from_python(*args: Any, **kws: Any) -> Any:
        with _ONE_AT_A_TIME:
            entry = compiled.entry()
            found = entry._compile_for_args(*args, **kws)
            for signature, result in entry.overloads.items():
                compiled._insert([kind._code for kind in signature], result.entry_point, False)
        return found

    compiled.add_overload = remember
    compiled._compile_for_args = call_from_python
    return cast("F", compiled)


def _cached(function: F, **options: bool) -> F:
    with _ONE_AT_A_TIME:
        provided = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = provided or str(_cache_folder())
        try:
            return _njit(function, cache=True, no_cfunc_wrapper=True, **options)
        finally:
            numba.config.CACHE_DIR = provided


def _njit(function: F, **options: bool) -> F:
    return cast("F", numba.njit(error_model="numpy", **options)(function))


def is_cached() -> bool:
    """Whether machine code of this version of the kernels is already on disk."""
    folder = Path(numba.config.CACHE_DIR or _cache_folder())
    return folder.is_dir() and any(folder.rglob("*.nbc"))


def compiled_sources() -> list[Path]:
    """Files that compiled code is made of, in a fixed order."""
    return [
        source
        for source in sorted(PACKAGE.rglob("*.py"))
        if not {"numerics", "kernels"}.isdisjoint(source.relative_to(PACKAGE).parts[:-1])
    ]


def is_compiled_module(name: str) -> bool:
    """Whether a module, by its full name, holds compiled code."""
    return name.startswith("robodyn.") and not {"numerics", "kernels"}.isdisjoint(name.split("."))


@cache
def _cache_folder() -> Path:
    digest = hashlib.sha256()
    for source in compiled_sources():
        digest.update(source.relative_to(PACKAGE).as_posix().encode())
        digest.update(source.read_bytes())
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "robodyn"
    folder = root / f"kernels-{digest.hexdigest()[:16]}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        folder.touch()  # the newest versions are the ones kept
        _drop_old(root)
    except OSError:
        pass  # Numba reports an unusable folder itself, in its own words.
    return folder


def _drop_old(root: Path) -> None:
    versions = sorted(root.glob("kernels-*"), key=lambda path: path.stat().st_mtime)
    for old in versions[:-KEPT_VERSIONS]:
        shutil.rmtree(old, ignore_errors=True)
