# SPDX-License-Identifier: Apache-2.0

"""How near a mechanism with closed loops is to singularities of both types."""

from __future__ import annotations

import math
from typing import Any, Final

from robodyn.mechanisms.closed_loop.kernels import dynamics
from robodyn.mechanisms.closed_loop.kernels.entries import fits
from robodyn.mechanisms.closed_loop.kernels.layout import OK, mechanism, shapes
from robodyn.numerics.array_arguments import borrowed_array, stack, stack_all
from robodyn.numerics.compiler import batch_entry, inner
from robodyn.numerics.jacobi import ratio_of_rows

# Where independent coordinates determine the motion worse than this, all of them are looked at.
WORST_CONDITION: Final = 1e6


@inner
def orthonormal(m: Any, columns: Any, S: Any, J: Any) -> bool:
    """Motions S (rates, free) in an orthonormal basis, of comparable rates, the tip's twists J too.

    By Gram and Schmidt, for whom twice is enough. Returns whether the independent joints serve.
    """
    largest, smallest = 0.0, math.inf
    for again in range(2):
        for k in range(m.free):
            for j in range(m.rates):
                S[j, k] /= 1.0 if again else columns[j]
            for i in range(k):
                along = 0.0
                for j in range(m.rates):
                    along += S[j, i] * S[j, k]
                for j in range(m.rates):
                    S[j, k] -= along * S[j, i]
                for j in range(6):
                    J[j, k] -= along * J[j, i]
            square = 0.0
            for j in range(m.rates):
                square += S[j, k] * S[j, k]
            if not again:
                largest, smallest = max(largest, square), min(smallest, square)
                if not smallest * WORST_CONDITION**2 > largest:
                    return False
            size = math.sqrt(square)
            for j in range(m.rates):
                S[j, k] /= size
            for j in range(6):
                J[j, k] /= size
    return True


@batch_entry
def condition_numbers(
    plan: Any, numbers: Any, columns: Any, tip: Any, drives: Any, length: float, q: Any, out: Any
) -> None:
    """Condition numbers out (N, 2), of the motion and of the forces, at q (N, positions).

    NaN where loops are open or the independent joints determine the motion badly.

    Args:
        plan, numbers: the mechanism.
        columns: (rates,) what makes rates comparable.
        tip: how many freedoms it has, and which rows of its twist determine the mechanism.
        drives: (driven, 2) which rates these are, and what makes them comparable.
        length: [m] by which the tip's angular rates are multiplied.
        q, out: configurations and results.
    """
    m, q, out = mechanism(plan, numbers), borrowed_array(q), borrowed_array(out)
    columns, tip, drives = borrowed_array(columns), borrowed_array(tip), borrowed_array(drives)
    for n in range(q.shape[0]):
        out[n, 0] = out[n, 1] = math.nan
    if not fits(m):
        return
    s, J = stack_all(shapes(m)), stack(6, m.free)
    motion, force = stack(m.free, tip.size - 1), stack(m.free, drives.shape[0])
    for n in range(q.shape[0]):
        if dynamics.jacobian(m, q[n], False, s, J) != OK or not orthonormal(m, columns, s.S, J):
            continue
        for k in range(m.free):
            for j in range(motion.shape[1]):
                row = int(tip[1 + j])
                motion[k, j] = J[row, k] if row < 3 else length * J[row, k]
            for j in range(force.shape[1]):
                force[k, j] = drives[j, 1] * s.S[int(drives[j, 0]), k]
        out[n, 0] = ratio_of_rows(motion, min(m.free, motion.shape[1], int(tip[0])))
        enough = force.shape[1] >= m.free
        out[n, 1] = ratio_of_rows(force, m.free) if enough else math.inf
