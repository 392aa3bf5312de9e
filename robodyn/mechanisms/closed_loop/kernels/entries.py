# SPDX-License-Identifier: Apache-2.0

"""One state of a mechanism with closed loops, checked and answered in one call.

Arrays are `given`; `plan` is of whole numbers lent as float64. Every function returns whether it
has an answer; where it has none, the caller asks elsewhere, which says why. `trusted` leaves the
checks out. A wrench that is None has the length `ABSENT`.
"""

from __future__ import annotations

from typing import Any, Final

from robodyn.mechanisms.closed_loop.kernels import closures, dynamics, newton, projection, tree
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
from robodyn.numerics.array_arguments import ABSENT, borrowed_array, borrowed_integers, stack
from robodyn.numerics.compiler import batch_entry, entry_kernel, inner

# Scratch is on the stack; a mechanism that needs more numbers has no answer here.
MOST: Final = 60_000


@inner
def are_numbers(array: Any, count: int) -> bool:
    """Whether an array has `count` finite numbers."""
    if array.shape[0] != count:
        return False
    # 0 times infinity or NaN is NaN, which equals nothing
    total = 0.0
    for j in range(count):
        total += 0.0 * array[j]
    return bool(total == 0.0)


@inner
def are_state(plan: Any, q: Any, rates: Any, third: Any, count: int, wrench: Any) -> bool:
    """Whether all parts of a state have their length and finite numbers."""
    if not (are_numbers(q, plan[POSITIONS]) and are_numbers(rates, plan[FREE])):
        return False
    if not are_numbers(third, count):
        return False
    return wrench.shape[0] == ABSENT or are_numbers(wrench, 6)


@inner
def fits(plan: Any) -> bool:
    """Whether the scratch of this mechanism fits on the stack."""
    rows = BODY_SIZE + max(6 * plan[FREE], COMPOSITE) + 7
    return bool((plan[BODIES] + 1 + plan[RATES]) * rows + 7 * plan[WIDEST] < MOST)


@entry_kernel
def equations(plan: Any, numbers: Any, gravity: Any, q: Any, gap: Any, K: Any) -> None:
    """How far open the closures are (rows,), and the entries of K as the plan has them."""
    plan, numbers, q = borrowed_integers(plan), borrowed_array(numbers), borrowed_array(q)
    B = stack(plan[BODIES] + 1, BODY_SIZE)
    tree.place_base(B, borrowed_array(gravity))
    tree.place(plan, numbers, q, B)
    closures.residual(plan, numbers, B, borrowed_array(gap))
    closures.fill(plan, numbers, B, borrowed_array(K))


@entry_kernel
def tree_state(plan: Any, numbers: Any, gravity: Any, q: Any, v: Any, B: Any) -> None:
    """What is found of each body, B (bodies + 1, BODY_SIZE), at rates v (rates,) of the tree."""
    plan, numbers, B = borrowed_integers(plan), borrowed_array(numbers), borrowed_array(B)
    tree.place_base(B, borrowed_array(gravity))
    tree.place(plan, numbers, borrowed_array(q), B)
    tree.move(plan, numbers, borrowed_array(v), True, B)


@entry_kernel
def inverse_dynamics(
    plan: Any,
    numbers: Any,
    gravity: Any,
    q: Any,
    rates: Any,
    change: Any,
    wrench: Any,
    trusted: bool,
    out: Any,
) -> bool:
    """Efforts (driven,) of one state."""
    plan, numbers, gravity = (
        borrowed_integers(plan),
        borrowed_array(numbers),
        borrowed_array(gravity),
    )
    q, rates, change, wrench = (
        borrowed_array(q),
        borrowed_array(rates),
        borrowed_array(change),
        borrowed_array(wrench),
    )
    out = borrowed_array(out)
    if not fits(plan):
        return False
    if not trusted and not are_state(plan, q, rates, change, plan[FREE], wrench):
        return False
    contact = wrench.shape[0] != ABSENT
    B = stack(plan[BODIES] + 1, BODY_SIZE)
    W = stack(7, plan[WIDEST])
    S, M = stack(plan[RATES], plan[FREE]), stack(plan[FREE], plan[FREE])
    status = dynamics.driven_efforts(
        plan, numbers, gravity, q, rates, change, wrench, contact, trusted, B, W, S, M, out
    )
    return bool(status == OK)


@entry_kernel
def forward_dynamics(
    plan: Any,
    numbers: Any,
    gravity: Any,
    q: Any,
    rates: Any,
    effort: Any,
    wrench: Any,
    trusted: bool,
    out: Any,
) -> bool:
    """Accelerations (free,) of one state."""
    plan, numbers, gravity = (
        borrowed_integers(plan),
        borrowed_array(numbers),
        borrowed_array(gravity),
    )
    q, rates, effort, wrench = (
        borrowed_array(q),
        borrowed_array(rates),
        borrowed_array(effort),
        borrowed_array(wrench),
    )
    if not fits(plan):
        return False
    if not trusted and not are_state(plan, q, rates, effort, plan[DRIVEN], wrench):
        return False
    contact = wrench.shape[0] != ABSENT
    n = plan[FREE]
    B, T = stack(plan[BODIES] + 1, BODY_SIZE), stack(plan[BODIES] + 1, max(6 * n, COMPOSITE))
    W, S, M = stack(7, plan[WIDEST]), stack(plan[RATES], n), stack(n, n)
    status = dynamics.forward_dynamics(
        plan,
        numbers,
        gravity,
        q,
        rates,
        effort,
        wrench,
        contact,
        trusted,
        B,
        W,
        S,
        T,
        M,
        borrowed_array(out),
    )
    return bool(status == OK)


@entry_kernel
def free_efforts(
    plan: Any,
    numbers: Any,
    gravity: Any,
    q: Any,
    rates: Any,
    change: Any,
    wrench: Any,
    trusted: bool,
    out: Any,
) -> bool:
    """Efforts (free,) that the independent coordinates need if these were driven."""
    plan, numbers, gravity = (
        borrowed_integers(plan),
        borrowed_array(numbers),
        borrowed_array(gravity),
    )
    q, rates, change, wrench = (
        borrowed_array(q),
        borrowed_array(rates),
        borrowed_array(change),
        borrowed_array(wrench),
    )
    if not fits(plan):
        return False
    if not trusted and not are_state(plan, q, rates, change, plan[FREE], wrench):
        return False
    contact = wrench.shape[0] != ABSENT
    B, W = stack(plan[BODIES] + 1, BODY_SIZE), stack(7, plan[WIDEST])
    status = dynamics.inverse_dynamics(
        plan,
        numbers,
        gravity,
        q,
        rates,
        change,
        wrench,
        contact,
        trusted,
        B,
        W,
        borrowed_array(out),
    )
    return bool(status == OK)


@entry_kernel
def tree_efforts(
    plan: Any,
    numbers: Any,
    gravity: Any,
    q: Any,
    v: Any,
    a: Any,
    wrench: Any,
    tau: Any,
    B: Any,
) -> None:
    """Efforts tau (rates,) that the tree needs at rates v that change by a, loops not felt.

    B (bodies + 1, BODY_SIZE) tells what each joint transmits.
    """
    plan, numbers, B = borrowed_integers(plan), borrowed_array(numbers), borrowed_array(B)
    v, wrench = borrowed_array(v), borrowed_array(wrench)
    tree.place_base(B, borrowed_array(gravity))
    tree.place(plan, numbers, borrowed_array(q), B)
    tree.move(plan, numbers, v, True, B)
    contact = wrench.shape[0] != ABSENT
    dynamics.tree_efforts(
        plan, numbers, v, borrowed_array(a), wrench, contact, B, borrowed_array(tau)
    )


@entry_kernel
def jacobian(plan: Any, numbers: Any, gravity: Any, q: Any, trusted: bool, out: Any) -> bool:
    """J (6, free) of the tip, linear over angular, base axes."""
    plan, numbers, gravity = (
        borrowed_integers(plan),
        borrowed_array(numbers),
        borrowed_array(gravity),
    )
    q, out = borrowed_array(q), borrowed_array(out)
    if not fits(plan) or not (trusted or are_numbers(q, plan[POSITIONS])):
        return False
    n = plan[FREE]
    B, T = stack(plan[BODIES] + 1, BODY_SIZE), stack(plan[BODIES] + 1, max(6 * n, COMPOSITE))
    W, S = stack(7, plan[WIDEST]), stack(plan[RATES], n)
    if dynamics.prepare(plan, numbers, gravity, q, trusted, B, W[0], W[4]) != OK:
        return False
    projection.tangent(plan, W[0], W[6], S)
    dynamics.tip_jacobian(plan, numbers, S, B, T, out)
    return True


@entry_kernel
def energy(
    plan: Any, numbers: Any, gravity: Any, q: Any, rates: Any, trusted: bool, out: Any
) -> bool:
    """Kinetic and potential energy (2,) [J] of what moves; 0 at the base's origin."""
    plan, numbers, gravity = (
        borrowed_integers(plan),
        borrowed_array(numbers),
        borrowed_array(gravity),
    )
    q, rates, out = borrowed_array(q), borrowed_array(rates), borrowed_array(out)
    if not fits(plan) or not (
        trusted or (are_numbers(q, plan[POSITIONS]) and are_numbers(rates, plan[FREE]))
    ):
        return False
    B, W = stack(plan[BODIES] + 1, BODY_SIZE), stack(7, plan[WIDEST])
    if dynamics.prepare(plan, numbers, gravity, q, trusted, B, W[0], W[4]) != OK:
        return False
    dynamics.spread(plan, W[0], rates, W[4], W[1])
    tree.move(plan, numbers, W[1], True, B)
    out[0], out[1] = tree.energy(plan, numbers, gravity, W[1], B)
    return True


@entry_kernel
def mass_matrix(plan: Any, numbers: Any, gravity: Any, q: Any, trusted: bool, out: Any) -> bool:
    """Mass matrix (free, free) of one configuration."""
    plan, numbers, gravity = (
        borrowed_integers(plan),
        borrowed_array(numbers),
        borrowed_array(gravity),
    )
    q, out = borrowed_array(q), borrowed_array(out)
    if not fits(plan) or not (trusted or are_numbers(q, plan[POSITIONS])):
        return False
    n = plan[FREE]
    B, T = stack(plan[BODIES] + 1, BODY_SIZE), stack(plan[BODIES] + 1, max(6 * n, COMPOSITE))
    W, S = stack(7, plan[WIDEST]), stack(plan[RATES], n)
    if dynamics.mass_matrix(plan, numbers, gravity, q, trusted, B, W, S, T, out) != OK:
        return False
    for i in range(n):
        for j in range(i):
            out[j, i] = out[i, j]
    return True


@entry_kernel
def tangent(plan: Any, numbers: Any, gravity: Any, q: Any, out: Any) -> bool:
    """S (rates, free) of one configuration."""
    plan, numbers, gravity = (
        borrowed_integers(plan),
        borrowed_array(numbers),
        borrowed_array(gravity),
    )
    if not fits(plan):
        return False
    B, W = stack(plan[BODIES] + 1, BODY_SIZE), stack(7, plan[WIDEST])
    if dynamics.prepare(plan, numbers, gravity, borrowed_array(q), True, B, W[0], W[4]) != OK:
        return False
    projection.tangent(plan, W[0], W[6], borrowed_array(out))
    return True


@entry_kernel
def motion(
    plan: Any, numbers: Any, gravity: Any, q: Any, rates: Any, change: Any, out: Any
) -> bool:
    """Rates of all joints, their changes and the tip's acceleration, out (2 * rates + 6,)."""
    plan, numbers, gravity = (
        borrowed_integers(plan),
        borrowed_array(numbers),
        borrowed_array(gravity),
    )
    if not fits(plan):
        return False
    B, W = stack(plan[BODIES] + 1, BODY_SIZE), stack(7, plan[WIDEST])
    status = dynamics.motion(
        plan,
        numbers,
        gravity,
        borrowed_array(q),
        borrowed_array(rates),
        borrowed_array(change),
        True,
        B,
        W,
        borrowed_array(out),
    )
    return bool(status == OK)


@entry_kernel
def assemble(plan: Any, numbers: Any, gravity: Any, q: Any, target: float, most: int) -> float:
    """Close the loops from q (positions,) by Newton's method, independent joints held.

    Returns the largest equation left [parts of the size], -1 where the pivots do not serve.
    """
    plan, numbers, gravity = (
        borrowed_integers(plan),
        borrowed_array(numbers),
        borrowed_array(gravity),
    )
    if not fits(plan):
        return -1.0
    B, W = stack(plan[BODIES] + 1, BODY_SIZE), stack(7, plan[WIDEST])
    return newton.close(plan, numbers, gravity, borrowed_array(q), target, most, B, W)


@entry_kernel
def displace(
    plan: Any, numbers: Any, gravity: Any, q: Any, displacement: Any, target: float
) -> float:
    """Move q (positions,) along by a displacement (free,) of the independent coordinates.

    Returns as `assemble`.
    """
    plan, numbers, gravity = (
        borrowed_integers(plan),
        borrowed_array(numbers),
        borrowed_array(gravity),
    )
    if not fits(plan):
        return -1.0
    B, W = stack(plan[BODIES] + 1, BODY_SIZE), stack(7, plan[WIDEST])
    return newton.displace(
        plan, numbers, gravity, borrowed_array(q), borrowed_array(displacement), target, B, W
    )


@batch_entry
def displace_all(
    plan: Any,
    numbers: Any,
    gravity: Any,
    q: Any,
    displacements: Any,
    chained: bool,
    target: float,
    accepted: float,
) -> int:
    """Move every q (N, positions) along by its displacement (N, free), as `displace` does.

    Where they are `chained` each starts from where the one before it arrived, the first from q[0].
    Returns how many, from the first, are left with no more than `accepted`.
    """
    plan, numbers, gravity = (
        borrowed_integers(plan),
        borrowed_array(numbers),
        borrowed_array(gravity),
    )
    q, displacements = borrowed_array(q), borrowed_array(displacements)
    if not fits(plan):
        return 0
    B, W = stack(plan[BODIES] + 1, BODY_SIZE), stack(7, plan[WIDEST])
    for row in range(q.shape[0]):
        if chained and row > 0:
            for j in range(plan[POSITIONS]):
                q[row, j] = q[row - 1, j]
        step = displacements[row]
        left = newton.displace(plan, numbers, gravity, q[row], step, target, B, W)
        if not 0.0 <= left <= accepted:
            return row
    return int(q.shape[0])


@entry_kernel
def advance(plan: Any, numbers: Any, gravity: Any, q: Any, step: Any) -> None:
    """Displace q (positions,) by a step (rates,) of the tree, in place."""
    plan, numbers, q = borrowed_integers(plan), borrowed_array(numbers), borrowed_array(q)
    B = stack(plan[BODIES] + 1, BODY_SIZE)
    tree.place_base(B, borrowed_array(gravity))
    tree.place(plan, numbers, q, B)
    tree.advance(plan, numbers, B, borrowed_array(step), q)


@entry_kernel
def configuration_rate(plan: Any, numbers: Any, gravity: Any, q: Any, v: Any, out: Any) -> None:
    """Time derivative out (positions,) of a configuration at rates v (rates,) of the tree."""
    plan, numbers, q = borrowed_integers(plan), borrowed_array(numbers), borrowed_array(q)
    B = stack(plan[BODIES] + 1, BODY_SIZE)
    tree.place_base(B, borrowed_array(gravity))
    tree.place(plan, numbers, q, B)
    tree.configuration_rate(plan, numbers, q, B, borrowed_array(v), borrowed_array(out))
