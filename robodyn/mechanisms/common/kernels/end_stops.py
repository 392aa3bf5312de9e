# SPDX-License-Identifier: Apache-2.0

"""End stops of a joint's travel: a one-sided spring and damper, the same for arms and legs."""

from __future__ import annotations

from typing import Any

from robodyn.numerics.compiler import inner, kernel


@inner
def end_stop_effort(
    position: float, rate: float, lower: float, upper: float, stiffness: float, damping: float
) -> float:
    """Effort [N or N m] of the stops on a joint; zero inside its travel, never pulling."""
    if position < lower:
        return max(stiffness * (lower - position) - damping * rate, 0.0)
    if position > upper:
        return min(stiffness * (upper - position) - damping * rate, 0.0)
    return 0.0


@inner
def joint_effort(effort: float, position: float, rate: float, joint: Any, stops: Any) -> float:
    """Effort of a joint's motor and of its stops; `joint` is its row of `joint_table`."""
    own = effort
    if joint.shape[0] > 2 and stops[2] > 0.0:
        own = motor_effort(effort, rate, joint)
    return own + end_stop_effort(position, rate, joint[0], joint[1], stops[0], stops[1])


@inner
def motor_effort(effort: float, rate: float, joint: Any) -> float:
    """Effort cut to what the motor has at a rate of its joint (`Actuator.effort_limit_at`)."""
    speed = abs(rate)
    if speed > joint[2]:
        return 0.0
    has, k = joint[4], 3
    while k + 2 < joint.shape[0] and joint[k + 2] <= speed:
        k += 2
        has = joint[k + 1]
    if k + 2 < joint.shape[0] and speed > joint[k] and joint[k + 2] > joint[k]:
        share = (speed - joint[k]) / (joint[k + 2] - joint[k])
        has += share * (joint[k + 3] - has)
    given: float = min(max(effort, -has), has)
    return given


@kernel
def motor_limits(rates: Any, limits: Any, table: Any, out: Any) -> None:
    """Largest efforts out (N, n) at rates (N, n), by limits (n,) and rows of `joint_table`."""
    for k in range(rates.shape[0]):
        for i in range(rates.shape[1]):
            out[k, i] = limits[i]
            if table.shape[1] > 2:
                out[k, i] = motor_effort(limits[i], rates[k, i], table[i])


@inner
def end_stop_efforts(
    position: Any, rate: Any, limits: Any, stiffness: float, damping: float, out: Any
) -> None:
    """Write the efforts (n,) of the stops at limits (n, 2) into `out`."""
    for i in range(position.shape[0]):
        out[i] = end_stop_effort(
            position[i], rate[i], limits[i, 0], limits[i, 1], stiffness, damping
        )
