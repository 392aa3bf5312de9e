# SPDX-License-Identifier: Apache-2.0

"""Compilation of the kernels.

Numba's own cache checks only the file that contains a function, so a kernel would keep using an
outdated helper from another file. The key of this package's cache (`kernel_cache`) is a hash of
that file and of everything that it imports (`kernel_keys`).

Compiled code, and every constant from another file, must be in `robodyn.numerics` or in a package
named `kernels`: these are hashed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar, cast

import numba
from numba import types

from robodyn.numerics.kernel_cache import KernelCache
from robodyn.numerics.kernel_keys import note_sources
from robodyn.numerics.numba_compat import trigger_event
from robodyn.numerics.parts import (
    EntryCompiler,
    InlineOnlyCompiler,
    PreoptimizedPartCompiler,
)

F = TypeVar("F", bound="Callable[..., Any]")

# Lock during compilation, as several threads may call a kernel for the first time.
_ONE_AT_A_TIME = threading.RLock()


def kernel(function: F) -> F:
    """Compile a function of scalars and arrays when it is first called (decorator).

    Division follows IEEE 754 (infinity and NaN instead of an exception), so that status codes, not
    exceptions, report errors. Kernels are inlined into the kernels that call them, because a call
    would take longer than their arithmetic.

    The wrapper for calls from Python takes longer to compile than most functions here, so it is
    built, and cached on disk, only for those that Python calls.
    """
    return _part(function)


def inner(function: F) -> F:
    """Compile a helper that allocates nothing, for inlining into kernels (decorator).

    Numba's reference counting of arrays is omitted, because it would take longer than the
    arithmetic.
    """
    return _part(function, _nrt=False)


def noinline(function: F) -> F:
    """Compile a long helper that is called, not inlined (decorator).

    Otherwise it is like `inner`. The compilation of each inlined copy would take longer than all
    calls.
    """
    return _part(function, forceinline=False, _nrt=False)


def preoptimize(function: F) -> F:
    """Compile a helper that is optimized before it is inlined (decorator).

    Apart from this, it is like `inner`. In a long loop, the compiler would otherwise move parts of
    it out of the loop, and run out of registers.
    """
    return _part(function, pipeline_class=PreoptimizedPartCompiler, _nrt=False)


def entry_kernel(function: F) -> F:
    """Compile a kernel that allocates nothing, for direct calls from Python (decorator)."""
    return _cache(function, _nrt=False)


def batch_entry(function: F) -> F:
    """Compile a loop over many states, for direct calls from Python (decorator).

    It allocates nothing and releases the interpreter lock.
    """
    return _cache(function, _nrt=False, nogil=True)


def batch_kernel(function: F) -> F:
    """Compile a loop over many states that may allocate memory (decorator).

    It releases the interpreter lock.
    """
    return _cache(function, nogil=True)


def entry_of(function: F, module: str, name: str = "") -> F:
    """Compile a nested function as a `batch_entry`, named as part of a module.

    By default it keeps its own name.
    """
    function.__module__, function.__qualname__ = module, name or function.__name__
    return batch_entry(function)


def _part(
    function: F,
    *,
    pipeline_class: type[InlineOnlyCompiler] = InlineOnlyCompiler,
    forceinline: bool = True,
    **options: bool,
) -> F:
    options["forceinline"] = forceinline
    compiled: Any = _njit(
        function,
        pipeline_class=pipeline_class,
        no_cpython_wrapper=True,
        no_cfunc_wrapper=True,
        **options,
    )
    template = compiled.get_call_template
    templates: dict[Any, Any] = {}

    def of_any_number(args: Any, kws: Any) -> Any:
        # without literals, as there would be a copy for every constant argument
        key = tuple(map(types.unliteral, args)), tuple((k, types.unliteral(kws[k])) for k in kws)
        if key not in templates:
            templates[key] = template(key[0], dict(key[1]))
        return templates[key]

    def compile_part(signature: Any) -> Any:
        """Compile a function for a signature, without Numba's cache and timers."""
        given = tuple(signature)
        if given not in compiled.overloads:
            with trigger_event("numba:compile", {"dispatcher": compiled, "args": given}):
                remember(compiled._compiler.compile(given, None))

    compiled.get_call_template, compiled.compile = of_any_number, compile_part
    compiled.entry = cache(lambda: _cache(function, **options))
    known: set[Any] = set()

    def remember(result: Any) -> None:
        compiled.overloads[tuple(result.signature.args)] = result  # without a Python wrapper

    def call_from_python(*args: Any, **kws: Any) -> Any:
        with _ONE_AT_A_TIME:
            entry = compiled.entry()
            found = entry._compile_for_args(*args, **kws)
            for signature, result in entry.overloads.items():
                # two entries of the same types would be ambiguous: every call would come here
                if signature not in known:
                    known.add(signature)
                    compiled._insert([kind._code for kind in signature], result.entry_point, False)
        return found

    compiled.add_overload = remember
    compiled._compile_for_args = call_from_python
    return cast("F", compiled)


def _cache(function: F, **options: bool) -> F:
    compiled: Any = _njit(function, pipeline_class=EntryCompiler, no_cfunc_wrapper=True, **options)
    compiled._cache = KernelCache(function)
    return cast("F", compiled)


def _njit(function: F, **options: Any) -> F:
    note_sources(function.__module__)
    return cast("F", numba.njit(error_model="numpy", **options)(function))
