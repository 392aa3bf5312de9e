# SPDX-License-Identifier: Apache-2.0

"""Checks of the arguments of public functions against their annotations.

Arguments are compared with annotations only after a call has failed, so a successful call costs no
more than its wrapper. The functions themselves check conditions that annotations cannot express.
"""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin

import numpy as np

from robodyn.arrays import ArrayLike
from robodyn.checks import as_array, as_scalar, refuse_beyond
from robodyn.errors import InvalidInput, RobodynError

F = TypeVar("F", bound=Callable[..., Any])

_UNIONS = Union, types.UnionType
# With NumPy 2.4 and Python 3.12, `ArrayLike` is a name for its union, not the union.
_ARRAY_LIKE = set(get_args(ArrayLike)) or {ArrayLike}
_FLOAT64 = np.dtype(np.float64)
# Errors of computations with arrays of wrong shapes, or with too large numbers.
_OF_SHAPES = (ValueError, IndexError, ArithmeticError, np.linalg.LinAlgError)

Size = Callable[[Any], int]
# Index, name and size of an argument that compiled functions do not check.
Sized = tuple[int, str, Size]


def with_checked_arguments(function: F, sized: Collection[Sized] = ()) -> F:
    """Wrap a public function so that invalid arguments raise `InvalidInput`.

    An error that no invalid argument explains is a bug of the function, and is raised unchanged.

    Args:
        function: function or method.
        sized: position, name and size function of each array argument whose size is checked before
            the call, because compiled code does not check it.

    Returns:
        The wrapped function.
    """
    if hasattr(function, "guards"):
        return function

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            if sized:
                _check_sizes(sized, args, kwargs)
            return function(*args, **kwargs)
        except (RobodynError, Warning):
            raise
        except Exception as error:
            wrong = _wrong_argument(function, args, kwargs, error)
            if wrong is None:
                raise
            raise wrong from error

    call.guards = function  # type: ignore[attr-defined]
    return cast(F, call)


def check_method_arguments(cls: type, sizes: Mapping[str, Size] | None = None) -> None:
    """Add argument checks to the public methods and constructors of a class.

    Args:
        cls: class to change.
        sizes: for each argument name, a function of the object that returns the required size of
            the array. The size is checked before the call if the argument is annotated as a
            `FloatArray`.
    """
    own = [each for each in cls.__mro__ if each.__module__.startswith(__package__)]
    for each in own:
        for name, value in list(vars(each).items()):
            if name.startswith("_") and name != "__init__":
                continue
            if inspect.isfunction(value):
                checked = with_checked_arguments(value, _size_checks(value, sizes or {}))
                setattr(each, name, checked)
            elif isinstance(value, (classmethod, staticmethod)):
                setattr(each, name, type(value)(with_checked_arguments(value.__func__)))


def _size_checks(function: Callable[..., Any], sizes: Mapping[str, Size]) -> list[Sized]:
    plain = ("FloatArray", "FloatArray | None")
    return [
        (place, each.name, sizes[each.name])
        for place, each in enumerate(inspect.signature(function).parameters.values())
        if each.annotation in plain and each.name in sizes
    ]


def _check_sizes(sized: Collection[Sized], args: Any, kwargs: Any) -> None:
    """Reject array arguments of a method whose size does not match its object.

    Raises:
        InvalidInput: an array does not have the size that the object requires.
    """
    for place, name, size in sized:
        value = args[place] if place < len(args) else kwargs.get(name)
        if value is None:
            continue
        expected = size(args[0])
        if (
            type(value) is np.ndarray
            and value.dtype == _FLOAT64
            and value.ndim
            and value.shape[-1] == expected
        ):
            continue
        as_array(name, value, (expected,))


def _wrong_argument(
    function: Callable[..., Any], args: Any, kwargs: Any, error: Exception
) -> InvalidInput | None:
    """Create the error for the first argument that does not match its annotation."""
    signature = inspect.signature(function)
    try:
        given = signature.bind(*args, **kwargs).arguments
        hints = _hints(function, signature)
    except (TypeError, NameError):  # wrong arguments; a name for type checkers only
        return None
    shapes = {}
    for name, value in given.items():
        parameter = signature.parameters[name]
        if name not in hints or value is parameter.default:
            continue
        if not _matches(value, hints[name]):
            return _mismatch(name, value, hints[name], str(parameter.annotation))
        if _takes_arrays(hints[name]) and not isinstance(value, (str, Mapping)):
            shapes[name] = np.shape(value)
    of_kernel = type(error).__name__ == "TypingError" or "float64 array" in str(error)
    # a function of the caller may have raised the error
    of_caller = any(callable(value) for value in given.values())
    if not shapes or of_caller or not (of_kernel or isinstance(error, _OF_SHAPES)):
        return None
    listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
    return InvalidInput(
        f"{function.__name__}: the shapes or values of these arguments are incompatible: {listed} "
        f"({error})",
        value=shapes,
    )


def _hints(function: Callable[..., Any], signature: inspect.Signature) -> dict[str, Any]:
    """Return the evaluated annotations of a function's parameters, by name.

    Annotations of `*args` and `**options` are left out.
    """
    named = {
        name: parameter.annotation
        for name, parameter in signature.parameters.items()
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        and parameter.annotation is not parameter.empty
    }
    # at run time Self is missing before Python 3.11, and Unpack's options always
    space = inspect.unwrap(function).__globals__
    return typing.get_type_hints(types.SimpleNamespace(__annotations__=named), space, {"Self": Any})


def _choices(hint: Any) -> tuple[Any, ...]:
    """Return the members of a union type; for any other type, the type alone."""
    return get_args(hint) if get_origin(hint) in _UNIONS else (hint,)


def _takes_arrays(hint: Any) -> bool:
    inside = set(_choices(hint))
    return inside >= _ARRAY_LIKE or any(get_origin(each) is np.ndarray for each in inside)


def _matches(value: Any, hint: Any) -> bool:
    """Return whether a value matches a type hint.

    Numbers and arrays must also be finite and within the accepted magnitude.
    """
    kind, inside = get_origin(hint) or hint, get_args(hint)
    choices = _choices(hint)
    if set(choices) >= _ARRAY_LIKE:
        others = [each for each in choices if each not in _ARRAY_LIKE]
        return _is_array(value) or any(_matches(value, each) for each in others)
    if kind in _UNIONS:
        return any(_matches(value, each) for each in inside)
    if kind is Literal:
        return isinstance(value, str) and value in inside
    if kind is np.ndarray:
        kept = isinstance(value, np.ndarray) and value.dtype == get_args(inside[1])[0]
        return kept and _is_array(value)
    if kind is Callable:
        return callable(value) and _accepts(value, inside[0])
    if kind is float:
        return (
            not isinstance(value, (str, list, tuple)) and np.ndim(value) == 0 and _is_array(value)
        )
    if kind is int:
        return isinstance(value, (int, np.integer)) and _is_array(value)
    if kind is bool:
        return isinstance(value, (bool, np.bool_))
    if kind is Any or not isinstance(kind, type):
        return True
    if getattr(kind, "_is_protocol", False):
        members = [each for each in vars(kind) if each == "__call__" or not each.startswith("_")]
        return all(hasattr(value, each) for each in members)
    if kind is tuple:
        return isinstance(value, (tuple, list))
    if issubclass(kind, Iterable) and inside:
        return _is_container(value, kind, inside)
    return isinstance(value, kind)


def _accepts(function: Callable[..., Any], arguments: Any) -> bool:
    try:
        if arguments is not ...:
            inspect.signature(function).bind(*arguments)
    except TypeError:
        return False
    except ValueError:  # a compiled function without a signature
        return True
    return True


def _is_array(value: Any) -> bool:
    try:
        array = as_array("", value, ())
        if array.size:
            refuse_beyond("", array.ravel())
    except InvalidInput:
        return False
    return True


def _is_container(value: Any, kind: type, inside: tuple[Any, ...]) -> bool:
    if not isinstance(value, kind) or isinstance(value, (str, bytes)):
        return False
    if isinstance(value, Mapping):
        items: Any = value.items()
        return all(
            _matches(one, hint) for item in items for one, hint in zip(item, inside, strict=True)
        )
    return not isinstance(value, Collection) or all(_matches(item, inside[0]) for item in value)


def _mismatch(name: str, value: Any, hint: Any, written: str) -> InvalidInput:
    """Create the error for an argument that does not match its type hint."""
    choices = _choices(hint)
    words = [word for each in choices if get_origin(each) is Literal for word in get_args(each)]
    text = f"a {type(value).__name__}"
    if isinstance(value, (str, int, float, complex, type(None))):
        text = repr(value) if len(repr(value)) < 80 else f"{repr(value)[:76]} ..."
    if words:
        others = " or an array" if _takes_arrays(hint) else ""
        expected = f"one of {', '.join(map(repr, words))}{others}"
        return InvalidInput(f"{name} is {text}, expected {expected}", value=value)
    try:
        if choices[0] in (int, float):
            refuse_beyond(name, np.atleast_1d(as_scalar(name, value)))
        elif _takes_arrays(hint) and value is not None:
            refuse_beyond(name, as_array(name, value, ()).ravel())
    except InvalidInput as error:
        return error
    expected = {"str": "a string", "int": "a whole number", "str | Path": "a path"}.get(
        written, written
    )
    return InvalidInput(f"{name} is {text}, expected {expected}", value=value)
