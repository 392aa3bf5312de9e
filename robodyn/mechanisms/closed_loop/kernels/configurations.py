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

"""Many configurations of a mechanism with closed loops, eight at a time in the lanes of vectors.

As `kernels.lanes` has it: equations of single states, NaN where a state has no answer there, and
the number of states, from the first, that are finite numbers is returned.
"""

from __future__ import annotations

from typing import Any

from robodyn.mechanisms.closed_loop.kernels import dynamics, newton, projection, tree
from robodyn.mechanisms.closed_loop.kernels.lanes import end, fits, refuse
from robodyn.mechanisms.closed_loop.kernels.layout import (
    BODIES,
    BODY_SIZE,
    FREE,
    OK,
    ORIGIN,
    POOR,
    POSITIONS,
    RATES,
    WIDEST,
)
from robodyn.mechanisms.closed_loop.kernels.projection import COMPOSITE
from robodyn.numerics.array_arguments import taken, taken_integers
from robodyn.numerics.compiler import batch_entry, inner
from robodyn.numerics.simd.lanes import WIDTH, any_of
from robodyn.numerics.simd.states import all_finite, read, write
from robodyn.numerics.simd.tables import new_table


@inner
def mirror(M: Any, count: int) -> None:
    """Write the upper triangle of a matrix whose lower one is known."""
    for i in range(count):
        for j in range(i):
            M[j, i] = M[i, j]


@batch_entry
def mass_matrix(plan: Any, numbers: Any, gravity: Any, q: Any, out: Any) -> int:
    """Mass matrices out (N, free * free)."""
    plan, numbers, gravity = taken_integers(plan), taken(numbers), taken(gravity)
    q, out = taken(q), taken(out)
    if not fits(plan):
        return 0
    n, wide, bodies = plan[FREE], plan[WIDEST], plan[BODIES] + 1
    deep = max(6 * n, COMPOSITE)
    state = new_table(1, plan[POSITIONS])[0]
    B, T, W = new_table(bodies, BODY_SIZE), new_table(bodies, deep), new_table(7, wide)
    S, M = new_table(plan[RATES], n), new_table(n, n)
    last, first, alone = q.shape[0], 0, 0
    while first < last:
        to = end(first, alone, last)
        read(q, first, to, state)
        if not all_finite(state, plan[POSITIONS]):
            return first
        if dynamics.mass_matrix(plan, numbers, gravity, state, False, B, W, S, T, M) == OK:
            mirror(M, n)
            write(M[0], first, to, out)
        elif to > first + 1:
            alone = to
            continue
        else:
            refuse(out, first)
        first = to
    return int(last)


@batch_entry
def tangent(plan: Any, numbers: Any, gravity: Any, q: Any, out: Any) -> int:
    """Tangents S out (N, rates * free)."""
    plan, numbers, gravity = taken_integers(plan), taken(numbers), taken(gravity)
    q, out = taken(q), taken(out)
    if not fits(plan):
        return 0
    n, wide, bodies = plan[FREE], plan[WIDEST], plan[BODIES] + 1
    state = new_table(1, plan[POSITIONS])[0]
    B, W, S = new_table(bodies, BODY_SIZE), new_table(7, wide), new_table(plan[RATES], n)
    last, first, alone = q.shape[0], 0, 0
    while first < last:
        to = end(first, alone, last)
        read(q, first, to, state)
        if not all_finite(state, plan[POSITIONS]):
            return first
        if dynamics.prepare(plan, numbers, gravity, state, False, B, W[0], W[4]) == OK:
            projection.tangent(plan, W[0], W[6], S)
            write(S[0], first, to, out)
        elif to > first + 1:
            alone = to
            continue
        else:
            refuse(out, first)
        first = to
    return int(last)


@batch_entry
def jacobian(plan: Any, numbers: Any, gravity: Any, q: Any, out: Any) -> int:
    """Jacobians of the tip out (N, 6 * free), linear over angular, base axes."""
    plan, numbers, gravity = taken_integers(plan), taken(numbers), taken(gravity)
    q, out = taken(q), taken(out)
    if not fits(plan):
        return 0
    n, wide, bodies = plan[FREE], plan[WIDEST], plan[BODIES] + 1
    state, J = new_table(1, plan[POSITIONS])[0], new_table(6, n)
    B, T, W = new_table(bodies, BODY_SIZE), new_table(bodies, 6 * n), new_table(7, wide)
    S = new_table(plan[RATES], n)
    last, first, alone = q.shape[0], 0, 0
    while first < last:
        to = end(first, alone, last)
        read(q, first, to, state)
        if not all_finite(state, plan[POSITIONS]):
            return first
        if dynamics.prepare(plan, numbers, gravity, state, False, B, W[0], W[4]) == OK:
            projection.tangent(plan, W[0], W[6], S)
            dynamics.tip_jacobian(plan, numbers, S, B, T, J)
            write(J[0], first, to, out)
        elif to > first + 1:
            alone = to
            continue
        else:
            refuse(out, first)
        first = to
    return int(last)


@inner
def find_energy(plan: Any, numbers: Any, gravity: Any, q: Any, u: Any, B: Any, W: Any) -> Any:
    """Status, kinetic and potential energy."""
    status = dynamics.prepare(plan, numbers, gravity, q, False, B, W[0], W[4])
    if status != OK:
        return status, 0.0 * q[0], 0.0 * q[0]
    dynamics.spread(plan, W[0], u, W[4], W[1])
    tree.move(plan, numbers, W[1], True, B)
    kinetic, potential = tree.energy(plan, numbers, gravity, W[1], B)
    return status, kinetic, potential


@batch_entry
def energy(plan: Any, numbers: Any, gravity: Any, q: Any, rates: Any, out: Any) -> int:
    """Kinetic and potential energies out (N, 2) of what moves."""
    plan, numbers, gravity = taken_integers(plan), taken(numbers), taken(gravity)
    q, rates, out = taken(q), taken(rates), taken(out)
    if not fits(plan):
        return 0
    n, wide, bodies = plan[FREE], plan[WIDEST], plan[BODIES] + 1
    state = new_table(2, max(plan[POSITIONS], n))
    both = new_table(1, 2)[0]
    B, W = new_table(bodies, BODY_SIZE), new_table(7, wide)
    last, first, alone = q.shape[0], 0, 0
    while first < last:
        to = end(first, alone, last)
        read(q, first, to, state[0])
        read(rates, first, to, state[1])
        if not (all_finite(state[0], plan[POSITIONS]) and all_finite(state[1], n)):
            return first
        status, kinetic, potential = find_energy(plan, numbers, gravity, state[0], state[1], B, W)
        if status == OK:
            both[0], both[1] = kinetic, potential
            write(both, first, to, out)
        elif to > first + 1:
            alone = to
            continue
        else:
            refuse(out, first)
        first = to
    return int(last)


@inner
def find_motion(
    plan: Any,
    numbers: Any,
    gravity: Any,
    q: Any,
    rates: Any,
    change: Any,
    B: Any,
    W: Any,
    out: Any,
) -> int:
    """Rates of all joints, their changes and the tip's acceleration out (2 * rates + 6,)."""
    K, v, a, tip = W[0], W[1], W[2], W[5]
    status = dynamics.prepare(plan, numbers, gravity, q, False, B, K, W[4])
    if status != OK:
        return status
    dynamics.spread(plan, K, rates, W[4], v)
    if any_of(dynamics.contradicts(plan, W[4], v)):
        return POOR
    dynamics.accelerations(plan, numbers, K, v, change, False, B, W[4], a)
    tree.load(plan, numbers, a, B)
    dynamics.tip_acceleration(plan, numbers, gravity, B, tip)
    count = plan[RATES]
    for j in range(count):
        out[j] = v[j]
        out[count + j] = a[j]
    for j in range(6):
        out[2 * count + j] = tip[j]
    return OK


@batch_entry
def motion(plan: Any, numbers: Any, gravity: Any, q: Any, rates: Any, change: Any, out: Any) -> int:
    """Rates of all joints, their changes and the tip's acceleration out (N, 2 * rates + 6)."""
    plan, numbers, gravity = taken_integers(plan), taken(numbers), taken(gravity)
    q, rates, change, out = taken(q), taken(rates), taken(change), taken(out)
    if not fits(plan):
        return 0
    n, wide, bodies = plan[FREE], plan[WIDEST], plan[BODIES] + 1
    count = out.shape[1]
    state = new_table(3, max(plan[POSITIONS], n))
    found = new_table(1, count)[0]
    B, W = new_table(bodies, BODY_SIZE), new_table(7, wide)
    last, first, alone = q.shape[0], 0, 0
    while first < last:
        to = end(first, alone, last)
        read(q, first, to, state[0])
        read(rates, first, to, state[1])
        read(change, first, to, state[2])
        sound = all_finite(state[0], plan[POSITIONS])
        if not (sound and all_finite(state[1], n) and all_finite(state[2], n)):
            return first
        status = find_motion(plan, numbers, gravity, state[0], state[1], state[2], B, W, found)
        if status == OK:
            write(found, first, to, out)
        elif to > first + 1:
            alone = to
            continue
        else:
            refuse(out, first)
        first = to
    return int(last)


@batch_entry
def displaced(
    plan: Any,
    numbers: Any,
    gravity: Any,
    q: Any,
    displacements: Any,
    target: float,
    accepted: float,
    out: Any,
) -> int:
    """Closed configurations out (N, positions) after displacements (N, free) of q (N, positions).

    The displacements are short, see `newton.PIECE`; open by no more than `accepted`, and by
    `target` if rounding lets them.
    """
    plan, numbers, gravity = taken_integers(plan), taken(numbers), taken(gravity)
    q, displacements, out = taken(q), taken(displacements), taken(out)
    if not fits(plan):
        return 0
    n, count = plan[FREE], plan[POSITIONS]
    state = new_table(2, max(count, n))
    B, W = new_table(plan[BODIES] + 1, BODY_SIZE), new_table(7, plan[WIDEST])
    last, first, alone = q.shape[0], 0, 0
    while first < last:
        to = end(first, alone, last)
        read(q, first, to, state[0])
        read(displacements, first, to, state[1])
        if not (all_finite(state[0], count) and all_finite(state[1], n)):
            return first
        left = newton.displace_together(plan, numbers, gravity, state[0], state[1], target, B, W)
        if not any_of(left > accepted) and all_finite(state[0], count):
            write(state[0], first, to, out)
        elif to > first + 1:
            alone = to
            continue
        else:
            refuse(out, first)
        first = to
    return int(last)


@batch_entry
def frames(plan: Any, numbers: Any, gravity: Any, q: Any, body: int, out: Any) -> int:
    """Axes and origin out (N, 12) of one body, x y z and then where it is, base frame."""
    plan, numbers, gravity = taken_integers(plan), taken(numbers), taken(gravity)
    q, out = taken(q), taken(out)
    if not fits(plan):
        return 0
    state, found = new_table(1, plan[POSITIONS])[0], new_table(1, 12)[0]
    B = new_table(plan[BODIES] + 1, BODY_SIZE)
    tree.place_base(B, gravity)
    last = q.shape[0]
    for first in range(0, last, WIDTH):
        read(q, first, last, state)
        if not all_finite(state, plan[POSITIONS]):
            return first
        tree.place(plan, numbers, state, B)
        for k in range(ORIGIN + 3):
            found[k] = B[body, k]
        write(found, first, last, out)
    return int(last)
