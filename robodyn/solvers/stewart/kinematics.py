# SPDX-License-Identifier: Apache-2.0

"""Kinematics of a platform: legs, Jacobian, condition number, singularities."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, cast

import numpy as np
from numba import types

from robodyn.algorithms import conditioning
from robodyn.algorithms.conditioning import TYPE_2, Singularity
from robodyn.algorithms.motion import DrivenMotion, JointStates
from robodyn.algorithms.motors import LIMIT_TOLERANCE
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_pose, as_scalar
from robodyn.dynamics.batch_calls import (
    CONFIGURATION,
    POSE,
    Arguments,
    ArrayArgument,
    entry,
    evaluate_unchecked,
)
from robodyn.dynamics.single_calls import condition_of
from robodyn.errors import UnreachablePose
from robodyn.numerics.broadcasting import states
from robodyn.solvers.stewart.joints import LegMotion
from robodyn.solvers.stewart.kernels import kinematics as kernels
from robodyn.solvers.stewart.kernels import lanes
from robodyn.solvers.stewart.status import each_state, evaluate_batch

TWIST, ACCEL = ArrayArgument("twist", 6, "m/s, rad/s"), ArrayArgument("accel", 6, "m/s^2, rad/s^2")
PLACE, MOTION = Arguments(POSE), Arguments(POSE, TWIST, ACCEL)


def size(platform: Any) -> float:
    """Return the platform's size: its mean leg length at home [m].

    Without a home pose, it is the radius of the base.
    """
    if platform.structure.home is None:
        base = platform.solver.joint_centers[0]
        return float(np.linalg.norm(base - base.mean(axis=0), axis=1).mean())
    return max(float(platform.joint_positions(platform.home).mean()), 1e-3)


def joint_states(
    platform: Any, configuration: ArrayLike, velocity: ArrayLike | None = None
) -> JointStates:
    """Return names, positions and velocities of the legs' 18 URDF joints.

    Args:
        platform: the mechanism.
        configuration: (..., 7) poses.
        velocity: (..., 6) twists; zero by default.

    Returns:
        Names (18,), positions and velocities (..., 18) [rad or m, per s].
    """
    return platform.solver.leg_joints.of(platform.leg_motion(configuration, velocity))


def driven_motion(
    platform: Any, configuration: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike
) -> DrivenMotion:
    """Compute the legs' lengths [m], rates [m/s] and accelerations [m/s^2], (..., 6) each.

    The motion of the platform is given by poses (..., 7), twists and accelerations (..., 6).
    """
    legs = platform.leg_motion(configuration, velocity, acceleration)
    return DrivenMotion(legs.length, legs.rate, legs.acceleration)


def joint_positions(platform: Any, configuration: ArrayLike) -> FloatArray:
    """Compute leg lengths (..., 6) [m] at poses (..., 7), regardless of limits."""
    legs, values = (platform.solver.legs,), (configuration,)
    return each_state(kernels.leg_lengths, legs, PLACE, values, ((6,),))[0]


def joint_velocities(platform: Any, configuration: ArrayLike, velocity: ArrayLike) -> FloatArray:
    """Compute leg rates (..., 6) [m/s] for poses (..., 7) and twists (..., 6).

    They are the transposed force Jacobian (see `jacobian`) times the twist.
    """
    twist = TWIST.checked(velocity)
    return np.asarray((platform.jacobian(configuration) * twist[..., :, None]).sum(axis=-2))


def inverse_kinematics(platform: Any, pose: ArrayLike) -> FloatArray:
    """Compute leg lengths (..., 6) [m] for poses (..., 7), and check their limits.

    Raises:
        UnreachablePose: a leg's limits do not allow the length; `joint_positions` ignores the
            limits.
    """
    lengths, limits = platform.joint_positions(pose), platform.position_limits
    below = lengths < limits[:, 0] * (1.0 - LIMIT_TOLERANCE)
    above = lengths > limits[:, 1] * (1.0 + LIMIT_TOLERANCE)
    exceeds = np.argwhere(below | above)
    if not len(exceeds):
        return lengths
    *where, leg = (int(i) for i in exceeds[0])
    index = tuple(where)
    at = f" at element {where}" if where else ""
    raise UnreachablePose(
        f"unreachable pose{at}: leg {leg + 1} ({platform.joint_names[leg]}) would be "
        f"{lengths[index][leg]:.6g} m long; its limits are {limits[leg, 0]:g} to "
        f"{limits[leg, 1]:g} m",
        leg=leg + 1,
        value=np.asarray(pose)[index],
        index=index,
    )


def leg_motion(
    platform: Any, pose: ArrayLike, twist: ArrayLike | None = None, accel: ArrayLike | None = None
) -> LegMotion:
    """Compute the motion of the legs from that of the platform.

    Equations 1 to 9 of Dasgupta and Mruthyunjaya (1998), with the true spin of the universal joint.
    A leg with a spherical base joint does not spin about its own axis; the rates returned for it
    are those of a universal joint in its place.

    Args:
        platform: the mechanism.
        pose: (..., 7) in the base frame.
        twist, accel: (..., 6) velocity and acceleration of the platform; zero by default.

    Returns:
        Lengths, directions and their first and second derivatives; see `LegMotion`.

    Raises:
        ZeroLegLength, UniversalJointSingularity: a leg's direction or axes are undefined.
    """
    zero = np.zeros(6)
    motion = pose, zero if twist is None else twist, zero if accel is None else accel
    cores = ((6,), (6,), (6,), (6, 3), (6, 3), (6, 3), (6, 2))
    return LegMotion(
        *each_state(kernels.leg_motion, (platform.solver.legs,), MOTION, motion, cores)
    )


def body_pose(platform: Any, configuration: ArrayLike) -> FloatArray:
    """Return the pose (..., 7) of the platform: the configuration itself."""
    return as_pose("pose", configuration)


def jacobian(platform: Any, pose: ArrayLike) -> FloatArray:
    """Compute the force Jacobian H (..., 6, 6) at poses (..., 7): wrench = H @ forces.

    Column i is [s; q x s], with the direction s of leg i and the vector q from the platform's
    reference point to the leg's tip. H maps forces to a wrench, not a velocity to rates:
    `joint_jacobian`, its transpose, maps the twist to the legs' rates, and `twist_jacobian` the
    velocity to the platform's twist.
    """
    # the frames of the legs are not needed
    numbers = platform.solver.numbers
    return evaluate_batch(lanes.jacobian, numbers, PLACE, (pose,), (6, 6), needs_frames=False)


def joint_jacobian(platform: Any, configuration: ArrayLike) -> FloatArray:
    """Compute the Jacobian (..., 6, 6) of the leg rates at poses (..., 7).

    It maps the platform's twist to the rates [m/s] and is the transpose of `jacobian`.
    """
    return np.ascontiguousarray(np.swapaxes(platform.jacobian(configuration), -1, -2))


def twist_jacobian(platform: Any, configuration: ArrayLike) -> FloatArray:
    """Return identity matrices (..., 6, 6), as a platform's velocity is its twist."""
    shape = as_pose("pose", configuration).shape[:-1]
    return np.array(np.broadcast_to(np.eye(6), (*shape, 6, 6)))


def scaled_jacobian(
    platform: Any, pose: ArrayLike, characteristic_length: float = 1.0
) -> FloatArray:
    """Compute the force Jacobian (..., 6, 6) with its moment rows divided by a length [m].

    At poses (..., 7), it maps leg forces to force, and moment divided by the length.
    """
    length = as_scalar("characteristic_length", characteristic_length, "m", above=0.0)
    H = platform.jacobian(pose)
    H[..., 3:, :] /= length
    return H


def condition_number(
    platform: Any, pose: ArrayLike, characteristic_length: float = 1.0
) -> FloatArray:
    """Compute the condition number (...) of the force Jacobian at poses (..., 7).

    The Jacobian's moment rows are divided by `characteristic_length` [m]. A length of 1 gives the
    papers' condition number, which mixes N and N m; a length of the platform's size makes it
    independent of units. It is infinite at a singularity.
    """
    ratio = condition_of(platform.solver.condition, pose, characteristic_length)
    if ratio is not None:
        return ratio
    batch = states((7,), (pose,)) if isinstance(characteristic_length, (int, float)) else None
    if batch is not None and 0.0 < characteristic_length < np.inf:
        kernel = entry(lanes.condition_number, *CONFIGURATION, types.float64)
        found = evaluate_unchecked(
            kernel, platform.solver.numbers, batch, (1,), float(characteristic_length)
        )
        if found is not None:
            return found[..., 0]
    return conditioning.condition_number(platform, pose, characteristic_length)


def determinant(platform: Any, configuration: ArrayLike) -> FloatArray:
    """Compute the determinant (...) of the force Jacobian at poses (..., 7).

    It changes sign at singularities of type 2.
    """
    return np.asarray(np.linalg.det(platform.jacobian(configuration)))


def side(platform: Any, configuration: ArrayLike) -> FloatArray | None:
    """Compute a number (...) that changes sign only at a singularity.

    It is the determinant of the force Jacobian, which is continuous while no leg has length zero.
    Its sign identifies the side of the singular surface on which a pose lies.
    """
    return conditioning.determinant(platform, configuration)


def singularities(platform: Any) -> tuple[Singularity, ...]:
    """Return the descriptions of the platform's singularities: those of type 2.

    There the determinant of the force Jacobian is zero.
    """
    return (
        Singularity(
            TYPE_2,
            "the legs cannot hold the platform",
            cast(Callable[[FloatArray], FloatArray], partial(conditioning.determinant, platform)),
            True,
            platform.condition_number,
            takes_effort=True,
        ),
    )
