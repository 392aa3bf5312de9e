# SPDX-License-Identifier: Apache-2.0

"""Functions of a mechanism that are not methods: its variants, its links, its momentum."""

from __future__ import annotations

from robodyn.algorithms import link_motion
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.dynamics.body_parameters import bodies_of_parameters
from robodyn.dynamics.parameters import OF_BODY, with_values
from robodyn.mechanism.mechanism import Mechanism


def with_gravity(mechanism: Mechanism, gravity: ArrayLike) -> Mechanism:
    """Return a copy of the mechanism with a different gravity vector.

    Args:
        mechanism: mechanism of any kind.
        gravity: (3,) [m/s^2] in the frame of its root; zeros if the drives compensate gravity
            themselves.

    Returns:
        A mechanism of the same kind.

    Raises:
        ModelError: the shape is wrong, or a value is not finite.
    """
    return mechanism._made(mechanism.model.with_gravity(gravity))


def with_parameters(mechanism: Mechanism, values: ArrayLike) -> Mechanism:
    """Return a copy of the mechanism with different parameter values.

    Args:
        mechanism: mechanism of any kind.
        values: (p,) in the order and units of `mechanism.parameters` [SI units].

    Returns:
        A mechanism of the same kind.

    Raises:
        InvalidInput: the number of values is wrong, a value is not finite, or the kind has no
            parameters.
        ModelError: no mechanism can have these values, for example negative friction.
    """
    own, solver = mechanism.parameters, mechanism.solver
    given = own.checked(values)
    numbers = given[: len(OF_BODY) * len(own.bodies)].reshape(-1, len(OF_BODY))
    bodies = solver.on_links(bodies_of_parameters(numbers))
    return mechanism._made(
        with_values(mechanism.model, bodies, solver.by_joint(own.of_joints(given)))
    )


def link_names(mechanism: Mechanism) -> tuple[str, ...]:
    """Return the names of a mechanism's links, then of the frames added to them."""
    return link_motion.link_names(mechanism)


def centroidal_momentum_matrix(mechanism: Mechanism, configuration: ArrayLike) -> FloatArray:
    """Compute the matrix that maps the generalized velocity to centroidal momentum.

    Orin and Goswami (2008). Rotors of actuators are omitted.

    Args:
        mechanism: mechanism of any kind.
        configuration: (..., nq).

    Returns:
        Matrix A (..., 6, nv), base frame: A @ velocity contains the linear momentum [kg m/s], then
        the angular momentum [kg m^2/s] about `center_of_mass`.

    Raises:
        InvalidInput: the configuration is invalid.
    """
    return link_motion.centroidal_momentum_matrix(mechanism, configuration)
