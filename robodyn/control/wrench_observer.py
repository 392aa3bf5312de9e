# SPDX-License-Identifier: Apache-2.0

"""What pushes a mechanism, told from its motion and its efforts."""

from __future__ import annotations

import math

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.base_motion import BaseMotion
from robodyn.checks import as_exact, as_scalar
from robodyn.mechanisms.mechanism import Mechanism

# A push along which the body hardly moves, in parts of that along which it moves best, is not told:
# near a singularity the noise would be all of it.
UNSEEN = 1e-2


class WrenchObserver:
    """The external wrench on the body without a sensor of force (De Luca and Mattone 2003).

    Over each period the change of momentum is compared with what efforts, gravity and friction
    would cause; what is missing is filtered with a time constant of 1 / `bandwidth`. A step of
    the wrench is seen to 63 % after that time, to 95 % after three times that: one of size F is
    beyond a threshold T after -ln(1 - T / F) / `bandwidth` and a period. No acceleration is
    measured. A wrench that stays the same is not blurred by the motion. What the model lacks,
    friction above all, is taken for a push.

    Args:
        mechanism: the model.
        dt: [s] between states.
        bandwidth: [rad/s]; noise of the estimate grows with it.

    Attributes:
        generalized: (nv,) [N, N m] the estimated push along the velocity's coordinates.
        wrench: (6,) [N, N m] that `update` gave last.

    Raises:
        InvalidInput: a time or a bandwidth that is not positive.
    """

    def __init__(self, mechanism: Mechanism, dt: float, bandwidth: float = 20.0) -> None:
        self.mechanism = mechanism
        self.dt = as_scalar("dt", dt, "s", above=0.0)
        self.bandwidth = as_scalar("bandwidth", bandwidth, "rad/s", above=0.0)
        self.reset()

    def reset(self) -> None:
        """Forget the last state and what was estimated."""
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
        """The wrench on the body (6,) [N, N m], base frame, after one more state.

        Where the body cannot move in six ways, singular configurations included, it is the smallest
        that explains the motion.

        Args:
            configuration: (nq,) measured.
            velocity: (nv,) measured.
            efforts: (n,) [N or N m] that acted since the last state.
            base: how the base moves; at rest by default.
            dt: [s] since the last state, if it is not `dt`.

        Raises:
            InvalidInput: wrong shapes or not finite; nothing has changed then.
            KinematicsError: the mechanism has no answer at this configuration.
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
            # the same wrench elsewhere
            carried = self.generalized + (jacobian - turned).T @ self.wrench
            share = -math.expm1(-self.bandwidth * period)
            self.generalized = carried + share * (missing - carried)
            self.wrench = np.linalg.lstsq(jacobian.T, self.generalized, rcond=UNSEEN)[0]
        self._last = q.copy(), v.copy(), jacobian
        return np.array(self.wrench)
