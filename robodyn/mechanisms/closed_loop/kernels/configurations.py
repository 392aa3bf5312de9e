# SPDX-License-Identifier: Apache-2.0

"""Many configurations of a mechanism with closed loops, eight at a time in the lanes of vectors.

As `kernels.lanes` has it: equations of single states, NaN where a state has no answer there, and
the number of states, from the first, that are finite numbers is returned.
"""

from __future__ import annotations

from typing import Any

from robodyn.mechanisms.closed_loop.kernels import dynamics, newton, projection, tree
from robodyn.mechanisms.closed_loop.kernels.lanes import answer, fits
from robodyn.mechanisms.closed_loop.kernels.layout import (
    BODIES,
    BODY_SIZE,
    FREE,
    OK,
    OPEN,
    ORIGIN,
    POSITIONS,
    RATES,
    WIDEST,
)
from robodyn.mechanisms.closed_loop.kernels.projection import COMPOSITE
from robodyn.numerics.array_arguments import borrowed_array, borrowed_integers
from robodyn.numerics.compiler import batch_entry, inner
from robodyn.numerics.simd.lanes import any_of
from robodyn.numerics.simd.states import all_finite
from robodyn.numerics.simd.tables import new_table


@inner
def find_masses(mechanism: Any, state: Any, work: Any, found: Any) -> int:
    """For `lanes.answer`: mass matrix (free * free)."""
    plan, numbers, gravity = mechanism
    B, W, S, T, M = work
    status = dynamics.mass_matrix(plan, numbers, gravity, state[0], False, B, W, S, T, M)
    n = plan[FREE]
    for i in range(n):
        for j in range(i + 1):
            found[n * i + j] = M[i, j]
            found[n * j + i] = M[i, j]
    return status


@batch_entry
def mass_matrix(plan: Any, numbers: Any, gravity: Any, q: Any, out: Any) -> int:
    """Mass matrices out (N, free * free)."""
    plan, numbers, gravity = (
        borrowed_integers(plan),
        borrowed_array(numbers),
        borrowed_array(gravity),
    )
    if not fits(plan):
        return 0
    n, bodies = plan[FREE], plan[BODIES] + 1
    B, T = new_table(bodies, BODY_SIZE), new_table(bodies, max(6 * n, COMPOSITE))
    work = B, new_table(7, plan[WIDEST]), new_table(plan[RATES], n), T, new_table(n, n)
    given, state = (borrowed_array(q),), new_table(1, plan[POSITIONS])
    return answer(find_masses, (plan, numbers, gravity), given, state, work, borrowed_array(out))


@inner
def find_tangent(mechanism: Any, state: Any, work: Any, found: Any) -> int:
    """For `lanes.answer`: tangent S (rates * free)."""
    plan, numbers, gravity = mechanism
    B, W, S = work
    status = dynamics.prepare(plan, numbers, gravity, state[0], False, B, W[0], W[4])
    if status != OK:
        return status
    projection.tangent(plan, W[0], W[6], S)
    for j in range(plan[RATES]):
        for k in range(plan[FREE]):
            found[plan[FREE] * j + k] = S[j, k]
    return OK


@batch_entry
def tangent(plan: Any, numbers: Any, gravity: Any, q: Any, out: Any) -> int:
    """Tangents S out (N, rates * free)."""
    plan, numbers, gravity = (
        borrowed_integers(plan),
        borrowed_array(numbers),
        borrowed_array(gravity),
    )
    if not fits(plan):
        return 0
    B, S = new_table(plan[BODIES] + 1, BODY_SIZE), new_table(plan[RATES], plan[FREE])
    work = B, new_table(7, plan[WIDEST]), S
    given, state = (borrowed_array(q),), new_table(1, plan[POSITIONS])
    return answer(find_tangent, (plan, numbers, gravity), given, state, work, borrowed_array(out))


@inner
def find_jacobian(mechanism: Any, state: Any, work: Any, found: Any) -> int:
    """For `lanes.answer`: Jacobian of the tip (6 * free)."""
    plan, numbers, gravity = mechanism
    B, W, S, T, J = work
    status = dynamics.prepare(plan, numbers, gravity, state[0], False, B, W[0], W[4])
    if status != OK:
        return status
    projection.tangent(plan, W[0], W[6], S)
    dynamics.tip_jacobian(plan, numbers, S, B, T, J)
    for j in range(6):
        for k in range(plan[FREE]):
            found[plan[FREE] * j + k] = J[j, k]
    return OK


@batch_entry
def jacobian(plan: Any, numbers: Any, gravity: Any, q: Any, out: Any) -> int:
    """Jacobians of the tip out (N, 6 * free), linear over angular, base axes."""
    plan, numbers, gravity = (
        borrowed_integers(plan),
        borrowed_array(numbers),
        borrowed_array(gravity),
    )
    if not fits(plan):
        return 0
    n, bodies = plan[FREE], plan[BODIES] + 1
    B, T = new_table(bodies, BODY_SIZE), new_table(bodies, 6 * n)
    work = B, new_table(7, plan[WIDEST]), new_table(plan[RATES], n), T, new_table(6, n)
    given, state = (borrowed_array(q),), new_table(1, plan[POSITIONS])
    return answer(find_jacobian, (plan, numbers, gravity), given, state, work, borrowed_array(out))


@inner
def find_energy(mechanism: Any, state: Any, work: Any, found: Any) -> int:
    """For `lanes.answer`: kinetic and potential energy."""
    plan, numbers, gravity = mechanism
    B, W = work
    status = dynamics.prepare(plan, numbers, gravity, state[0], False, B, W[0], W[4])
    if status != OK:
        return status
    dynamics.spread(plan, W[0], state[1], W[4], W[1])
    tree.move(plan, numbers, W[1], True, B)
    found[0], found[1] = tree.energy(plan, numbers, gravity, W[1], B)
    return OK


@batch_entry
def energy(plan: Any, numbers: Any, gravity: Any, q: Any, rates: Any, out: Any) -> int:
    """Kinetic and potential energies out (N, 2) of what moves."""
    plan, numbers, gravity = (
        borrowed_integers(plan),
        borrowed_array(numbers),
        borrowed_array(gravity),
    )
    if not fits(plan):
        return 0
    work = new_table(plan[BODIES] + 1, BODY_SIZE), new_table(7, plan[WIDEST])
    given, state = (
        (borrowed_array(q), borrowed_array(rates)),
        new_table(2, max(plan[POSITIONS], plan[FREE])),
    )
    return answer(find_energy, (plan, numbers, gravity), given, state, work, borrowed_array(out))


@inner
def find_motion(mechanism: Any, state: Any, work: Any, found: Any) -> int:
    """For `lanes.answer`: rates of all joints, their changes and the tip's acceleration."""
    plan, numbers, gravity = mechanism
    B, W = work
    return dynamics.motion(plan, numbers, gravity, state[0], state[1], state[2], False, B, W, found)


@batch_entry
def motion(plan: Any, numbers: Any, gravity: Any, q: Any, rates: Any, change: Any, out: Any) -> int:
    """Rates of all joints, their changes and the tip's acceleration out (N, 2 * rates + 6)."""
    plan, numbers, gravity = (
        borrowed_integers(plan),
        borrowed_array(numbers),
        borrowed_array(gravity),
    )
    if not fits(plan):
        return 0
    work = new_table(plan[BODIES] + 1, BODY_SIZE), new_table(7, plan[WIDEST])
    given = borrowed_array(q), borrowed_array(rates), borrowed_array(change)
    state = new_table(3, max(plan[POSITIONS], plan[FREE]))
    return answer(find_motion, (plan, numbers, gravity), given, state, work, borrowed_array(out))


@inner
def find_displaced(mechanism: Any, state: Any, work: Any, found: Any) -> int:
    """For `lanes.answer`: the configuration (positions,) after a displacement, closed."""
    plan, numbers, gravity = mechanism
    target, accepted, B, W = work
    q = state[0]
    left = newton.displace_together(plan, numbers, gravity, q, state[1], target, B, W)
    if any_of(left > accepted) or not all_finite(q, plan[POSITIONS]):
        return OPEN
    for k in range(plan[POSITIONS]):
        found[k] = q[k]
    return OK


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
    plan, numbers, gravity = (
        borrowed_integers(plan),
        borrowed_array(numbers),
        borrowed_array(gravity),
    )
    if not fits(plan):
        return 0
    B, W = new_table(plan[BODIES] + 1, BODY_SIZE), new_table(7, plan[WIDEST])
    given, state = (
        (borrowed_array(q), borrowed_array(displacements)),
        new_table(2, max(plan[POSITIONS], plan[FREE])),
    )
    work = target, accepted, B, W
    return answer(find_displaced, (plan, numbers, gravity), given, state, work, borrowed_array(out))


@inner
def find_frame(mechanism: Any, state: Any, work: Any, found: Any) -> int:
    """For `lanes.answer`: axes and origin (12,) of a body."""
    plan, numbers, gravity = mechanism
    body, B = work
    tree.place_base(B, gravity)
    tree.place(plan, numbers, state[0], B)
    for k in range(ORIGIN + 3):
        found[k] = B[body, k]
    return OK


@batch_entry
def frames(plan: Any, numbers: Any, gravity: Any, q: Any, body: int, out: Any) -> int:
    """Axes and origin out (N, 12) of one body, x y z and then where it is, base frame."""
    plan, numbers, gravity = (
        borrowed_integers(plan),
        borrowed_array(numbers),
        borrowed_array(gravity),
    )
    given, state = (borrowed_array(q),), new_table(1, plan[POSITIONS])
    work = body, new_table(plan[BODIES] + 1, BODY_SIZE)
    return answer(find_frame, (plan, numbers, gravity), given, state, work, borrowed_array(out))
