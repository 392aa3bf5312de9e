# SPDX-License-Identifier: Apache-2.0

"""Torque-speed curves: the faster a joint moves, the less effort its motor provides.

The voltage of a motor is limited and its back-EMF grows with its speed; the difference drives the
current and so the torque. As the speed along the path rises, the effort limits shrink until they
meet the efforts of the motion.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robodyn.arrays import FloatArray, IntArray
from robodyn.mechanism.mechanism import Mechanism


class MotorCurves(NamedTuple):
    """Curves (n, P) of available efforts over the joints' rates.

    Attributes:
        speeds: [m/s or rad/s] increasing, from 0.
        efforts: [N or N m].
        counts: (n,) numbers of points; 0 for no curve.
    """

    speeds: FloatArray
    efforts: FloatArray
    counts: IntArray

    def at(self, rates: FloatArray) -> FloatArray:
        """Compute available efforts (..., n) at rates (..., n); infinite without a curve."""
        out = np.full(rates.shape, np.inf)
        for i, count in enumerate(self.counts):
            if count:
                curve = self.speeds[i, :count], self.efforts[i, :count]
                out[..., i] = np.interp(np.abs(rates[..., i]), *curve)
        return out

    @classmethod
    def of(cls, mechanism: Mechanism) -> MotorCurves:
        """Collect the curves of a mechanism's motors, converted to its joints.

        The conversion includes the efficiency of screw and gear for a driving motor.
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
        """Append quantities without a curve, up to a total of `count`."""
        more = (0, count - len(self.counts))
        speeds, efforts = (np.pad(v, (more, (0, 0))) for v in (self.speeds, self.efforts))
        return MotorCurves(speeds, efforts, np.pad(self.counts, more))
