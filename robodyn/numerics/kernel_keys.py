# SPDX-License-Identifier: Apache-2.0

"""Keys of cached machine code: hashes of the sources that a function was compiled from.

A function's machine code depends on its module and on the modules that it imports, directly or not,
as far as these contain compiled code: its import closure. Comment lines, docstrings and blank lines
do not count, so a change of them recompiles nothing.

Sources are hashed when the decorator in a module runs. If a file changes later, the key still
belongs to the code that this process imported.
"""

from __future__ import annotations

import hashlib
import importlib.util
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, NamedTuple

from numba import types

from robodyn.numerics.numba_compat import Dispatcher

PACKAGE = __name__.partition(".")[0]
# Modules that store machine code and do not change it.
_CACHE_MODULES = frozenset(
    f"{PACKAGE}.numerics.{name}"
    for name in ("cache_folders", "compilation_notes", "kernel_cache", "kernel_keys")
)
# Docstrings, lines of comments, and blank lines. In compiled code every string that begins a line
# is a docstring.
_SILENT = re.compile(r'^[ \t]*(?:r?"""[\s\S]*?"""|#.*)?[ \t]*\n', re.M)
_IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+(\S+)[ \t]+)?import[ \t]+(\([^)]*\)|.*)", re.M)
_NAME = re.compile(r"([\w.]+)(?:[ \t]+as[ \t]+\w+)?")
# Address in the text of an object, which differs between processes.
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
# Their versions are part of the folder's name.
_OUTSIDE = {"numba", "llvmlite", "numpy", *sys.builtin_module_names, *sys.stdlib_module_names}
_PLAIN = (bool, int, float, complex, str, bytes, type(None))


class _NoKey(Exception):
    """Error raised if a function depends on an object that cannot be hashed."""


class _Source(NamedTuple):
    """Hash of a module's source code, and the names of the modules that it imports."""

    digest: str
    imports: tuple[str, ...]


def is_compiled_module(name: str) -> bool:
    """Return whether a module, given by its full name, contains compiled code."""
    first, *rest = name.split(".")
    return first == PACKAGE and not {"numerics", "kernels"}.isdisjoint(rest)


def compiled_sources() -> list[Path]:
    """Return the paths of all source files with compiled code, in a fixed order."""
    package = Path(__file__).parents[1]
    return [
        source
        for source in sorted(package.rglob("*.py"))
        if not {"numerics", "kernels"}.isdisjoint(source.relative_to(package).parts[:-1])
    ]


def note_sources(module: str) -> None:
    """Hash the sources of a module and its compiled imports, and store the hashes.

    Called on import, before the files can change.
    """
    _closure(module)


def sources_key(function: Callable[..., Any]) -> str | None:
    """Return a hash of a function's code and of all code that it depends on.

    The result is None if a dependency cannot be hashed.
    """
    try:
        return _digest(_function(function, set()))
    except _NoKey:
        return None


def signature_key(kinds: Any) -> str | None:
    """Return a hash of argument types; None if one of them cannot be hashed."""
    try:
        return _digest(_value(kinds, set()))
    except _NoKey:
        return None


def normalized_source(text: str) -> str:
    """Remove docstrings, comment lines and blank lines from a source text."""
    return _SILENT.sub("", text)


def _digest(parts: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode(errors="surrogatepass") + b"\0")
    return digest.hexdigest()[:20]


def _function(function: Any, seen: set[int]) -> Iterator[str]:
    """Yield strings that identify a function: module hashes, byte code, closure variables."""
    if id(function) in seen:
        return
    seen.add(id(function))
    yield function.__qualname__
    yield from _module(function.__module__)
    yield from _code(function.__code__)
    for cell in function.__closure__ or ():
        try:
            yield from _value(cell.cell_contents, seen)
        except ValueError as error:  # not assigned yet
            raise _NoKey from error


def _code(code: CodeType) -> Iterator[str]:
    """Yield strings that identify byte code, independent of its position in the file."""
    yield repr((code.co_code, code.co_names, code.co_varnames, code.co_freevars))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code(constant)
        elif isinstance(constant, frozenset):
            yield repr(sorted(map(repr, constant)))
        elif not isinstance(constant, str):  # may be a docstring; the source contains strings
            yield repr(constant)


def _value(value: Any, seen: set[int]) -> Iterator[str]:
    """Yield strings that identify a closure variable's value, or an argument type."""
    if isinstance(value, _PLAIN):
        yield repr(value)
    elif isinstance(value, Dispatcher):
        yield from _function(value.py_func, seen)
    elif isinstance(value, ModuleType):
        yield from _module(value.__name__)
    elif isinstance(value, type):
        yield value.__qualname__
        yield from _module(value.__module__)
    elif isinstance(value, (tuple, list)):
        yield from _value(type(value), seen)
        for item in value:
            yield from _value(item, seen)
    elif isinstance(value, types.Type):
        yield from _numba_type(value, seen)
    elif hasattr(value, "__code__"):
        yield from _function(value, seen)
    elif hasattr(value, "_defn"):  # an intrinsic
        yield from _function(value._defn, seen)
    else:
        raise _NoKey(value)


def _numba_type(kind: types.Type, seen: set[int]) -> Iterator[str]:
    if isinstance(kind, types.BaseTuple):
        yield type(kind).__qualname__
        fields = getattr(kind, "fields", ())
        yield repr(fields)
        if fields:
            yield from _value(kind.instance_class, seen)
        for item in kind:
            yield from _value(item, seen)
    elif isinstance(dispatcher := getattr(kind, "dispatcher", None), Dispatcher):
        yield from _value(dispatcher, seen)
    else:
        text = str(kind)
        if _ADDRESS.search(text):
            raise _NoKey(kind)
        yield text
        yield from _value(type(kind), seen)


def _module(name: str) -> Iterator[str]:
    """Yield names and source hashes of a module and all compiled modules it imports."""
    if name.partition(".")[0] in _OUTSIDE:
        yield name
        return
    closure = _closure(name)
    if closure is None:
        raise _NoKey(name)
    for module in closure:
        yield module
        yield _source(module).digest  # type: ignore[union-attr]  # else there is no closure


@cache
def _closure(name: str) -> tuple[str, ...] | None:
    """Return the sorted names of a module and all its imports with compiled code.

    For a module of another package, all of its imports from its own package are included. The
    result is None if the source code of a module cannot be read.
    """
    own = name.partition(".")[0]
    found: set[str] = set()
    waiting = [name]
    while waiting:
        module = waiting.pop()
        source = _source(module)
        if source is None:
            return None
        found.add(module)
        for imported in source.imports:
            compiled = is_compiled_module(imported) and imported not in _CACHE_MODULES
            if compiled or (own != PACKAGE and imported.partition(".")[0] == own):
                waiting += {imported} - found
    return tuple(sorted(found))


@cache
def _source(name: str) -> _Source | None:
    """Return source hash and imports of a loaded module; None if it has no source."""
    module = sys.modules.get(name)
    try:
        text = Path(module.__file__).read_text(encoding="utf-8")  # type: ignore[union-attr,arg-type]
    except (AttributeError, TypeError, OSError, ValueError):  # interactive, built in, or archived
        return None
    package = getattr(module, "__package__", None) or ""
    counted = normalized_source(text) if is_compiled_module(name) else text
    return _Source(hashlib.sha256(counted.encode()).hexdigest(), tuple(_imports(text, package)))


def _imports(text: str, package: str) -> Iterator[str]:
    """Yield the names of modules that source code imports, if they are loaded."""
    for origin, names in _IMPORT.findall(text):
        listed = _NAME.findall(re.sub(r"#.*", "", names))
        if not origin:
            candidates = listed
        else:
            if origin.startswith("."):
                try:
                    origin = importlib.util.resolve_name(origin, package)
                except ImportError:
                    continue
            candidates = [origin, *(f"{origin}.{item}" for item in listed)]
        yield from (candidate for candidate in candidates if candidate in sys.modules)
