# SPDX-License-Identifier: Apache-2.0

"""Motions in the coordinates of the driven joints, as for a joint_trajectory_controller."""

from __future__ import annotations

from typing import NamedTuple

from robodyn.algorithms import motions
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_array
from robodyn.control.computed_torque import limited_efforts
from robodyn.mechanism.mechanism import Mechanism
from robodyn.presentation.nouns import nouns_of
from robodyn.trajectories import SampledTrajectory, Trajectory


class JointMotion(NamedTuple):
    """Positions, velocities, accelerations and efforts (..., n) of the driven joints.

    Attributes:
        positions: [m or rad]; the leg lengths of a platform.
        velocities: [m/s or rad/s] of the joints.
        accelerations: [m/s^2 or rad/s^2] of the joints.
        efforts: [N or N m] that the motion requires.
    """

    positions: FloatArray
    velocities: FloatArray
    accelerations: FloatArray
    efforts: FloatArray


def joint_motion(
    mechanism: Mechanism, trajectory: Trajectory, times: ArrayLike, *, is_limited: bool = False
) -> JointMotion:
    """Compute the motion of the driven joints, with efforts, at times (...) [s].

    The efforts are computed by inverse dynamics.

    Args:
        mechanism: mechanism with these joints.
        trajectory: motion of the mechanism.
        times: (...) [s] at which to evaluate the motion.
        is_limited: whether efforts beyond the drives' limits are reduced, see `reduced_efforts`.

    Returns:
        Positions, velocities, accelerations and efforts (..., n).

    Raises:
        InvalidInput: times are not finite, or the trajectory belongs to another kind of mechanism.
        KinematicsError: a configuration of the motion is singular, or the kinematics have no
        solution.
    """
    motion = trajectory.sample(as_array("times", times, (), "s"))
    efforts = mechanism.inverse_dynamics(*motion)
    driven = motions.driven_motion(mechanism, *motion)
    if is_limited:
        limits = mechanism.drives.effort_limits_at(driven.velocities)
        efforts = limited_efforts(mechanism, motion, efforts, limits)
    return JointMotion(*driven, efforts)


def trajectory_from_joints(
    mechanism: Mechanism,
    times: ArrayLike,
    positions: ArrayLike,
    velocities: ArrayLike,
    accelerations: ArrayLike | None = None,
    guess: ArrayLike | None = None,
) -> SampledTrajectory:
    """Convert knots of the driven joints into a trajectory of the mechanism.

    The configuration of each knot is solved from the previous one.

    Args:
        mechanism: mechanism with these joints.
        times: (K,) [s], strictly increasing, from 0 or later.
        positions, velocities: (K, n) [m or rad], [m/s or rad/s] in the order of
            `mechanism.joint_names`; for a platform the leg lengths and their rates.
        accelerations: (K, n) [m/s^2 or rad/s^2]; zero by default.
        guess: (nq,) configuration near that of the first knot, such as the measured one; home by
            default.

    Returns:
        The trajectory of the mechanism.

    Raises:
        InvalidInput: shapes do not match, values are not finite, or times do not increase.
        NoSolution: no configuration with the joint positions of a knot can be reached from the
            previous knot.
        SingularConfiguration: the velocities do not determine the motion at a knot.
    """
    n = len(mechanism.joint_names)
    size = (len(as_array("times", times, (), "s").reshape(-1)), n)
    unit = nouns_of(mechanism).joint_unit
    motion = motions.motion_of_joints(
        mechanism,
        as_array("positions", positions, size, unit),
        as_array("velocities", velocities, size, f"{unit} per s"),
        None
        if accelerations is None
        else as_array("accelerations", accelerations, size, f"{unit} per s^2"),
        guess,
    )
    return SampledTrajectory(mechanism, times, motion)
