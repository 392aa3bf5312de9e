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

"""How the kernels are compiled.

Numba's own cache looks only at the file that holds a function, so a kernel would go on running a
stale copy of a helper it calls from another file. Ours (`kernel_cache`) lives in a folder named
after a hash of all sources that are compiled (`cache_folders`).

Compiled code, and every constant it takes from another file, is in `robodyn.numerics` or in a
package named `kernels`: these are what is hashed.
"""

from __future__ import annotations

import threading
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numba

from robodyn.numerics.kernel_cache import KernelCache

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., Any]")

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
    compiled: Any = _njit(function, no_cfunc_wrapper=True, **options)
    compiled._cache = KernelCache(function)
    return cast("F", compiled)


def _njit(function: F, **options: bool) -> F:
    return cast("F", numba.njit(error_model="numpy", **options)(function))


def is_compiled_module(name: str) -> bool:
    """Whether a module, by its full name, holds compiled code."""
    return name.startswith("robodyn.") and not {"numerics", "kernels"}.isdisjoint(name.split("."))
