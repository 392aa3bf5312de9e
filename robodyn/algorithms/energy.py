# SPDX-License-Identifier: Apache-2.0

"""Energy and Coriolis matrix of a mechanism."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from robodyn.algorithms.link_motion import states_of
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_array
from robodyn.model.spring import PointSpring
from robodyn.poses import matrix_from_pose, pose_difference, pose_from_matrix


class Energy(NamedTuple):
    """Kinetic and potential energy (...) [J]; potential energy is 0 at the base's origin."""

    kinetic: FloatArray
    potential: FloatArray


def energy(mechanism: Any, configuration: ArrayLike, velocity: ArrayLike, /) -> Energy:
    """Compute the kinetic and the potential energy.

    Args:
        configuration: (..., nq).
        velocity: (..., nv).

    Returns:
        Kinetic energy (...) [J], including motor rotors, and potential energy (...) [J] of
        gravity, 0 at the base's origin, and of springs, 0 at rest.

    Raises:
        InvalidInput: a shape is wrong or a value is not finite.
        KinematicsError: as for `mass_matrix`.
    """
    shape, (q, v) = states_of(mechanism, configuration, velocity)
    in_springs = spring_energy(mechanism, q.reshape(*shape, q.shape[-1]))
    if not shape:
        q, v = q[0], v[0]
        kinetic = 0.5 * v.dot(mechanism.mass_matrix(q).dot(v))
        potential = -mechanism._links.mass * mechanism.center_of_mass(q).dot(
            mechanism.model.gravity
        )
        return Energy(np.asarray(kinetic), np.asarray(potential + in_springs))
    q, v = q.reshape(*shape, q.shape[-1]), v.reshape(*shape, mechanism._links.nv)
    momenta = (mechanism.mass_matrix(q) @ v[..., None])[..., 0]
    potential = -mechanism._links.mass * (mechanism.center_of_mass(q) @ mechanism.model.gravity)
    kinetic = 0.5 * (v * momenta).sum(axis=-1)
    return Energy(np.asarray(kinetic), np.asarray(potential + in_springs))


def spring_energy(mechanism: Any, configuration: FloatArray) -> FloatArray:
    """Compute the potential energy (...) [J] of the springs.

    The configurations (..., nq) are not checked. Each spring has no energy at its rest position.
    """
    total = np.zeros(configuration.shape[:-1])
    if mechanism._springless is not mechanism:
        springs = {j.name: j.spring for j in mechanism.model.joints if j.spring.acts}
        for spring in mechanism.model.springs:
            total += spring.energy(spring_lengths(mechanism, configuration, spring))
        for closure in mechanism.model.closures:
            if closure.stiffness:
                first, second = (
                    pose_from_matrix(
                        matrix_from_pose(mechanism.link_pose(configuration, link)) @ place.matrix
                    )
                    for link, place, _ in closure.ends
                )
                turn = pose_difference(first, second)[..., 3:]
                total += 0.5 * closure.stiffness * (turn**2).sum(axis=-1)
        states = mechanism.joint_states(configuration)
        for name, position in zip(states.names, np.moveaxis(states.positions, -1, 0), strict=True):
            if name in springs:
                total += springs[name].energy(position)
    return total


def spring_lengths(mechanism: Any, configuration: FloatArray, spring: PointSpring) -> FloatArray:
    """Compute the length (...) [m] of a spring between two points at configurations (..., nq)."""
    start, end = (
        matrix_from_pose(mechanism.link_pose(configuration, link))[..., :3, :] @ [*point, 1.0]
        for link, point in spring.ends
    )
    return np.asarray(np.linalg.norm(end - start, axis=-1))


def coriolis_matrix(mechanism: Any, configuration: ArrayLike, velocity: ArrayLike, /) -> FloatArray:
    """Compute the Coriolis matrix C (..., nv, nv) with skew-symmetric dM/dt - 2 C.

    The velocity terms of the bias are C v for the velocity v, and M is the mass matrix. C is half
    the derivative of the velocity terms with respect to the velocity; in independent coordinates it
    consists of Christoffel symbols. An angular velocity is not the derivative of coordinates: its
    contribution to the velocity terms (Boltzmann-Hamel equations) is a cross product with the
    angular momentum, which is itself skew-symmetric.

    Raises:
        InvalidInput, KinematicsError: as for `bias`.
    """
    nv = mechanism.coordinates.velocity_size
    q = mechanism.coordinates.checked("configuration", configuration)
    v = as_array("velocity", velocity, (nv,))
    around = v[..., None, :] + np.concatenate([np.eye(nv), -np.eye(nv)])
    values = mechanism._frictionless.bias(q[..., None, :], around)
    C = np.swapaxes(0.25 * (values[..., :nv, :] - values[..., nv:, :]), -1, -2)
    for turning in mechanism.coordinates.rotations:
        turned = mechanism.mass_matrix(q)[..., turning, :]
        omega, momentum = v[..., turning, None], turned @ v[..., None]
        C[..., turning, :] += 0.5 * np.cross(omega, turned, axis=-2)
        C[..., turning, turning] += 0.5 * np.cross(momentum, np.eye(3), axis=-2)
    return np.ascontiguousarray(C)
