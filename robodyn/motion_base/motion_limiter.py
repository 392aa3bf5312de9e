# SPDX-License-Identifier: Apache-2.0

"""A platform's motion, bent to what its joints and drives can do, by braking in time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robodyn.errors import KinematicsError

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray
    from robodyn.motion_base.head_motion import Cue
    from robodyn.motion_base.plan import Plan, PlanExaminer

# [s] of brakes that are tried, and shares of the way from the brake to what is wanted.
BRAKES, SHARES = (0.3, 0.6, 1.2, 2.4), (1.0, 0.6, 0.3, 0.1)
# [rad/s] with which a motion that was left is approached again, critically damped, and how close
# [m, rad, and per s] counts as there.
RETURN, THERE = 6.0, 1e-9


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
