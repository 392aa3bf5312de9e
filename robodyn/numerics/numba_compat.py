# SPDX-License-Identifier: Apache-2.0

"""Private interfaces of Numba that this package uses, imported here and nowhere else.

`numba.njit`, `numba.types`, `numba.config` and `numba.extending` are public. The names below may
change with every release of Numba, so setup.py names the newest one that was tested.
"""

from __future__ import annotations

import pickle
from functools import cache
from typing import Any

import llvmlite.binding
import numba
from numba.core import cgutils
from numba.core.caching import NullCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher
from numba.core.event import trigger_event
from numba.core.runtime import rtsys
from numba.core.serialize import dumps
from numba.core.typeconv import Conversion
from numba.core.typing.templates import (
    AbstractTemplate,
    AttributeTemplate,
    infer_getattr,
    infer_global,
    signature,
)

__all__ = [
    "AbstractTemplate",
    "AttributeTemplate",
    "Compiler",
    "Conversion",
    "Dispatcher",
    "JITCodeLibrary",
    "NullCache",
    "can_be_saved",
    "cgutils",
    "compiler_version",
    "global_compiler_lock",
    "infer_getattr",
    "infer_global",
    "load_rules_without_scipy",
    "machine_code_from",
    "saved_bytes",
    "signature",
    "trigger_event",
]

# Numba settings that affect the machine code.
_SETTINGS = ("OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "BOUNDSCHECK", "USING_SVML")


def compiler_version() -> list[str]:
    """Return strings that identify compiler, processor and settings, for a hash."""
    settings = [f"{name}={getattr(numba.config, name, None)}" for name in _SETTINGS]
    return [
        numba.__version__,
        llvmlite.__version__,
        llvmlite.binding.get_process_triple(),
        numba.config.CPU_NAME or llvmlite.binding.get_host_cpu_name(),
        numba.config.CPU_FEATURES or llvmlite.binding.get_host_cpu_features().flatten(),
        *settings,
    ]


def can_be_saved(result: Any) -> bool:
    """Return whether machine code contains no addresses of the current process."""
    return all(part.can_cache for part in result.lifted) and not result.library.has_dynamic_globals


def saved_bytes(result: Any) -> bytes:
    """Serialize compiled machine code to bytes, for `machine_code_from`."""
    return bytes(dumps(result._reduce()))


@cache
def load_rules_without_scipy() -> None:
    """Load Numba's array functions without importing SciPy.

    Numba searches scipy.linalg for a BLAS, which no kernel calls; this import takes a third of the
    time of a first compilation.
    """
    from numba.np import linalg

    search = linalg.ensure_blas
    linalg.ensure_blas = lambda: None
    try:
        from numba.np import arraymath
    finally:
        linalg.ensure_blas = search
    # a user's compiled function that calls a BLAS searches for the library itself
    arraymath.ensure_blas = search


def machine_code_from(saved: bytes, target: Any) -> Any:
    """Load machine code from bytes that `saved_bytes` returned.

    Numba would first load its whole compiler, which takes longer than loading a kernel. Machine
    code needs only the runtime; a later compilation loads the rest.
    """
    rtsys.initialize(target)
    return CompileResult._rebuild(target, *pickle.loads(saved))
