# SPDX-License-Identifier: Apache-2.0

"""Batches of states of a serial arm in SIMD lanes, see `dynamics.kernels.lanes`.

Functions for N states return the number of solved states, counted from the first.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from robodyn.dynamics.kernels.base_motion import BASE, base_of
from robodyn.dynamics.kernels.integration import OK
from robodyn.dynamics.kernels.joint_simulation import mass_matrix_rows
from robodyn.dynamics.kernels.lanes import entry_makers, evaluate_lanes
from robodyn.numerics.array_arguments import borrowed_array
from robodyn.numerics.compiler import inner
from robodyn.numerics.simd.lanes import WIDTH
from robodyn.numerics.simd.tables import as_table, new_tables
from robodyn.solvers.serial.kernels import articulated as serial_articulated
from robodyn.solvers.serial.kernels import composite as serial_composite
from robodyn.solvers.serial.kernels import derivatives as serial_derivatives
from robodyn.solvers.serial.kernels import newton_euler as serial_newton_euler
from robodyn.solvers.serial.kernels.integration import EQUATIONS, NO_INERTIA
from robodyn.solvers.serial.kernels.layout import BODY_SIZE, FRAME_SIZE, WORK_SIZE
from robodyn.solvers.serial.kernels.spatial import place

# Arms with more joints need a larger stack than threads usually have.
MOST_JOINTS: Final = 128


def stack_needed(n: int) -> int:
    """Return a sufficient stack size [bytes] for this module's functions and n joints."""
    slopes = max(3 * n, serial_derivatives.SLOPE_SIZE) + 1
    rows = (n + 1) * (4 * n + FRAME_SIZE + BODY_SIZE + WORK_SIZE + slopes + 10)
    return 8 * WIDTH * rows + 2**20


class Scratch(NamedTuple):
    """Preallocated scratch arrays for eight states of an arm, one row for each joint.

    Attributes:
        work, frames, bodies: rows of WORK_SIZE, FRAME_SIZE and BODY_SIZE; `frames` has one more.
        slopes: (n, at least SLOPE_SIZE and 3 n) for the derivatives.
    """

    work: Any
    frames: Any
    bodies: Any
    slopes: Any


@inner
def find_efforts(arm: Any, state: Any, settings: Any, s: Any, found: Any) -> int:
    """Write joint efforts (n,) for eight motions to `found`, one motion per SIMD lane.

    They are computed by the Newton-Euler recursion, which cannot fail: the returned status is
    always OK.
    """
    chain, gravity = arm
    base = base_of(state.base, state.moves, gravity, 0.0 * state.q[0])
    serial_newton_euler.newton_euler(chain, base, state, s.work, found)
    return OK


@inner
def find_accelerations(arm: Any, state: Any, settings: Any, s: Any, found: Any) -> int:
    """Write joint accelerations (n,) of eight states to `found`, one per SIMD lane.

    They are due to the efforts and the wrenches in `state`, and are computed by the
    articulated-body algorithm. Return one status for all eight states: OK, or NO_INERTIA if a joint
    has no inertia in at least one of them.
    """
    chain, gravity = arm
    if not state.contact:
        for j in range(6):
            state.wrench[j] = 0.0
    place(chain, state.q, s.frames)
    base = base_of(state.base, state.moves, gravity, 0.0 * state.q[0])
    q, rates, efforts = state.q, state.rates, state.acceleration_or_effort
    solved = serial_articulated.forward_dynamics(
        chain, s.frames, base, q, rates, efforts, state.wrench, s.bodies, found
    )
    return OK if solved else NO_INERTIA


@inner
def find_jacobian(arm: Any, state: Any, settings: Any, s: Any, found: Any) -> int:
    """Write the tip's Jacobians (6 n,) at eight configurations to `found`.

    Each SIMD lane holds one configuration; a Jacobian (6, n) is stored row by row, linear over
    angular, base frame. The returned status is always OK.
    """
    chain = arm[0]
    place(chain, state.q, s.frames)
    serial_composite.jacobian(chain, s.frames, as_table(found, chain.shape[0] - 1))
    return OK


@inner
def find_derivatives(arm: Any, state: Any, forward: bool, s: Any, found: Any) -> int:
    """Write the derivatives (3 n n) of the dynamics in eight states to `found`.

    Each SIMD lane holds one state. The derivatives are those of the efforts with respect to q, qd
    and qdd or, if `forward`, those of the accelerations with respect to q, qd and efforts; each is
    a matrix (n, n) in row-major order. Return one status for all eight states: OK, or NO_INERTIA if
    a joint has no inertia.
    """
    (chain, gravity), rows = arm, s.slopes
    n = chain.shape[0] - 1
    place(chain, state.q, s.frames)
    base = base_of(state.base, state.moves, gravity, 0.0 * state.q[0])
    serial_derivatives.effort_derivatives(chain, s.frames, base, state, not forward, rows, found)
    if not forward:
        return OK
    M = as_table(as_table(found, 1)[2 * n * n], n)
    return OK if serial_derivatives.solve_derivatives(n, M, rows, found) else NO_INERTIA


@inner
def evaluate_states(
    find: Any, chain: Any, gravity: Any, given: Any, settings: Any, out: Any
) -> int:
    """Write the results (N, k) of a function for N states to `out`, eight at a time.

    `find` is one of the functions `find_...` of this module. Return the number of states, counted
    from the first, that have a result; groups of eight count as a whole.
    """
    arm, given = (borrowed_array(chain), borrowed_array(gravity)), borrowed_array(given)
    n = arm[0].shape[0] - 1
    slopes = n, max(3 * n, serial_derivatives.SLOPE_SIZE)
    shapes = Scratch((n, WORK_SIZE), (n + 1, FRAME_SIZE), (n, BODY_SIZE), slopes)
    s, width = new_tables(shapes), max(n, BASE)
    return evaluate_lanes(find, arm, given, width, settings, False, s, borrowed_array(out))


of_configurations, of_states, of_derivatives = entry_makers(__name__, evaluate_states)
inverse_dynamics = of_states("inverse_dynamics", find_efforts)
forward_dynamics = of_states("forward_dynamics", find_accelerations)
mass_matrix = of_configurations("mass_matrix", mass_matrix_rows(EQUATIONS))
jacobian = of_configurations("jacobian", find_jacobian)
derivatives = of_derivatives("derivatives", find_derivatives)
