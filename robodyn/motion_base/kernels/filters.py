# SPDX-License-Identifier: Apache-2.0

"""Discrete-time steps of linear filters, and rotation by roll, pitch and yaw."""

from __future__ import annotations

from typing import Any

from robodyn.numerics.compiler import batch_kernel
from robodyn.numerics.rotations import quaternion_from_rpy, rotate
from robodyn.numerics.vectors import store, vector


@batch_kernel
def filter_step(step: Any, coefficients: Any, values: Any, state: Any, held: Any, out: Any) -> None:
    """Advance the filters of several axes by one sample.

    The filters are 1 / (s^n + c_{n-1} s^{n-1} + ... + c_0).

    Args:
        step: (axes, n, n + 2) coefficients of the state, the last input and the change of the
            input, from which the new state results.
        coefficients: (axes, n) coefficients c_0 to c_{n-1}.
        values: (axes,) new inputs.
        state, held: (axes, n) states and (axes,) last inputs, updated in place.
        out: (axes, n + 1) output: the new state and the highest derivative.
    """
    count = state.shape[1]
    for axis in range(state.shape[0]):
        change, highest = values[axis] - held[axis], values[axis]
        for i in range(count):
            total = 0.0
            for j in range(count):
                total += step[axis, i, j] * state[axis, j]
            total += step[axis, i, count] * held[axis]
            out[axis, i] = total + step[axis, i, count + 1] * change
        for i in range(count):
            state[axis, i] = out[axis, i]
            highest -= coefficients[axis, i] * out[axis, i]
        out[axis, count], held[axis] = highest, values[axis]


@batch_kernel
def turn(rpy: Any, a: Any, out: Any) -> None:
    """Rotate a vector `a` (3,) by roll, pitch and yaw `rpy` (3,) [rad].

    `out` (3,) is the output, in non-rotating axes.
    """
    store(out, 0, rotate(quaternion_from_rpy(rpy[0], rpy[1], rpy[2]), vector(a, 0)))
