# SPDX-License-Identifier: Apache-2.0

"""Batches of states of a 6-UPS Stewart platform in SIMD lanes, see `dynamics.kernels.lanes`.

The equations are those of `kernels.leg` and `kernels.dynamics`. Functions for N states return the
number of solved states, counted from the first.
"""

from __future__ import annotations

import math
from typing import Any

from robodyn.dynamics.kernels.base_motion import base_of
from robodyn.dynamics.kernels.lanes import entry_makers, evaluate_lanes
from robodyn.dynamics.kernels.state import State, is_motion, state_without_load
from robodyn.numerics.array_arguments import borrowed_array
from robodyn.numerics.compiler import batch_entry, entry_kernel, inner
from robodyn.numerics.jacobi import condition_of_lanes
from robodyn.numerics.rotations import rotation_columns
from robodyn.numerics.simd.access import rows_of
from robodyn.numerics.simd.lanes import WIDTH, any_of
from robodyn.numerics.simd.linear_systems import solve_lanes
from robodyn.numerics.simd.states import write
from robodyn.numerics.simd.tables import as_table, new_table, new_tables
from robodyn.numerics.vectors import cross, vector
from robodyn.solvers.stewart.kernels import dynamics, layout
from robodyn.solvers.stewart.kernels.dynamics import mass_matrix as one_mass_matrix
from robodyn.solvers.stewart.kernels.leg import leg_geometry
from robodyn.solvers.stewart.kernels.single import QUATERNION_TOLERANCE, is_pose


@inner
def normalize(pose: Any) -> bool:
    """Normalize the quaternions of eight poses in SIMD lanes, in place.

    Return False, without any change, if at least one is too far from unit length.
    """
    square = 0.0 * pose[3]
    for j in range(3, 7):
        square = square + pose[j] * pose[j]
    if any_of(~(abs(square - 1.0) <= QUATERNION_TOLERANCE)):
        return False
    factor = 1.0 / math.sqrt(square)
    for j in range(3, 7):
        pose[j] = factor * pose[j]
    return True


@inner
def find_forces(platform: Any, state: Any, with_legs: bool, s: Any, found: Any) -> int:
    """Write actuator forces (6,) for eight motions to `found`, one per SIMD lane.

    Unless `with_legs`, the legs' own contribution (mass, friction, rotors, springs) is left out.
    `s` is scratch. Return one status for all eight states: OK, or the code of a failure, after
    which no state has a result.
    """
    legs, body = platform
    if not normalize(state.q):
        return layout.SINGULAR
    base = base_of(state.base, state.moves, vector(body, layout.GRAVITY), 0.0 * state.q[0])
    status = dynamics.required_wrench(
        legs, body, state.q, state.rates, state.acceleration_or_effort, base, with_legs, s.H, found
    )
    if status != layout.OK:
        return status
    if state.contact:
        for j in range(6):
            found[j] = found[j] - state.wrench[j]
    return layout.OK if solve_lanes(s.H[0], found, False) else layout.SINGULAR


@inner
def find_bias(platform: Any, state: Any, settings: Any, s: Any, found: Any) -> int:
    """Write bias wrenches (6,) of eight states to `found`, one state per SIMD lane.

    A bias wrench consists of gravity, velocity terms and friction; its moment is about the
    platform's reference point. `s` is scratch. Return one status for all eight states: OK, or the
    code of a failure.
    """
    legs, body = platform
    if not normalize(state.q):
        return layout.SINGULAR
    rest = s.rates
    for j in range(6):
        rest[j] = 0.0
    base = base_of(state.base, state.moves, vector(body, layout.GRAVITY), 0.0 * state.q[0])
    return dynamics.required_wrench(legs, body, state.q, state.rates, rest, base, True, s.H, found)


@inner
def find_accelerations(platform: Any, state: Any, settings: Any, s: Any, found: Any) -> int:
    """Write platform accelerations (6,) in eight states to `found`, one per SIMD lane.

    They are due to the leg forces and the wrenches in `state`; `s` is scratch. Return one status
    for all eight states: OK, or the code of a failure.
    """
    if not normalize(state.q):
        return layout.SINGULAR
    status = equations_in_lanes(platform, state, False, s)
    return compute_accelerations(state, s, found) if status == layout.OK else status


@inner
def equations_in_lanes(platform: Any, state: Any, with_damping: bool, e: Any) -> int:
    """Write the `MotionEquations` of eight states with normalized poses to `e`.

    Each SIMD lane holds one state. Return one status for all eight states: OK, or the code of a
    failure.
    """
    legs, body = platform
    base = base_of(state.base, state.moves, vector(body, layout.GRAVITY), 0.0 * state.q[0])
    return dynamics.motion_equations(legs, body, state.q, state.rates, base, with_damping, e)


@inner
def compute_accelerations(state: Any, e: Any, out: Any) -> int:
    """Solve the `MotionEquations` of eight states for the platform's accelerations.

    They are written to `out` (6,), one state per SIMD lane. The leg forces and the wrenches are
    those of `state`. The mass matrix in `e` is overwritten. Return one status for all eight states:
    OK, or SINGULAR.
    """
    for i in range(6):
        total = -e.bias[i]
        if state.contact:
            total = total + state.wrench[i]
        for j in range(6):
            total = total + e.H[i, j] * state.acceleration_or_effort[j]
        out[i] = total
    return layout.OK if solve_lanes(e.M[0], out, True) else layout.SINGULAR


@inner
def find_mass_matrix(platform: Any, state: Any, settings: Any, s: Any, found: Any) -> int:
    """Write the mass matrices (36,) at eight poses to `found`, one pose per SIMD lane.

    Each matrix (6, 6) is stored row by row. Return one status for all eight poses: OK, or the code
    of a failure.
    """
    if not normalize(state.q):
        return layout.SINGULAR
    return one_mass_matrix(platform[0], platform[1], state.q, as_table(found, 6))


@inner
def find_jacobian(platform: Any, state: Any, length: float, s: Any, found: Any) -> int:
    """Write force Jacobians (36,) at eight poses to `found`, one pose per SIMD lane.

    Each matrix (6, 6) is stored row by row; its moment rows are divided by `length` [m]. Return one
    status for all eight poses: OK, or the code of a failure.
    """
    if not normalize(state.q):
        return layout.SINGULAR
    position = vector(state.q, 0)
    X, Y, Z = rotation_columns(state.q)
    inverse, H = 1.0 / length, as_table(found, 6)
    for i in range(6):
        g = leg_geometry(platform[0][i], position, X, Y, Z)
        if any_of(~(g.length > layout.SMALLEST_LENGTH)):
            return layout.ZERO_LENGTH
        arm = cross(g.q, g.s)
        dynamics.write_column(H, i, g.s, (inverse * arm[0], inverse * arm[1], inverse * arm[2]))
    return layout.OK


@inner
def find_condition_number(platform: Any, state: Any, length: float, s: Any, found: Any) -> int:
    """Write condition numbers of the force Jacobians at eight poses to `found` (1,).

    Each SIMD lane holds one pose. The Jacobian's moment rows are divided by `length` [m]. Return
    one status for all eight poses: OK, or the code of a failure.
    """
    H = s.H[0]
    status = find_jacobian(platform, state, length, s, H)
    if status == layout.OK:
        found[0] = condition_of_lanes(H)
        if any_of(~(found[0] >= 0.0)):
            return layout.SINGULAR
    return status


@inner
def evaluate_states(
    find: Any, legs: Any, platform: Any, given: Any, settings: Any, out: Any
) -> int:
    """Write the results (N, k) of a function for N states to `out`, eight at a time.

    `find` is one of the functions `find_...` of this module. Return the number of states, counted
    from the first, that have a result; groups of eight count as a whole.
    """
    known, given = (borrowed_array(legs), borrowed_array(platform)), borrowed_array(given)
    s = new_tables(dynamics.MOTION_EQUATIONS)
    return evaluate_lanes(find, known, given, 9, settings, False, s, borrowed_array(out))


@batch_entry
def inverse_dynamics(
    legs: Any,
    platform: Any,
    pose: Any,
    twist: Any,
    accel: Any,
    wrench: Any,
    base: Any,
    with_legs: bool,
    out: Any,
) -> int:
    """Write the actuator forces of N states to `out` (N, 6).

    Return the number of states, counted from the first, that have a result.
    """
    given = pose, twist, accel, wrench, base
    return evaluate_states(find_forces, legs, platform, given, with_legs, out)


of_configurations, of_states, _ = entry_makers(__name__, evaluate_states)
mass_matrix = of_configurations("mass_matrix", find_mass_matrix)
forward_dynamics = of_states("forward_dynamics", find_accelerations)
bias = of_states("bias", find_bias)  # accelerations and wrenches are not read
jacobian = of_configurations("jacobian", find_jacobian, 1.0)


@batch_entry
def condition_number(legs: Any, platform: Any, pose: Any, length: float, out: Any) -> int:
    """Write the condition numbers of the force Jacobian at N poses to `out` (N, 1).

    The Jacobian's moment rows are divided by `length` [m]. Return the number of poses, counted from
    the first, that have a result.
    """
    return evaluate_states(find_condition_number, legs, platform, (pose,), length, out)


@entry_kernel
def regressor(numbers: Any, pose: Any, twist: Any, accel: Any, out: Any) -> bool:
    """Write the actuator forces of N platforms in the same state to `out` (N, 6).

    Each platform has its own parameters; if these are zero but for one that is 1, the forces are a
    column of the regressor. `numbers` (groups, (6 LEG_SIZE + ...) * 8) contains the packed legs,
    then the packed bodies, of each group of eight platforms. Return False if the state is invalid
    or singular.
    """
    numbers, out = borrowed_array(numbers), borrowed_array(out)
    state = state_without_load(borrowed_array(pose), borrowed_array(twist), borrowed_array(accel))
    if not (is_pose(state.q) and is_motion(state, 6, 6)):
        return False
    table, s = new_table(3, 7), new_tables(dynamics.MOTION_EQUATIONS)
    known = State(table[0], table[1], table[2], table[0], False, table[0], False)
    for group in range(numbers.shape[0]):
        for j in range(7):
            known.q[j] = state.q[j]
        for j in range(6):
            known.rates[j] = state.rates[j]
            known.acceleration_or_effort[j] = state.acceleration_or_effort[j]
        place = group * numbers.shape[1]
        legs = as_table(rows_of(numbers, place), layout.LEG_SIZE)
        platforms = legs, rows_of(numbers, place + 6 * layout.LEG_SIZE * WIDTH)
        if find_forces(platforms, known, True, s, s.bias) != layout.OK:
            return False
        first = group * WIDTH
        write(s.bias, first, min(first + WIDTH, out.shape[0]), out)
    return True
