# SPDX-License-Identifier: Apache-2.0

"""Motions of a mechanism, of its joints and of its body, each as the others' functions.

Functions of a mechanism of any kind. What is written here holds where every joint is driven and a
configuration is one position for each; other kinds register their own.
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

# Of Newton's method to a pose of the body: steps, the longest of them [m or rad], and the one at
# which it ends.
NEAR_STEPS, LONGEST_STEP, NEAR = 30, 0.2, 1e-11


@singledispatch
def driven_motion(
    mechanism: Any, configuration: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike, /
) -> DrivenMotion:
    """Positions, rates and accelerations (..., n) of the driven joints."""
    motion = configuration, velocity, acceleration
    return DrivenMotion(*(np.asarray(value, dtype=np.float64) for value in motion))


@singledispatch
def independent_motion(
    mechanism: Any, configuration: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike, /
) -> DrivenMotion:
    """Positions, rates and accelerations (..., m) of the independent joints."""
    return driven_motion(mechanism, configuration, velocity, acceleration)


@singledispatch
def motion_of_joints(
    mechanism: Any,
    positions: ArrayLike,
    velocities: ArrayLike,
    accelerations: ArrayLike | None = None,
    guess: ArrayLike | None = None,
) -> Motion:
    """The mechanism's motion of its driven joints' (..., n): the inverse of `driven_motion`.

    Along the last batch dimension each configuration is found from the one before it, the
    first from the guess, by default home. Accelerations are zero where not given.

    Raises:
        UnderActuated: fewer joints are driven than it has freedoms.
        NoSolution: no configuration has these positions.
        SingularConfiguration: the rates do not determine the motion.
    """
    q, qd = (
        joint_values(mechanism, "positions", positions),
        joint_values(mechanism, "velocities", velocities),
    )
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
    """The mechanism's motion of its independent joints' (..., m); as `motion_of_joints`."""
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
    """The mechanism's motion (K, ...) that takes its body through a motion.

    Args:
        times: (K,) [s], increasing.
        poses, twists, accels: (K, 7), (K, 6), (K, 6) of the body, base frame.
        start: (nq,) configuration at, or near, the first pose.

    Raises:
        NoSolution: a pose that is not reached from the one before, by Newton's method alone;
            `index` says which.
        InvalidInput: wrong shapes, or a mechanism that cannot be asked for poses.
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
    """Compute motions (K, ...) of the body, each near a configuration, without a search.

    Args:
        poses, twists, accels: (K, 7), (K, 6), (K, 6) of the body, base frame.
        starts: (K, nq) configurations near these poses.
        rows: components of pose and twist to attain, as many as there are freedoms; by default
            those of `determining_rows`. Only trees and closed loops regard them.

    Returns:
        The mechanism's motions; NaN where a pose is not reached from its start.
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
    """Find the configuration whose body is nearest to a pose, in a control loop's time.

    By Newton's method from a configuration (nq,), without a search: for a pose out of reach it
    ends where no step leads nearer. Turns count by the characteristic length.
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
    """As `advance` of a single configuration, in a time that a control loop can give.

    Raises:
        NoSolution: there is no such configuration, or it is not found by the shortest way.
    """
    return mechanism.advance(configuration, displacement)


@singledispatch
def assemble_near(mechanism: Any, driven: FloatArray, configuration: FloatArray) -> FloatArray:
    """As `assemble` next to a configuration, in a time that a control loop can give.

    Raises:
        NoSolution: there is no such configuration, or it is not found by the shortest way.
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
    """Configuration (nq,) and velocity (nv,) of the readings (k,) of `measured_joints`.

    Readings are positions and velocities as the URDF measures them; finite, not checked. The
    configuration is the one near the guess, by default home.

    Raises:
        NoSolution: no configuration has these readings.
        SingularConfiguration: the velocities do not determine the motion.
    """
    return positions, velocities


@singledispatch
def measured_joints(mechanism: Any) -> tuple[str, ...]:
    """(k,) names of the joints whose readings determine the state: the independent ones."""
    return mechanism.independent_joints


def joint_difference(
    mechanism: Any, start: FloatArray, goal: FloatArray, names: Sequence[str] | None = None, /
) -> FloatArray:
    """Return how far joints are from positions to others; unchecked.

    A continuous joint takes the short way, see `wrapping_joints`.

    Args:
        start, goal: (..., k) [m or rad].
        names: (k,) of the joints; by default the driven ones.

    Returns:
        (..., k) [m or rad].
    """
    way = np.asarray(goal - start)
    wraps = wrapping_driven(mechanism) if names is None else wrapping(mechanism, names)
    return way - full_turns(way) * wraps if any(wraps) else way


@singledispatch
def determining_rows(mechanism: Any) -> tuple[int, ...]:
    """Return the components of the body's pose that determine it; none if they do not."""
    return tuple(range(6)) if mechanism.coordinates.velocity_size == 6 else ()


@singledispatch
def configuration_rate(
    mechanism: Any, configuration: FloatArray, velocity: FloatArray
) -> FloatArray:
    """Time derivative of a single configuration; unchecked."""
    return velocity


@singledispatch
def normalized(mechanism: Any, configuration: FloatArray) -> FloatArray:
    """A single configuration brought back onto its manifold after a step; unchecked."""
    return configuration


def wrapping(mechanism: Any, names: Sequence[str], /) -> tuple[bool, ...]:
    """Return whether each of these joints is one of `wrapping_joints`."""
    return tuple(name in wrapping_joints(mechanism) for name in names)


def wrapping_driven(mechanism: Any) -> tuple[bool, ...]:
    """Whether each driven joint is one of `wrapping_joints`."""
    return wrapping(mechanism, mechanism.joint_names)


def wrapping_joints(mechanism: Any) -> frozenset[str]:
    """Names of the joints whose positions a full turn apart are the same: continuous ones.

    The difference of two positions of such a joint is the short way, at most half a turn. A
    joint with limits, a revolute joint without, and one that others follow count their turns.
    """
    return frozenset(getattr(mechanism.model, "wrapping_joints", ()))


def no_inverse_kinematics(mechanism: Any) -> InvalidInput:
    """The error of a kind that goes to no pose of its body."""
    return InvalidInput(
        f"{mechanism.kind} mechanisms have no inverse kinematics here: give joint positions, not "
        "poses",
        value=mechanism.kind,
    )


def joint_values(mechanism: Any, name: str, value: ArrayLike) -> FloatArray:
    """An array (..., n) with a number for each driven joint.

    Raises:
        InvalidInput: a wrong shape, or not finite.
    """
    n = len(mechanism.joint_names)
    return as_array(name, value, (n,), f"{n} joints, rad or m")
