# SPDX-License-Identifier: Apache-2.0

"""Pieces of a simulation step: integration stages, loads, and the instant at which a joint stops.

The functions are for one mechanism, or for eight in SIMD lanes with pieces of their own.
"""

from __future__ import annotations

from typing import Any

from robodyn.numerics.compiler import inner
from robodyn.numerics.simd.lanes import choose
from robodyn.numerics.vectors import copy


@inner
def put_implicit(start: Any, rates: Any, stage: int, dt: Any, count: int, out: Any) -> None:
    """Write the state (count,) at the second stage or the end of a Rosenbrock step.

    It is written to `out`: for `stage` 1 the second stage, otherwise the end of the step. `rates`
    (2 or more, count) contains the time derivatives at the stages, and `dt` [s] is the length of
    the step.
    """
    for j in range(count):
        if stage == 1:
            out[j] = start[j] + dt * rates[0, j]
        else:
            out[j] = start[j] + dt * (1.5 * rates[0, j] + 0.5 * rates[1, j])


@inner
def stage_time(stage: int, last: int) -> float:
    """Return the time of an integration stage as a fraction of its interval.

    `stage` counts from 0, and `last` is the number of stages: 2 or 4. Stage `last` is the end of
    the interval.
    """
    if stage <= 0:
        return 0.0
    if stage >= last - 1:
        return 1.0
    return 0.5


@inner
def put_between(rows: Any, first: int, when: float, out: Any) -> None:
    """Interpolate rows at times 0, 1/2 and 1 by a parabola, at time `when`.

    The rows have the indices `first` to `first` + 2; the value is written to `out`.
    """
    a = (2.0 * when - 1.0) * (when - 1.0)
    b = 4.0 * when * (1.0 - when)
    c = when * (2.0 * when - 1.0)
    for j in range(out.shape[0]):
        out[j] = a * rows[first, j] + b * rows[first + 1, j] + c * rows[first + 2, j]


@inner
def next_trial(bracket: Any, shortest: float) -> Any:
    """Return the next trial point of regula falsi or bisection within a bracket.

    It is the upper end if the bracket is at most `shortest` long and is bisected.
    """
    low, at_low, high, at_high, _, bisects = bracket
    fraction = choose(bisects, 0.5, at_low / (at_low - at_high))
    fraction = choose(fraction > 1e-9, fraction, 1e-9)
    trial = low + (high - low) * choose(fraction < 1.0 - 1e-9, fraction, 1.0 - 1e-9)
    return choose(bisects & (high - low <= shortest), high, trial)


@inner
def put_load(step: Any, when: float, out: Any) -> None:
    """Write external wrench and base motion at a fraction `when` of the step to `out`."""
    if step.load.shape[0] > 1:
        put_between(step.load, 0, when, out)
    else:
        copy(step.load[0], out)
