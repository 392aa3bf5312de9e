# SPDX-License-Identifier: Apache-2.0

"""Contributions of rotors and dry friction to the leg forces, term by term.

The compiled dynamics contain their sum; this is an independent computation. A rotor of axial
inertia J turns by `ratio` per meter of its leg, in addition to the leg's angular velocity W: its
energy is J (W.s + ratio L')^2 / 2, its spin momentum relative to the leg J ratio L' s.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.poses import rotation_matrix


class ActuatorTerms(NamedTuple):
    """Terms of the actuator forces that rotors and dry friction cause, (..., 6) [N] each.

    A rotor of axial inertia J turns by `ratio` per meter of its leg, which has the length L, the
    direction s and the angular velocity W.

    Attributes:
        reflected: J ratio^2 L'', due to the reflected rotor inertia.
        axial: J ratio d(W.s)/dt, because the rotor also turns with the leg about its axis.
        spin_up: due to the moment that accelerates the rotor's spin and acts back on the leg.
        gyroscopic: due to the gyroscopic moment of the spinning rotor in a swinging leg.
        friction: Coulomb and Stribeck friction at the screw.
    """

    reflected: FloatArray
    axial: FloatArray
    spin_up: FloatArray
    gyroscopic: FloatArray
    friction: FloatArray

    @property
    def total(self) -> FloatArray:
        """Sum (..., 6) [N] of all terms."""
        return np.asarray(sum(self))


def actuator_terms(
    platform: Any, pose: ArrayLike, twist: ArrayLike, accel: ArrayLike
) -> ActuatorTerms:
    """Compute the rotor and friction terms of the actuator forces for a motion.

    Args:
        platform: the mechanism.
        pose: (..., 7) platform in base frame.
        twist: (..., 6) [m/s, rad/s].
        accel: (..., 6) [m/s^2, rad/s^2].

    Returns:
        The terms, (..., 6) [N] each.
    """
    legs = platform.leg_motion(pose, twist, accel)
    s, W, A = legs.direction, legs.angular_velocity, legs.angular_acceleration
    actuators = platform.actuators
    reflected = np.array([actuator.reflected_inertia for actuator in actuators])
    spin = np.array([actuator.spin_inertia for actuator in actuators])

    def forces(moments: FloatArray) -> FloatArray:
        wrench = _wrench_of(platform, pose, legs, moments)
        return np.asarray(np.linalg.solve(platform.jacobian(pose), wrench[..., None])[..., 0])

    friction = [actuator.dry_friction(legs.rate[..., i]) for i, actuator in enumerate(actuators)]
    return ActuatorTerms(
        reflected * legs.acceleration,
        spin * (A * s).sum(axis=-1),
        forces((spin * legs.acceleration)[..., None] * s),
        forces((spin * legs.rate)[..., None] * np.cross(W, s)),
        np.stack(friction, axis=-1),
    )


def _wrench_of(platform: Any, pose: ArrayLike, legs: Any, moments: FloatArray) -> FloatArray:
    """Compute the wrench (..., 6) on the platform that moments (..., 6, 3) on the legs cause.

    It follows from the virtual work of the moments. A leg with the direction s, the length L and
    the tip velocity S' has the angular velocity (s x S' + s (c.(s x S')) / |k x s|) / L: eq. 6 of
    Dasgupta (1998) with the spin of the universal joint, with its fixed axis k, its carried axis y
    and c = k x y.
    """
    s = legs.direction
    k = platform.structure.universal_axes
    k_x_s = np.cross(k, s)
    sine = np.linalg.norm(k_x_s, axis=-1, keepdims=True)
    c = np.cross(k, k_x_s / sine)
    along = (moments * s).sum(axis=-1, keepdims=True) / sine
    force = np.cross(moments + along * c, s) / legs.length[..., None]
    q = platform.solver.joint_centers[1] @ np.swapaxes(rotation_matrix(pose), -1, -2)
    return np.concatenate([force.sum(axis=-2), np.cross(q, force).sum(axis=-2)], axis=-1)
