# SPDX-License-Identifier: Apache-2.0

"""Distance from singularities: singular values, condition number and determinants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, singledispatch
from typing import Any, NamedTuple

import numpy as np

from robodyn.arrays import ArrayLike, BoolArray, FloatArray
from robodyn.checks import as_scalar
from robodyn.numerics.singular_values import extreme_ratio

# Names by Gosselin and Angeles (1990).
TYPE_1, TYPE_2 = "type 1", "type 2"

# Condition number above which a configuration counts as singular.
SINGULAR = 1e12


def condition_text(value: float) -> str:
    """Format a condition number for messages; `infinite` if it exceeds 1e12.

    At a singularity, only rounding error makes it finite.
    """
    return "infinite" if value > SINGULAR else f"{value:.4g}"


class Singularity(NamedTuple):
    """Type of singularity, with functions that detect it at configurations.

    Attributes:
        name: `type 1`, at which the moving body loses a degree of freedom, or `type 2`, at which it
            gains one that the motors cannot resist.
        meaning: description in a few words.
        number: function from configurations (k, nq), neighbors on a path, to a measure (k,), such
            as a determinant, that is zero at a singularity.
        is_signed: whether the measure changes sign there. The sign is meaningful only between
            neighboring configurations; a measure without a sign is never negative.
        condition: function from configurations (..., nq) and a characteristic length [m] to
            condition numbers (...), infinite at a singularity.
        takes_effort: whether efforts grow without bound near it.
        yields: function from a configuration (nq,) and a length [m] to the twist (6,) of the body
            that the motors resist least, angular rates times the length; None if it is the
            direction of the Jacobian's smallest singular value.
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
    """Compute the mechanism's Jacobian (..., 6, k), with its angular rows in lengths.

    The Jacobian is that of `Mechanism.jacobian`. Angular velocities are multiplied by a
    characteristic length [m]; a platform's matrix has moments instead, which are divided by it.

    Raises:
        InvalidInput: the shape is wrong, a value is not finite, or a length is not positive.
    """
    length = as_scalar("characteristic_length", characteristic_length, "m", above=0.0)
    J = np.array(mechanism.jacobian(configuration))
    J[..., 3:, :] *= length
    return J


def singular_values(
    mechanism: Any, configuration: ArrayLike, /, characteristic_length: float = 1.0
) -> FloatArray:
    """Compute the singular values (..., min(6, k)) of the scaled Jacobian, largest first.

    Raises:
        InvalidInput: as for `scaled_jacobian`.
    """
    J = scaled_jacobian(mechanism, configuration, characteristic_length)
    return np.asarray(np.linalg.svd(J, compute_uv=False), dtype=np.float64)


def condition_number(
    mechanism: Any, configuration: ArrayLike, /, characteristic_length: float = 1.0
) -> FloatArray:
    """Compute the condition number (...) of the scaled Jacobian; infinite if it is singular.

    Raises:
        InvalidInput: as for `scaled_jacobian`.
    """
    return extreme_ratio(singular_values(mechanism, configuration, characteristic_length))


@singledispatch
def determinant(mechanism: Any, configuration: ArrayLike, /) -> FloatArray | None:
    """Compute the determinant (...) of the map from the velocity to driven joint rates.

    It changes sign at singularities of type 2, where the drives lose control of the mechanism. The
    result is None if the map is not square, or if this kind of mechanism does not define it.
    """
    return None


@singledispatch
def side(mechanism: Any, configuration: ArrayLike, /) -> FloatArray | None:
    """Compute a measure (...) whose sign changes only at singularities; None if unknown.

    Every path between two configurations with opposite signs passes through a singularity.
    """
    return None


def is_on_side_of(mechanism: Any, configurations: FloatArray, reference: FloatArray) -> BoolArray:
    """Return whether configurations are on the same side of singularities as a reference.

    The result has one boolean for each configuration; it is true if the kind of mechanism does not
    define sides.
    """
    lead = configurations.shape[:-1]
    begun = side(mechanism, reference)
    there = side(mechanism, configurations) if configurations.size else None
    if begun is None or there is None:
        return np.ones(lead, dtype=bool)
    return np.asarray(there * begun > 0.0).reshape(lead)


@singledispatch
def singularities(mechanism: Any) -> Sequence[Singularity]:
    """Return the types of singularity of a mechanism, with functions that detect them.

    By default, mechanisms with six driven joints have type 1, where det J is zero; see
    `Singularity`.
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
    """Compute the tip Jacobian's determinants (k,), zero at singularities of type 1."""
    return np.asarray(np.linalg.det(mechanism.jacobian(q)))


@singledispatch
def loop_analysis(mechanism: Any) -> dict[str, Any]:
    """Return an analysis of the closed loops as JSON data; empty for kinds without loops.

    The data contain tree coordinates, closures with their equations and rank, mobility, idle
    degrees of freedom, joints that can move while all driven ones are locked, and two condition
    numbers at home: of the maps from joint motion to tip motion, and to driven joints' rates.
    """
    return {}
