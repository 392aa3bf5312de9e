# SPDX-License-Identifier: Apache-2.0

"""Motions of a platform, examined before they are begun and bent to what its joints can do."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray, Indices
from robodyn.checks import as_scalar
from robodyn.errors import KinematicsError
from robodyn.mechanisms.common.motion import DrivenMotion, Motion
from robodyn.mechanisms.mechanism import Mechanism
from robodyn.motion_base.head_motion import Cue, HeadMotion
from robodyn.motion_base.limits import DriveLimits

# [s] of brakes that are tried, and shares of the way from the brake to what is wanted.
BRAKES, SHARES = (0.3, 0.6, 1.2, 2.4), (1.0, 0.6, 0.3, 0.1)
# [rad/s] with which a motion that was left is approached again, critically damped, and how close
# [m, rad, and per s] counts as there.
RETURN, THERE = 6.0, 1e-9


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


class MotionLimiter:
    """Follows a motion of the head as far as the platform can come to rest from it.

    At every step the whole platform can brake, within the joints' limits of position, rate,
    acceleration and effort: a step is taken only with a brake after it that was examined by the
    kinematics and the dynamics as they are; the brake of the step before is there otherwise. What
    is within the limits passes unchanged.

    Args:
        examiner: of plans.

    Attributes:
        plan: from where the platform is to rest.
    """

    def __init__(self, examiner: PlanExaminer) -> None:
        self._examiner, self._dt = examiner, examiner.dt
        self._target = np.zeros((3, 6))
        self._follows = True
        self._brake = 0
        self.plan = examiner.plan(np.zeros((3, 2, 6)))

    def begin(self, plan: Plan) -> None:
        """Go on from a plan of another."""
        self.plan, self._follows = plan, False

    def __call__(self, target: FloatArray) -> Cue:
        """The platform's motion where its head should have a place (3, 6), see `Plan`."""
        backup = self.plan.later()
        place, braked = self.plan.place[:, 0], backup.place[:, 0]
        wanted = target if self._follows else self._approach(place, target)
        for share in SHARES:
            found = self._held(braked + share * (wanted - braked))
            if found is not None:
                break
        self.plan = backup if found is None else found
        self._target = target
        off = np.abs(self.plan.place[:2, 0] - target[:2]).max()
        self._follows = bool(off < THERE)
        return type(backup.cue)(*(each[0] for each in self.plan.cue))

    def _approach(self, place: FloatArray, target: FloatArray) -> FloatArray:
        """One step from a place (3, 6) towards a motion that is elsewhere."""
        dt = self._dt
        x, v, a = place
        ahead = x + dt * v + 0.5 * dt**2 * a, v + dt * a
        change = target[2] + RETURN * (
            2.0 * (target[1] - ahead[1]) + RETURN * (target[0] - ahead[0])
        )
        return np.array(
            [
                x + dt * v + dt**2 / 6.0 * (2.0 * a + change),
                v + 0.5 * dt * (a + change),
                change,
            ]
        )

    def _held(self, place: FloatArray) -> Plan | None:
        """A plan from a place (3, 6) that brakes within all limits; None if there is none."""
        for i in range(len(BRAKES)):
            at = (self._brake + i) % len(BRAKES)
            try:
                plan = self._examiner.plan(self._braking(place, BRAKES[at]))
            except KinematicsError:
                continue
            room = self._examiner.room(plan)
            if (room >= 0.0).all():
                self._brake = at
                return plan
            if (room[:, 0] < 0.0).any():  # no brake would help
                return None
        return None

    def _braking(self, place: FloatArray, duration: float) -> FloatArray:
        """(3, K, 6) from a place to rest: the rate a cubic polynomial of time."""
        count = max(round(duration / self._dt), 2)
        s, T = np.linspace(0.0, 1.0, count + 1)[:, None], count * self._dt
        x, v, a = place
        by_rate, by_change = s - s**3 + s**4 / 2.0, s**2 / 2.0 - s**3 / 1.5 + s**4 / 4.0
        return np.stack(
            [
                x + T * (v * by_rate + a * T * by_change),
                (1.0 - s) ** 2 * (v * (1.0 + 2.0 * s) + a * T * s),
                (1.0 - s) * (-6.0 * s * v / T + a * (1.0 - 3.0 * s)),
            ]
        )
