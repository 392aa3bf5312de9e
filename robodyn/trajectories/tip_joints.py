# SPDX-License-Identifier: Apache-2.0

"""Chain of virtual joints that describes the pose of a mechanism's body, for joint planners.

Three prismatic joints move along x, y and z of the base frame; three revolute joints rotate: yaw
about z, then pitch, then roll, with R = Rz Ry Rx. Only as many of them are used as determine the
mechanism: three for a delta.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from robodyn.algorithms import motions
from robodyn.algorithms.motion import DrivenMotion, Motion
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.errors import InvalidInput
from robodyn.mechanism.mechanism import Mechanism
from robodyn.numerics.rotations_batch import angular_motions
from robodyn.poses import rpy_from_pose
from robodyn.trajectories.line import pose_motion

# In the order of a twist's components; the chain rotates by yaw first.
NAMES = ("x", "y", "z", "roll", "pitch", "yaw")


class TipJoints:
    """Virtual joints that describe the pose of a mechanism's body, for joint planners.

    Args:
        mechanism: mechanism with the body.

    Attributes:
        independent_joints: names of the virtual joints.
        rows: indices of these joints in `NAMES`.

    Raises:
        InvalidInput: the pose of the body does not determine the mechanism.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism, self.rows = mechanism, list(motions.determining_rows(mechanism))
        if not self.rows:
            raise InvalidInput(
                f"{mechanism.name}: the pose of {mechanism.frames[1]} does not determine its "
                "configuration, so a pose cannot be planned; choose another tip link, or plan a "
                "joint motion",
                value=mechanism.frames[1],
            )
        self.independent_joints = tuple(f"{mechanism.frames[1]}_{NAMES[row]}" for row in self.rows)

    def positions(self, configuration: FloatArray) -> FloatArray:
        """Return the virtual joints' positions (n,) [m or rad] at a configuration (nq,)."""
        parts = rpy_from_pose(self.mechanism.body_pose(configuration))
        return np.concatenate(parts)[self.rows]

    def independent_motion(
        self, configuration: FloatArray, velocity: FloatArray, acceleration: FloatArray
    ) -> DrivenMotion:
        """Convert a motion of the mechanism to a motion of the virtual joints.

        Args:
            configuration, velocity, acceleration: (nq,), (nv,), (nv,) of the mechanism.

        Returns:
            Positions, velocities and accelerations (n,) of the virtual joints.

        Raises:
            InvalidInput: pitch is at ±90 degrees, so that the axes of yaw and roll coincide.
        """
        m, link = self.mechanism, self.mechanism.frames[1]
        twist = m.twist_jacobian(configuration) @ velocity
        accel = m.link_acceleration(configuration, velocity, acceleration, link)
        xyz, rpy = rpy_from_pose(m.body_pose(configuration))
        E, drift = _angular(np.tile(rpy, (3, 1)), np.eye(3))[0].T, np.zeros(3)
        if abs(np.linalg.det(E)) < 1e-6:
            raise InvalidInput(
                f"{link} has a pitch of 90 degrees, at which roll and yaw cannot be distinguished",
                value=rpy,
            )
        rates = np.linalg.solve(E, twist[3:])
        drift = _angular(rpy[None], rates[None])[1][0]
        changes = np.linalg.solve(E, accel[3:] - drift)
        parts = (xyz, rpy), (twist[:3], rates), (accel[:3], changes)
        return DrivenMotion(*(np.concatenate(part)[self.rows] for part in parts))

    def motion_of_independent(
        self,
        positions: ArrayLike,
        velocities: ArrayLike,
        accelerations: ArrayLike,
        guess: ArrayLike | None = None,
    ) -> Motion:
        """Convert a motion of the virtual joints to a motion of the mechanism.

        Args:
            positions, velocities, accelerations: (K, n) of the virtual joints.
            guess: (nq,) configuration near the first one; home by default.

        Returns:
            Configurations (K, nq), velocities and accelerations (K, nv).

        Raises:
            NoSolution: the mechanism cannot reach a pose.
        """
        given = (np.asarray(part, dtype=float) for part in (positions, velocities, accelerations))
        whole = np.zeros((3, len(np.asarray(positions)), 6))
        whole[0] = np.concatenate(rpy_from_pose(self.mechanism.body_pose(self.mechanism.home)))
        for full, part in zip(whole, given, strict=True):
            full[:, self.rows] = part
        body = pose_motion(
            tuple(np.ascontiguousarray(full[:, :3]) for full in whole),  # type: ignore[arg-type]
            tuple(np.ascontiguousarray(full[:, 3:]) for full in whole),  # type: ignore[arg-type]
        )
        start = self.mechanism.configuration_at(body.configuration[0], guess)
        times = np.arange(float(len(body.configuration)))
        return motions.motion_of_body(self.mechanism, times, *body, start)

    def warm_up(self) -> None:
        """Call both conversions once, so that a first goal does not wait for compilation."""
        home = self.mechanism.home
        rest = np.zeros(self.mechanism.coordinates.velocity_size)
        still = np.zeros((3, len(self.rows)))  # arrays of one row have another type in kernels
        motions.independent_motion(self, home, rest, rest)
        motions.motion_of_independent(self, still + self.positions(home), still, still, home)


def space_of(mechanism: Mechanism, names: Sequence[str]) -> Any:
    """Return the owner of some joints: virtual joints of the tip, or the mechanism.

    Args:
        mechanism: mechanism with the tip.
        names: names of the joints.

    Returns:
        `TipJoints` if `names` are the names of the tip's virtual joints, otherwise the mechanism.
    """
    if motions.determining_rows(mechanism):
        tip = TipJoints(mechanism)
        if sorted(names) == sorted(tip.independent_joints):
            return tip
    return mechanism


def _angular(rpy: FloatArray, rate: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Compute angular velocity and acceleration (N, 3) for constant rpy angle rates.

    The angles are roll, pitch and yaw (N, 3).
    """
    omega, alpha = np.empty((2, *rpy.shape))
    angular_motions(rpy, rate, np.zeros(rpy.shape), omega, alpha)
    return omega, alpha


motions.independent_motion.register(TipJoints, TipJoints.independent_motion)
motions.motion_of_independent.register(TipJoints, TipJoints.motion_of_independent)
