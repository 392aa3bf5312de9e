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
    """Torque-speed curves of n driven joints' motors, with up to P points each.

    Attributes:
        speeds: (n, P) [m/s or rad/s] joint rates, increasing from 0.
        efforts: (n, P) [N or N m] available efforts at these rates.
        counts: (n,) number of points of each curve; 0 for no curve.
    """

    speeds: FloatArray
    efforts: FloatArray
    counts: IntArray

    def at(self, rates: FloatArray) -> FloatArray:
        """Compute the available efforts (..., n) [N or N m] at joint rates (..., n).

        The effort is infinite for a joint without a curve.
        """
        out = np.full(rates.shape, np.inf)
        for i, count in enumerate(self.counts):
            if count:
                curve = self.speeds[i, :count], self.efforts[i, :count]
                out[..., i] = np.interp(np.abs(rates[..., i]), *curve)
        return out

    @classmethod
    def of(cls, mechanism: Mechanism) -> MotorCurves:
        """Create the torque-speed curves of a mechanism's motors, at its driven joints.

        Speeds and efforts are those of the joints. The conversion from the motors includes the
        efficiency of screw and gear while the motor drives.
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

    def pad(self, count: int) -> MotorCurves:
        """Extend the curves to `count` quantities; the added quantities have no curve."""
        more = (0, count - len(self.counts))
        speeds, efforts = (np.pad(v, (more, (0, 0))) for v in (self.speeds, self.efforts))
        return MotorCurves(speeds, efforts, np.pad(self.counts, more))
