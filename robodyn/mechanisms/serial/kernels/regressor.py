# SPDX-License-Identifier: Apache-2.0

"""What an arm's efforts are linear in, link by link: ten numbers of each, then those of joints.

Atkeson, An and Hollerbach (1986). Of a link that turns at w and al, its origin accelerated by a,
the effort of a joint with the axis z, whose motion takes that origin along h, is

    m h.a + m c.(h x al + w x (w x h) + a x z) + z.(I al) + (z x w).(I w),

in the link's frame, I about its origin. A joint moves the links beyond it.
"""

from __future__ import annotations

from typing import Any

from robodyn.mechanisms.common.kernels.base_motion import at_rest
from robodyn.mechanisms.serial.kernels.derivatives import (
    ACCELERATION,
    ALPHA,
    ARM,
    AXIS,
    OMEGA,
    SLOPE_SIZE,
    VELOCITY,
    outward,
)
from robodyn.mechanisms.serial.kernels.layout import FRAME_ORIGIN, FRAME_SIZE, REACH
from robodyn.mechanisms.serial.kernels.spatial import back, forth, matrix, place, product
from robodyn.mechanisms.serial.kernels.terms import add_motor
from robodyn.numerics.array_arguments import borrowed_array, stack
from robodyn.numerics.compiler import batch_entry, inner
from robodyn.numerics.vectors import add, cross, dot, store, sub, vector


@inner
def write_link(frames: Any, rows: Any, reach: Any, turn: Any, i: int, out: Any) -> None:
    """Columns of link i (from 0) in the efforts (n, p) of joint i and those before it."""
    R = matrix(frames[i + 1], 0)
    E = product(R, matrix(turn, 0))
    p = sub(vector(frames[i + 1], FRAME_ORIGIN), forth(R, reach))
    w, alpha = vector(rows[i], OMEGA), vector(rows[i], ALPHA)
    a = add(vector(rows[i], ACCELERATION), cross(alpha, p))
    a = back(E, add(a, cross(w, add(vector(rows[i], VELOCITY), cross(w, p)))))
    w, alpha = back(E, w), back(E, alpha)
    for j in range(i + 1):
        axis = vector(rows[j], AXIS)
        h, z = back(E, add(vector(rows[j], ARM), cross(axis, p))), back(E, axis)
        g, row, at = cross(z, w), out[j], 10 * i
        row[at] = dot(h, a)
        store(row, at + 1, add(cross(h, alpha), add(cross(w, cross(w, h)), cross(a, z))))
        row[at + 4] = alpha[0] * z[0] + w[0] * g[0]
        row[at + 5] = alpha[1] * z[0] + alpha[0] * z[1] + (w[1] * g[0] + w[0] * g[1])
        row[at + 6] = alpha[2] * z[0] + alpha[0] * z[2] + (w[2] * g[0] + w[0] * g[2])
        row[at + 7] = alpha[1] * z[1] + w[1] * g[1]
        row[at + 8] = alpha[2] * z[1] + alpha[1] * z[2] + (w[2] * g[1] + w[1] * g[2])
        row[at + 9] = alpha[2] * z[2] + w[2] * g[2]


@batch_entry
def regressor(
    chain: Any, gravity: Any, turns: Any, motors: Any, q: Any, qd: Any, qdd: Any, out: Any
) -> int:
    """Y out (N, n, p) of states (N, n).

    Args:
        chain, gravity: of the arm.
        turns: (n, 9) from the frame of a link's body to its frame in the chain, by rows.
        motors: (k, 1 + LINK_SIZE) the joint (from 0) of each further parameter, and a row of the
            chain that has a unit of it.
    """
    chain, turns, motors = borrowed_array(chain), borrowed_array(turns), borrowed_array(motors)
    q, qd, qdd, out = (
        borrowed_array(q), borrowed_array(qd), borrowed_array(qdd), borrowed_array(out)
    )  # fmt: skip
    n = chain.shape[0] - 1
    frames, rows = stack(n + 1, FRAME_SIZE), stack(n, SLOPE_SIZE)
    base = at_rest(borrowed_array(gravity))
    for k in range(out.shape[0]):
        place(chain, q[k], frames)
        outward(chain, frames, base, qd[k], qdd[k], rows)
        for j in range(n):
            for c in range(out.shape[2]):
                out[k, j, c] = 0.0
        for i in range(n):
            write_link(frames, rows, vector(chain[i + 1], REACH), turns[i], i, out[k])
        for c in range(motors.shape[0]):
            j = int(motors[c, 0])
            effort = add_motor(motors[c, 1:], 0.0, qd[k, j], qdd[k, j])
            out[k, j, 10 * n + c] = effort
    return int(out.shape[0])
