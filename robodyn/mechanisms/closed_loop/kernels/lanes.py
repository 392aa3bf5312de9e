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
alone; where one has none, its results are NaN and the caller asks elsewhere. What is returned is
how many states, from the first, are finite numbers.
"""

from __future__ import annotations

import math
from typing import Any, Final

from robodyn.mechanisms.closed_loop.kernels import dynamics
from robodyn.mechanisms.closed_loop.kernels.layout import (
    BODIES,
    BODY_SIZE,
    DRIVEN,
    DRIVES_FREE,
    FREE,
    OK,
    POSITIONS,
    RATES,
    WIDEST,
)
from robodyn.numerics.array_arguments import ABSENT, stack, taken, taken_integers
from robodyn.numerics.compiler import batch_entry, inner
from robodyn.numerics.simd.lanes import WIDTH
from robodyn.numerics.simd.states import all_finite, read, write
from robodyn.numerics.simd.tables import new_table

# Scratch is on the stack, eight numbers each.
MOST: Final = 30_000


@inner
def fits(plan: Any) -> bool:
    """Whether the scratch of this mechanism fits on the stack."""
    rows = BODY_SIZE + 6 * plan[FREE] + 7
    return bool((plan[BODIES] + 1 + plan[RATES]) * rows + 12 * plan[WIDEST] < MOST)


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
    direct = plan[DRIVES_FREE] == 1
    state, load = new_table(4, max(wide, plan[POSITIONS])), new_table(1, 6)[0]
    position, rate, acceleration, effort = state[0], state[1], state[2], state[3]
    B, W = new_table(plan[BODIES] + 1, BODY_SIZE), new_table(7, wide)
    S, M = new_table(plan[RATES], n), new_table(n, n)
    b, w = stack(plan[BODIES] + 1, BODY_SIZE), stack(7, wide)
    s, m, alone = stack(plan[RATES], n), stack(n, n), stack(1, wide)[0]
    last = q.shape[0]
    for first in range(0, last, WIDTH):
        read(q, first, last, position)
        read(rates, first, last, rate)
        read(change, first, last, acceleration)
        if contact:
            read(wrench, first, last, load)
        sound = all_finite(position, plan[POSITIONS])
        sound = sound and all_finite(rate, n) and all_finite(acceleration, n)
        if not (sound and (not contact or all_finite(load, 6))):
            return first
        if direct:
            status = dynamics.inverse_dynamics(
                plan, numbers, gravity, position, rate, acceleration, load, contact, False,
                B, W, effort,
            )  # fmt: skip
        else:
            status = dynamics.driven_efforts(
                plan, numbers, gravity, position, rate, acceleration, load, contact, False,
                B, W, S, M, effort,
            )  # fmt: skip
        if status == OK:
            write(effort, first, last, out)
            continue
        for k in range(first, min(first + WIDTH, last)):
            push = wrench[k if contact else 0] if contact else alone
            if direct:
                status = dynamics.inverse_dynamics(
                    plan, numbers, gravity, q[k], rates[k], change[k], push, contact, False,
                    b, w, alone,
                )  # fmt: skip
            else:
                status = dynamics.driven_efforts(
                    plan, numbers, gravity, q[k], rates[k], change[k], push, contact, False,
                    b, w, s, m, alone,
                )  # fmt: skip
            for j in range(out.shape[1]):
                out[k, j] = alone[j]
            if status != OK:
                refuse(out, k)
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
    B, T = new_table(plan[BODIES] + 1, BODY_SIZE), new_table(plan[BODIES] + 1, 6 * n)
    W, S, M = new_table(7, wide), new_table(plan[RATES], n), new_table(n, n)
    b, t = stack(plan[BODIES] + 1, BODY_SIZE), stack(plan[BODIES] + 1, 6 * n)
    w, s, m, alone = stack(7, wide), stack(plan[RATES], n), stack(n, n), stack(1, wide)[0]
    last = q.shape[0]
    for first in range(0, last, WIDTH):
        read(q, first, last, position)
        read(rates, first, last, rate)
        read(efforts, first, last, effort)
        if contact:
            read(wrench, first, last, load)
        sound = all_finite(position, plan[POSITIONS])
        sound = sound and all_finite(rate, n) and all_finite(effort, plan[DRIVEN])
        if not (sound and (not contact or all_finite(load, 6))):
            return first
        status = dynamics.forward_dynamics(
            plan, numbers, gravity, position, rate, effort, load, contact, False,
            B, W, S, T, M, acceleration,
        )  # fmt: skip
        if status == OK:
            write(acceleration, first, last, out)
            continue
        for k in range(first, min(first + WIDTH, last)):
            push = wrench[k if contact else 0] if contact else alone
            status = dynamics.forward_dynamics(
                plan, numbers, gravity, q[k], rates[k], efforts[k], push, contact, False,
                b, w, s, t, m, alone,
            )  # fmt: skip
            for j in range(out.shape[1]):
                out[k, j] = alone[j]
            if status != OK:
                refuse(out, k)
    return int(last)
