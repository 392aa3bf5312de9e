# SPDX-License-Identifier: Apache-2.0

"""Functions that only compiled code calls: they get no machine code of their own.

Whoever calls such a function takes a copy of its code in LLVM's language. Numba would optimize it
with all that it calls, and make machine code of it, at every level from the smallest helper to the
entry that Python calls: of the deepest helpers of a simulation eight times over, of which seven are
never run. Here this is done once, in the entry.
"""

from __future__ import annotations

from typing import Any

from robodyn.numerics.numba_compat import Compiler, JITCodeLibrary


class PartCompiler(Compiler):  # type: ignore[misc]  # Numba is untyped
    """Numba's compiler, for a function that only compiled code calls."""

    preoptimized = False

    def compile_extra(self, function: Any) -> Any:
        """Compile a function."""
        kind = _PreoptimizedPart if self.preoptimized else _Part
        self.state.library = kind(self.state.targetctx.codegen(), function.__qualname__)
        return super().compile_extra(function)


class PreoptimizedPartCompiler(PartCompiler):
    """The same for one that is optimized by itself before it is copied."""

    preoptimized = True


class _Part(JITCodeLibrary):  # type: ignore[misc]
    """The code of such a function, and of those that it calls, for copies of it."""

    @property
    def codegen(self) -> Any:
        return _WithoutEnvironment(self._codegen)

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0  # there is none

    def _optimize_final_module(self) -> None:
        """Leave it to the entry."""

    def _finalize_final_module(self) -> None:
        """Do not hand it over to be made machine code of."""
        self._finalize_dynamic_globals()
        self._finalized = True


class _PreoptimizedPart(_Part):
    """One that is optimized by itself before it is copied."""

    def _optimize_final_module(self) -> None:
        JITCodeLibrary._optimize_final_module(self)


class _WithoutEnvironment:
    """Numba's generator of code, for a function that has no address to find its globals from."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing."""
