# SPDX-License-Identifier: Apache-2.0

"""Distance of a mechanism from singularities: singular values of its Jacobian, determinants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, singledispatch
from typing import Any, NamedTuple

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_scalar
from robodyn.numerics.singular_values import extreme_ratio

# As Gosselin and Angeles (1990) tell them apart.
TYPE_1, TYPE_2 = "type 1", "type 2"


class Singularity(NamedTuple):
    """One way of being singular.

    Attributes:
        name: `type 1`, where the moving body loses a freedom, or `type 2`, where it gains one that
            the motors cannot hold.
        meaning: what happens there, in a few words.
        number: from configurations (k, nq), neighbors on a way, to numbers (k,) that are zero
            where it is singular.
        is_signed: whether the numbers change sign there. The sign means something from one
            configuration to the next only; numbers without one are never negative.
        condition: from configurations (..., nq) and a characteristic length [m] to condition
            numbers (...), infinite where it is singular.
        takes_effort: whether efforts grow without bound near there.
        yields: from a configuration (nq,) and a length [m] to the twist (6,) with which the body
            gives way, angular rates times the length; None where that is the direction of the
            Jacobian's smallest singular value.
    """

    name: str
    meaning: str
    number: Callable[[FloatArray], FloatArray]
    is_signed: bool
    condition: Callable[[FloatArray, float], FloatArray]
    takes_effort: bool
    yields: Callable[[FloatArray, float], FloatArray] | None = None


@singledispatch
def scaled_jacobian(
    mechanism: Any, configuration: ArrayLike, /, characteristic_length: float = 1.0
) -> FloatArray:
    """The Jacobian (..., 6, k) in comparable numbers.

    Its angular rates are multiplied by a length [m] or, which is the same, moments divided.

    Raises:
        InvalidInput: wrong shape, not finite, or a length that is not positive.
    """
    length = as_scalar("characteristic_length", characteristic_length, "m", above=0.0)
    J = np.array(mechanism.jacobian(configuration))
    J[..., 3:, :] *= length
    return J


def singular_values(
    mechanism: Any, configuration: ArrayLike, /, characteristic_length: float = 1.0
) -> FloatArray:
    """(..., min(6, k)) of `scaled_jacobian`, largest first.

    Raises:
        InvalidInput: as for `scaled_jacobian`.
    """
    J = scaled_jacobian(mechanism, configuration, characteristic_length)
    return np.asarray(np.linalg.svd(J, compute_uv=False), dtype=np.float64)


def condition_number(
    mechanism: Any, configuration: ArrayLike, /, characteristic_length: float = 1.0
) -> FloatArray:
    """Ratio (...) of the extreme singular values; infinite if the smallest is zero.

    Raises:
        InvalidInput: as for `scaled_jacobian`.
    """
    return extreme_ratio(singular_values(mechanism, configuration, characteristic_length))


@singledispatch
def determinant(mechanism: Any, configuration: ArrayLike, /) -> FloatArray | None:
    """A number (...) that changes sign where no efforts suffice; None if they always do."""
    return None


@singledispatch
def side(mechanism: Any, configuration: ArrayLike, /) -> FloatArray | None:
    """A number (...) that changes sign on a path only at a singularity; None if not known.

    Two configurations where it has opposite signs are joined by no path without a singularity.
    """
    return None


@singledispatch
def singularities(mechanism: Any) -> Sequence[Singularity]:
    """Return the types of singularity of a mechanism, each with numbers that are zero there.

    Type 1 occurs if six joints move the tip, where det J is zero; see `Singularity`.
    """
    if len(mechanism.joint_names) != 6:
        return ()
    return (
        Singularity(
            TYPE_1,
            "the tip cannot move in every direction",
            partial(_tip_number, mechanism),
            True,
            mechanism.condition_number,
            takes_effort=False,
        ),
    )


def _tip_number(mechanism: Any, q: FloatArray) -> FloatArray:
    """Zero (k,) at singularities of type 1."""
    return np.asarray(np.linalg.det(mechanism.jacobian(q)))


@singledispatch
def loops_found(mechanism: Any) -> dict[str, Any]:
    """Return the analysis of closed loops, as data for JSON; empty for kinds without any.

    Tree coordinates, closures with their equations and rank, mobility, idle freedoms, joints that
    move while all driven ones are locked, and condition numbers at home.
    """
    return {}
