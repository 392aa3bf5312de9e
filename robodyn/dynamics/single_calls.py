# SPDX-License-Identifier: Apache-2.0

"""Computations for single states, each by one call to compiled code."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from operator import attrgetter
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
def _entry(kernel: Any, *given: Any) -> Callable[..., Any]:
    return direct(kernel, *given)


def bind_kernel(kernel: Any, numbers: tuple[FloatArray, ...], *given: Any) -> Callable[..., Any]:
    """Compile a kernel for a mechanism; return it bound to the mechanism's arrays.

    `numbers` are the packed parameters, vectors or matrices; `given` are the types of the kernel's
    other arguments.
    """
    types_of = (VECTOR if array.ndim == 1 else MATRIX for array in numbers)
    return partial(_entry(kernel, *types_of, *given), *numbers)


def _bound(index: int) -> cached_property[Callable[..., bool]]:
    """Create a cached property of `Single`: its kernel `index`, bound to the arrays.

    The arrays contain the mechanism's packed parameters.
    """

    def bind(single: Single) -> Callable[..., bool]:
        kernels, numbers, base = single.given
        state = VECTOR, VECTOR, VECTOR, VECTOR_OR_NONE, base, types.boolean, VECTOR_OUT
        given = (VECTOR, types.boolean, MATRIX_OUT) if index == 2 else state
        return bind_kernel(kernels[index], numbers, *given)

    return cached_property(bind)


class Single:
    """Compiled inverse dynamics, forward dynamics and mass matrix of one mechanism.

    The functions are for single states. They take contiguous float64 arrays (None for no wrench), a
    flag that skips the checks, and an array for the result; they return whether a result exists,
    and raise TypeError for arguments of other types. `inverse` and `forward` take configuration,
    velocity, acceleration or effort, wrench, and the motion of the base; `mass` takes a
    configuration. Each is compiled or read from disk at its first use.

    Args:
        kernels: kernels of inverse dynamics, forward dynamics and mass matrix.
        numbers: packed arrays of the mechanism, vectors or matrices.
        base: type of the motion of the base: none for a fixed base, whose kernels leave out the
            terms of its motion; VECTOR; or VECTOR_OR_NONE for both.
    """

    def __init__(
        self, kernels: tuple[Any, Any, Any], numbers: tuple[FloatArray, ...], base: Any = types.none
    ) -> None:
        self.given = kernels, numbers, base

    inverse = _bound(0)  # writes the efforts to its last argument
    forward = _bound(1)  # writes the acceleration
    mass = _bound(2)  # writes the mass matrix (nv, nv)

    def prepare(self) -> Single:
        """Compile the functions, or read them from disk, and return this object."""
        _ = self.inverse, self.forward, self.mass
        return self

    @cached_property
    def on_base(self) -> Single:
        """Compiled functions that also take the motion (9,) of a moving base."""
        kernels, numbers, base = self.given
        if base is VECTOR_OR_NONE:
            return self
        return Single(kernels, numbers, VECTOR)


@cached_threadsafe
def condition_entry(kernel: Any, numbers: Any) -> Callable[..., float]:
    """Return a compiled function for the Jacobian's condition number.

    Its arguments are a mechanism's packed parameters, a configuration, the characteristic length
    [m], and whether to skip the checks. It returns -1 if the condition number cannot be computed.
    """
    return direct(kernel, numbers, VECTOR, types.float64, types.boolean)


def condition_of(
    entry: Callable[..., float], configuration: Any, length: Any
) -> NDArray[np.float64] | None:
    """Compute the Jacobian's condition number () at one configuration.

    Args:
        entry: function from `condition_entry`, bound to the mechanism's parameters.
        configuration: (nq,).
        length: characteristic length [m].

    Returns:
        The condition number; None for a batch or an invalid argument.
    """
    if type(length) is not float:
        return None
    try:
        ratio = entry(configuration, length, False)
    except TypeError:  # not a single float64 configuration
        return None
    return np.asarray(ratio) if ratio >= 0.0 else None


class UncheckedDynamics:
    """Differences, displacements and efforts of single states, without argument checks.

    For inner loops. Arrays must be contiguous, finite float64 of the right shapes; quaternions of
    unit length. This class serves kinds whose configuration is a position for each joint.
    """

    def __init__(self, mechanism: Any) -> None:
        self._mechanism = mechanism
        self._shortest = mechanism.coordinates.shortest

    def difference(self, start: FloatArray, goal: FloatArray, /) -> FloatArray:
        """Return the displacement (nv,) from configuration `start` to `goal`.

        It is that of `Mechanism.difference`.
        """
        return self._shortest(goal - start)

    def advance(self, configuration: FloatArray, displacement: FloatArray, /) -> FloatArray:
        """Return the configuration (nq,) after a displacement (nv,), like `Mechanism.advance`."""
        return configuration + displacement

    def try_advance(
        self, configuration: FloatArray, displacement: FloatArray, /
    ) -> FloatArray | None:
        """Return the configuration (nq,) after a displacement; None without a direct solution.

        `advance` may search for a configuration that a step cannot reach directly. Callers that
        take many steps near the ends of the mechanism's travel use this function instead.
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
        """Write the efforts of a motion into `out`.

        Args:
            configuration, velocity, acceleration: (nq,), (nv,) and (nv,).
            out: (n,) becomes the efforts.
            wrench: (6,) [N, N m] external wrench, base frame; none by default.

        Returns:
            Whether the efforts exist.
        """
        out[:] = self._mechanism.inverse_dynamics(configuration, velocity, acceleration, wrench)
        return bool(np.isfinite(out).all())


class UncheckedSingle(UncheckedDynamics):
    """Dynamics of single states by compiled code; only types are checked.

    Arrays must be contiguous, finite float64 of the stated shapes, with n the number of joints or
    6; a pose's quaternion is normalized. Shorter arrays are read beyond their end. Results are
    written into `out`; the return value is whether a result exists. Other types raise TypeError.
    """

    def __init__(self, mechanism: Any, single: Single) -> None:
        super().__init__(mechanism)
        self._single = single.prepare()

    def __reduce__(self) -> tuple[Any, ...]:
        # entry points cannot be pickled
        return attrgetter("solver.unchecked"), (self._mechanism,)

    def inverse_dynamics(
        self,
        configuration: FloatArray,
        velocity: FloatArray,
        acceleration: FloatArray,
        out: FloatArray,
        wrench: FloatArray | None = None,
        base: FloatArray | None = None,
    ) -> bool:
        """Write the efforts of a motion into `out`.

        Args:
            configuration: (n,) positions or (7,) pose.
            velocity, acceleration: (n,).
            out: (n,) becomes the efforts.
            wrench: (6,) [N, N m] external wrench, base frame; none by default.
            base: (9,) motion of the base, see `kernels.base_motion`; by default the base is fixed.

        Returns:
            Whether the efforts exist.
        """
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
        """Write the acceleration due to efforts into `out`.

        Args:
            configuration: (n,) positions or (7,) pose.
            velocity, effort: (n,).
            out: (n,) becomes the acceleration.
            wrench: (6,) [N, N m] external wrench, base frame; none by default.
            base: (9,) motion of the base, see `kernels.base_motion`; by default the base is fixed.

        Returns:
            Whether the acceleration exists.
        """
        one = self._single if base is None else self._single.on_base
        return one.forward(configuration, velocity, effort, wrench, base, True, out)

    def mass_matrix(self, configuration: FloatArray, out: FloatArray) -> bool:
        """Write the mass matrix (n, n) at a configuration into `out`.

        Args:
            configuration: (n,) positions or (7,) pose.
            out: (n, n) becomes the mass matrix.

        Returns:
            Whether the mass matrix exists.
        """
        return self._single.mass(configuration, True, out)
