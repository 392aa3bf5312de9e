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
from robodyn.mechanisms.mechanism import Mechanism


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
        found = []
        for actuator in mechanism.actuators:
            points = np.empty((0, 2))
            if actuator.torque_speed is not None:
                ratio = abs(actuator.ratio)
                speeds, torques = np.array(actuator.torque_speed).T
                torques = np.minimum(torques, actuator.torque_limit)
                points = np.stack([speeds / ratio, torques * ratio * actuator.efficiency], axis=1)
            found.append(points)
        longest = max((len(points) for points in found), default=0)
        table = np.zeros((len(found), max(longest, 1), 2))
        for row, points in zip(table, found, strict=True):
            row[: len(points)] = points
        counts = np.array([len(points) for points in found], dtype=np.int64)
        speeds, efforts = np.ascontiguousarray(np.moveaxis(table, -1, 0))
        return cls(speeds, efforts, counts)

    @classmethod
    def none(cls, count: int) -> MotorCurves:
        """Of quantities that have none."""
        return cls(np.zeros((count, 1)), np.zeros((count, 1)), np.zeros(count, dtype=np.int64))

    @classmethod
    def joined(cls, parts: list[MotorCurves]) -> MotorCurves:
        """Those of several limits, one after the other."""
        longest = max(part.speeds.shape[1] for part in parts)
        speeds, efforts = (
            np.concatenate([np.pad(v, ((0, 0), (0, longest - v.shape[1]))) for v in values])
            for values in ([p.speeds for p in parts], [p.efforts for p in parts])
        )
        return cls(speeds, efforts, np.concatenate([part.counts for part in parts]))
