# SPDX-License-Identifier: Apache-2.0

"""Validation of users' arguments: arrays become float64 of a known shape, or are rejected."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.errors import InvalidInput, ModelError, RobodynError

F = TypeVar("F", bound=Callable[..., Any])

# A larger deviation of a quaternion from unit length is a mistake, not rounding; results of kernels
# that do not normalize have up to this error.
QUATERNION_TOLERANCE = 1e-6
# Bound outside of any plausible workspace [m, rad, m/s, rad/s]; computations with larger numbers
# may overflow.
LARGEST_STATE = 1e6
# Up to this size Python's sum is a faster test for finiteness than NumPy.
FEW = 36
_FLOAT64 = np.dtype(np.float64)


def all_finite(values: FloatArray) -> bool:
    """Return whether all values of a float64 array are finite."""
    if values.size <= FEW and values.ndim == 1 and math.isfinite(sum(values.tolist())):
        return True
    # a batch, a number that is not finite, or finite numbers whose sum overflows
    return bool(np.isfinite(values).all())


def as_array(name: str, value: ArrayLike, core: Sequence[int], unit: str = "") -> FloatArray:
    """Convert an argument to a finite float64 array with a given trailing shape.

    Args:
        name: name of the argument, for messages.
        value: argument of a public function.
        core: required trailing shape; leading dimensions are those of a batch.
        unit: unit, for messages.

    Returns:
        Array (..., *core).

    Raises:
        InvalidInput: the value is not numeric, has the wrong trailing shape, or is not finite (the
            message names the argument, the first offending element and its value).
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
        if given.dtype.kind in "cSUMm":  # NumPy would convert these to numbers with another meaning
            raise TypeError(f"its type is {given.dtype}")
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
    """Convert an argument to a finite float64 array of exactly a given shape.

    Args:
        name: name of the argument, for messages.
        value: argument of a public function.
        shape: required shape; no leading dimensions are permitted.
        unit: unit, for messages.

    Returns:
        The array.

    Raises:
        InvalidInput: as for `as_array`, or the value has leading dimensions.
    """
    array = as_array(name, value, shape, unit)
    if array.shape != shape:
        raise InvalidInput(
            f"{name} has shape {array.shape}, expected {shape}{_in(unit)} without batch dimensions",
            value=value,
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
    """Convert an argument to a finite float, optionally bounded from below.

    Args:
        name: name of the argument, for messages.
        value: argument of a public function.
        unit: unit, for messages.
        above: value that the number must exceed, if any.
        at_least: smallest permitted value.

    Returns:
        The number.

    Raises:
        InvalidInput: the value is not a finite number or is out of range.
    """
    if (
        type(value) is float
        and math.isfinite(value)
        and (above is None or value > above)
        and (at_least is None or value >= at_least)
    ):
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


def as_integer(name: str, value: Any, *, at_least: int, at_most: int | None = None) -> int:
    """Convert an argument to a bounded whole number.

    Args:
        name: name of the argument, for messages.
        value: argument of a public function.
        at_least: smallest permitted value.
        at_most: largest permitted value.

    Returns:
        The number.

    Raises:
        InvalidInput: the value is not a whole number or is out of range.
    """
    most = math.inf if at_most is None else at_most
    if type(value) is int and at_least <= value <= most:
        return value
    number = as_scalar(name, value)
    if isinstance(value, bool) or number != int(number) or not at_least <= number <= most:
        bounds = f"of at least {at_least}" if at_most is None else f"from {at_least} to {at_most}"
        raise InvalidInput(
            f"{name} is {value!r:.100}, expected a whole number {bounds}", value=value
        )
    return int(value)


def check_choice(
    name: str,
    value: Any,
    choices: Collection[str],
    error: type[RobodynError] = InvalidInput,
) -> None:
    """Reject an argument that is not one of the permitted strings.

    Args:
        name: name of the argument, for messages.
        value: value of the argument.
        choices: permitted values.
        error: class of the error.

    Raises:
        InvalidInput: the value is not among the choices, which the message lists. `error` replaces
            this class.
    """
    if not (isinstance(value, str) and value in choices):
        raise error(f"{name} is {value!r:.100}, expected one of {', '.join(choices)}", value=value)


def as_pose(name: str, value: ArrayLike) -> FloatArray:
    """Convert an argument to poses x y z qx qy qz qw, with normalized quaternions.

    Args:
        name: name of the argument, for messages.
        value: (..., 7) [m, -] argument of a public function.

    Returns:
        Poses (..., 7).

    Raises:
        InvalidInput: the shape is wrong, a value is not finite, or a quaternion is not of unit
            length.
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


def refuse_beyond(name: str, values: FloatArray, limit: float = LARGEST_STATE) -> None:
    """Reject finite measurements (n,) that are implausibly large.

    Args:
        name: name of the measurements, for messages.
        values: (n,) measurements.
        limit: largest permitted magnitude.

    Raises:
        InvalidInput: the magnitude of a value exceeds `limit`.
    """
    # transforming to another frame and back adds rounding errors
    farthest, numbers = limit * (1.0 + 1e-9), values.tolist()
    if max(numbers, default=0.0) > farthest or min(numbers, default=0.0) < -farthest:
        raise InvalidInput(
            f"{name} is {np.array2string(values, precision=4)}, expected no more than {limit:g} "
            "in any coordinate",
            value=values,
        )


def number_in(text: str) -> float:
    """Convert a string to a number; NaN if it is not a plain ASCII number.

    Unlike `float`, it rejects underscores, as in 1_0, and digits of other scripts.
    """
    try:
        return float(text) if text.isascii() and "_" not in text else math.nan
    except ValueError:
        return math.nan


def check_tree(where: str, links: Collection[str], joints: Iterable[Any]) -> None:
    """Raise an error unless the joints connect the links into a single tree.

    Args:
        where: name of the model, for messages.
        links: names of the links.
        joints: joints with names of their parent and child links.

    Raises:
        ModelError: a link is unknown or is the child of two joints, or there are several roots or a
            cycle.
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
