# SPDX-License-Identifier: Apache-2.0

"""Estimate of the external wrench from motion and efforts."""

from __future__ import annotations

import math

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.base_motion import BaseMotion
from robodyn.checks import as_exact, as_scalar
from robodyn.mechanism.mechanism import Mechanism

# Relative mobility of the body below which a push in this direction is not reported, since near a
# singularity it would consist of noise.
UNSEEN = 1e-2


class WrenchObserver:
    """Observer of the external wrench on the body without a force sensor.

    The method is that of De Luca and Mattone (2003). For each period the observer compares the
    change of momentum with the effect of efforts, gravity and friction. A first-order filter with
    time constant 1 / `bandwidth` smooths the difference. After a step of the wrench, the estimate
    reaches 63 % of the step after one time constant and 95 % after three. For a step of size F, it
    exceeds a threshold T after -ln(1 - T / F) / `bandwidth` plus one period. The observer needs no
    acceleration, and motion does not distort its estimate of a constant wrench. Errors of the
    model, mainly of friction, appear as a wrench.

    Args:
        mechanism: model of the mechanism.
        dt: time [s] between states.
        bandwidth: [rad/s]; the noise of the estimate grows with it.

    Attributes:
        generalized: (nv,) [N, N m] estimated external generalized force.
        wrench: (6,) [N, N m] latest result of `update`.

    Raises:
        InvalidInput: the time or the bandwidth is not positive.
    """

    def __init__(self, mechanism: Mechanism, dt: float, bandwidth: float = 20.0) -> None:
        self.mechanism = mechanism
        self.dt = as_scalar("dt", dt, "s", above=0.0)
        self.bandwidth = as_scalar("bandwidth", bandwidth, "rad/s", above=0.0)
        self.reset()

    def reset(self) -> None:
        """Discard the last state and the estimate."""
        self.generalized = np.zeros(self.mechanism.coordinates.velocity_size)
        self.wrench = np.zeros(6)
        self._last: tuple[FloatArray, FloatArray, FloatArray] | None = None

    def update(
        self,
        configuration: ArrayLike,
        velocity: ArrayLike,
        efforts: ArrayLike,
        base: BaseMotion | None = None,
        dt: float | None = None,
    ) -> FloatArray:
        """Update the wrench estimate with a new measured state.

        If the body has fewer than six degrees of freedom, or the configuration is singular, the
        result is the wrench of least norm that explains the motion.

        Args:
            configuration: (nq,) measured configuration.
            velocity: (nv,) measured velocity.
            efforts: (n,) [N or N m] that acted since the last state.
            base: motion of the base; at rest by default.
            dt: time [s] since the last state, if it differs from the argument of the class.

        Returns:
            External wrench (6,) [N, N m] on the body about its reference point, base frame.

        Raises:
            InvalidInput: shapes are wrong or values are not finite; the observer is unchanged.
            KinematicsError: the mechanism has no solution at this configuration.
        """
        m = self.mechanism
        q = as_exact("configuration", configuration, m.home.shape)
        v = as_exact("velocity", velocity, self.generalized.shape)
        given = as_exact("efforts", efforts, (len(m.joint_names),), "N or N m")
        period = self.dt if dt is None else as_scalar("dt", dt, "s", above=0.0)
        jacobian = m.twist_jacobian(q)
        if self._last is not None:
            before, rate, turned = self._last
            middle = m.advance(before, 0.5 * m.difference(before, q))
            expected = m.forward_dynamics(middle, 0.5 * (rate + v), given, base=base)
            missing = m.mass_matrix(middle) @ ((v - rate) / period - expected)
            # the same wrench about another point
            carried = self.generalized + (jacobian - turned).T @ self.wrench
            fraction = -math.expm1(-self.bandwidth * period)
            self.generalized = carried + fraction * (missing - carried)
            self.wrench = np.linalg.lstsq(jacobian.T, self.generalized, rcond=UNSEEN)[0]
        self._last = q.copy(), v.copy(), jacobian
        return np.array(self.wrench)
