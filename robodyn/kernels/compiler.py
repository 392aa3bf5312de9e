"""How the kernels are compiled, and where their machine code is kept.

Numba's own cache looks only at the file that holds a function, so a kernel would go on running a
stale copy of a helper it calls from another file. Ours lives in a folder named after a hash of
all kernel sources, under the user's cache directory (which also works when the package is
installed read-only). `NUMBA_CACHE_DIR`, where set, is obeyed instead.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numba
from numba.core.errors import NumbaError

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., Any]")

HERE = Path(__file__).parent
# What a call raises whose arguments a kernel is not compiled for: older releases of Numba have
# their own error for arrays they cannot read.
UNREADABLE = (TypeError, NumbaError)
# Caches of other versions are kept this many at most, so that switching branches stays cheap.
KEPT_VERSIONS = 4


def kernel(function: F) -> F:
    """Compile a function of numbers and arrays; the result is cached on disk.

    Division follows IEEE 754 (infinity and NaN instead of an exception), so that the callers'
    status codes, not the arithmetic, decide what is refused. Kernels become part of the kernels
    that call them: the calls would cost more than what they do.
    """
    return _compiled(function, forceinline=True)


def batch_kernel(function: F) -> F:
    """The same for a loop over many states, which leaves the interpreter to other threads."""
    return _compiled(function, nogil=True)


def ready(compiled: F, *signature: Any, exact: bool = True) -> F:
    """A kernel for arguments of these types only, to be called from Python.

    Anything else is a TypeError, instead of compilation for types it was not made for; what can
    be converted (another layout to any layout) is taken where `exact` is False.
    """
    dispatcher: Any = compiled
    if dispatcher._can_compile:
        dispatcher.compile(signature)
        dispatcher.disable_compile()
        # Numba would look for conversions and explain at length, which takes longer than answering
        if exact:
            dispatcher._search_new_conversions = _refuse
        dispatcher._explain_matching_error = _refuse
    return compiled


def _refuse(*args: Any, **kws: Any) -> bool:
    raise TypeError("arguments of other types than the kernel was made for")


def _compiled(function: F, **options: bool) -> F:
    provided = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = provided or str(_cache_folder())
    try:
        compiled: F = numba.njit(cache=True, error_model="numpy", **options)(function)
    finally:
        numba.config.CACHE_DIR = provided
    return compiled


def is_cached() -> bool:
    """Whether machine code of this version of the kernels is already on disk."""
    folder = Path(numba.config.CACHE_DIR or _cache_folder())
    return folder.is_dir() and any(folder.rglob("*.nbc"))


@cache
def _cache_folder() -> Path:
    digest = hashlib.sha256()
    for source in sorted(HERE.glob("*.py")):
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
