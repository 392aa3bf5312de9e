# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Many states of a mechanism with closed loops, eight at a time in the lanes of vectors.

The equations are those of single states. Where eight together have no answer, each is asked for
alone, in all lanes; where one has none, its results are NaN and the caller asks elsewhere. What is
returned is how many states, from the first, are finite numbers.
"""

from __future__ import annotations

import math
from typing import Any, Final

from robodyn.mechanisms.closed_loop.kernels import dynamics
from robodyn.mechanisms.closed_loop.kernels.layout import (
    BODIES,
    BODY_SIZE,
    DRIVEN,
    FREE,
    OK,
    POSITIONS,
    RATES,
    WIDEST,
)
from robodyn.mechanisms.closed_loop.kernels.projection import COMPOSITE
from robodyn.numerics.array_arguments import ABSENT, taken, taken_integers
from robodyn.numerics.compiler import batch_entry, inner
from robodyn.numerics.simd.lanes import WIDTH
from robodyn.numerics.simd.states import all_finite, read, write
from robodyn.numerics.simd.tables import new_table

# Scratch is on the stack, eight numbers each.
MOST: Final = 30_000


@inner
def fits(plan: Any) -> bool:
    """Whether the scratch of this mechanism fits on the stack."""
    rows = BODY_SIZE + max(6 * plan[FREE], COMPOSITE) + 7
    return bool((plan[BODIES] + 1 + plan[RATES]) * rows + 12 * plan[WIDEST] < MOST)


@inner
def end(first: int, alone: int, last: int) -> int:
    """Where the states that are looked at together with the first one end.

    Those before `alone` are looked at one by one, as one of eight had no answer.
    """
    return min(first + 1 if first < alone else first + WIDTH, last)


@inner
def refuse(out: Any, n: int) -> None:
    """Say that state n has no answer."""
    for k in range(out.shape[1]):
        out[n, k] = math.nan


@batch_entry
def inverse_dynamics(
    plan: Any,
    numbers: Any,
    gravity: Any,
    q: Any,
    rates: Any,
    change: Any,
    wrench: Any,
    out: Any,
) -> int:
    """Efforts out (N, driven); or (N, free) at the independent coordinates."""
    plan, numbers, gravity = taken_integers(plan), taken(numbers), taken(gravity)
    q, rates, change, wrench, out = (
        taken(q), taken(rates), taken(change), taken(wrench), taken(out),
    )  # fmt: skip
    if not fits(plan):
        return 0
    contact, n, wide = wrench.shape[0] != ABSENT, plan[FREE], plan[WIDEST]
    state, load = new_table(4, max(wide, plan[POSITIONS])), new_table(1, 6)[0]
    position, rate, acceleration, effort = state[0], state[1], state[2], state[3]
    B, W = new_table(plan[BODIES] + 1, BODY_SIZE), new_table(7, wide)
    S, M = new_table(plan[RATES], n), new_table(n, n)
    last, first, alone = q.shape[0], 0, 0
    while first < last:
        to = end(first, alone, last)
        read(q, first, to, position)
        read(rates, first, to, rate)
        read(change, first, to, acceleration)
        if contact:
            read(wrench, first, to, load)
        sound = all_finite(position, plan[POSITIONS])
        sound = sound and all_finite(rate, n) and all_finite(acceleration, n)
        if not (sound and (not contact or all_finite(load, 6))):
            return first
        status = dynamics.driven_efforts(
            plan, numbers, gravity, position, rate, acceleration, load, contact, False,
            B, W, S, M, effort,
        )  # fmt: skip
        if status == OK:
            write(effort, first, to, out)
        elif to > first + 1:
            alone = to
            continue
        else:
            refuse(out, first)
        first = to
    return int(last)


@batch_entry
def forward_dynamics(
    plan: Any,
    numbers: Any,
    gravity: Any,
    q: Any,
    rates: Any,
    efforts: Any,
    wrench: Any,
    out: Any,
) -> int:
    """Accelerations out (N, free)."""
    plan, numbers, gravity = taken_integers(plan), taken(numbers), taken(gravity)
    q, rates, efforts, wrench, out = (
        taken(q), taken(rates), taken(efforts), taken(wrench), taken(out),
    )  # fmt: skip
    if not fits(plan):
        return 0
    contact, n, wide = wrench.shape[0] != ABSENT, plan[FREE], plan[WIDEST]
    state, load = new_table(4, max(wide, plan[POSITIONS])), new_table(1, 6)[0]
    position, rate, effort, acceleration = state[0], state[1], state[2], state[3]
    B, T = (
        new_table(plan[BODIES] + 1, BODY_SIZE),
        new_table(plan[BODIES] + 1, max(6 * n, COMPOSITE)),
    )
    W, S, M = new_table(7, wide), new_table(plan[RATES], n), new_table(n, n)
    last, first, alone = q.shape[0], 0, 0
    while first < last:
        to = end(first, alone, last)
        read(q, first, to, position)
        read(rates, first, to, rate)
        read(efforts, first, to, effort)
        if contact:
            read(wrench, first, to, load)
        sound = all_finite(position, plan[POSITIONS])
        sound = sound and all_finite(rate, n) and all_finite(effort, plan[DRIVEN])
        if not (sound and (not contact or all_finite(load, 6))):
            return first
        status = dynamics.forward_dynamics(
            plan, numbers, gravity, position, rate, effort, load, contact, False,
            B, W, S, T, M, acceleration,
        )  # fmt: skip
        if status == OK:
            write(acceleration, first, to, out)
        elif to > first + 1:
            alone = to
            continue
        else:
            refuse(out, first)
        first = to
    return int(last)
