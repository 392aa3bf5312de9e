# SPDX-License-Identifier: Apache-2.0

"""Batches of states through the lanes of `kernels.lanes`; None where something is to be explained.

A state without an answer there is NaN in the results.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numba import types

from robodyn.mechanisms.closed_loop.kernels import lanes as kernels
from robodyn.mechanisms.common.batch_calls import CONFIGURATION, STATE, computed
from robodyn.numerics.array_arguments import MATRIX_OUT, VECTOR, direct
from robodyn.numerics.broadcasting import states
from robodyn.threads import once

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.closed_loop.packing import Packed


@once
def _entry(name: str) -> Callable[..., int]:
    return direct(getattr(kernels, name), VECTOR, VECTOR, *STATE, MATRIX_OUT)


def dynamics(
    name: str, packed: Packed, widths: tuple[int, int, int], count: int, *given: Any
) -> FloatArray | None:
    """Results (..., count) of `inverse_dynamics` or `forward_dynamics`.

    Args:
        name: of the kernel.
        packed: the mechanism.
        widths: of configuration, rates, and accelerations or efforts.
        count: of results.
        given: these three and a wrench or None.
    """
    values: tuple[ArrayLike | None, ...] = given
    batch = states((*widths, 6), values)
    if batch is None:
        return None
    return computed(_entry(name), packed.given, batch, (count,))


@once
def _of_configurations(name: str) -> Callable[..., int]:
    inputs: tuple[Any, ...] = {
        "energy": CONFIGURATION * 2,
        "motion": CONFIGURATION * 3,
        "frames": (*CONFIGURATION, types.int64),
        "displaced": (*CONFIGURATION * 2, types.float64, types.float64),
    }.get(name, CONFIGURATION)
    return direct(getattr(kernels, name), VECTOR, VECTOR, *inputs, MATRIX_OUT)


def configured(
    name: str,
    packed: Packed,
    widths: tuple[int, ...],
    core: tuple[int, ...],
    given: tuple[ArrayLike, ...],
    *settings: float,
) -> FloatArray | None:
    """Results (..., *core) of a kernel of `kernels.lanes` for valid arrays (..., width).

    Args:
        name: of the kernel.
        packed: the mechanism.
        widths: of the arrays.
        core: shape of one result.
        given: the arrays, the first of them closed configurations.
        settings: the same for all.
    """
    batch = states(widths, given)
    if batch is None:
        return None
    return computed(_of_configurations(name), packed.given, batch, core, *settings)
