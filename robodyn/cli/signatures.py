# SPDX-License-Identifier: Apache-2.0

"""Signatures and docstrings of the library's functions, read from their sources.

Importing the library takes a second, which the help of a command should not need.
"""

from __future__ import annotations

import ast
import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import robodyn as rd

# Names of defaults that are not literals.
_KNOWN = {"np.inf": math.inf}


def signature(
    place: str | Callable[..., Any], names: list[str]
) -> tuple[Mapping[str, inspect.Parameter], str]:
    """Return some parameters of a function, a class or a dataclass, and its docstring.

    Args:
        place: a public name, or module and name within `robodyn`; or the function itself.
        names: the parameters, whose defaults are literals or constants of that module.
    """
    if not isinstance(place, str):
        return inspect.signature(place).parameters, inspect.getdoc(place) or ""
    module, _, name = place.rpartition(".")
    found, tree = _found(f"robodyn.{module}" if module else rd.HOME_OF[name], name)
    parameters = {
        each: inspect.Parameter(
            each,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if default is None else _value(default, tree),
            annotation="" if annotation is None else ast.unparse(annotation),
        )
        for each, annotation, default in _parameters(found)
        if each in names
    }
    return parameters, inspect.cleandoc(ast.get_docstring(found) or "")


def _found(module: str, name: str) -> tuple[Any, ast.Module]:
    """Return a definition and the module that contains it, also through imports of packages."""
    path = Path(rd.__file__).parent.joinpath(*module.split(".")[1:])
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for each in reversed(tree.body):  # the definition is behind its overloads
        if isinstance(each, ast.ImportFrom) and name in [alias.name for alias in each.names]:
            return _found(str(each.module), name)
        if getattr(each, "name", "") == name:
            return each, tree
    raise AttributeError(f"{module} has no {name}")


def _parameters(found: Any) -> Iterator[tuple[str, ast.expr | None, ast.expr | None]]:
    """Return name, annotation and default of each parameter."""
    call = next((each for each in found.body if getattr(each, "name", "") == "__init__"), found)
    if isinstance(call, ast.ClassDef):
        for each in call.body:
            if isinstance(each, ast.AnnAssign):
                yield ast.unparse(each.target), each.annotation, each.value
        return
    plain, keyword = call.args.args, call.args.kwonlyargs
    required = [None] * (len(plain) - len(call.args.defaults))
    defaults = [*required, *call.args.defaults, *call.args.kw_defaults]
    for arg, default in zip([*plain, *keyword], defaults, strict=True):
        yield arg.arg, arg.annotation, default


def _value(node: ast.expr, tree: ast.Module) -> Any:
    text = ast.unparse(node)
    for each in tree.body:
        if isinstance(each, ast.Assign):
            names = ast.unparse(each.targets[0]).strip("()").split(", ")
            if text in names:
                constant = ast.literal_eval(each.value)
                return constant if len(names) == 1 else constant[names.index(text)]
    return _KNOWN[text] if text in _KNOWN else ast.literal_eval(node)
