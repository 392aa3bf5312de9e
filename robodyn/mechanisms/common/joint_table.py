# SPDX-License-Identifier: Apache-2.0

"""What the integration loop has to know of each driven joint: its travel, and what its motor has.

A row for each joint: lower and upper position; the fastest rate; then pairs (rate, effort) from
rate 0 on, between which the motor's effort is a straight line. Where no motor's effort depends on
its speed, the table is the position limits (n, 2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from robodyn.actuators import Actuator
    from robodyn.arrays import FloatArray


def joint_table(position_limits: FloatArray, actuators: Sequence[Actuator]) -> FloatArray:
    """(n, 2), or (n, 3 + 2 k) for the kernel `motor_effort`, of limits (n, 2) and n actuators."""
    if not any(actuator.has_torque_speed_curve for actuator in actuators):
        return position_limits
    curves = [_curve(actuator) for actuator in actuators]
    longest = max(len(curve) for curve in curves)
    table = np.empty((len(position_limits), 3 + 2 * longest))
    table[:, :2] = position_limits
    table[:, 2] = [actuator.rate_limit for actuator in actuators]
    for row, curve in zip(table, curves, strict=True):
        knots = [*curve, *[curve[-1]] * (longest - len(curve))]
        row[3:] = np.array(knots).ravel()
    return table


def _curve(actuator: Actuator) -> list[tuple[float, float]]:
    """(rate, effort) of the joint where the line of what the motor has bends."""
    fastest, ratio = actuator.rate_limit, abs(actuator.ratio)
    speeds = [0.0]
    if actuator.torque_speed is not None:
        points = actuator.torque_speed
        speeds = [speed for speed, _ in points if speed / ratio < fastest] + [fastest * ratio]
        most = actuator.torque_limit
        for (slow, more), (fast, less) in zip(points[:-1], points[1:], strict=True):
            if less < most < more:  # where the curve falls below the limit
                speeds.append(slow + (more - most) / (more - less) * (fast - slow))
    rates = sorted({speed / ratio for speed in speeds if speed / ratio <= fastest})
    # a little less, so that rounding does not take the last one beyond the end
    return [(rate, float(actuator.effort_limit_at(rate * (1.0 - 1e-15)))) for rate in rates]
