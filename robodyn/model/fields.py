# SPDX-License-Identifier: Apache-2.0

"""Checked and frozen fields of a model: arrays, rotations, inertias, nonnegative numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import LARGEST_STATE, as_array, as_scalar
from robodyn.errors import ModelError, RobodynError

T = TypeVar("T")
# default gravity [m/s^2] of a model
GRAVITY = np.array([0.0, 0.0, -9.81])
GRAVITY.setflags(write=False)
# Largest plausible mass, inertia or damping [SI]; with larger ones, products overflow.
LARGEST = 1e15


def replace_checked(item: T, **changes: Any) -> T:
    """Return a checked copy with changed fields; the same object if nothing changes."""
    return item if _has(item, changes) else replace(item, **changes)  # type: ignore[type-var]


def replace_unchecked(item: T, **changes: Any) -> T:
    """Return an unchecked copy with changed fields; the same object if none change.

    The values must be valid and have their final types.
    """
    return item if _has(item, changes) else copy_unchecked(item, **changes)


def copy_unchecked(item: T, **changes: Any) -> T:
    """Return a copy of a dataclass with changed fields, without checks.

    The values must be valid and have their final types.
    """
    out = object.__new__(type(item))
    # without cached properties of the item
    names = type(item).__dataclass_fields__  # type: ignore[attr-defined]
    vars(out).update({name: getattr(item, name) for name in names} | changes)
    return out


def _has(item: Any, values: dict[str, Any]) -> bool:
    for name, value in values.items():
        own = getattr(item, name)
        same = own is value or own == value
        if not (same if isinstance(same, bool) else same.all()):
            return False
    return True


def frozen(name: str, value: ArrayLike, shape: tuple[int, ...], unit: str = "") -> FloatArray:
    """Return a read-only array of the given shape; `name` names it in error messages.

    Raises:
        ModelError: a value is not finite, or the shape is wrong.
    """
    try:
        array: FloatArray = as_array(name, value, shape, unit).copy()
    except RobodynError as error:
        raise ModelError(str(error), value=value) from error
    if array.shape != shape:
        raise ModelError(f"{name} has shape {array.shape}, expected {shape}", value=value)
    most = LARGEST_STATE if unit.split(",")[0] == "m" else LARGEST
    if (np.abs(array) > most).any():
        worst = float(array.flat[np.abs(array).argmax()])
        raise ModelError(f"{name} contains {worst:g}, expected at most {most:g}", value=value)
    array.setflags(write=False)
    return array


def nonnegative_number(name: str, value: Any, unit: str = "") -> float:
    """Return a value as a finite float of at least zero; `name` names it in errors.

    Raises:
        ModelError: the value is negative or not a finite number.
    """
    try:
        number = as_scalar(name, value, unit, at_least=0.0)
    except RobodynError as error:
        raise ModelError(str(error), value=value) from error
    if number > LARGEST:
        raise ModelError(f"{name} is {number:g}, expected at most {LARGEST:g}", value=value)
    return number


def as_rotation(name: str, value: ArrayLike) -> FloatArray:
    """Return a rotation matrix (3, 3) as a read-only array.

    Raises:
        ModelError: the matrix is not orthonormal to 1e-9, or is a reflection.
    """
    R: FloatArray = frozen(name, value, (3, 3))
    if np.abs(R @ R.T - np.eye(3)).max() > 1e-9 or np.linalg.det(R) < 0.0:
        raise ModelError(f"{name} is not a rotation matrix: {R.tolist()}", value=R)
    return R


def inertia_tensor(name: str, value: ArrayLike) -> FloatArray:
    """Return an inertia tensor (3, 3), averaged with its transpose, read-only.

    Raises:
        ModelError: the matrix is not symmetric to 1e-9 of its largest entry.
    """
    tensor = frozen(name, value, (3, 3), "kg m^2")
    if np.abs(tensor - tensor.T).max() > 1e-9 * np.abs(tensor).max():
        raise ModelError(f"{name} is not symmetric: {tensor.tolist()}", value=tensor)
    return frozen(name, 0.5 * (tensor + tensor.T), (3, 3))


def unit_axis(where: str, axis: ArrayLike) -> FloatArray:
    """Return a direction (3,) scaled to unit length.

    Raises:
        ModelError: the length is zero.
    """
    given = frozen(f"{where}: axis", axis, (3,))
    length = float(np.linalg.norm(given))
    if not length > 1e-9:
        raise ModelError(f"{where}: axis has length zero; expected a direction", value=axis)
    # normalized once, so that a written axis reads back the same
    return given if abs(length - 1.0) < 1e-15 else frozen("axis", given / length, (3,))
