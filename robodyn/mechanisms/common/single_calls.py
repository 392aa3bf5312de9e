# SPDX-License-Identifier: Apache-2.0

"""Single states, one call of compiled code each: the code that arms and platforms share."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba import types

from robodyn.numerics.array_arguments import MATRIX_OUT, VECTOR, VECTOR_OR_NONE, VECTOR_OUT, direct

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from numpy.typing import NDArray

    from robodyn.arrays import FloatArray


class Single(NamedTuple):
    """Entry points of a mechanism's kernels, with its own parameters already bound.

    They take contiguous float64 arrays (None for no wrench), a flag that skips the checks, and an
    array for the result; they return whether a result exists, and raise TypeError for arguments of
    other types. `inverse` and `forward` take configuration, velocity, acceleration or effort,
    wrench; `mass` takes a configuration.
    """

    inverse: Callable[..., bool]
    forward: Callable[..., bool]
    mass: Callable[..., bool]


def entries(kernels: ModuleType, *numbers: Any) -> Single:
    """Entry points of a module of kernels whose first arguments are of the types `numbers`."""
    state = (*numbers, VECTOR, VECTOR, VECTOR, VECTOR_OR_NONE, types.boolean, VECTOR_OUT)
    return Single(
        direct(kernels.inverse_dynamics, *state),
        direct(kernels.forward_dynamics, *state),
        direct(kernels.mass_matrix, *numbers, VECTOR, types.boolean, MATRIX_OUT),
    )


def of_mechanism(entries: Single, *numbers: FloatArray) -> Single:
    """The same with a mechanism's parameters bound."""
    return Single(*(partial(entry, *numbers) for entry in entries))


def condition_entry(kernels: ModuleType, numbers: Any) -> Callable[..., float]:
    """Entry point of a module's condition number (-1: none); arguments as for `entries`."""
    return direct(kernels.condition_number, numbers, VECTOR, types.float64, types.boolean)


def condition_of(
    entry: Callable[..., float], configuration: Any, length: Any
) -> NDArray[np.float64] | None:
    """The condition number () of one configuration; None for a batch or an invalid argument."""
    if type(length) is not float:
        return None
    try:
        ratio = entry(configuration, length, False)
    except TypeError:  # not a single float64 configuration
        return None
    return np.asarray(ratio) if ratio >= 0.0 else None


class UncheckedSingle:
    """Dynamics of one state at a time for inner loops; only the types are checked.

    Arrays must be contiguous float64 of the stated shapes and finite, n the number of joints or 6;
    a pose's quaternion is normalised. Shorter arrays are read beyond their end. Results are written
    into `out`; the return value says whether a result exists. Other types raise TypeError.
    """

    def __init__(self, single: Single) -> None:
        self._single = single

    def __reduce__(self) -> tuple[Any, ...]:
        # entry points stay where they are; what they are bound to travels
        return type(self), self._single.inverse.args  # type: ignore[attr-defined]

    def inverse_dynamics(
        self,
        configuration: FloatArray,
        velocity: FloatArray,
        acceleration: FloatArray,
        out: FloatArray,
        wrench: FloatArray | None = None,
    ) -> bool:
        """Efforts (n,) of q or a pose, velocity and acceleration (n,), wrench (6,)."""
        return self._single.inverse(configuration, velocity, acceleration, wrench, True, out)

    def forward_dynamics(
        self,
        configuration: FloatArray,
        velocity: FloatArray,
        effort: FloatArray,
        out: FloatArray,
        wrench: FloatArray | None = None,
    ) -> bool:
        """Acceleration (n,) of q or a pose, velocity and effort (n,), wrench (6,)."""
        return self._single.forward(configuration, velocity, effort, wrench, True, out)

    def mass_matrix(self, configuration: FloatArray, out: FloatArray) -> bool:
        """Mass matrix (n, n) of q or a pose."""
        return self._single.mass(configuration, True, out)
