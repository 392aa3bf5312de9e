# SPDX-License-Identifier: Apache-2.0

"""Compilation of functions that only compiled code calls, without machine code of their own.

A caller of such a function copies its LLVM code. By default, Numba optimizes it with all of its
callees, and generates machine code, at every level from the smallest helper to the entry that
Python calls: eight times for the deepest helpers of a simulation, seven of which are never run.
Here this is done once, in the entry.
"""

from __future__ import annotations

import gc
import operator
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from robodyn.numerics.numba_compat import Compiler, JITCodeLibrary, load_rules_without_scipy

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
    """Numba compiler for a function that only compiled code calls."""

    preoptimized = False

    def __init__(self, typing: Any, target: Any, *arguments: Any) -> None:
        if not _compilations:  # an entry has loaded Numba's rules before it compiles parts
            typing.refresh()
            target.refresh()
        super().__init__(_typing_memory(typing), _ready_target(target), *arguments)

    def define_pipelines(self) -> list[Any]:
        """Return Numba's pipelines, without passes for features that are not used here."""
        pipelines = super().define_pipelines()
        for one in pipelines:
            one.passes = [each for each in one.passes if each[0].__name__ not in _NEEDLESS]
        return list(pipelines)

    def compile_extra(self, function: Any) -> Any:
        """Compile a function for inlining into its callers; return Numba's compile result."""
        kind = _PreoptimizedPart if self.preoptimized else _Part
        self.state.library = kind(self.state.targetctx.codegen(), function.__qualname__)
        with _without_collections():
            return super().compile_extra(function)


class PreoptimizedPartCompiler(InlineOnlyCompiler):
    """Numba compiler for a function that is optimized before it is inlined."""

    preoptimized = True


class EntryCompiler(Compiler):  # type: ignore[misc]
    """Numba compiler for a function that Python calls, and for those that it calls."""

    def __init__(self, *arguments: Any) -> None:
        load_rules_without_scipy()
        with _without_collections():
            super().__init__(*arguments)

    def compile_extra(self, function: Any) -> Any:
        """Compile a function and those that it calls; return Numba's compile result."""
        self.state.library = _Entry(self.state.targetctx.codegen(), function.__qualname__)
        self.state.library.enable_object_caching()
        with _without_collections():
            return super().compile_extra(function)


# For every compilation in progress: whether garbage was collected before it.
_compilations: list[bool] = []


@contextmanager
def _without_collections() -> Iterator[None]:
    """Pause the garbage collector during a compilation.

    Numba creates millions of objects, most of which live until the end; searching them for cycles
    takes an eighth of the compilation time.
    """
    _compilations.append(gc.isenabled())
    gc.disable()
    try:
        yield
    finally:
        if _compilations.pop():
            gc.enable()


class _TypingMemory:
    """Numba typing context that stores operator signatures by argument types.

    Numba itself tries all its rules for an operator again at every use.
    """

    def __init__(self, context: Any) -> None:
        self._context = context
        self._signatures: dict[Any, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def refresh(self) -> None:
        """Do nothing, because Numba's rules are already loaded."""

    def resolve_function_type(self, function: Any, args: Any, kws: Any) -> Any:
        """Return the signature of a function for given argument types."""
        if getattr(function, "typing_key", None) not in _OPERATORS:
            return self._context.resolve_function_type(function, args, kws)
        key = function, args
        if key not in self._signatures:
            self._signatures[key] = self._context.resolve_function_type(function, args, kws)
        return self._signatures[key]


class _ReadyTarget:
    """Numba target context whose rules are already loaded."""

    def __init__(self, context: Any) -> None:
        self._context = context

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def refresh(self) -> None:
        """Do nothing, because Numba's rules are already loaded."""


_typing_memory, _ready_target = cache(_TypingMemory), cache(_ReadyTarget)


class LinkingLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Numba code library that links each function once.

    Without it, a function would be linked once for each of its callers.
    """

    def add_linking_library(self, library: Any) -> None:
        """Add a library, and the libraries that it links, unless they are already linked.

        LLVM links a function only if one that is already linked calls it. Hence a function that one
        library has inlined must not be added before other libraries that call it.
        """
        library._ensure_finalized()
        contains_them = isinstance(library, (_Entry, _PreoptimizedPart))
        for one in (library, *(() if contains_them else library._linking_libraries)):
            if one not in self._linking_libraries:
                self._linking_libraries.append(one)


class _Entry(LinkingLibrary):
    """Numba code library of a function called from Python, with all inlined code."""


class _Part(LinkingLibrary):
    """Numba code library of a function that is inlined into compiled callers."""

    @property
    def codegen(self) -> Any:
        return _WithoutEnvironment(self._codegen)

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0  # there is none

    def _optimize_functions(self, module: Any) -> None:
        """Simplify each function of an LLVM module, all with one pass manager."""
        if not hasattr(self._codegen, "_pass_builder"):  # Numba with LLVM's legacy pass manager
            super()._optimize_functions(module)
            return
        module.data_layout = self._codegen._data_layout
        manager, builder = self._codegen._function_pass_manager()
        for function in module.functions:
            if not function.is_declaration:
                manager.run(function, builder)

    def finalize(self) -> None:
        """Do nothing: the entry that calls this function generates its machine code."""
        self._finalize_dynamic_globals()
        for function in self._final_module.functions:
            if not function.is_declaration:
                function.linkage = "linkonce_odr"  # to be dropped once it is inlined
        self._shared_module = self._final_module
        self._finalized = True


class _PreoptimizedPart(_Part):
    """Numba code library of a function that is optimized before it is inlined."""

    def finalize(self) -> None:
        """Link the functions that this one calls, and optimize the result."""
        for library in self._linking_libraries:
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._optimize_final_module()
        super().finalize()


class _WithoutEnvironment:
    """Numba code generator for a function without an environment for global variables."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing: the function has no environment."""
