# SPDX-License-Identifier: Apache-2.0

"""Efforts cut to what the actuators have, which falls with the rates of the joints."""

from __future__ import annotations

import numpy as np

from robodyn.arrays import FloatArray, IntArray
from robodyn.mechanisms.common.motion import Motion
from robodyn.mechanisms.mechanism import Mechanism


class EffortLimiter:
    """The limits of a mechanism's actuators.

    Args:
        mechanism: that has them.
        saturated: counts, per actuator (n,), the efforts that were cut.
    """

    def __init__(self, mechanism: Mechanism, saturated: IntArray) -> None:
        self._mechanism, self._saturated = mechanism, saturated
        # cached: used at every update
        self._limits = mechanism.effort_limits
        least, largest = mechanism.effort_ends
        self._least, self._largest = float(least.max()), float(largest.min())
        self._falls = mechanism.has_torque_speed_curve

    def limited(self, required: FloatArray, motion: Motion) -> tuple[FloatArray, str]:
        """Efforts (n,) within the limits, and a line that names the one that was cut most."""
        if self._falls:
            rates = self._mechanism.joint_velocities(motion.configuration, motion.velocity)
            return self._cut(required, self._mechanism.effort_limits_at(rates))
        numbers = required.tolist()
        if max(numbers) > self._largest or min(numbers) < self._least:
            return self._cut(required, self._limits)
        return required, ""

    def clipped(self, efforts: FloatArray) -> FloatArray:
        """Efforts (n,) within the limits at rest, uncounted."""
        return self._mechanism.cut_efforts(efforts)

    def _cut(self, required: FloatArray, limits: FloatArray) -> tuple[FloatArray, str]:
        effort = self._mechanism.cut_efforts(required, limits)
        cut = effort != required
        if not cut.any():
            return effort, ""
        self._saturated += cut
        with np.errstate(divide="ignore", invalid="ignore"):  # a motor may have none left
            worst = int(np.where(cut, np.abs(required / limits), 0.0).argmax())
        return effort, (
            f"{self._mechanism.joint_names[worst]} needs {required[worst]:.6g}, cut to "
            f"{'its limit of ' if effort[worst] else ''}{abs(effort[worst]):.6g}"
        )
