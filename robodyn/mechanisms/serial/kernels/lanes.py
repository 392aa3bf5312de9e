# SPDX-License-Identifier: Apache-2.0

"""Many states of a serial arm, eight at a time in the lanes of vectors.

The equations are those of single states, called with eight as if they were one. Arrays are borrowed
for the call, (N, n) with any strides. Every function returns how many states, from the first, it
has solved: N or, if one of a group of eight is not finite or has no solution, the number of states
before that group. Scratch memory is on the stack, see `stack_needed`.
"""

from __future__ import annotations

from typing import Any, Final

from robodyn.mechanisms.serial.kernels import articulated as serial_articulated
from robodyn.mechanisms.serial.kernels import composite as serial_composite
from robodyn.mechanisms.serial.kernels import newton_euler as serial_newton_euler
from robodyn.mechanisms.serial.kernels.layout import BODY_SIZE, FRAME_SIZE, WORK_SIZE
from robodyn.mechanisms.serial.kernels.spatial import place
from robodyn.numerics.array_arguments import ABSENT, borrowed_array
from robodyn.numerics.compiler import batch_entry
from robodyn.numerics.simd.access import new_rows
from robodyn.numerics.simd.lanes import WIDTH
from robodyn.numerics.simd.states import all_finite, read, write
from robodyn.numerics.simd.tables import new_table

# Arms with more joints need a larger stack than threads usually have.
MOST_JOINTS: Final = 128


def stack_needed(n: int) -> int:
    """Bytes of stack sufficient for every kernel here and an arm of n joints."""
    rows = (n + 1) * (n + FRAME_SIZE + BODY_SIZE + WORK_SIZE + 10)
    return 8 * WIDTH * rows + 2**20


@batch_entry
def inverse_dynamics(
    chain: Any, gravity: Any, q: Any, qd: Any, qdd: Any, wrench: Any, out: Any
) -> int:
    """Efforts out (N, n) by Newton-Euler."""
    chain, gravity, q, qd, qdd = (
        borrowed_array(chain),
        borrowed_array(gravity),
        borrowed_array(q),
        borrowed_array(qd),
        borrowed_array(qdd),
    )
    wrench, out = borrowed_array(wrench), borrowed_array(out)
    n, contact = chain.shape[0] - 1, wrench.shape[0] != ABSENT
    state, load, work = new_table(4, n), new_rows(6), new_table(n, WORK_SIZE)
    position, rate, acceleration, tau = state[0], state[1], state[2], state[3]
    last: int = q.shape[0]
    for s in range(0, last, WIDTH):
        read(q, s, last, position)
        read(qd, s, last, rate)
        read(qdd, s, last, acceleration)
        if contact:
            read(wrench, s, last, load)
        if not (all_finite(state[0], 3 * n) and (not contact or all_finite(load, 6))):
            return s
        serial_newton_euler.newton_euler(
            chain, gravity, position, rate, acceleration, load, contact, work, tau
        )
        write(tau, s, last, out)
    return last


@batch_entry
def forward_dynamics(
    chain: Any, gravity: Any, q: Any, qd: Any, tau: Any, wrench: Any, out: Any
) -> int:
    """Accelerations out (N, n) by articulated bodies."""
    chain, gravity, q, qd, tau = (
        borrowed_array(chain),
        borrowed_array(gravity),
        borrowed_array(q),
        borrowed_array(qd),
        borrowed_array(tau),
    )
    wrench, out = borrowed_array(wrench), borrowed_array(out)
    n, contact = chain.shape[0] - 1, wrench.shape[0] != ABSENT
    state, load = new_table(4, n), new_rows(6)
    frames, bodies = new_table(n + 1, FRAME_SIZE), new_table(n, BODY_SIZE)
    position, rate, effort, acceleration = state[0], state[1], state[2], state[3]
    for j in range(6):
        load[j] = 0.0
    last: int = q.shape[0]
    for s in range(0, last, WIDTH):
        read(q, s, last, position)
        read(qd, s, last, rate)
        read(tau, s, last, effort)
        if contact:
            read(wrench, s, last, load)
        if not (all_finite(state[0], 3 * n) and all_finite(load, 6)):
            return s
        place(chain, position, frames)
        if not serial_articulated.forward_dynamics(
            chain, frames, gravity, rate, effort, load, bodies, acceleration
        ):
            return s
        write(acceleration, s, last, out)
    return last


@batch_entry
def mass_matrix(chain: Any, gravity: Any, q: Any, out: Any) -> int:
    """Mass matrices out (N, n * n), row by row, by composite rigid bodies."""
    chain, q, out = borrowed_array(chain), borrowed_array(q), borrowed_array(out)
    n = chain.shape[0] - 1
    position, frames, M = new_table(1, n), new_table(n + 1, FRAME_SIZE), new_table(n, n)
    last: int = q.shape[0]
    for s in range(0, last, WIDTH):
        read(q, s, last, position[0])
        if not all_finite(position[0], n):
            return s
        place(chain, position[0], frames)
        serial_composite.mass_matrix(chain, frames, M)
        write(M[0], s, last, out)
    return last


@batch_entry
def jacobian(chain: Any, gravity: Any, q: Any, out: Any) -> int:
    """Jacobians out (N, 6 n) of the tip, row by row."""
    chain, q, out = borrowed_array(chain), borrowed_array(q), borrowed_array(out)
    n = chain.shape[0] - 1
    position, frames, J = new_table(1, n), new_table(n + 1, FRAME_SIZE), new_table(6, n)
    last: int = q.shape[0]
    for s in range(0, last, WIDTH):
        read(q, s, last, position[0])
        if not all_finite(position[0], n):
            return s
        place(chain, position[0], frames)
        serial_composite.jacobian(chain, frames, J)
        write(J[0], s, last, out)
    return last
