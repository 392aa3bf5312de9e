# SPDX-License-Identifier: Apache-2.0

"""Motions in the coordinates of the driven joints, as a joint_trajectory_controller takes them."""

from __future__ import annotations

from typing import NamedTuple

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_array
from robodyn.mechanisms.mechanism import Mechanism
from robodyn.trajectories.base import Trajectory
from robodyn.trajectories.sampled import SampledTrajectory


class JointMotion(NamedTuple):
    """How the driven joints move, each (..., n).

    Attributes:
        positions: [m or rad], of a platform the leg lengths.
        velocities: [m/s or rad/s].
        accelerations: [m/s^2 or rad/s^2].
        efforts: [N or N m] that the motion takes.
    """

    positions: FloatArray
    velocities: FloatArray
    accelerations: FloatArray
    efforts: FloatArray


def joint_motion(mechanism: Mechanism, trajectory: Trajectory, times: ArrayLike) -> JointMotion:
    """The driven joints' part in a motion at times (...) [s], efforts by inverse dynamics.

    Raises:
        InvalidInput: times that are not finite, or a trajectory of another kind of mechanism.
        KinematicsError: a configuration on the way without geometry, or a singular one.
    """
    motion = trajectory.sample(as_array("times", times, (), "s"))
    efforts = mechanism.inverse_dynamics(*motion)
    return JointMotion(*mechanism.driven_motion(*motion), efforts)


def trajectory_from_joints(
    mechanism: Mechanism,
    times: ArrayLike,
    positions: ArrayLike,
    velocities: ArrayLike,
    accelerations: ArrayLike | None = None,
    guess: ArrayLike | None = None,
) -> SampledTrajectory:
    """A mechanism's motion through knots of its driven joints, each solved from the one before.

    Args:
        mechanism: whose joints they are.
        times: (K,) [s] strictly increasing, from 0 or later.
        positions, velocities: (K, n) [m or rad], [m/s or rad/s] in the order of its joints; of a
            platform the leg lengths and their rates.
        accelerations: (K, n) [m/s^2 or rad/s^2], zero where not given.
        guess: (nq,) configuration near that of the first knot, such as the measured one; home by
            default.

    Raises:
        InvalidInput: shapes that do not match, not finite, times that do not increase.
        NoSolution: no configuration with the joint positions of a knot was reached from the one
            before.
        SingularConfiguration: the rates do not determine the motion at a knot.
    """
    n = len(mechanism.joint_names)
    size = (len(as_array("times", times, (), "s").reshape(-1)), n)
    unit = mechanism.nouns.joint_unit
    motion = mechanism.motion_of_joints(
        as_array("positions", positions, size, unit),
        as_array("velocities", velocities, size, f"{unit} per s"),
        None
        if accelerations is None
        else as_array("accelerations", accelerations, size, f"{unit} per s^2"),
        guess,
    )
    return SampledTrajectory(mechanism, times, motion)
