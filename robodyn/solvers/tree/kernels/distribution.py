# SPDX-License-Identifier: Apache-2.0

"""Distribution of efforts over the driven joints: the least efforts, within limits if possible."""

from __future__ import annotations

from typing import Any

from robodyn.numerics.array_arguments import stack
from robodyn.numerics.compiler import inner
from robodyn.numerics.linear import LEAST_PIVOT, solve_definite
from robodyn.numerics.nearest_in_box import nearest_in_box
from robodyn.solvers.tree.kernels.dynamics import inverse_dynamics
from robodyn.solvers.tree.kernels.layout import OK, SINGULAR
from robodyn.solvers.tree.kernels.projection import tangent


@inner
def weigh_drives(m: Any, S: Any, M: Any) -> None:
    """Write the lower triangle of the drives' normal matrix A'W A to `M` (free, free).

    A (driven, free) maps independent rates to driven rates, and is part of the tangent `S`; W
    contains the inverse weights of the drives.
    """
    for i in range(m.free):
        for k in range(i + 1):
            total = 0.0 * S[0, 0]
            for j in range(m.driven):
                rate = m.integers[m.at_driven + j]
                total = total + m.numbers[m.at_weights + j] * (S[rate, i] * S[rate, k])
            M[i, k] = total


@inner
def distribute_efforts(m: Any, S: Any, effort: Any, M: Any, out: Any) -> bool:
    """Distribute efforts at independent coordinates over the driven joints.

    The efforts (driven,) with the least weighted sum of squares that are equivalent to `effort`
    (free,) are written to `out`: out = W A (A'W A)^-1 effort. A (driven, free) maps independent
    rates to driven rates, W contains the drives' inverse weights. `M` (free, free) is scratch and
    `effort` is overwritten.

    Returns:
        Whether the efforts exist.
    """
    weigh_drives(m, S, M)
    if not solve_definite(M, m.free, LEAST_PIVOT, effort):
        return False
    for j in range(m.driven):
        total = 0.0 * S[0, 0]
        for k in range(m.free):
            total = total + S[m.integers[m.at_driven + j], k] * effort[k]
        out[j] = m.numbers[m.at_weights + j] * total
    return True


@inner
def driven_efforts(m: Any, state: Any, trusted: bool, s: Any, out: Any) -> int:
    """Write the efforts of the driven joints for a motion to `out` (driven,).

    The efforts of redundant drives minimize their weighted sum of squares; effort limits are
    ignored. Return OK, or the status code of a failure.
    """
    status = inverse_dynamics(m, state, trusted, s, s.u)
    if status != OK:
        return status
    if m.drives_free == 1:
        for k in range(m.free):
            out[k] = s.u[k]
        return OK
    tangent(m, s.K, s.R, s.S)
    return OK if distribute_efforts(m, s.S, s.u, s.M, out) else SINGULAR


@inner
def limited_efforts(m: Any, state: Any, trusted: bool, s: Any, out: Any) -> int:
    """Write the efforts of the driven joints for a motion to `out` (driven,).

    The efforts of redundant drives minimize their weighted sum of squares within the effort limits;
    if the limits cannot all be satisfied, they are ignored. Return OK, or the status code of a
    failure.
    """
    status = driven_efforts(m, state, trusted, s, out)
    if status != OK or m.driven <= m.free:
        return status
    exceeds, at = False, m.at_weights
    for j in range(m.driven):
        least, largest = m.numbers[at + m.driven + j], m.numbers[at + 2 * m.driven + j]
        exceeds = exceeds or not least <= out[j] <= largest
    if exceeds:
        A, held, limits = stack(m.driven, m.free), stack(2, m.driven), stack(2, m.driven)
        for j in range(m.driven):
            for k in range(m.free):
                A[j, k] = s.S[m.integers[m.at_driven + j], k]
            held[0, j], held[1, j] = m.numbers[at + j], out[j]
            limits[0, j] = m.numbers[at + m.driven + j]
            limits[1, j] = m.numbers[at + 2 * m.driven + j]
        if nearest_in_box(A, held[0], limits, held[1]):
            for j in range(m.driven):
                out[j] = held[1, j]
    return OK
