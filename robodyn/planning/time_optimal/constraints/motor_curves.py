# SPDX-License-Identifier: Apache-2.0

"""Motors' torque-speed curves: the faster a joint moves, the less effort its motor has.

A motor's voltage is limited, and its back-EMF grows with its speed: what remains drives the
current, and with it the torque. So the limits of an effort close in as the speed along the path
rises, and where they meet what the motion needs the speed ends.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robodyn.arrays import FloatArray, IntArray
from robodyn.mechanism.mechanism import Mechanism


class MotorCurves(NamedTuple):
    """Curves (n, P) by which the efforts that are available fall with the joints' rates.

    Attributes:
        speeds: [m/s or rad/s] increasing, from 0.
        efforts: [N or N m].
        counts: (n,) how many points each has; 0 for none.
    """

    speeds: FloatArray
    efforts: FloatArray
    counts: IntArray

    def at(self, rates: FloatArray) -> FloatArray:
        """What is available (..., n) [N or N m] at rates (..., n); infinite without a curve."""
        out = np.full(rates.shape, np.inf)
        for i, count in enumerate(self.counts):
            if count:
                curve = self.speeds[i, :count], self.efforts[i, :count]
                out[..., i] = np.interp(np.abs(rates[..., i]), *curve)
        return out

    @classmethod
    def of(cls, mechanism: Mechanism) -> MotorCurves:
        """Those of a mechanism's motors, at its joints.

        A motor's torque reaches its joint by screw and gear with their efficiency, as when it
        drives.
        """
        actuators = mechanism.actuators
        counts = np.array([len(each.torque_speed or ()) for each in actuators], dtype=np.int64)
        speeds, efforts = np.zeros((2, len(actuators), counts.max(initial=1)))
        for i, (actuator, count) in enumerate(zip(actuators, counts, strict=True)):
            if actuator.torque_speed is not None:
                ratio = abs(actuator.ratio)
                motor, torques = np.array(actuator.torque_speed).T
                torques = np.minimum(torques, actuator.torque_limit)
                speeds[i, :count] = motor / ratio
                efforts[i, :count] = torques * ratio * actuator.efficiency
        return cls(speeds, efforts, counts)

    def padded(self, count: int) -> MotorCurves:
        """These, and those of further quantities, `count` in all, that have none."""
        more = (0, count - len(self.counts))
        speeds, efforts = (np.pad(v, (more, (0, 0))) for v in (self.speeds, self.efforts))
        return MotorCurves(speeds, efforts, np.pad(self.counts, more))
