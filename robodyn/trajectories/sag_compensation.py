# SPDX-License-Identifier: Apache-2.0

"""Trajectories of motors whose elastic drives sag under the weight."""

from __future__ import annotations

import numpy as np

from robodyn.algorithms.elasticity import state_of_motors
from robodyn.arrays import FloatArray
from robodyn.mechanism.mechanism import Mechanism
from robodyn.trajectories.base import Motion, RowTrajectory, Trajectory, refuse_other

# Step [s] of the differences for the rates of the sag.
STEP = 1e-3


class SagCompensation(RowTrajectory):
    """Motion that motors follow so that elastic joints follow a given one.

    The motors lead by the static deflection of their drives under gravity, so that the drives hold
    the planned configuration. Deflections by accelerations are not compensated.

    Args:
        mechanism: mechanism with elastic drives, including its payload.
        trajectory: motion of the joints.

    Attributes:
        duration: [s].
        switching_times: [s] of the given motion.

    Raises:
        InvalidInput: a drive is rigid, or the trajectory belongs to another mechanism.
    """

    def __init__(self, mechanism: Mechanism, trajectory: Trajectory) -> None:
        refuse_other(mechanism, trajectory)
        self._stiffness = mechanism._drive_elasticity.stiffness
        self._mechanism, self._trajectory = mechanism, trajectory
        self.duration, self.switching_times = trajectory.duration, trajectory.switching_times

    def _rows(self, t: FloatArray) -> Motion:
        before, now, after = (self._lead(t + step) for step in (-STEP, 0.0, STEP))
        q, v, a = self._trajectory.sample(t)
        return Motion(
            self._mechanism.advance(q, now),
            v + (after - before) / (2.0 * STEP),
            a + (after - 2.0 * now + before) / STEP**2,
        )

    def _lead(self, t: FloatArray) -> FloatArray:
        """Return the displacement (N, nv) from the planned configurations to those of the motors.

        Raises:
            UnderActuated, KinematicsError: the drives do not hold a configuration.
        """
        m, q = self._mechanism, self._trajectory.sample(t).configuration
        motors = m.joint_positions(q) + m._smooth.gravity(q) / self._stiffness
        return m.difference(q, state_of_motors(m, motors, np.zeros_like(motors), q)[0])
