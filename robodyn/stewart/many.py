"""Batches through the vector kernels; None where something is to be explained."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba import types

from robodyn.batch import plain
from robodyn.kernels import stewart_lanes as kernels
from robodyn.kernels.compiler import ready
from robodyn.threads import once, share

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    FloatArray = NDArray[np.float64]

_ANY = types.Array(types.float64, 2, "A", readonly=True)
_LIST, _TABLE = types.float64[::1], types.float64[:, ::1]
_NONE = np.empty((0, 6))


@once
def _inverse() -> Any:
    span = (types.intp, types.intp)
    inputs = (_TABLE, _LIST, _ANY, _ANY, _ANY, _ANY, types.boolean)
    return ready(kernels.inverse_dynamics, *inputs, _TABLE, *span, exact=False)


@once
def _forward() -> Any:
    span = (types.intp, types.intp)
    inputs = (_TABLE, _LIST, _ANY, _ANY, _ANY, _ANY)
    return ready(kernels.forward_dynamics, *inputs, _TABLE, *span, exact=False)


@once
def _mass() -> Any:
    return ready(
        kernels.mass_matrix, _TABLE, _LIST, _ANY, _TABLE, types.intp, types.intp, exact=False
    )


@once
def _condition() -> Any:
    inputs = (_TABLE, _ANY, types.float64, _LIST)
    return ready(kernels.condition_number, *inputs, types.intp, types.intp, exact=False)


class _Load(NamedTuple):
    """Three arrays of a state, and the wrench, (0, 6) if there is none."""

    shape: tuple[int, ...]
    pose: FloatArray
    second: FloatArray
    third: FloatArray
    wrench: FloatArray


def _flat(
    pose: ArrayLike, second: ArrayLike, third: ArrayLike, wrench: ArrayLike | None
) -> _Load | None:
    given = [pose, second, third] if wrench is None else [pose, second, third, wrench]
    flat = plain((7, 6, 6, 6)[: len(given)], given)
    if flat is None:
        return None
    shape, (q, v, a, *rest) = flat
    return _Load(shape, q, v, a, rest[0] if rest else _NONE)


def inverse_dynamics(
    legs: FloatArray,
    platform: FloatArray,
    pose: ArrayLike,
    twist: ArrayLike,
    accel: ArrayLike,
    wrench: ArrayLike | None,
    with_legs: bool,
) -> FloatArray | None:
    """Actuator forces of motions."""
    flat = _flat(pose, twist, accel, wrench)
    if flat is None:
        return None
    shape, q, v, a, w = flat
    kernel, out = _inverse(), np.empty((len(q), 6))

    def work(first: int, last: int) -> bool:
        return bool(kernel(legs, platform, q, v, a, w, with_legs, out, first, last))

    return out.reshape(*shape, 6) if share(work, len(q)) else None


def forward_dynamics(
    legs: FloatArray,
    platform: FloatArray,
    pose: ArrayLike,
    twist: ArrayLike,
    forces: ArrayLike,
    wrench: ArrayLike | None,
) -> FloatArray | None:
    """Accelerations that forces cause."""
    flat = _flat(pose, twist, forces, wrench)
    if flat is None:
        return None
    shape, q, v, f, w = flat
    kernel, out = _forward(), np.empty((len(q), 6))

    def work(first: int, last: int) -> bool:
        return bool(kernel(legs, platform, q, v, f, w, out, first, last))

    return out.reshape(*shape, 6) if share(work, len(q)) else None


def mass_matrix(legs: FloatArray, platform: FloatArray, pose: ArrayLike) -> FloatArray | None:
    """Mass matrices."""
    flat = plain((7,), (pose,))
    if flat is None:
        return None
    shape, (q,) = flat
    kernel, out = _mass(), np.empty((len(q), 36))

    def work(first: int, last: int) -> bool:
        return bool(kernel(legs, platform, q, out, first, last))

    return out.reshape(*shape, 6, 6) if share(work, len(q)) else None


def condition_number(
    legs: FloatArray, pose: ArrayLike, characteristic_length: float
) -> FloatArray | None:
    """Condition numbers of H, its moment rows divided by a length."""
    flat = plain((7,), (pose,))
    if flat is None or not isinstance(characteristic_length, (int, float)):
        return None
    length = float(characteristic_length)
    if not 0.0 < length < np.inf:
        return None
    shape, (q,) = flat
    kernel, out = _condition(), np.empty(len(q))

    def work(first: int, last: int) -> bool:
        return bool(kernel(legs, q, length, out, first, last))

    return out.reshape(shape) if share(work, len(q)) else None
