# SPDX-License-Identifier: Apache-2.0

"""Stabilization of a platform in the world while its base moves."""

from __future__ import annotations

import numpy as np

from robodyn.algorithms.motion import Motion
from robodyn.arrays import FloatArray
from robodyn.errors import InvalidInput
from robodyn.motion_base.base.base_pose import BasePoseEstimator
from robodyn.motion_base.machine.commander import PositionCommander
from robodyn.motion_base.machine.head_motion import refuse_fewer_freedoms
from robodyn.motion_base.machine.motion_sources import BodyMotion, MotionSource
from robodyn.poses import composed_pose, inverse_pose, rotation_matrix

# Fraction of the joints' rates that may be used, and rates [1/s] at which the compensated fraction
# of the base's displacement falls if the platform cannot follow, and rises again.
RATES, FALL, RISE = 0.9, 0.5, 1.0 / 300.0


class StabilizedSource(BodyMotion):
    """Motion source that converts a target in the world to the frame of a moving base.

    Target poses are in the level frame of the estimator: the mean base frame. The acceleration of a
    moving target neglects the rate of change of the Jacobian.

    If the base moves further, or faster, than the platform can compensate, the platform still
    compensates its inclination completely, but only a fraction of its displacement. The fraction
    adapts slowly.

    Args:
        commander: commander of a mechanism whose body has six degrees of freedom.
        base: estimator of the base's pose.
        ahead: [ns] delay of the drives, by which the base's motion is predicted.

    Attributes:
        motion_source: target in the level frame.
        fraction: compensated fraction of the base's displacement.

    Raises:
        InvalidInput: the body has fewer degrees of freedom.
    """

    motion_source: MotionSource

    def __init__(
        self, commander: PositionCommander, base: BasePoseEstimator, ahead: int = 0
    ) -> None:
        mechanism = commander.mechanism
        super().__init__(mechanism)
        refuse_fewer_freedoms(mechanism, "a stabilized platform")
        self._commander, self._base, self._ahead = commander, base, ahead
        self._here, self.fraction, self._change, self._then = mechanism.home, 1.0, 0.0, 0

    def at(self, time: int) -> Motion | None:
        """Return the target motion at `time` [ns] for the mechanism on the moving base.

        Returns:
            The motion, or None without a target.

        Raises:
            InvalidInput: the pose of the base is unknown.
        """
        requested, base = self.motion_source.at(time), self._base.at(time + self._ahead)
        if base is None:
            raise InvalidInput(
                "the pose of the base is unknown: no messages on base_imu, or not yet for "
                f"{self._base.patience:g} s"
            )
        if requested is None:
            return None
        m, s, change = self._mechanism, self.fraction, self._change
        base = tuple(part.copy() for part in base)
        base[1][:3] = s * base[1][:3] + change * base[0][:3]
        base[0][:3] *= s
        base[2][:3] *= s
        pose = m.body_pose(requested.configuration)
        J = m.twist_jacobian(requested.configuration)
        seen = seen_from(base, (pose, J @ requested.velocity, J @ requested.acceleration))
        motion, problem = self.nearest_motion(seen[0], seen[1], self._here)
        self._here = motion.configuration
        self._adapt(time, motion, problem)
        if problem:
            return motion
        accelerating = self.solve(motion.configuration, self._weights * seen[2])
        return motion._replace(acceleration=accelerating)

    def _adapt(self, time: int, motion: Motion, problem: str) -> None:
        """Lower the compensated fraction of base motion beyond limits, else raise it."""
        c, since = self._commander, min(max(time - self._then, 0), 10**8) * 1e-9
        rates = self._mechanism.joint_velocities(motion.configuration, motion.velocity)
        exceeds = (
            bool(problem or c.workspace.violation(motion.configuration))
            or (np.abs(rates) > RATES * c.limits.rates).any()
        )
        self._change, self._then = -FALL if exceeds else RISE, time
        fraction = min(max(self.fraction + since * self._change, 0.0), 1.0)
        if fraction in (0.0, 1.0):
            self._change = 0.0
        self.fraction = fraction


Moving = tuple[FloatArray, FloatArray, FloatArray]


def seen_from(base: Moving, body: Moving) -> Moving:
    """Compute the motion of a body relative to a moving base.

    Args:
        base, body: pose (7,), twist (6,) and acceleration (6,) of each, in a common frame.

    Returns:
        Pose, twist and acceleration of the body in the frame of the base.
    """
    R = rotation_matrix(base[0])
    (v, w), (a, alpha) = np.split(base[1], 2), np.split(base[2], 2)
    (vb, wb), (ab, alphab) = np.split(body[1], 2), np.split(body[2], 2)
    r = body[0][:3] - base[0][:3]
    u, turning = vb - v - np.cross(w, r), wb - w
    change = ab - a - np.cross(alpha, r) - np.cross(w, np.cross(w, r)) - 2.0 * np.cross(w, u)
    twist = np.concatenate([u @ R, turning @ R])
    accel = np.concatenate([change @ R, (alphab - alpha - np.cross(w, turning)) @ R])
    return composed_pose(inverse_pose(base[0]), body[0]), twist, accel
