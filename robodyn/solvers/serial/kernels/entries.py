# SPDX-License-Identifier: Apache-2.0

"""Entry points for one state of a serial arm, with checks of the arguments.

Every function returns whether it has a result; if not, the caller evaluates the state as a batch of
one, with checks that raise a detailed error. `trusted` skips the checks. Arrays are borrowed for
the call; a wrench or a base that is None has the length `ABSENT`.
"""

from __future__ import annotations

import math
from typing import Any, Final

from robodyn.dynamics.kernels.base_motion import base_of
from robodyn.dynamics.kernels.state import are_numbers, is_motion, state_of, state_without_load
from robodyn.numerics.array_arguments import borrowed_array, stack
from robodyn.numerics.compiler import entry_kernel, inner, noinline
from robodyn.numerics.jacobi import condition_of_rows, ratio_of_rows
from robodyn.numerics.simd.access import new_rows, set_entry
from robodyn.solvers.serial.kernels import articulated as serial_articulated
from robodyn.solvers.serial.kernels import composite as serial_composite
from robodyn.solvers.serial.kernels import derivatives as serial_derivatives
from robodyn.solvers.serial.kernels import newton_euler as serial_newton_euler
from robodyn.solvers.serial.kernels.derivatives import SLOPE_SIZE
from robodyn.solvers.serial.kernels.layout import BODY_SIZE, FRAME_SIZE, WORK_SIZE
from robodyn.solvers.serial.kernels.spatial import place, write_pose

# Scratch is on the stack, as a heap allocation would cost more than a joint. Arms with more joints
# are not supported here.
MOST_JOINTS: Final = 1000
MOST_SLOPES: Final = 128


@inner
def is_supported_state(chain: Any, state: Any, trusted: bool) -> bool:
    """Return whether the arm has few enough joints for this module and its state is valid."""
    n = state.q.shape[0]
    if n > MOST_JOINTS:
        return False
    return trusted or (
        n == chain.shape[0] - 1 and are_numbers(state.q, n) and is_motion(state, n, n)
    )


@entry_kernel
def inverse_dynamics(
    chain: Any, gravity: Any, q: Any, qd: Any, qdd: Any, wrench: Any, base: Any, trusted: bool,
    out: Any,
) -> bool:  # fmt: skip
    """Write the efforts (n,) of one state to `out`, by the Newton-Euler recursion.

    Return False if an argument is invalid or the arm has too many joints.
    """
    chain, state = borrowed_array(chain), state_of(q, qd, qdd, wrench, base)
    if not is_supported_state(chain, state, trusted):
        return False
    base = base_of(state.base, state.moves, borrowed_array(gravity), 0.0)
    work = stack(state.q.shape[0], WORK_SIZE)
    serial_newton_euler.newton_euler(chain, base, state, work, borrowed_array(out))
    return True


@entry_kernel
def forward_dynamics(
    chain: Any, gravity: Any, q: Any, qd: Any, tau: Any, wrench: Any, base: Any, trusted: bool,
    out: Any,
) -> bool:  # fmt: skip
    """Write the accelerations (n,) of one state to `out`; return whether they exist.

    They are due to the joint efforts `tau` (n,) and the tip wrench, and are computed by the
    articulated-body algorithm.
    """
    chain, state = borrowed_array(chain), state_of(q, qd, tau, wrench, base)
    if not is_supported_state(chain, state, trusted):
        return False
    n, load = state.q.shape[0], state.wrench
    frames, bodies = stack(n + 1, FRAME_SIZE), stack(n, BODY_SIZE)
    if not state.contact:
        load = stack(1, 6)[0]
        for j in range(6):
            load[j] = 0.0
    place(chain, state.q, frames)
    base = base_of(state.base, state.moves, borrowed_array(gravity), 0.0)
    q, rates, efforts, out = state.q, state.rates, state.acceleration_or_effort, borrowed_array(out)
    return bool(
        serial_articulated.forward_dynamics(
            chain, frames, base, q, rates, efforts, load, bodies, out
        )
    )


@entry_kernel
def mass_matrix(chain: Any, gravity: Any, q: Any, trusted: bool, out: Any) -> bool:
    """Write the mass matrix (n, n) at one configuration to `out`.

    It is computed by the method of composite rigid bodies. Return False if `q` is invalid.
    """
    chain, q, out = borrowed_array(chain), borrowed_array(q), borrowed_array(out)
    if q.shape[0] > MOST_JOINTS or not (trusted or are_numbers(q, chain.shape[0] - 1)):
        return False
    frames = stack(q.shape[0] + 1, FRAME_SIZE)
    place(chain, q, frames)
    serial_composite.mass_matrix(chain, frames, out)
    return True


@entry_kernel
def derivatives(
    chain: Any, gravity: Any, q: Any, qd: Any, qdd: Any, forward: bool, out: Any
) -> bool:
    """Write derivatives (3 n n) of efforts, or of accelerations if `forward`, to `out`.

    Efforts are differentiated with respect to q, qd and qdd, accelerations with respect to q, qd
    and efforts. Each matrix (n, n) is stored row by row. Return whether the derivatives exist.
    """
    chain, out = borrowed_array(chain), borrowed_array(out)
    state = state_without_load(borrowed_array(q), borrowed_array(qd), borrowed_array(qdd))
    n = chain.shape[0] - 1
    if n > MOST_SLOPES or not (are_numbers(state.q, n) and is_motion(state, n, n)):
        return False
    base = base_of(state.base, False, borrowed_array(gravity), 0.0)
    frames, rows = stack(n + 1, FRAME_SIZE), stack(n, max(3 * n, SLOPE_SIZE))
    place(chain, state.q, frames)
    serial_derivatives.effort_derivatives(chain, frames, base, state, not forward, rows, out)
    if not forward:
        return True
    M = stack(n, n)
    for i in range(n):
        for j in range(n):
            M[i, j] = out[2 * n * n + i * n + j]
    return bool(serial_derivatives.solve_derivatives(n, M, rows, out))


@entry_kernel
def tip_pose(chain: Any, q: Any, out: Any) -> bool:
    """Write the pose (7,) of the tip at one configuration to `out`, base frame.

    Return False if `q` is invalid.
    """
    chain, q = borrowed_array(chain), borrowed_array(q)
    n = chain.shape[0] - 1
    if n > MOST_JOINTS or not are_numbers(q, n):
        return False
    frames = stack(n + 1, FRAME_SIZE)
    place(chain, q, frames)
    write_pose(frames[n], borrowed_array(out))
    return True


@entry_kernel
def jacobian(chain: Any, q: Any, out: Any) -> bool:
    """Write the tip's Jacobian (6, n) at one configuration to `out`, base frame.

    Its rows are linear, then angular. Return False if `q` is invalid.
    """
    chain, q = borrowed_array(chain), borrowed_array(q)
    n = chain.shape[0] - 1
    if n > MOST_JOINTS or not are_numbers(q, n):
        return False
    frames = stack(n + 1, FRAME_SIZE)
    place(chain, q, frames)
    serial_composite.jacobian(chain, frames, borrowed_array(out))
    return True


@noinline
def _other_condition_number(chain: Any, q: Any, length: float) -> float:
    """Return the tip Jacobian's condition number if an arm does not have six joints."""
    n = chain.shape[0] - 1
    frames, J, A = stack(n + 1, FRAME_SIZE), stack(6, n), stack(min(n, 6), max(n, 6))
    place(chain, q, frames)
    serial_composite.jacobian(chain, frames, J)
    for i in range(6):
        for j in range(n):
            value = J[i, j] if i < 3 else length * J[i, j]
            if n < 6:
                A[j, i] = value
            else:
                A[i, j] = value
    return ratio_of_rows(A, A.shape[0])


@entry_kernel
def condition_number(chain: Any, q: Any, length: float, trusted: bool) -> float:
    """Return the condition number of the tip's Jacobian at one configuration.

    It is the ratio of the largest to the smallest singular value, with the angular rows multiplied
    by `length` [m]; -1 if an argument is invalid or there is no such ratio.
    """
    chain, q = borrowed_array(chain), borrowed_array(q)
    n = chain.shape[0] - 1
    if not (trusted or (are_numbers(q, n) and 0.0 < length < math.inf)):
        return -1.0
    if n != 6:
        return _other_condition_number(chain, q, length)
    frames, J = stack(7, FRAME_SIZE), stack(6, 6)
    place(chain, q, frames)
    serial_composite.jacobian(chain, frames, J)
    rows = new_rows(6)
    for i in range(6):
        for j in range(6):
            set_entry(rows, i, j, J[i, j] if i < 3 else length * J[i, j])
        set_entry(rows, i, 6, 0.0)
        set_entry(rows, i, 7, 0.0)
    return condition_of_rows(rows)
