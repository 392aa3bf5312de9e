# SPDX-License-Identifier: Apache-2.0

"""Batches of an arm's states through the vector kernels.

`numbers` are the packed chain and gravity. All functions raise InvalidInput for arguments of the
wrong shape or not finite; `forward_dynamics` raises Unanswered where a joint has no inertia.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from robodyn.mechanisms.common.batch_calls import (
    CONFIGURATION,
    STATE,
    WRENCH,
    Argument,
    Arguments,
    answers,
    entry,
)
from robodyn.mechanisms.serial.kernels import lanes as kernels
from robodyn.threads import with_stack

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from robodyn.arrays import FloatArray

    Numbers = tuple[FloatArray, FloatArray]


def inverse_dynamics(
    numbers: Numbers,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    wrench: ArrayLike | None,
) -> FloatArray:
    """Efforts of motions."""
    names = "q", "qd", "qdd"
    return _dynamics(kernels.inverse_dynamics, numbers, names, (q, qd, qdd, wrench))


def forward_dynamics(
    numbers: Numbers,
    q: ArrayLike,
    qd: ArrayLike,
    tau: ArrayLike,
    wrench: ArrayLike | None,
) -> FloatArray:
    """Accelerations that efforts cause."""
    names = "q", "qd", "tau"
    return _dynamics(kernels.forward_dynamics, numbers, names, (q, qd, tau, wrench))


def mass_matrix(numbers: Numbers, q: ArrayLike) -> FloatArray:
    """Mass matrices."""
    n = len(numbers[0]) - 1
    return _of_configuration(kernels.mass_matrix, numbers, q, (n, n))


def jacobian(numbers: Numbers, q: ArrayLike) -> FloatArray:
    """Jacobians of the tip."""
    n = len(numbers[0]) - 1
    return _of_configuration(kernels.jacobian, numbers, q, (6, n))


def _dynamics(
    kernel: Any,
    numbers: Numbers,
    names: tuple[str, ...],
    values: tuple[ArrayLike | None, ...],
) -> FloatArray:
    n = len(numbers[0]) - 1
    return answers(_entry(kernel, n, *STATE), numbers, _arguments(n, *names), values, (n,))


def _of_configuration(
    kernel: Any, numbers: Numbers, q: ArrayLike, core: tuple[int, ...]
) -> FloatArray:
    n = len(numbers[0]) - 1
    return answers(_entry(kernel, n, *CONFIGURATION), numbers, _arguments(n, "q"), (q,), core)


@cache
def _arguments(n: int, *names: str) -> Arguments:
    """Arguments for an arm of n joints, with a wrench if there are several."""
    joints = [Argument(name, n, f"{n} joints, rad or m") for name in names]
    return Arguments(*joints, WRENCH) if len(names) > 1 else Arguments(*joints)


def _entry(kernel: Any, n: int, *inputs: Any) -> Any:
    compiled = entry(kernel, *inputs)
    return compiled if n <= kernels.MOST_JOINTS else with_stack(kernels.stack_needed(n), compiled)
