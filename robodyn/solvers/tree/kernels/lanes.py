# SPDX-License-Identifier: Apache-2.0

"""Batches of states of a mechanism with closed loops, eight at a time in SIMD lanes.

The equations are those of single states. If a group of eight has no result, each of its states is
computed alone, in all lanes. The result of a state without a solution is NaN, and the caller finds
the reason. Entries return the number of finite states, counted from the first.
"""

from __future__ import annotations

from typing import Any

from robodyn.dynamics.kernels.base_motion import BASE
from robodyn.dynamics.kernels.lanes import entry_makers, evaluate_lanes
from robodyn.numerics.array_arguments import borrowed_array
from robodyn.numerics.compiler import batch_entry, inner
from robodyn.numerics.jacobi import ratio_of_lanes
from robodyn.numerics.simd.lanes import any_of
from robodyn.numerics.simd.states import all_finite
from robodyn.numerics.simd.tables import as_table, new_tables
from robodyn.solvers.tree.kernels import (
    distribution,
    dynamics,
    inverse_kinematics,
    layout,
    newton,
    projection,
)
from robodyn.solvers.tree.kernels.conditions import orthonormal, scaled_rows
from robodyn.solvers.tree.kernels.entries import place_bodies


@inner
def find_mass_matrix(m: Any, state: Any, settings: Any, s: Any, found: Any) -> int:
    """Write mass matrices (free * free) of eight states to `found`, one per SIMD lane.

    Each matrix, of the independent coordinates, is stored row by row. Return one status for all
    eight states: OK, or the code of a failure.
    """
    status = dynamics.mass_matrix(m, state.q, False, s, s.M)
    for i in range(m.free):
        for j in range(i + 1):
            found[m.free * i + j] = s.M[i, j]
            found[m.free * j + i] = s.M[i, j]
    return status


@inner
def find_tangent(m: Any, state: Any, settings: Any, s: Any, found: Any) -> int:
    """Write tangent matrices (rates * free) of eight states to `found`, in SIMD lanes.

    Each SIMD lane holds one state. A tangent matrix, stored row by row, maps independent rates to
    the rates of all joints. Return one status for all eight states: OK, or the code of a failure.
    """
    status = dynamics.prepare(m, state.q, False, s)
    if status == layout.OK:
        projection.tangent(m, s.K, s.R, as_table(found, m.free))
    return status


@inner
def find_jacobian(m: Any, state: Any, settings: Any, s: Any, found: Any) -> int:
    """Write tip Jacobians (6 * free) in eight states to `found`, one per SIMD lane.

    A Jacobian, stored row by row, maps independent rates to the tip's twist, linear over angular,
    base frame. Return one status for all eight states: OK, or the code of a failure.
    """
    return dynamics.jacobian(m, state.q, False, s, as_table(found, m.free))


@inner
def find_displaced(m: Any, state: Any, settings: Any, s: Any, found: Any) -> int:
    """Write eight closed configurations after displacements to `found` (positions,).

    Each SIMD lane holds one state: a configuration and, in place of rates, the displacement of its
    independent coordinates. `settings` are the target and the largest accepted residual of the
    closures. Return one status for all eight states: OK, or OPEN.
    """
    target, accepted = settings
    left = newton.displace_together(m, state.q, state.rates, target, s)
    if any_of(left > accepted) or not all_finite(state.q, m.positions):
        return layout.OPEN
    for k in range(m.positions):
        found[k] = state.q[k]
    return layout.OK


@inner
def find_frame(m: Any, state: Any, body: Any, s: Any, found: Any) -> int:
    """Write the frames (12,) of a body in eight states to `found`, one per SIMD lane.

    A frame consists of the axes x, y, z and the origin, base frame. The returned status is always
    OK.
    """
    place_bodies(m, state.q, s.B)
    for k in range(layout.ORIGIN + 3):
        found[k] = s.B[body, k]
    return layout.OK


@inner
def find_conditions(m: Any, state: Any, settings: Any, s: Any, found: Any) -> int:
    """Write two condition numbers of each of eight states to `found` (2,).

    Each SIMD lane holds one state. The first number is that of the map from joint motion to the
    tip's twist, the second that of the map from joint motion to driven rates; see
    `conditions.condition_numbers`. Return one status for all eight states: OK, or the code of the
    first failure.
    """
    columns, tip, drives, length = settings
    status = dynamics.jacobian(m, state.q, False, s, s.J)
    if status != layout.OK:
        return status
    if not orthonormal(m, columns, s.S, s.J):
        return layout.BAD_COORDINATES
    motion, force = as_table(s.T[0], tip.size - 1), as_table(s.R, drives.shape[0])
    scaled_rows(m, tip, drives, length, s, motion, force)
    found[0] = ratio_of_lanes(motion, m.free, tip.size - 1)
    found[1] = ratio_of_lanes(force, m.free, drives.shape[0])
    return layout.OK


@inner
def evaluate_states(find: Any, plan: Any, numbers: Any, given: Any, settings: Any, out: Any) -> int:
    """Write the results of a function for N states to `out` (N, k), eight at a time.

    `find` is one of the functions `find_...` of this module. A state without a result is NaN.
    Return the number of states, counted from the first, whose arguments are finite.
    """
    m = layout.mechanism(plan, numbers)
    if not layout.fits(m):
        return 0
    s, width = new_tables(layout.shapes(m)), max(m.widest, m.positions, BASE)
    return evaluate_lanes(
        find, m, borrowed_array(given), width, settings, True, s, borrowed_array(out)
    )


of_configurations, of_states, _ = entry_makers(__name__, evaluate_states)
inverse_dynamics = of_states("inverse_dynamics", distribution.driven_efforts)
forward_dynamics = of_states("forward_dynamics", dynamics.forward_dynamics)
mass_matrix = of_configurations("mass_matrix", find_mass_matrix)
tangent = of_configurations("tangent", find_tangent)
jacobian = of_configurations("jacobian", find_jacobian)


@batch_entry
def conditions(
    plan: Any, numbers: Any, q: Any, columns: Any, tip: Any, drives: Any, length: float, out: Any
) -> int:
    """Write condition numbers of the joint-to-tip and joint-to-drive maps to `out` (N, 2).

    They are those of `conditions.condition_numbers`. The number of driven joints, and that of the
    pose components that determine the configuration, must not be less than the mobility. Return the
    number of configurations, counted from the first, that are finite.
    """
    known = borrowed_array(columns), borrowed_array(tip), borrowed_array(drives)
    return evaluate_states(find_conditions, plan, numbers, (q,), (*known, length), out)


@batch_entry
def motion(plan: Any, numbers: Any, q: Any, rates: Any, change: Any, out: Any) -> int:
    """Write joint rates and accelerations and tip acceleration of N states to `out`.

    Each row of `out` (N, 2 * rates + 6) contains the rates of all joints, their accelerations, and
    the tip's linear and angular acceleration, base frame. Return the number of states, counted from
    the first, whose arguments are finite.
    """
    return evaluate_states(dynamics.motion, plan, numbers, (q, rates, change), False, out)


@batch_entry
def displace_lanes(
    plan: Any, numbers: Any, q: Any, displacements: Any, target: float, accepted: float, out: Any
) -> int:
    """Write the closed configurations after displacements (N, free) from `q` to `out`.

    `q` and `out` are (N, positions). The displacements are those of the independent coordinates,
    and must be short, see `newton.PIECE`. The closure residual is at most `accepted`, and at most
    `target` if rounding permits; otherwise, the result is NaN. Return the number of states, counted
    from the first, whose arguments are finite.
    """
    given, settings = (q, displacements), (target, accepted)
    return evaluate_states(find_displaced, plan, numbers, given, settings, out)


@batch_entry
def body_motions(
    plan: Any,
    numbers: Any,
    q: Any,
    poses: Any,
    twists: Any,
    accels: Any,
    weights: Any,
    target: float,
    accepted: float,
    out: Any,
) -> int:
    """Write to `out` the configurations, rates and accelerations for motions of the tip.

    A row of `out` (N, positions + 2 free) contains the configuration, then the rates and the
    accelerations of the independent coordinates. A motion consists of a pose (N, 7), a twist (N, 6)
    and an acceleration (N, 6) of the tip, base frame; `weights` (6,) scale the components of their
    errors, and are zero for components to ignore. Each search starts from a nearby configuration
    `q` (N, positions). Results are NaN if a pose is not reached within the error `accepted`. Return
    the number of states, counted from the first, whose arguments are finite.
    """
    given, settings = (q, poses, twists, accels), (borrowed_array(weights), target, accepted)
    find = inverse_kinematics.find_body_motion
    return evaluate_states(find, plan, numbers, given, settings, out)


@batch_entry
def frames(plan: Any, numbers: Any, q: Any, body: int, out: Any) -> int:
    """Write the frames of one body at `q` (N, positions) to `out` (N, 12).

    A frame consists of the axes x, y, z and the origin, in the base frame. Return the number of
    configurations, counted from the first, that are finite.
    """
    return evaluate_states(find_frame, plan, numbers, (q,), body, out)
