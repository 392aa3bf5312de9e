# SPDX-License-Identifier: Apache-2.0

"""Single states, one call of compiled code each, for all kinds."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from types import ModuleType
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from robodyn.arrays import FloatArray
from robodyn.errors import KinematicsError
from robodyn.numerics.array_arguments import (
    MATRIX,
    MATRIX_OUT,
    VECTOR,
    VECTOR_OR_NONE,
    VECTOR_OUT,
    direct,
)
from robodyn.threads import cached_threadsafe


@cached_threadsafe
def _entry(kernels: ModuleType, name: str, base: Any, *numbers: Any) -> Callable[..., bool]:
    state = VECTOR, VECTOR, VECTOR, VECTOR_OR_NONE, base, types.boolean, VECTOR_OUT
    given = (VECTOR, types.boolean, MATRIX_OUT) if name == "mass_matrix" else state
    return direct(getattr(kernels, name), *numbers, *given)


class Single:
    """Entry points of a mechanism's kernels, with its own parameters bound.

    They take contiguous float64 arrays (None for no wrench), a flag that skips the checks, and an
    array for the result; they return whether a result exists, and raise TypeError for arguments of
    other types. `inverse` and `forward` take configuration, velocity, acceleration or effort,
    wrench, and the motion of the base; `mass` takes a configuration. Each is compiled or read from
    disk when it is first needed.

    Args:
        kernels: module of the kernels.
        numbers: of the mechanism, vectors or matrices.
        base: type of the motion: none of a base at rest, which is not read and whose kernels do
            without what it takes to move; VECTOR, or VECTOR_OR_NONE for both.
    """

    def __init__(
        self, kernels: ModuleType, numbers: tuple[FloatArray, ...], base: Any = types.none
    ) -> None:
        self._given = kernels, numbers, base

    def _bound(self, name: str) -> Callable[..., bool]:
        kernels, numbers, base = self._given
        kinds = (VECTOR if array.ndim == 1 else MATRIX for array in numbers)
        return partial(_entry(kernels, name, base, *kinds), *numbers)

    @cached_property
    def inverse(self) -> Callable[..., bool]:
        """Entry of the inverse dynamics."""
        return self._bound("inverse_dynamics")

    @cached_property
    def forward(self) -> Callable[..., bool]:
        """Entry of the forward dynamics."""
        return self._bound("forward_dynamics")

    @cached_property
    def mass(self) -> Callable[..., bool]:
        """Entry of the mass matrix."""
        return self._bound("mass_matrix")

    def prepare(self) -> Single:
        """Compile the entries or read them from disk, as inner loops must not wait for that."""
        _ = self.inverse, self.forward, self.mass
        return self

    @cached_property
    def on_base(self) -> Single:
        """The same for the `rows` of a `BaseMotion`."""
        kernels, numbers, base = self._given
        return self if base is VECTOR_OR_NONE else Single(kernels, numbers, VECTOR)


@cached_threadsafe
def condition_entry(kernels: ModuleType, numbers: Any) -> Callable[..., float]:
    """Entry point of a module's condition number (-1: none); arguments as for `Single`."""
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


class UncheckedDynamics:
    """Single states of a mechanism for inner loops, without checking the arguments.

    Arrays must be contiguous, finite float64 of the right shapes; quaternions of unit length. What
    is written here holds where a configuration is a position for each joint.
    """

    def __init__(self, mechanism: Any) -> None:
        self._mechanism = mechanism
        self._shortest = mechanism.coordinates.shortest

    def difference(self, start: FloatArray, goal: FloatArray, /) -> FloatArray:
        """As `Mechanism.difference`."""
        return self._shortest(goal - start)

    def advance(self, configuration: FloatArray, displacement: FloatArray, /) -> FloatArray:
        """As `Mechanism.advance`."""
        return configuration + displacement

    def try_advance(
        self, configuration: FloatArray, displacement: FloatArray, /
    ) -> FloatArray | None:
        """As `advance`; None where the mechanism cannot follow the displacement directly.

        Where `advance` searches on for a configuration that a step cannot reach directly, whoever
        takes many steps near the ends of the mechanism's travel asks for this one.
        """
        try:
            return self.advance(configuration, displacement)
        except KinematicsError:
            return None

    def inverse_dynamics(
        self,
        configuration: FloatArray,
        velocity: FloatArray,
        acceleration: FloatArray,
        out: FloatArray,
        wrench: FloatArray | None = None,
        /,
    ) -> bool:
        """Write efforts (n,) into `out`; return False if the state has none."""
        out[:] = self._mechanism.inverse_dynamics(configuration, velocity, acceleration, wrench)
        return bool(np.isfinite(out).all())


class UncheckedSingle(UncheckedDynamics):
    """Dynamics of one state at a time by compiled code; only the types are checked.

    Arrays must be contiguous float64 of the stated shapes and finite, n the number of joints or 6;
    a pose's quaternion is normalized. Shorter arrays are read beyond their end. Results are written
    into `out`; the return value says whether a result exists. Other types raise TypeError.
    """

    def __init__(self, mechanism: Any, single: Single) -> None:
        super().__init__(mechanism)
        self._single = single.prepare()

    def __reduce__(self) -> tuple[Any, ...]:
        # entry points stay where they are
        return getattr, (self._mechanism, "unchecked")

    def inverse_dynamics(
        self,
        configuration: FloatArray,
        velocity: FloatArray,
        acceleration: FloatArray,
        out: FloatArray,
        wrench: FloatArray | None = None,
        base: FloatArray | None = None,
    ) -> bool:
        """Efforts (n,) of q or a pose, velocity and acceleration (n,), wrench (6,), base (9,)."""
        one = self._single if base is None else self._single.on_base
        return one.inverse(configuration, velocity, acceleration, wrench, base, True, out)

    def forward_dynamics(
        self,
        configuration: FloatArray,
        velocity: FloatArray,
        effort: FloatArray,
        out: FloatArray,
        wrench: FloatArray | None = None,
        base: FloatArray | None = None,
    ) -> bool:
        """Acceleration (n,) of q or a pose, velocity and effort (n,), wrench (6,), base (9,)."""
        one = self._single if base is None else self._single.on_base
        return one.forward(configuration, velocity, effort, wrench, base, True, out)

    def mass_matrix(self, configuration: FloatArray, out: FloatArray) -> bool:
        """Mass matrix (n, n) of q or a pose."""
        return self._single.mass(configuration, True, out)
