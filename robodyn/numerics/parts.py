# SPDX-License-Identifier: Apache-2.0

"""Compilation of functions that only compiled code calls, without machine code of their own.

A caller of such a function copies its LLVM code. Numba would optimize it with all of its callees,
and make machine code, at every level from the smallest helper to the entry that Python calls: eight
times for the deepest helpers of a simulation, of which seven are never run. Here this is done once,
in the entry.
"""

from __future__ import annotations

import operator
from functools import cache
from typing import Any

from robodyn.numerics.numba_compat import Compiler, JITCodeLibrary

_OPERATORS = frozenset(value for value in vars(operator).values() if callable(value))
# Passes for closures, comprehensions, `with`, `literally`, `literal_unroll`, array expressions and
# functions that Numba inlines. Most of them examine the whole function, several times.
_NEEDLESS = frozenset(
    (
        "WithLifting",
        "InlineClosureLikes",
        "MakeFunctionToJitFunction",
        "InlineInlinables",
        "FindLiterallyCalls",
        "LiteralUnroll",
        "LiteralPropagationSubPipelinePass",
        "InlineOverloads",
        "NopythonRewrites",
        "DumpParforDiagnostics",
    )
)


class InlineOnlyCompiler(Compiler):  # type: ignore[misc]  # Numba is untyped
    """Numba's compiler for a function that only compiled code calls."""

    preoptimized = False

    def __init__(self, typing: Any, *arguments: Any) -> None:
        super().__init__(_operator_memory(typing), *arguments)

    def define_pipelines(self) -> list[Any]:
        """Return Numba's pipelines without passes for features that no kernel uses."""
        pipelines = super().define_pipelines()
        for one in pipelines:
            one.passes = [each for each in one.passes if each[0].__name__ not in _NEEDLESS]
        return list(pipelines)

    def compile_extra(self, function: Any) -> Any:
        """Compile a function."""
        kind = _PreoptimizedPart if self.preoptimized else _Part
        self.state.library = kind(self.state.targetctx.codegen(), function.__qualname__)
        return super().compile_extra(function)


class PreoptimizedPartCompiler(InlineOnlyCompiler):
    """Compiler for a part that is optimized before it is copied."""

    preoptimized = True


class _OperatorMemory:
    """Numba's typing context, which stores the signature of an operator for each set of types.

    Numba itself tries all its rules for an operator again at every use.
    """

    def __init__(self, context: Any) -> None:
        self._context = context
        self._signatures: dict[Any, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def resolve_function_type(self, function: Any, args: Any, kws: Any) -> Any:
        """Return the signature of a function for types of arguments."""
        if getattr(function, "typing_key", None) not in _OPERATORS:
            return self._context.resolve_function_type(function, args, kws)
        key = function, args
        if key not in self._signatures:
            self._signatures[key] = self._context.resolve_function_type(function, args, kws)
        return self._signatures[key]


_operator_memory = cache(_OperatorMemory)


class _Part(JITCodeLibrary):  # type: ignore[misc]
    """Code library of a part and its callees, to be copied."""

    @property
    def codegen(self) -> Any:
        return _WithoutEnvironment(self._codegen)

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0  # there is none

    def _optimize_final_module(self) -> None:
        """Skip, as the entry is optimized."""

    def _finalize_final_module(self) -> None:
        """Skip the generation of machine code."""
        self._finalize_dynamic_globals()
        self._finalized = True


class _PreoptimizedPart(_Part):
    """Code library of a part that is optimized before it is copied."""

    def _optimize_final_module(self) -> None:
        JITCodeLibrary._optimize_final_module(self)


class _WithoutEnvironment:
    """Code generator of Numba for a function without an environment for globals."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing."""
