# SPDX-License-Identifier: Apache-2.0

"""Friction that a controller compensates for the planned motion, not for the measured one.

The measured rate of a joint that is to move slowly changes its sign with every disturbance, and the
efforts for dry friction with it; the planned rate does so once, when the plan does. Viscous
friction so strong that velocities decay within a few periods of control cannot be compensated for a
measured rate either, for that is past before the effort acts: it is compensated for the rate

    planned rate + Kv^-1 Kp e

that leads back to the plan, so that the error e decays like exp(-Kp/Kv t) even where friction
outweighs inertia. Which friction that is says the mechanism: `without_planned_friction`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.common.motion import Motion
    from robodyn.mechanisms.mechanism import Mechanism


class PlannedFriction:
    """What is compensated for the planned motion, and what is left of the mechanism then.

    Args:
        mechanism: the model of the control.
        kp, kv: (nv, nv) gains.

    Attributes:
        rest: the mechanism without this friction; itself if there is none.
        exists: whether there is any.
        gain: (n, nv) efforts for a displacement, all zero but for strong viscous friction.
    """

    def __init__(self, mechanism: Mechanism, kp: FloatArray, kv: FloatArray) -> None:
        self._mechanism = mechanism
        self.rest = mechanism.without_planned_friction
        self.exists = self.rest is not mechanism
        size = len(mechanism.joint_names), mechanism.coordinates.velocity_size
        self.gain = np.zeros(size)
        if self.exists and not _same_damping(mechanism, self.rest):
            self.gain = self._damping() @ np.linalg.solve(kv, kp)

    def efforts(self, planned: Motion) -> FloatArray:
        """(..., n) [N or N m] for a planned motion.

        Raises:
            KinematicsError: the planned configuration is singular.
        """
        whole = self._mechanism.inverse_dynamics(*planned)
        return whole - self.rest.inverse_dynamics(*planned)

    def _damping(self) -> FloatArray:
        """(n, nv) efforts for unit rates at home; dry friction, which is no slope, cancels."""
        home, n = self._mechanism.home, self.gain.shape[1]
        home, still = np.broadcast_to(home, (n, len(home))), np.zeros((n, n))
        slow, quick = (
            self._mechanism.inverse_dynamics(home, rate * np.eye(n), still)
            - self.rest.inverse_dynamics(home, rate * np.eye(n), still)
            for rate in (1.0, 2.0)
        )
        return np.asarray((quick - slow).T)


def _same_damping(one: Mechanism, other: Mechanism) -> bool:
    return all(
        np.array_equal(a.get(name, 0.0), b.get(name, 0.0))
        for a, b in zip(one.joint_friction, other.joint_friction, strict=True)
        for name in {"damping", "prismatic"} & a.keys()
    )
