# SPDX-License-Identifier: Apache-2.0

"""Regressor of an arm's efforts: ten parameters of each link, then those of joints.

See `dynamics.kernels.body_columns`. A joint moves the links beyond it.
"""

from __future__ import annotations

from typing import Any

from robodyn.dynamics.kernels.base_motion import base_at_rest
from robodyn.dynamics.kernels.body_columns import write_body_columns
from robodyn.dynamics.kernels.effort_derivatives import ARM, AXIS
from robodyn.numerics.array_arguments import borrowed_array, stack
from robodyn.numerics.compiler import batch_entry, inner
from robodyn.numerics.matrices import apply, apply_transposed, matrix, product
from robodyn.numerics.vectors import add, cross, sub, vector
from robodyn.solvers.serial.kernels import derivatives
from robodyn.solvers.serial.kernels.layout import FRAME_ORIGIN, FRAME_SIZE, REACH
from robodyn.solvers.serial.kernels.spatial import place
from robodyn.solvers.serial.kernels.terms import add_motor


@inner
def write_link(frames: Any, rows: Any, reach: Any, turn: Any, i: int, out: Any) -> None:
    """Write ten regressor columns of link `i` to `out` (n, p), from column 10 i on.

    Only the rows of joints 0 to i are written, because link i does not affect the other efforts.
    `turn` (9,) and `reach` (3,) place the frame of the inertial parameters on the link; `rows`
    contains the motion of the links.
    """
    R = matrix(frames[i + 1], 0)
    E = product(R, matrix(turn, 0))
    p = sub(vector(frames[i + 1], FRAME_ORIGIN), apply(R, reach))
    w, alpha = vector(rows[i], derivatives.OMEGA), vector(rows[i], derivatives.ALPHA)
    a = add(vector(rows[i], derivatives.ACCELERATION), cross(alpha, p))
    a = apply_transposed(
        E, add(a, cross(w, add(vector(rows[i], derivatives.VELOCITY), cross(w, p))))
    )
    w, alpha = apply_transposed(E, w), apply_transposed(E, alpha)
    for j in range(i + 1):
        axis = vector(rows[j], AXIS)
        h = apply_transposed(E, add(vector(rows[j], ARM), cross(axis, p)))
        z = apply_transposed(E, axis)
        write_body_columns(h, z, a, w, alpha, out[j], 10 * i)


@batch_entry
def regressor(
    chain: Any, gravity: Any, turns: Any, motors: Any, q: Any, qd: Any, qdd: Any, out: Any
) -> int:
    """Write the regressors Y of states (N, n) to `out` (N, n, p); return N.

    The efforts of a state are Y @ parameters.

    Args:
        chain, gravity: packed chain (n + 1, LINK_SIZE) and gravity (3,) [m/s^2] of the arm.
        turns: (n, 9) rotation from the frame of a link's body to its frame in the chain, by rows.
        motors: (k, 1 + LINK_SIZE) for each joint parameter, the index of its joint (from 0) and the
            packed data of a joint with one unit of the parameter.
        q, qd, qdd: (N, n) states.
        out: regressors (N, n, p).
    """
    chain, turns, motors = borrowed_array(chain), borrowed_array(turns), borrowed_array(motors)
    q, qd, qdd, out = (
        borrowed_array(q), borrowed_array(qd), borrowed_array(qdd), borrowed_array(out)
    )  # fmt: skip
    n = chain.shape[0] - 1
    frames, rows = stack(n + 1, FRAME_SIZE), stack(n, derivatives.SLOPE_SIZE)
    base = base_at_rest(borrowed_array(gravity))
    for k in range(out.shape[0]):
        place(chain, q[k], frames)
        derivatives.outward(chain, frames, base, qd[k], qdd[k], rows)
        for j in range(n):
            for c in range(out.shape[2]):
                out[k, j, c] = 0.0
        for i in range(n):
            write_link(frames, rows, vector(chain[i + 1], REACH), turns[i], i, out[k])
        for c in range(motors.shape[0]):
            j = int(motors[c, 0])
            effort = add_motor(motors[c, 1:], 0.0, q[k, j], qd[k, j], qdd[k, j])
            out[k, j, 10 * n + c] = effort
    return int(out.shape[0])
