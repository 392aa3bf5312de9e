# SPDX-License-Identifier: Apache-2.0

"""Many states of a mechanism with closed loops, eight at a time in the lanes of vectors.

The equations are those of single states. Where eight together have no answer, each is asked for
alone, in all lanes; where one has none, its results are NaN and the caller asks elsewhere. What is
returned is how many states, from the first, are finite numbers.
"""

from __future__ import annotations

import math
from typing import Any, Final

from robodyn.mechanisms.closed_loop.kernels import dynamics, newton, projection
from robodyn.mechanisms.closed_loop.kernels.entries import placed
from robodyn.mechanisms.closed_loop.kernels.layout import (
    BODY_SIZE,
    COMPOSITE,
    OK,
    OPEN,
    ORIGIN,
    State,
    mechanism,
    shapes,
)
from robodyn.numerics.array_arguments import ABSENT, borrowed_array
from robodyn.numerics.compiler import batch_entry, inner
from robodyn.numerics.simd.lanes import WIDTH, any_of
from robodyn.numerics.simd.states import all_finite, read, write
from robodyn.numerics.simd.tables import new_table, new_tables

# Scratch is on the stack, eight numbers each.
MOST: Final = 30_000


@inner
def fits(m: Any) -> bool:
    """Whether the scratch of this mechanism fits on the stack."""
    rows = BODY_SIZE + max(6 * m.free, COMPOSITE) + 7
    return bool((m.bodies + 1 + m.rates) * rows + 12 * m.widest < MOST)


@inner
def answer(find: Any, m: Any, given: Any, contact: bool, settings: Any, out: Any) -> int:
    """Answers out (N, k) to what is given of N states.

    Args:
        find: called as find(m, state, settings, s, found), all in lanes; writes an answer, a row of
            numbers, and returns a status. An `inner` function.
        m: the mechanism.
        given: configurations, rates, thirds and wrenches of the states, each (N, k), or absent, or
            the first of these.
        contact: whether there are wrenches.
        settings: for `find`.
        out: (N, k).

    Returns:
        How many states, from the first, are finite numbers.
    """
    if not fits(m):
        return 0
    s, found = new_tables(shapes(m)), new_table(1, out.shape[1])[0]
    table = new_table(4, max(m.widest, m.positions, 6))
    state = State(table[0], table[1], table[2], table[3], contact)
    last, first, alone = out.shape[0], 0, 0
    while first < last:
        # those before `alone` are looked at one by one, as one of eight had no answer
        to = min(first + 1 if first < alone else first + WIDTH, last)
        for k in range(len(given)):
            if given[k].shape[0] != ABSENT:
                read(given[k], first, to, table[k])
                if not all_finite(table[k], given[k].shape[1]):
                    return first
        if find(m, state, settings, s, found) == OK:
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
def put_flat(matrix: Any, rows: int, columns: int, found: Any) -> None:
    """Write a matrix (rows, columns), row by row."""
    for j in range(rows):
        for k in range(columns):
            found[columns * j + k] = matrix[j, k]


@inner
def find_mass_matrix(m: Any, state: Any, settings: Any, s: Any, found: Any) -> int:
    """For `answer`: mass matrix (free * free)."""
    status = dynamics.mass_matrix(m, state.q, False, s, s.M)
    for i in range(m.free):
        for j in range(i + 1):
            found[m.free * i + j] = s.M[i, j]
            found[m.free * j + i] = s.M[i, j]
    return status


@inner
def find_tangent(m: Any, state: Any, settings: Any, s: Any, found: Any) -> int:
    """For `answer`: tangent S (rates * free)."""
    status = dynamics.prepare(m, state.q, False, s)
    if status != OK:
        return status
    projection.tangent(m, s.K, s.R, s.S)
    put_flat(s.S, m.rates, m.free, found)
    return OK


@inner
def find_jacobian(m: Any, state: Any, settings: Any, s: Any, found: Any) -> int:
    """For `answer`: Jacobian of the tip (6 * free)."""
    status = dynamics.jacobian(m, state.q, False, s, s.J)
    if status != OK:
        return status
    put_flat(s.J, 6, m.free, found)
    return OK


@inner
def find_displaced(m: Any, state: Any, settings: Any, s: Any, found: Any) -> int:
    """For `answer`: the configuration (positions,) after a displacement, closed."""
    target, accepted = settings
    left = newton.displace_together(m, state.q, state.rates, target, s)
    if any_of(left > accepted) or not all_finite(state.q, m.positions):
        return OPEN
    for k in range(m.positions):
        found[k] = state.q[k]
    return OK


@inner
def find_frame(m: Any, state: Any, body: Any, s: Any, found: Any) -> int:
    """For `answer`: axes and origin (12,) of a body."""
    placed(m, state.q, s.B)
    for k in range(ORIGIN + 3):
        found[k] = s.B[body, k]
    return OK


@inner
def of_states(find: Any, plan: Any, numbers: Any, given: Any, out: Any) -> int:
    """Answers out (N, k) to configurations, rates, thirds and wrenches or none."""
    states = borrowed_array(given)
    contact = states[3].shape[0] != ABSENT
    return answer(find, mechanism(plan, numbers), states, contact, False, borrowed_array(out))


@inner
def of_configurations(
    find: Any, plan: Any, numbers: Any, given: Any, settings: Any, out: Any
) -> int:
    """Answers out (N, k) to configurations, and up to two more arrays (N, k)."""
    m = mechanism(plan, numbers)
    return answer(find, m, borrowed_array(given), False, settings, borrowed_array(out))


@batch_entry
def inverse_dynamics(
    plan: Any, numbers: Any, q: Any, rates: Any, change: Any, wrench: Any, out: Any
) -> int:
    """Efforts out (N, driven)."""
    return of_states(dynamics.driven_efforts, plan, numbers, (q, rates, change, wrench), out)


@batch_entry
def forward_dynamics(
    plan: Any, numbers: Any, q: Any, rates: Any, efforts: Any, wrench: Any, out: Any
) -> int:
    """Accelerations out (N, free)."""
    return of_states(dynamics.forward_dynamics, plan, numbers, (q, rates, efforts, wrench), out)


@batch_entry
def mass_matrix(plan: Any, numbers: Any, q: Any, out: Any) -> int:
    """Mass matrices out (N, free * free)."""
    return of_configurations(find_mass_matrix, plan, numbers, (q,), False, out)


@batch_entry
def tangent(plan: Any, numbers: Any, q: Any, out: Any) -> int:
    """Tangents S out (N, rates * free)."""
    return of_configurations(find_tangent, plan, numbers, (q,), False, out)


@batch_entry
def jacobian(plan: Any, numbers: Any, q: Any, out: Any) -> int:
    """Jacobians of the tip out (N, 6 * free), linear over angular, base axes."""
    return of_configurations(find_jacobian, plan, numbers, (q,), False, out)


@batch_entry
def energy(plan: Any, numbers: Any, q: Any, rates: Any, out: Any) -> int:
    """Kinetic and potential energies out (N, 2) of what moves."""
    return of_configurations(dynamics.energies, plan, numbers, (q, rates), False, out)


@batch_entry
def motion(plan: Any, numbers: Any, q: Any, rates: Any, change: Any, out: Any) -> int:
    """Rates of all joints, their changes and the tip's acceleration out (N, 2 * rates + 6)."""
    return of_configurations(dynamics.motion, plan, numbers, (q, rates, change), False, out)


@batch_entry
def displaced(
    plan: Any, numbers: Any, q: Any, displacements: Any, target: float, accepted: float, out: Any
) -> int:
    """Closed configurations out (N, positions) after displacements (N, free) of q (N, positions).

    The displacements are short, see `newton.PIECE`; open by no more than `accepted`, and by
    `target` if rounding lets them.
    """
    given, settings = (q, displacements), (target, accepted)
    return of_configurations(find_displaced, plan, numbers, given, settings, out)


@batch_entry
def frames(plan: Any, numbers: Any, q: Any, body: int, out: Any) -> int:
    """Axes and origin out (N, 12) of one body, x y z and then where it is, base frame."""
    return of_configurations(find_frame, plan, numbers, (q,), body, out)
