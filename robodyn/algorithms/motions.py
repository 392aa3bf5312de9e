# SPDX-License-Identifier: Apache-2.0

"""Conversions between the motions of a mechanism, of its joints and of its body.

Functions of a mechanism of any kind. The implementations here are for mechanisms whose joints are
all driven and whose configuration is one position for each; other kinds register their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import singledispatch
from typing import Any

import numpy as np

from robodyn.algorithms.motion import DrivenMotion, Motion
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_array
from robodyn.errors import InvalidInput, KinematicsError
from robodyn.numerics.turns import full_turns
from robodyn.poses import pose_difference

# Newton's method to a pose of the body: largest number of steps, longest step [m or rad], and the
# step that ends it.
NEAR_STEPS, LONGEST_STEP, NEAR = 30, 0.2, 1e-11


@singledispatch
def driven_motion(
    mechanism: Any, configuration: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike, /
) -> DrivenMotion:
    """Compute positions, rates and accelerations (..., n) of the driven joints.

    Args:
        mechanism: mechanism of any kind.
        configuration: (..., nq).
        velocity, acceleration: (..., nv).

    Returns:
        Motion of the driven joints [m or rad, per second, per second squared].
    """
    motion = configuration, velocity, acceleration
    return DrivenMotion(*(np.asarray(value, dtype=np.float64) for value in motion))


@singledispatch
def independent_motion(
    mechanism: Any, configuration: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike, /
) -> DrivenMotion:
    """Compute positions, rates and accelerations (..., m) of the independent joints.

    Args:
        mechanism: mechanism of any kind.
        configuration: (..., nq).
        velocity, acceleration: (..., nv).

    Returns:
        Motion of the independent joints [m or rad, per second, per second squared].
    """
    return driven_motion(mechanism, configuration, velocity, acceleration)


@singledispatch
def motion_of_joints(
    mechanism: Any,
    positions: ArrayLike,
    velocities: ArrayLike,
    accelerations: ArrayLike | None = None,
    guess: ArrayLike | None = None,
) -> Motion:
    """Compute the mechanism's motion from the motion of the driven joints (..., n).

    Along the last batch dimension, the search for each configuration starts at the previous one;
    the first starts at the guess, by default home. Accelerations are zero by default.

    Returns:
        Configurations (..., nq), velocities and accelerations (..., nv).

    Raises:
        UnderActuated: the mechanism has fewer driven joints than degrees of freedom.
        NoSolution: no configuration has these positions.
        SingularConfiguration: the rates do not determine the motion.
    """
    q = joint_values(mechanism, "positions", positions)
    qd = joint_values(mechanism, "velocities", velocities)
    if accelerations is None:
        return Motion(q, qd, np.zeros_like(qd))
    return Motion(q, qd, joint_values(mechanism, "accelerations", accelerations))


@singledispatch
def motion_of_independent(
    mechanism: Any,
    positions: ArrayLike,
    velocities: ArrayLike,
    accelerations: ArrayLike | None = None,
    guess: ArrayLike | None = None,
) -> Motion:
    """Compute the mechanism's motion from the motion of its independent joints (..., m).

    The remaining arguments are as for `motion_of_joints`.

    Returns:
        Configurations (..., nq), velocities and accelerations (..., nv).
    """
    return motion_of_joints(mechanism, positions, velocities, accelerations, guess)


@singledispatch
def motion_of_body(
    mechanism: Any,
    times: FloatArray,
    poses: FloatArray,
    twists: FloatArray,
    accels: FloatArray,
    start: ArrayLike,
) -> Motion:
    """Compute the mechanism's motion (K, ...) for a motion of its body.

    Args:
        times: (K,) [s], increasing.
        poses: (K, 7) of the body, base frame: x y z [m], qx qy qz qw.
        twists: (K, 6) [m/s, rad/s], linear before angular.
        accels: (K, 6) [m/s^2, rad/s^2], linear before angular.
        start: (nq,) configuration at, or near, the first pose.

    Returns:
        Configurations (K, nq), velocities and accelerations (K, nv).

    Raises:
        NoSolution: a pose is not reached from the one before by Newton's method alone; the error's
            `index` is the index of that pose.
        InvalidInput: shapes are wrong, or the mechanism has no inverse kinematics.
    """
    raise no_inverse_kinematics(mechanism)


@singledispatch
def motions_of_body(
    mechanism: Any,
    poses: FloatArray,
    twists: FloatArray,
    accels: FloatArray,
    starts: FloatArray,
    rows: Sequence[int] = (),
) -> Motion:
    """Compute the mechanism's motions (K, ...) for body motions, each near a configuration.

    Args:
        poses, twists, accels: (K, 7), (K, 6), (K, 6) of the body, base frame.
        starts: (K, nq) configurations near these poses.
        rows: components of pose and twist to attain, as many as there are degrees of freedom; by
            default the result of `determining_rows`. Only trees and closed loops use them.

    Returns:
        Configurations (K, nq), velocities and accelerations (K, nv); NaN where a pose is not
        reached from its start.
    """
    time, nv = np.zeros(1), mechanism.coordinates.velocity_size
    found = Motion(np.full_like(starts, np.nan), *np.full((2, len(starts), nv), np.nan))
    for k, start in enumerate(starts):
        at = slice(k, k + 1)
        with suppress(KinematicsError):
            motion = motion_of_body(mechanism, time, poses[at], twists[at], accels[at], start)
            for part, out in zip(motion, found, strict=True):
                out[k] = part[0]
    return found


@singledispatch
def configuration_near(mechanism: Any, pose: FloatArray, configuration: FloatArray) -> FloatArray:
    """Find a configuration (nq,) whose body is nearest to a pose, in bounded time.

    For control loops. Newton's method starts at a configuration (nq,), without a global search. The
    pose (7,) is in the base frame. For an unreachable pose the search ends where no step reduces
    the distance. In the distance, rotations are multiplied by the characteristic length.
    """
    weights = np.repeat([1.0, mechanism.characteristic_length], 3)
    here = configuration
    gap: FloatArray = weights * pose_difference(mechanism.body_pose(here), pose)
    for _ in range(NEAR_STEPS):
        jacobian = weights[:, None] * mechanism.twist_jacobian(here)
        step = np.asarray(np.linalg.lstsq(jacobian, gap, rcond=1e-9)[0], dtype=np.float64)
        longest = float(np.abs(step).max())
        if longest < NEAR:
            break
        step *= min(1.0, LONGEST_STEP / longest)
        while longest > NEAR:
            with suppress(KinematicsError):
                there = advance_near(mechanism, here, step)
                left: FloatArray = weights * pose_difference(mechanism.body_pose(there), pose)
                if left @ left < gap @ gap:
                    break
            step, longest = 0.5 * step, 0.5 * longest
        else:
            break
        here, gap = there, left
    return here


@singledispatch
def advance_near(mechanism: Any, configuration: FloatArray, displacement: FloatArray) -> FloatArray:
    """Displace a configuration (nq,) in bounded time, for control loops.

    Unlike `advance`, it does no global search.

    Raises:
        NoSolution: there is no such configuration, or Newton's method does not find it.
    """
    return mechanism.advance(configuration, displacement)


@singledispatch
def advance_along(
    mechanism: Any, configuration: FloatArray, displacements: FloatArray
) -> FloatArray:
    """Displace a configuration (nq,) by each of k displacements (k, nv), in bounded time.

    All displacements are from the given configuration. Each result is the initial guess of Newton's
    method for the next. The result (k, nq) ends before the first configuration that Newton's method
    does not find.
    """
    return mechanism.advance(configuration, displacements)


@singledispatch
def assemble_near(mechanism: Any, driven: FloatArray, configuration: FloatArray) -> FloatArray:
    """Find the configuration near a given one with given positions of the driven joints.

    The search takes bounded time, for control loops.

    Args:
        mechanism: mechanism of any kind.
        driven: (n,) positions of the driven joints [m or rad].
        configuration: (nq,) at which Newton's method starts.

    Returns:
        Configuration (nq,).

    Raises:
        NoSolution: there is no such configuration, or Newton's method does not find it.
    """
    return mechanism.assemble(driven, configuration)


@singledispatch
def state_of_readings(
    mechanism: Any,
    positions: FloatArray,
    velocities: FloatArray,
    guess: FloatArray | None = None,
    /,
) -> tuple[FloatArray, FloatArray]:
    """Compute configuration (nq,) and velocity (nv,) from readings (k,) of `measured_joints`.

    Readings are positions and velocities as the URDF measures them; they must be finite, which is
    not checked. The configuration is the one near the guess, by default home.

    Raises:
        NoSolution: no configuration has these readings.
        SingularConfiguration: the velocities do not determine the motion.
    """
    return positions, velocities


@singledispatch
def measured_joints(mechanism: Any) -> tuple[str, ...]:
    """Return names (k,) of the independent joints, whose readings determine the state."""
    return mechanism.independent_joints


def joint_difference(
    mechanism: Any, start: FloatArray, goal: FloatArray, names: Sequence[str] | None = None, /
) -> FloatArray:
    """Compute the differences from one set of joint positions to another, unchecked.

    The difference for a continuous joint is at most half a turn, see `wrapping_joints`.

    Args:
        start, goal: (..., k) [m or rad].
        names: (k,) of the joints; by default the driven ones.

    Returns:
        Differences `goal` - `start` (..., k) [m or rad].
    """
    way = np.asarray(goal - start)
    wraps = wrapping_driven(mechanism) if names is None else wrapping(mechanism, names)
    return way - full_turns(way) * wraps if any(wraps) else way


@singledispatch
def determining_rows(mechanism: Any) -> tuple[int, ...]:
    """Return indices of the body's twist components that determine the motion.

    The twist is linear before angular; there are as many indices as degrees of freedom. The result
    is empty if there are no such components.
    """
    return tuple(range(6)) if mechanism.coordinates.velocity_size == 6 else ()


@singledispatch
def configuration_rate(
    mechanism: Any, configuration: FloatArray, velocity: FloatArray
) -> FloatArray:
    """Compute the time derivative (nq,) of a configuration from its velocity, unchecked."""
    return velocity


@singledispatch
def project_onto_manifold(mechanism: Any, configuration: FloatArray) -> FloatArray:
    """Return a configuration (nq,) projected onto the configuration manifold.

    Quaternions are normalized and loops are closed. The argument itself is returned if the
    mechanism has neither.
    """
    return configuration


def wrapping(mechanism: Any, names: Sequence[str], /) -> tuple[bool, ...]:
    """Return for each joint name whether the joint is continuous (see `wrapping_joints`)."""
    return tuple(name in wrapping_joints(mechanism) for name in names)


def wrapping_driven(mechanism: Any) -> tuple[bool, ...]:
    """Return for each driven joint whether it is continuous (see `wrapping_joints`)."""
    found: tuple[bool, ...] = mechanism._wrapping_driven
    return found


def _wrapping_driven(mechanism: Any) -> tuple[bool, ...]:
    return wrapping(mechanism, mechanism.joint_names)


def wrapping_joints(mechanism: Any) -> frozenset[str]:
    """Return the names of continuous joints, whose positions a full turn apart are equal.

    The difference between two positions of such a joint is at most half a turn. Joints with limits,
    revolute joints without limits, and joints that others mimic count their turns.
    """
    return frozenset(getattr(mechanism.model, "wrapping_joints", ()))


def no_inverse_kinematics(mechanism: Any) -> InvalidInput:
    """Create the error for a kind of mechanism without inverse kinematics."""
    return InvalidInput(
        f"{mechanism.kind} mechanisms have no inverse kinematics that accept poses: give joint "
        "positions",
        value=mechanism.kind,
    )


def joint_values(mechanism: Any, name: str, value: ArrayLike) -> FloatArray:
    """Check an array (..., n) of values of the driven joints; return it as float64.

    Raises:
        InvalidInput: a shape is wrong or a value is not finite.
    """
    n = len(mechanism.joint_names)
    return as_array(name, value, (n,), f"{n} joints, rad or m")
