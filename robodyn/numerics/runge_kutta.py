# SPDX-License-Identifier: Apache-2.0

"""Stages and step of the classical fourth-order Runge-Kutta method."""

from __future__ import annotations

from typing import Any

from robodyn.numerics.compiler import inner

# Bound of states [m, rad and their rates]: outside any plausible workspace, yet far from overflow.
BEYOND = 1e6


@inner
def put_stage(start: Any, rates: Any, stage: int, dt: Any, count: int, out: Any) -> None:
    """Write the state (count,) at a stage of a Runge-Kutta step to `out`.

    `stage` is 0 to 3; `rates` (4, count) contains the time derivatives at the earlier stages. For
    floats or SIMD vectors.
    """
    for j in range(count):
        out[j] = start[j]
    if stage > 0:
        h = dt if stage == 3 else 0.5 * dt
        for j in range(count):
            out[j] = out[j] + h * rates[stage - 1, j]


@inner
def put_step(start: Any, rates: Any, dt: Any, count: int, out: Any) -> None:
    """Write the state (count,) after a Runge-Kutta step to `out`.

    `rates` (4, count) contains the time derivatives at the four stages.
    """
    for j in range(count):
        out[j] = start[j] + dt / 6.0 * (
            rates[0, j] + 2.0 * (rates[1, j] + rates[2, j]) + rates[3, j]
        )


@inner
def is_within(state: Any) -> bool:
    """Return whether a state (k,) is finite and far below overflow; False for NaN."""
    return bool(are_within(state, state.shape[0]))


@inner
def are_within(state: Any, count: int) -> Any:
    """Return whether a state (count,) is finite and far below overflow.

    For states in SIMD lanes, the result is a mask.
    """
    within = abs(state[0]) < BEYOND
    for j in range(1, count):
        within = within & (abs(state[j]) < BEYOND)
    return within
