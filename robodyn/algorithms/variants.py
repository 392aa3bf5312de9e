# SPDX-License-Identifier: Apache-2.0

"""Variants of a mechanism: other gravity, other parameters."""

from __future__ import annotations

from typing import Any

from robodyn.arrays import ArrayLike
from robodyn.dynamics.body_parameters import bodies_of_parameters
from robodyn.dynamics.parameters import OF_BODY, with_values


def with_gravity(mechanism: Any, gravity: ArrayLike) -> Any:
    """Return a mechanism with another gravity.

    Args:
        mechanism: mechanism of any kind.
        gravity: (3,) [m/s^2] in the frame of its root; zeros for drives that compensate gravity.

    Returns:
        A mechanism of the same kind.

    Raises:
        ModelError: the shape is wrong, or a value is not finite.
    """
    return mechanism._made(mechanism.model.with_gravity(gravity))


def with_parameters(mechanism: Any, values: ArrayLike) -> Any:
    """Return a mechanism with other values of its `parameters`.

    Args:
        mechanism: mechanism of any kind.
        values: (p,) in the order of `mechanism.parameters`.

    Returns:
        A mechanism of the same kind.

    Raises:
        InvalidInput: the number of values is wrong, a value is not finite, or the kind has no
            parameters.
        ModelError: no mechanism can have these values, such as friction below zero.
    """
    own, solver = mechanism.parameters, mechanism.solver
    given = own.checked(values)
    numbers = given[: len(OF_BODY) * len(own.bodies)].reshape(-1, len(OF_BODY))
    bodies = solver.on_links(bodies_of_parameters(numbers))
    return mechanism._made(
        with_values(mechanism.model, bodies, solver.by_joint(own.of_joints(given)))
    )
