# SPDX-License-Identifier: Apache-2.0

"""End stops of joints: a one-sided spring and damper, the same for arms and legs."""

from __future__ import annotations

from typing import Any

from robodyn.numerics.compiler import inner, kernel
from robodyn.numerics.simd.lanes import choose


@inner
def end_stop_effort(
    position: Any, rate: Any, lower: Any, upper: Any, stiffness: float, damping: float
) -> Any:
    """Compute the effort [N or N m] of the stops on a joint; zero within limits, never pulling.

    For numbers or lanes.
    """
    up = stiffness * (lower - position) - damping * rate
    down = stiffness * (upper - position) - damping * rate
    pushed = choose((position < lower) & (up > 0.0), up, 0.0)
    return choose((position > upper) & (down < 0.0), down, pushed)


@inner
def joint_effort(effort: Any, position: Any, rate: Any, i: int, plant: Any) -> Any:
    """Compute the effort of joint i's motor and stops for a `PackedPlant`, numbers or lanes."""
    own, joint, columns, stops = effort, plant.table[i], plant.table.shape[1], plant.stops
    if columns > 2 and stops[2] > 0.0:
        own = motor_effort(effort, rate, joint, columns)
    return own + end_stop_effort(position, rate, joint[0], joint[1], stops[0], stops[1])


@inner
def motor_effort(effort: Any, rate: Any, joint: Any, columns: int) -> Any:
    """Clip an effort to the motor's limit at a joint rate (`Actuator.effort_limit_at`).

    For numbers or lanes; `joint` has so many `columns`.
    """
    speed = abs(rate)
    has = joint[4] + 0.0 * speed
    for k in range(3, columns - 2, 2):
        slow, fast = joint[k], joint[k + 2]
        share = (speed - slow) / (fast - slow)
        between = (speed > slow) & (fast > slow)
        here = choose(between, joint[k + 1] + share * (joint[k + 3] - joint[k + 1]), has)
        has = choose(fast <= speed, joint[k + 3], here)
    least = choose(effort > -has, effort, -has)
    given = choose(least < has, least, has)
    return choose(speed > joint[2], 0.0, given)


@kernel
def motor_limits(rates: Any, limits: Any, table: Any, out: Any) -> None:
    """Compute largest efforts out (N, n) at rates (N, n), by limits (n,) and `joint_table`."""
    for k in range(rates.shape[0]):
        for i in range(rates.shape[1]):
            out[k, i] = limits[i]
            if table.shape[1] > 2:
                out[k, i] = motor_effort(limits[i], rates[k, i], table[i], table.shape[1])


@inner
def end_stop_efforts(
    position: Any, rate: Any, limits: Any, stiffness: float, damping: float, out: Any
) -> None:
    """Write the efforts (n,) of the stops at limits (n, 2) into `out`."""
    for i in range(position.shape[0]):
        out[i] = end_stop_effort(
            position[i], rate[i], limits[i, 0], limits[i, 1], stiffness, damping
        )
