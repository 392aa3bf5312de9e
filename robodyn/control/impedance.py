# SPDX-License-Identifier: Apache-2.0

"""Impedance control: a mechanism that responds to a push like a spring with a damper."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.control.computed_torque import gain
from robodyn.mechanism.mechanism import Mechanism
from robodyn.poses import left_jacobian, pose_difference
from robodyn.trajectories.base import Trajectory


class Impedance:
    """Impedance controller that keeps the body's own inertia (PD+, Paden and Panja 1988).

    A spring and a damper in the base frame connect the body to the planned pose. The feedforward
    efforts of the plan are

        M(q) a_d + C(q, v) v_d + g(q)

    with the mass matrix M, the Coriolis matrix C and gravity g at the measured configuration q and
    velocity v, and the planned velocity v_d and acceleration a_d. The term C v_d in place of C v
    ensures that power enters only through the contact; if the plan is at rest, the controlled
    mechanism is passive in any contact. Friction is not compensated.

    Args:
        mechanism: model of the controller.
        stiffness: [N/m, N m/rad] of translation and rotation; one number, (6,) or (6, 6).
        damping: [N s/m, N m s/rad] of translation and rotation; one number, (6,) or (6, 6).

    Raises:
        InvalidInput: gains are not positive (a matrix: not symmetric positive definite).
    """

    def __init__(self, mechanism: Mechanism, stiffness: ArrayLike, damping: ArrayLike) -> None:
        self.mechanism = mechanism
        self.stiffness = gain("stiffness", stiffness, 6)
        self.damping = gain("damping", damping, 6)

    def __call__(
        self, time: float, configuration: FloatArray, velocity: FloatArray, trajectory: Trajectory
    ) -> FloatArray:
        """Compute the efforts (n,) [N or N m] for a state measured at `time` [s].

        The state is a configuration (nq,) and a velocity (nv,); `trajectory` is the planned motion.

        Raises:
            KinematicsError: the mechanism has no solution at this configuration.
        """
        m, planned = self._frictionless, trajectory.sample(time)
        spring = self.wrench(configuration, velocity, planned.configuration, planned.velocity)
        rest = np.zeros_like(velocity)

        def efforts(v: FloatArray, a: FloatArray, load: FloatArray | None = None) -> FloatArray:
            return m.inverse_dynamics(configuration, v, a, load)

        # C(q, v) v_d, from terms that are quadratic in the velocity
        coupled = efforts(velocity + planned.velocity, rest) - efforts(velocity, rest)
        coupled += efforts(rest, rest) - efforts(planned.velocity, rest)
        return efforts(rest, planned.acceleration, -spring) + 0.5 * coupled

    def wrench(
        self,
        configuration: FloatArray,
        velocity: FloatArray,
        planned: FloatArray,
        planned_velocity: FloatArray,
    ) -> FloatArray:
        """Compute the wrench that spring and damper exert on the body.

        Args:
            configuration: (nq,) measured configuration.
            velocity: (nv,) measured velocity.
            planned: (nq,) planned configuration.
            planned_velocity: (nv,) planned velocity.

        Returns:
            Wrench (6,) [N, N m] about the reference point of the body, base frame.
        """
        m = self.mechanism
        away = pose_difference(m.body_pose(configuration), m.body_pose(planned))
        rate = m.twist_jacobian(planned) @ planned_velocity
        rate = rate - m.twist_jacobian(configuration) @ velocity
        pull = self.stiffness @ away
        # gradient of the spring's energy; for unequal stiffnesses not along the rotation axis
        pull[3:] = np.linalg.solve(left_jacobian(away[3:]), pull[3:])
        return np.asarray(pull + self.damping @ rate)

    @cached_property
    def _frictionless(self) -> Mechanism:
        return self.mechanism.without_friction()
