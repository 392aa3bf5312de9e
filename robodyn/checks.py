# SPDX-License-Identifier: Apache-2.0

"""Validation of users' arguments: arrays become float64 of a known shape, or are rejected."""

from __future__ import annotations

import functools
import inspect
import math
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, TypeVar, cast

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.errors import InvalidInput, ModelError, RobodynError

F = TypeVar("F", bound=Callable[..., Any])

# A quaternion further than this from unit length is a mistake, not rounding; the results of kernels
# that do not normalize are off by up to this much.
QUATERNION_TOLERANCE = 1e-6
# Outside any plausible workspace [m, rad, m/s, rad/s]; computing with larger coordinates or rates
# may overflow.
BEYOND = 1e6
# For so few numbers Python's sum is a faster test for finiteness than NumPy.
FEW = 36
_FLOAT64 = np.dtype(np.float64)


def all_finite(values: FloatArray) -> bool:
    """Whether all numbers of a float64 array are finite; fast for a single state."""
    if values.size <= FEW and values.ndim == 1 and math.isfinite(sum(values.tolist())):
        return True
    # a batch, a number that is not finite, or finite numbers whose sum overflows
    return bool(np.isfinite(values).all())


def as_array(name: str, value: ArrayLike, core: Sequence[int], unit: str = "") -> FloatArray:
    """Return `value` as a finite float64 array of shape (..., *core).

    Raises:
        InvalidInput: not numeric, wrong trailing shape, or not finite (the message names the
            argument, the first offending element and its value).
    """
    # fast path for a single state, as checked a thousand times per second
    if (
        type(value) is np.ndarray
        and value.dtype == _FLOAT64
        and value.ndim == 1
        and (value.flags.aligned)
    ):
        single: FloatArray = value
        if (not core or single.shape == core) and all_finite(single):
            return single
    expected = "(" + ", ".join(["...", *map(str, core)]) + ")"
    try:
        given = np.asarray(value)
        if given.dtype.kind in "cSUMm":  # which NumPy would convert to numbers with another meaning
            raise TypeError(f"it holds {given.dtype}")
        array = np.require(given, np.float64, "A")
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInput(
            f"{name} must be numbers of shape {expected}{_in(unit)}: {error}", value=value
        ) from error
    if len(core) and array.shape[array.ndim - len(core) :] != tuple(core):
        raise InvalidInput(
            f"{name} has shape {array.shape}, expected {expected}{_in(unit)}", value=value
        )
    if not np.isfinite(array).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise InvalidInput(
            f"{name}{list(where) if where else ''} is {array[where]}, expected a finite number"
            f"{_in(unit)}",
            value=value,
        )
    return array


def as_exact(name: str, value: ArrayLike, shape: tuple[int, ...], unit: str = "") -> FloatArray:
    """Return `value` as a finite float64 array of exactly this shape: no batch.

    Raises:
        InvalidInput: as for `as_array`, or leading dimensions.
    """
    array = as_array(name, value, shape, unit)
    if array.shape != shape:
        raise InvalidInput(
            f"{name} has shape {array.shape}, expected {shape}{_in(unit)}, no batch", value=value
        )
    return array


def as_scalar(
    name: str,
    value: Any,
    unit: str = "",
    *,
    above: float | None = None,
    at_least: float | None = None,
) -> float:
    """Return `value` as a finite float, optionally bounded from below.

    Raises:
        InvalidInput: not a number, not finite, or out of the stated range.
    """
    if type(value) is float and math.isfinite(value) and above is None and at_least is None:
        return value
    array = as_array(name, value, (), unit)
    if array.ndim:
        raise InvalidInput(f"{name} must be a single number{_in(unit)}, got {value!r}", value=value)
    number = float(array)
    if above is not None and not number > above:
        raise InvalidInput(f"{name} is {number}, must be above {above}{_in(unit)}", value=value)
    if at_least is not None and not number >= at_least:
        raise InvalidInput(
            f"{name} is {number}, must be at least {at_least}{_in(unit)}", value=value
        )
    return number


def as_pose(name: str, value: ArrayLike) -> FloatArray:
    """Return `value` as pose (..., 7) [m, -]: x y z qx qy qz qw, its quaternion normalized.

    Raises:
        InvalidInput: wrong shape, not finite, or a quaternion not of unit length.
    """
    pose = as_array(name, value, (7,), "m, unit quaternion x y z w")
    if pose.ndim == 1:
        x, y, z, w = pose[3:].tolist()
        length = math.sqrt(x * x + y * y + z * z + w * w)
        if abs(length - 1.0) <= QUATERNION_TOLERANCE:
            single: FloatArray = pose.copy()
            single[3:] /= length
            return single
    with np.errstate(over="ignore"):  # a quaternion whose length overflows is rejected below
        norm = np.sqrt((pose[..., 3:] ** 2).sum(axis=-1, keepdims=True))
    worst = np.abs(norm - 1.0)
    if worst.size and worst.max() > QUATERNION_TOLERANCE:
        first = float(norm.reshape(-1)[worst.reshape(-1).argmax()])
        raise InvalidInput(
            f"{name}: the quaternion (x, y, z, w) has length {first:.9g}, expected 1", value=value
        )
    out: FloatArray = pose.copy()
    out[..., 3:] /= norm
    return out


def refuse_beyond(name: str, values: FloatArray, limit: float = BEYOND) -> None:
    """Reject measurements (n,) that are finite but outside any plausible workspace.

    Raises:
        InvalidInput: a value larger than the limit.
    """
    # transforming to another frame and back adds rounding errors
    farthest, numbers = limit * (1.0 + 1e-9), values.tolist()
    if max(numbers) > farthest or min(numbers) < -farthest:
        raise InvalidInput(
            f"{name} is {np.array2string(values, precision=4)}, expected no more than {limit:g} "
            "in any coordinate",
            value=values,
        )


def number_in(text: str) -> float:
    """The number that a text is; NaN if it is none: Python alone reads 1_0, or digits of Arabic."""
    try:
        return float(text) if text.isascii() and "_" not in text else math.nan
    except ValueError:
        return math.nan


def check_tree(where: str, links: Collection[str], joints: Iterable[Any]) -> None:
    """Refuse joints (`name`, `parent`, `child`) that do not make one tree of all the links.

    Raises:
        ModelError: an unknown link, one that is the child of two joints, several roots, a circle.
    """
    above: dict[str, Any] = {}
    for joint in joints:
        for side in ("parent", "child"):
            link = getattr(joint, side)
            if link not in links:
                raise ModelError(
                    f"{where}: joint {joint.name!r}: {side} link is {link!r}, expected the name of "
                    "a link",
                    value=link,
                )
        first = above.setdefault(joint.child, joint)
        if first is not joint:
            raise ModelError(
                f"{where}: link {joint.child!r} is the child of two joints, {first.name!r} and "
                f"{joint.name!r}; write a loop as a closure, in a URDF as a <constraint>",
                value=joint.child,
            )
    roots = [link for link in links if link not in above]
    if len(roots) != 1:
        raise ModelError(
            f"{where}: {len(roots)} root links ({', '.join(map(repr, roots[:8]))}), expected one "
            "tree of joints with a single root",
            value=roots,
        )
    rooted = set(roots)
    for link in links:
        walk = [link]
        while walk[-1] not in rooted:
            if len(walk) > len(links):
                raise ModelError(
                    f"{where}: the joints above link {link!r} form a loop; write it as a closure, "
                    "in a URDF as a <constraint>",
                    value=link,
                )
            walk.append(above[walk[-1]].parent)
        rooted.update(walk)


def _in(unit: str) -> str:
    return f" [{unit}]" if unit else ""


# Words of annotations that are no names of classes.
_GENERIC = frozenset(("Any", "Callable", "Collection", "Iterable", "Iterator", "Literal", "Mapping",
                      "Optional", "Self", "Sequence", "Union"))  # fmt: skip
# What computing with arrays of other shapes, or with numbers that are too large, may raise.
_OF_SHAPES = (ValueError, IndexError, ArithmeticError, np.linalg.LinAlgError)


def guarded(function: F) -> F:
    """Wrap a public function so that a wrong argument ends in `InvalidInput`, whatever it broke.

    Arguments are looked at after a failure only, so a call that succeeds costs no more. An error
    that no argument explains is raised as it is: it is a fault of the function.
    """
    if getattr(function, "guarded", False):
        return function

    sizes = _sizes_of(function)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            if sizes:
                _check_sizes(sizes, args, kwargs)
            return function(*args, **kwargs)
        except (RobodynError, Warning):
            raise
        except Exception as error:
            wrong = _wrong_argument(function, args, kwargs, error)
            if wrong is None:
                raise
            raise wrong from error

    call.guarded = True  # type: ignore[attr-defined]
    return cast(F, call)


def _of_configuration(mechanism: Any) -> int:
    return int(mechanism.coordinates.configuration_size)


def _of_velocity(mechanism: Any) -> int:
    return int(mechanism.coordinates.velocity_size)


def _of_joints(mechanism: Any) -> int:
    return len(mechanism.joint_names)


# By its name, the size of an array that kernels take as it is: they read and write no further.
_SIZES: dict[str, Callable[[Any], int]] = {
    **dict.fromkeys(("configuration", "configurations", "guess"), _of_configuration),
    **dict.fromkeys(("velocity", "displacement", "acceleration"), _of_velocity),
    **dict.fromkeys(
        ("positions", "velocities", "driven", "effort", "efforts", "lengths"), _of_joints
    ),
    **dict.fromkeys(("wrench", "twists", "accels"), lambda _: 6),
    "poses": lambda _: 7,
}


def _sizes_of(function: Callable[..., Any]) -> list[tuple[int, str, Callable[[Any], int]]]:
    """Place, name and size of the arrays that a method takes unchecked, by its annotations."""
    parameters = list(inspect.signature(function).parameters.values())
    if function.__name__ == "__init__":
        return []
    plain = ("FloatArray", "FloatArray | None")
    return [
        (place, each.name, _SIZES[each.name])
        for place, each in enumerate(parameters[1:], start=1)
        if str(each.annotation).strip("'\"") in plain and each.name in _SIZES
    ]


def _check_sizes(
    sizes: list[tuple[int, str, Callable[[Any], int]]], args: Any, kwargs: Any
) -> None:
    """Refuse arrays of another size than the method's mechanism has.

    Raises:
        InvalidInput: one of them.
    """
    for place, name, size in sizes:
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


def guard_methods(cls: type) -> None:
    """Wrap the public methods that a class defines, and how it is made, as `guarded` does."""
    for name, value in list(vars(cls).items()):
        if inspect.isfunction(value) and (name == "__init__" or not name.startswith("_")):
            setattr(cls, name, guarded(value))
        elif isinstance(value, (classmethod, staticmethod)) and not name.startswith("_"):
            setattr(cls, name, type(value)(guarded(value.__func__)))


def _wrong_argument(
    function: Callable[..., Any], args: Any, kwargs: Any, error: Exception
) -> InvalidInput | None:
    """The error of the first argument that is not what the function's annotations say."""
    signature = inspect.signature(function)
    try:
        given = signature.bind(*args, **kwargs).arguments
    except TypeError:  # not the arguments that it takes
        return None
    shapes = {}
    for name, value in given.items():
        parameter = signature.parameters[name]
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        try:
            shape = _checked_as(name, value, str(parameter.annotation).strip("'\""))
        except InvalidInput as wrong:
            return wrong
        if shape is not None:
            shapes[name] = shape
    of_kernel = type(error).__name__ == "TypingError" or "float64 array" in str(error)
    if not shapes or not (of_kernel or isinstance(error, _OF_SHAPES)):
        return None
    told = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
    return InvalidInput(
        f"{function.__name__}: arrays of these shapes or values do not fit each other: {told} "
        f"({error})",
        value=shapes,
    )


def _check_container(name: str, value: Any, kind: str, inner: str) -> None:
    """Check that an argument is a container of that kind, of texts or of a class.

    Raises:
        InvalidInput: it is not.
    """
    known = Mapping if kind == "Mapping" else Iterable if kind == "Iterable" else Collection
    odd = (str, bytes, np.ndarray) if inner == "str" else (str, bytes)
    if not isinstance(value, known) or isinstance(value, odd):
        raise InvalidInput(
            f"{name} is a {type(value).__name__}, expected a {kind} of {inner}", value=value
        )
    if not isinstance(value, Collection) or kind == "Mapping" or not inner.isidentifier():
        return
    for index, item in enumerate(value):
        names = {each.__name__ for each in type(item).__mro__}
        if inner not in _GENERIC and inner[:1].isupper() | (inner == "str") and inner not in names:
            raise InvalidInput(
                f"{name}[{index}] is a {type(item).__name__}, expected a {inner}", value=value
            )


def _checked_as(name: str, value: Any, annotation: str) -> tuple[int, ...] | None:
    """The shape of an argument that is an array; None of another that is right.

    Raises:
        InvalidInput: it is not what its annotation says.
    """
    words = set(re.findall(r"\w+", annotation))
    if value is None:
        if annotation and not words & {"None", "Any", "Optional", "empty"}:
            raise InvalidInput(f"{name} is None, expected {annotation}", value=value)
        return None
    if isinstance(value, Mapping) and "Mapping" in words:
        return None
    if words & {"ArrayLike", "FloatArray"}:
        if isinstance(value, str) and "str" in words:
            return None
        array = as_array(name, value, ())
        if array.size:
            refuse_beyond(name, array.ravel())
        typed = isinstance(value, np.ndarray) and value.dtype == _FLOAT64
        if "ArrayLike" not in words and not typed:
            raise InvalidInput(
                f"{name} is a {type(value).__name__}, expected a float64 array", value=value
            )
        return array.shape
    container = re.search(r"(Mapping|Collection|Sequence|Iterable)\[(.*?)\]", annotation)
    # of several alternatives, the container is meant by one
    if container is not None and ("|" not in annotation or isinstance(value, (list, tuple))):
        _check_container(name, value, *container.groups())
    paths = words <= {"str", "Path", "os", "PathLike", "None"} and words & {"Path", "PathLike"}
    if paths and not isinstance(value, (str, os.PathLike)):
        raise InvalidInput(f"{name} is a {type(value).__name__}, expected a path", value=value)
    if words <= {"str", "None"} and not isinstance(value, str):
        raise InvalidInput(f"{name} is a {type(value).__name__}, expected a text", value=value)
    if words <= {"float", "int", "None"}:
        refuse_beyond(name, np.atleast_1d(as_scalar(name, value)))
        if "float" not in words and not isinstance(value, (int, np.integer)):
            raise InvalidInput(f"{name} is {value!r}, expected a whole number", value=value)
    classes = {word for word in words if word[:1].isupper() or word == "str"}
    known = {each.__name__ for each in type(value).__mro__}
    plain = words <= classes | {"None"} and not words & _GENERIC
    if plain and words != {"None"} and not classes & known:
        raise InvalidInput(
            f"{name} is a {type(value).__name__}, expected {annotation}", value=value
        )
    return None
