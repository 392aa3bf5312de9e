# SPDX-License-Identifier: Apache-2.0

"""Regressor of an arm's efforts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.numerics.array_arguments import (
    MATRIX,
    ROWS_OF_ANY_STRIDE,
    VECTOR,
    BorrowedArrayType,
    direct,
)
from robodyn.solvers.serial.kernels import regressor as kernel
from robodyn.threads import cached_threadsafe


def regressor(arm: Any, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> FloatArray:
    """Compute the regressor Y (..., n, p) of an arm: efforts = Y @ parameters.values.

    Y does not depend on the values of the p inertial and joint parameters.

    Args:
        arm: the arm.
        q, qd, qdd: (..., n) motion of the joints.

    Returns:
        Y (..., n, p).

    Raises:
        InvalidInput: a shape is wrong or a value is not finite.
    """
    shape, states = arm.solver.flat(q=q, qd=qd, qdd=qdd)
    numbers = arm.solver.regressor_numbers
    out = np.empty((len(states[0]), arm.n, 10 * arm.n + len(numbers[3])))
    _entry()(*numbers, *states, out)
    return out.reshape(*shape, *out.shape[1:])


@cached_threadsafe
def _entry() -> Callable[..., int]:
    numbers = MATRIX, VECTOR, MATRIX, MATRIX
    return direct(
        kernel.regressor, *numbers, *(ROWS_OF_ANY_STRIDE,) * 3, BorrowedArrayType(3, writable=True)
    )
