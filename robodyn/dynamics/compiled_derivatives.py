# SPDX-License-Identifier: Apache-2.0

"""Derivatives of the dynamics, computed by compiled functions of each kind of mechanism."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numba import types

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.base_motion import BaseMotion, rows_of
from robodyn.dynamics.batch_calls import STATE, evaluate_unchecked
from robodyn.dynamics.kernels.derivatives import LOADS_AT_REST
from robodyn.dynamics.single_calls import bind_kernel
from robodyn.errors import KinematicsError
from robodyn.numerics.array_arguments import (
    MATRIX_OUT,
    ROWS_OF_ANY_STRIDE,
    VECTOR,
    VECTOR_OUT,
)
from robodyn.numerics.broadcasting import states

Blocks = tuple[FloatArray, FloatArray, FloatArray]

# Displacement for finite differences of order 4, with twelve digits after rounding [rad, or
# relative to the mechanism's size].
SLOPE_STEP = 5e-4
_STATE = (ROWS_OF_ANY_STRIDE, *STATE)


class CompiledDerivatives:
    """Derivatives of the dynamics w.r.t. configuration, velocity, and acceleration or efforts.

    Args:
        kernel: compiled function of the mechanism's packed parameters, states (N, ...) with
            configuration, velocity, acceleration, efforts, wrench and base, whether to
            differentiate accelerations, and an array (N, ...) for the blocks, row by row. Returns
            the number of solved states.
        numbers: packed parameters of the mechanism.
        sizes: sizes of configuration, velocity and efforts.
        held: inverse-dynamics function without the friction that the kernel omits, whose efforts
            replace the given ones; None to use the given efforts.
        otherwise: derivatives to use if the kernel fails; None for no fallback.
        single: kernel of one state without a wrench on a fixed base; takes the packed parameters,
            configuration, velocity, acceleration, whether to differentiate accelerations, and an
            array for all blocks.
        of_loads: whether the kernel also differentiates the loads at rest, for `at_rest`.
    """

    def __init__(
        self,
        kernel: Any,
        numbers: tuple[FloatArray, ...],
        sizes: tuple[int, int, int],
        held: Callable[..., FloatArray] | None = None,
        otherwise: CompiledDerivatives | None = None,
        single: Any = None,
        of_loads: bool = False,
    ) -> None:
        self._kernel, self.numbers, self._held = kernel, numbers, held
        self._otherwise, self._single, self._of_loads = otherwise, single, of_loads
        nq, nv, n = sizes
        self._widths, self._core = (nq, nv, nv, n, 6, 9), (3, n, n) if n == nv else None

    def __reduce__(self) -> tuple[Any, ...]:
        sizes = self._widths[0], self._widths[1], self._widths[3]
        others = self._held, self._otherwise, self._single, self._of_loads
        return CompiledDerivatives, (self._kernel, self.numbers, sizes, *others)

    @cached_property
    def _call(self) -> Callable[..., int]:
        return bind_kernel(self._kernel, self.numbers, *_STATE, types.int64, MATRIX_OUT)

    @cached_property
    def _call_single(self) -> Callable[..., int] | None:
        given = VECTOR, VECTOR, VECTOR, types.boolean, VECTOR_OUT
        return None if self._single is None else bind_kernel(self._single, self.numbers, *given)

    def __call__(
        self,
        forward: bool,
        configuration: Any,
        velocity: Any,
        acceleration: Any,
        efforts: Any,
        wrench: Any,
        base: BaseMotion | None,
    ) -> Blocks | None:
        """Differentiate the dynamics at valid states; None if the compiled function fails.

        The result is also None for derivatives of efforts if n is not nv.

        Args:
            forward: whether to differentiate accelerations instead of efforts.
            configuration, velocity, acceleration, efforts: states that satisfy the equations of
                motion.
            wrench, base: as in the dynamics.

        Returns:
            Three blocks (..., rows, width): derivatives of the efforts (n rows) or accelerations
            (nv rows) with respect to configuration (nv), velocity (nv), and acceleration (nv) or
            efforts (n).
        """
        if self._core is None and not forward:
            return None
        if self._held is not None:
            motion = configuration, velocity, acceleration, wrench
            try:
                efforts = self._held(*motion, base=base)
            except KinematicsError:
                return None
        moved = None if base is None else rows_of(base)
        if moved is None and wrench is None and self._core is not None:
            out, call = np.empty(self._core), self._call_single
            try:
                if call is not None:
                    found = call(configuration, velocity, acceleration, forward, out.ravel())
                    return (out[0], out[1], out[2]) if found else None
                if acceleration.ndim == velocity.ndim == configuration.ndim == 1:
                    if self._call(
                        configuration[None], velocity[None], acceleration[None], efforts[None],
                        None, None, forward, out.reshape(1, -1),
                    ):  # fmt: skip
                        return out[0], out[1], out[2]
                    if self._otherwise is None:
                        return None
            except (AttributeError, TypeError):
                pass  # not single float64 states
        state = configuration, velocity, acceleration, efforts, wrench, moved
        blocks = self._of_batch(forward, state)
        if blocks is None and self._otherwise is not None:
            return self._otherwise._of_batch(forward, state)
        return blocks

    def at_rest(
        self, configuration: Any, efforts: Any, wrench: Any
    ) -> tuple[FloatArray, FloatArray] | None:
        """Differentiate the generalized forces at rest that constant efforts leave unbalanced.

        These are the forces that balance the loads, minus those that the efforts exert.

        Args:
            configuration, efforts, wrench: equilibrium without dry friction.

        Returns:
            Derivatives (..., nv, nv) of the generalized forces with respect to displacement, and
            derivatives (..., n, nv) of the driven joints' rates with respect to velocity; None if
            these cannot be computed.
        """
        if not self._of_loads:
            return None
        _, nv, _, n, _, _ = self._widths
        rest, out = np.zeros((1, nv)), np.empty((nv + n, nv))
        try:
            if efforts.ndim == 1 and wrench is None:
                state = configuration[None], rest, rest, efforts[None], None, None
                if self._call(*state, LOADS_AT_REST, out.reshape(1, -1)):
                    return out[:nv], out[nv:]
        except TypeError:
            pass  # not a float64 array
        batch = states(self._widths, (configuration, rest[0], rest[0], efforts, wrench, None))
        assert batch is not None  # the efforts are of these arguments
        found = evaluate_unchecked(self._call, (), batch, (nv + n, nv), LOADS_AT_REST)
        return None if found is None else (found[..., :nv, :], found[..., nv:, :])

    def _of_batch(self, forward: bool, state: tuple[ArrayLike | None, ...]) -> Blocks | None:
        _, nv, _, n, _, _ = self._widths
        rows, width = (nv, n) if forward else (n, nv)
        size = rows * (2 * nv + width)
        batch = states(self._widths, state)
        found = (
            None if batch is None else evaluate_unchecked(self._call, (), batch, (size,), forward)
        )
        if found is None:
            return None
        shape, end = found.shape[:-1], rows * nv
        return (
            found[..., :end].reshape(*shape, rows, nv),
            found[..., end : 2 * end].reshape(*shape, rows, nv),
            found[..., 2 * end :].reshape(*shape, rows, width),
        )
