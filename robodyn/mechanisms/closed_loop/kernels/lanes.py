# SPDX-License-Identifier: Apache-2.0

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
    FREE,
    OK,
    POSITIONS,
    RATES,
    WIDEST,
)
from robodyn.mechanisms.closed_loop.kernels.projection import COMPOSITE
from robodyn.numerics.array_arguments import ABSENT, borrowed_array, borrowed_integers
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
def answer(find: Any, mechanism: Any, given: Any, state: Any, work: Any, out: Any) -> int:
    """Answers out (N, m) to what is given of N states.

    Args:
        find: called as find(mechanism, state, work, found), all in lanes; writes an answer, a row
            of numbers, and returns a status. An `inner` function.
        mechanism: its plan, numbers and gravity.
        given: arrays (N, k), all for the same states, or absent.
        state: table, a row of at least k numbers for each of these arrays.
        work: scratch of `find`, a tuple.
        out: (N, m).

    Returns:
        How many states, from the first, are finite numbers.
    """
    found = new_table(1, out.shape[1])[0]
    last, first, alone = out.shape[0], 0, 0
    while first < last:
        # those before `alone` are looked at one by one, as one of eight had no answer
        to = min(first + 1 if first < alone else first + WIDTH, last)
        for k in range(len(given)):
            if given[k].shape[0] != ABSENT:
                read(given[k], first, to, state[k])
                if not all_finite(state[k], given[k].shape[1]):
                    return first
        if find(mechanism, state, work, found) == OK:
            write(found, first, to, out)
        elif to > first + 1:
            alone = to
            continue
        else:
            for k in range(out.shape[1]):
                out[first, k] = math.nan
        first = to
    return int(last)


@inner
def driven_efforts(mechanism: Any, state: Any, work: Any, found: Any) -> int:
    """For `answer`: efforts (driven,) from configuration, rates, their changes and wrench."""
    plan, numbers, gravity = mechanism
    contact, B, W, S, M = work
    return dynamics.driven_efforts(
        plan, numbers, gravity, state[0], state[1], state[2], state[3], contact, False,
        B, W, S, M, found,
    )  # fmt: skip


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
    """Efforts out (N, driven)."""
    plan, numbers, gravity = (
        borrowed_integers(plan),
        borrowed_array(numbers),
        borrowed_array(gravity),
    )
    if not fits(plan):
        return 0
    given = borrowed_array(q), borrowed_array(rates), borrowed_array(change), borrowed_array(wrench)
    n = plan[FREE]
    B, W = new_table(plan[BODIES] + 1, BODY_SIZE), new_table(7, plan[WIDEST])
    work = given[3].shape[0] != ABSENT, B, W, new_table(plan[RATES], n), new_table(n, n)
    state = new_table(4, max(plan[WIDEST], plan[POSITIONS], 6))
    return answer(driven_efforts, (plan, numbers, gravity), given, state, work, borrowed_array(out))


@inner
def changes_of_rates(mechanism: Any, state: Any, work: Any, found: Any) -> int:
    """For `answer`: accelerations (free,) from configuration, rates, efforts and wrench."""
    plan, numbers, gravity = mechanism
    contact, B, W, S, T, M = work
    return dynamics.forward_dynamics(
        plan, numbers, gravity, state[0], state[1], state[2], state[3], contact, False,
        B, W, S, T, M, found,
    )  # fmt: skip


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
    plan, numbers, gravity = (
        borrowed_integers(plan),
        borrowed_array(numbers),
        borrowed_array(gravity),
    )
    if not fits(plan):
        return 0
    given = (
        borrowed_array(q),
        borrowed_array(rates),
        borrowed_array(efforts),
        borrowed_array(wrench),
    )
    n, bodies = plan[FREE], plan[BODIES] + 1
    B, T = new_table(bodies, BODY_SIZE), new_table(bodies, max(6 * n, COMPOSITE))
    W, S, M = new_table(7, plan[WIDEST]), new_table(plan[RATES], n), new_table(n, n)
    work = given[3].shape[0] != ABSENT, B, W, S, T, M
    state = new_table(4, max(plan[WIDEST], plan[POSITIONS], 6))
    return answer(
        changes_of_rates, (plan, numbers, gravity), given, state, work, borrowed_array(out)
    )
