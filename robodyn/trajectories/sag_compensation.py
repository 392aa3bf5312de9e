# SPDX-License-Identifier: Apache-2.0

"""Trajectories of motors that compensate the sag of elastic drives under gravity."""

from __future__ import annotations

import numpy as np

from robodyn.algorithms.elasticity import state_of_motors
from robodyn.arrays import FloatArray
from robodyn.mechanism.mechanism import Mechanism
from robodyn.trajectories.base import Motion, RowTrajectory, Trajectory, refuse_other

# Step [s] of the finite differences for the rates of the sag.
STEP = 1e-3


class SagCompensation(RowTrajectory):
    """Trajectory of motors that makes the joints of elastic drives follow a given one.

    The motors lead by the static deflection of their drives under gravity, so that the drives hold
    the planned configuration. Deflections by accelerations are not compensated.

    Args:
        mechanism: mechanism with elastic drives, including its payload.
        trajectory: motion of the joints.

    Attributes:
        duration: [s] duration of the given motion.
        switching_times: [s] switching times of the given motion.

    Raises:
        InvalidInput: a drive is rigid, or the trajectory belongs to another mechanism.
    """

    def __init__(self, mechanism: Mechanism, trajectory: Trajectory) -> None:
        refuse_other(mechanism, trajectory)
        _ = mechanism._drive_elasticity  # raises if a drive is rigid
        self._mechanism, self._trajectory = mechanism, trajectory
        self.duration, self.switching_times = trajectory.duration, trajectory.switching_times

    def _rows(self, t: FloatArray) -> Motion:
        return motion_of_motors(self._mechanism, self._trajectory.sample(t))


def motion_of_motors(mechanism: Mechanism, motion: Motion) -> Motion:
    """Compute the motors' motion for a motion of the joints of elastic drives.

    The motors lead by the static deflection of the drives under gravity.

    Returns:
        Motion of the mechanism with its driven joints at the positions of the motors.

    Raises:
        InvalidInput: a drive is rigid.
        UnderActuated, KinematicsError: the drives do not hold a configuration.
    """
    q, v, a = motion
    before, now, after = (
        _motor_displacement(mechanism, mechanism.advance(q, step * (v + 0.5 * step * a)))
        for step in (-STEP, 0.0, STEP)
    )
    return Motion(
        mechanism.advance(q, now),
        v + (after - before) / (2.0 * STEP),
        a + (after - 2.0 * now + before) / STEP**2,
    )


def _motor_displacement(mechanism: Mechanism, q: FloatArray) -> FloatArray:
    """Return the displacement (..., nv) from the joint to the motor configuration."""
    stiffness = mechanism._drive_elasticity.stiffness
    motors = mechanism.joint_positions(q) + mechanism._smooth.gravity(q) / stiffness
    return mechanism.difference(q, state_of_motors(mechanism, motors, np.zeros_like(motors), q)[0])
