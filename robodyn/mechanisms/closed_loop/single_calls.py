# SPDX-License-Identifier: Apache-2.0

"""Entry points of the kernels for single states, compiled or read from disk on first use."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from numba import types

from robodyn.mechanisms.closed_loop.kernels import entries as kernels
from robodyn.mechanisms.common.single_calls import Single, UncheckedSingle
from robodyn.numerics.array_arguments import (
    MATRIX,
    MATRIX_OUT,
    VECTOR,
    VECTOR_OR_NONE,
    VECTOR_OUT,
    direct,
)
from robodyn.threads import once

if TYPE_CHECKING:
    from collections.abc import Callable

    from robodyn.mechanisms.closed_loop.packing import Packed

_MECHANISM = (VECTOR, VECTOR)


@once
def _entry(name: str) -> Callable[..., Any]:
    rest: tuple[Any, ...] = {
        "equations": (VECTOR, VECTOR_OUT, VECTOR_OUT),
        "tree_state": (VECTOR, VECTOR, MATRIX_OUT),
        "inverse_dynamics": (
            VECTOR, VECTOR, VECTOR, VECTOR_OR_NONE, types.boolean, VECTOR_OUT,
        ),
        "forward_dynamics": (
            VECTOR, VECTOR, VECTOR, VECTOR_OR_NONE, types.boolean, VECTOR_OUT,
        ),
        "free_efforts": (
            VECTOR, VECTOR, VECTOR, VECTOR_OR_NONE, types.boolean, VECTOR_OUT,
        ),
        "tree_efforts": (VECTOR, VECTOR, VECTOR, VECTOR_OR_NONE, VECTOR_OUT, MATRIX_OUT),
        "jacobian": (VECTOR, types.boolean, MATRIX_OUT),
        "energy": (VECTOR, VECTOR, types.boolean, VECTOR_OUT),
        "displace": (VECTOR_OUT, VECTOR, types.float64),
        "displace_all": (
            MATRIX_OUT, MATRIX, types.boolean, types.float64, types.float64,
        ),
        "mass_matrix": (VECTOR, types.boolean, MATRIX_OUT),
        "tangent": (VECTOR, MATRIX_OUT),
        "motion": (VECTOR, VECTOR, VECTOR, VECTOR_OUT),
        "assemble": (VECTOR_OUT, types.float64, types.int64),
        "advance": (VECTOR_OUT, VECTOR),
        "configuration_rate": (VECTOR, VECTOR, VECTOR_OUT),
    }[name]  # fmt: skip
    return direct(getattr(kernels, name), *_MECHANISM, *rest)


def entry(name: str, packed: Packed) -> Callable[..., Any]:
    """A kernel of `kernels.entries` with a mechanism's numbers among its arguments."""
    return partial(_entry(name), *packed.given)


def dynamics(packed: Packed) -> Single:
    """Dynamics of single states."""
    names = ("inverse_dynamics", "forward_dynamics", "mass_matrix")
    return Single(*(entry(name, packed) for name in names))


__all__ = ["Single", "UncheckedSingle", "dynamics", "entry"]
