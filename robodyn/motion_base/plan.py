# SPDX-License-Identifier: Apache-2.0

"""Motions of a platform that are examined before they are begun."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from robodyn.checks import as_scalar
from robodyn.mechanisms.common.motion import DrivenMotion, Motion
from robodyn.motion_base.head_motion import Cue, HeadMotion
from robodyn.motion_base.limits import DriveLimits

if TYPE_CHECKING:
    from robodyn.arrays import ArrayLike, FloatArray, Indices
    from robodyn.mechanisms.mechanism import Mechanism


class Plan(NamedTuple):
    """A motion of K samples that ends at rest.

    Attributes:
        place: (3, K, 6) [m, rad] of the head and roll, pitch, yaw; their rates; the changes of
            these; in the axes of the neutral pose.
        cue: the platform's motion.
        motion: the mechanism's.
        joints: the driven joints'.
        efforts: (K, n) of them.
        force: (K, 3) [m/s^2] felt at the head, in its axes, less that at rest.
        rate: (K, 3) [rad/s] angular velocity in the head's axes.
    """

    place: FloatArray
    cue: Cue
    motion: Motion
    joints: DrivenMotion
    efforts: FloatArray
    force: FloatArray
    rate: FloatArray

    def later(self) -> Plan:
        """One sample later; it goes on resting where it ends."""
        return self._at(np.minimum(np.arange(1, self.length + 1), self.length - 1))

    def lasting(self, length: int) -> Plan:
        """With `length` samples, as many as it has or more, that rest where it ends."""
        return self._at(np.minimum(np.arange(length), self.length - 1))

    @property
    def length(self) -> int:
        """K."""
        return int(self.place.shape[1])

    def _at(self, samples: Indices) -> Plan:
        def chosen(values: FloatArray) -> FloatArray:
            return np.asarray(values[samples])

        return Plan(
            self.place[:, samples],
            Cue(*map(chosen, self.cue)),
            Motion(*map(chosen, self.motion)),
            DrivenMotion(*map(chosen, self.joints)),
            *map(chosen, self[4:]),
        )

    @property
    def values(self) -> FloatArray:
        """(4, K, n) positions, rates, accelerations and efforts of the driven joints."""
        return np.stack([*self.joints, self.efforts])


class PlanExaminer:
    """Plans of a platform's motion by its kinematics and dynamics, and their room to the limits.

    Args:
        mechanism: whose body moves, about where it is at home.
        dt: [s] between samples.
        head: (3,) [m] in the platform's frame.

    Attributes:
        dt: as given.
        frame: from the head's motion to the platform's.
        low, high: (4, 1, n) limits of the joints' positions, rates, accelerations and efforts; the
            last those at rest.

    Raises:
        InvalidInput: `dt` not positive, or as for `HeadMotion` and `DriveLimits.of`.
    """

    def __init__(self, mechanism: Mechanism, dt: float, head: ArrayLike) -> None:
        self.dt = as_scalar("dt", dt, "s", above=0.0)
        self.mechanism, self.frame = mechanism, HeadMotion(mechanism, head)
        drives = DriveLimits.of(mechanism)
        low, high = drives.positions.T
        most = np.stack([drives.rates, drives.accelerations, mechanism.effort_limits])
        self.low, self.high = np.stack([low, *-most])[:, None], np.stack([high, *most])[:, None]

    def plan(self, place: FloatArray) -> Plan:
        """The plan of a place (3, K, 6).

        Raises:
            KinematicsError: the platform cannot be there.
        """
        m = self.mechanism
        cue, force, rate = self.frame.felt(place)
        times: FloatArray = np.arange(place.shape[1], dtype=np.float64) * self.dt
        motion = m.motion_of_body(times, *cue, m.home)
        joints, efforts = m.driven_motion(*motion), m.inverse_dynamics(*motion)
        return Plan(place, cue, motion, joints, efforts, force, rate)

    def room(self, plan: Plan) -> FloatArray:
        """(4, K, n) of the joints' values to the nearer limit; below zero beyond it."""
        values = plan.values
        room: FloatArray = np.minimum(values - self.low, self.high - values)
        room[3] = self.mechanism.effort_limits_at(plan.joints.velocities) - np.abs(plan.efforts)
        return room
