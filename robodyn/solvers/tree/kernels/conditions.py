# SPDX-License-Identifier: Apache-2.0

"""Condition numbers of closed loops, and the sides of singularities; see `conditions.side`."""

from __future__ import annotations

import math
from typing import Any, Final

from robodyn.numerics.array_arguments import borrowed_array, stack, stack_all
from robodyn.numerics.compiler import batch_entry, inner
from robodyn.numerics.determinants import log_determinant
from robodyn.numerics.jacobi import ratio_of_rows
from robodyn.numerics.simd.lanes import any_of, choose
from robodyn.solvers.tree.kernels import dynamics
from robodyn.solvers.tree.kernels.closures import fill
from robodyn.solvers.tree.kernels.entries import fits, place_bodies
from robodyn.solvers.tree.kernels.layout import BODY_SIZE, OK, mechanism, shapes

# Quality of independent coordinates below which all coordinates are considered.
WORST_CONDITION: Final = 1e6


@inner
def orthonormal(m: Any, columns: Any, S: Any, J: Any) -> bool:
    """Orthonormalize the columns of the tangent matrix `S`; transform `J` likewise.

    Both are changed in place. The columns of `S` (rates, free) are motions of the mechanism, those
    of `J` (6, free) the corresponding twists of the tip. `columns` (rates,) scales rates to
    comparable units. The Gram-Schmidt method is repeated once. Floats and SIMD lanes are supported.

    Returns:
        Whether the columns of `S` were sufficiently independent.
    """
    largest = smallest = 0.0 * S[0, 0]
    for again in range(2):
        for k in range(m.free):
            for j in range(m.rates):
                S[j, k] = S[j, k] / (1.0 if again else columns[j])
            for i in range(k):
                along = 0.0 * S[0, 0]
                for j in range(m.rates):
                    along = along + S[j, i] * S[j, k]
                for j in range(m.rates):
                    S[j, k] = S[j, k] - along * S[j, i]
                for j in range(6):
                    J[j, k] = J[j, k] - along * J[j, i]
            square = 0.0 * S[0, 0]
            for j in range(m.rates):
                square = square + S[j, k] * S[j, k]
            if not again:
                largest = choose(square > largest, square, largest)
                smallest = choose(square < smallest, square, smallest) if k else square
                if any_of(~(smallest * WORST_CONDITION**2 > largest)):
                    return False
            inverse = 1.0 / math.sqrt(square)
            for j in range(m.rates):
                S[j, k] = S[j, k] * inverse
            for j in range(6):
                J[j, k] = J[j, k] * inverse
    return True


@inner
def scaled_rows(
    m: Any, tip: Any, drives: Any, length: float, s: Any, motion: Any, force: Any
) -> None:
    """Write scaled tip twists to `motion`, and scaled driven rates to `force`.

    The scales make the components comparable. Each array has a row for each column of `s.S`, a
    motion of the mechanism; a row contains the components selected by `tip`, and the driven rates
    selected by `drives`.
    """
    for k in range(m.free):
        for j in range(tip.size - 1):
            row = int(tip[1 + j])
            motion[k, j] = s.J[row, k] * (1.0 if row < 3 else length)
        for j in range(drives.shape[0]):
            force[k, j] = drives[j, 1] * s.S[int(drives[j, 0]), k]


@batch_entry
def condition_numbers(
    plan: Any, numbers: Any, columns: Any, tip: Any, drives: Any, length: float, q: Any, out: Any
) -> None:
    """Write condition numbers of the joint-to-tip and joint-to-drive maps to `out` (N, 2).

    At configurations `q` (N, positions), they are the `motion_condition` and the `force_condition`
    of `tree.conditions`. They are NaN if the loops are open or the independent joints are
    ill-conditioned.

    Args:
        plan, numbers: packed arrays of the mechanism.
        columns: (rates,) scales that make rates comparable.
        tip: number of degrees of freedom, and indices of the twist components that determine the
            configuration.
        drives: (driven, 2) rate indices, and scales that make them comparable.
        length: [m] by which the tip's angular rates are multiplied.
        q, out: configurations and results.
    """
    m, q, out = mechanism(plan, numbers), borrowed_array(q), borrowed_array(out)
    columns, tip, drives = borrowed_array(columns), borrowed_array(tip), borrowed_array(drives)
    for n in range(q.shape[0]):
        out[n, 0] = out[n, 1] = math.nan
    if not fits(m):
        return
    s = stack_all(shapes(m))
    motion, force = stack(m.free, tip.size - 1), stack(m.free, drives.shape[0])
    for n in range(q.shape[0]):
        served = dynamics.jacobian(m, q[n], False, s, s.J) == OK
        if not served or not orthonormal(m, columns, s.S, s.J):
            continue
        scaled_rows(m, tip, drives, length, s, motion, force)
        out[n, 0] = ratio_of_rows(motion, min(m.free, motion.shape[1], int(tip[0])))
        enough = force.shape[1] >= m.free
        out[n, 1] = ratio_of_rows(force, m.free) if enough else math.inf


@batch_entry
def sides(
    plan: Any, numbers: Any, factors: Any, columns: Any, rows: Any, passive: Any, q: Any, out: Any
) -> None:
    """Write ratios of determinants that change sign only at singularities to `out` (N,).

    At configurations `q` (N, positions), they are det(P) / sqrt(det(K K')), where K is the
    closures' Jacobian, and P consists of its columns for the passive rates; see
    `tree.conditions.side`.

    Args:
        plan, numbers: packed arrays of the mechanism with all entries of K, including zeros.
        factors, columns: (equations,) and (rates,) scales that make rows and columns comparable.
        rows, passive: (n,) indices of the selected rows of K, and of as many passive rates.
        q, out: configurations and results.
    """
    m, q, out = mechanism(plan, numbers), borrowed_array(q), borrowed_array(out)
    factors, columns = borrowed_array(factors), borrowed_array(columns)
    rows, passive = borrowed_array(rows), borrowed_array(passive)
    n, B, entries = rows.size, stack(m.bodies + 1, BODY_SIZE), stack(1, m.entries)[0]
    K, P, gram = stack(n, m.rates), stack(n, n), stack(n, n)
    for k in range(q.shape[0]):
        place_bodies(m, q[k], B)
        fill(m, B, entries)
        for i in range(n):
            row = int(rows[i])
            for j in range(m.rates):
                K[i, j] = entries[row * m.rates + j] * factors[row] * columns[j]
            for j in range(n):
                P[i, j] = K[i, int(passive[j])]
            for j in range(i + 1):
                total = 0.0
                for r in range(m.rates):
                    total += K[i, r] * K[j, r]
                gram[i, j] = gram[j, i] = total
        sign, size = log_determinant(P, n)
        whole = log_determinant(gram, n)[1]
        out[k] = sign * math.exp(size - 0.5 * whole) if sign != 0.0 else 0.0


@batch_entry
def side_signs(plan: Any, numbers: Any, rows: Any, passive: Any, q: Any, out: Any) -> None:
    """Write the signs of the ratios that `sides` computes to `out` (N,).

    No logarithms are needed, because not all targets of an export have them.

    Args:
        plan, numbers: packed arrays of the mechanism with all entries of K, including zeros.
        rows, passive: (n,) indices of the selected rows of K, and of as many passive rates.
        q, out: configurations (N, positions) and results.
    """
    m, q, out = mechanism(plan, numbers), borrowed_array(q), borrowed_array(out)
    rows, passive = borrowed_array(rows), borrowed_array(passive)
    n, B, entries = rows.size, stack(m.bodies + 1, BODY_SIZE), stack(1, m.entries)[0]
    P = stack(n, n)
    for k in range(q.shape[0]):
        place_bodies(m, q[k], B)
        fill(m, B, entries)
        for i in range(n):
            for j in range(n):
                P[i, j] = entries[int(rows[i]) * m.rates + int(passive[j])]
        out[k] = log_determinant(P, n)[0]
