# SPDX-License-Identifier: Apache-2.0

"""The ways in which a mechanism can be singular, as Gosselin and Angeles (1990) tell them apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from robodyn.arrays import FloatArray

TYPE_1, TYPE_2 = "type 1", "type 2"


class Singularity(NamedTuple):
    """One way of being singular.

    Attributes:
        name: `type 1`, where the moving body loses a freedom, or `type 2`, where it gains one that
            the motors cannot hold.
        meaning: what happens there, in a few words.
        number: from configurations (k, nq), neighbours on a way, to numbers (k,) that are zero
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
