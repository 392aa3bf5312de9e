# SPDX-License-Identifier: Apache-2.0

"""Simulation loop of Stewart platforms.

The simulated platform and the controller's model are each passed as (lanes,), the array of
`packing.pack_lanes`. For stick-slip steps, the simulated platform has no dry friction itself; the
friction of each leg is a row of a separate table.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

from robodyn.dynamics.kernels import control_laws
from robodyn.dynamics.kernels.base_motion import base_of
from robodyn.dynamics.kernels.end_stops import add_end_stops, joint_efforts
from robodyn.dynamics.kernels.simulation import Functions
from robodyn.dynamics.kernels.simulation_entries import loop_entries
from robodyn.dynamics.kernels.state import State, state_with_load
from robodyn.numerics.compiler import inner, preoptimize
from robodyn.numerics.rotations import pose_difference, store_quaternion_rate
from robodyn.numerics.simd.access import lane, rows_of
from robodyn.numerics.vectors import add, clear, copy, cross, dot, store, sub, vector
from robodyn.solvers.stewart.kernels import dynamics, layout, leg, single


class Work(NamedTuple):
    """Preallocated scratch arrays for the simulation of one platform.

    Attributes:
        poses: (4, 7) rows for poses and twists.
        held: (6,) [N] leg forces plus end-stop forces.
        lengths, rates: (6,) [m] and [m/s] of the legs.
        M, L, slopes: (6, 6), (6, 6) and (6, 2) for `end_stops.add_end_stops`.
    """

    poses: Any
    held: Any
    lengths: Any
    rates: Any
    M: Any
    L: Any
    slopes: Any


WORK: Final = Work((4, 7), 6, 6, 6, (6, 6), (6, 6), (6, 2))


@inner
def held_forces(plant: Any, pose: Any, twist: Any, forces: Any, work: Any, slopes: Any) -> bool:
    """Compute the leg forces plus end-stop forces, and the legs' lengths and rates.

    They are written to `work.held`, `work.lengths` and `work.rates`, (6,) each. Return False if the
    end-stop forces have no solution.
    """
    legs, platform = rows_of(plant.mechanism[0], 0), plant.mechanism[0][single.PLATFORM :]
    X, Y, Z = single.unit_columns(pose)
    g = leg.leg_geometry(legs, vector(pose, 0), X, Y, Z)
    rate = dot(g.s, add(vector(twist, 0), cross(vector(twist, 3), g.q)))
    for i in range(6):
        work.lengths[i], work.rates[i] = lane(g.length, i), lane(rate, i)
    if not joint_efforts(plant, forces, work.lengths, work.rates, work.held, slopes):
        return True
    if single.is_degenerate(g):
        return False
    arm = cross(g.q, g.s)
    for j in range(3):
        for i in range(6):
            work.L[i, j], work.L[i, j + 3] = lane(g.s[j], i), lane(arm[j], i)
    dynamics.write_mass_matrix(single.mass_blocks(legs, platform, X, Y, Z, g), work.M)
    M, L = work.M, work.L
    return bool(add_end_stops(plant, work.lengths, work.rates, M, L, work.held, slopes))


@inner
def normalize(pose: Any) -> None:
    """Normalize the quaternion of a pose (7,) in place, for floats or SIMD lanes."""
    x, y, z, w = pose[3], pose[4], pose[5], pose[6]
    length = math.sqrt(x * x + y * y + z * z + w * w)
    for j in range(3, 7):
        pose[j] = pose[j] / length


@inner
def pose_rate(pose: Any, twist: Any, out: Any) -> None:
    """Compute the time derivative (7,) of a pose (7,) that moves with a twist (6,)."""
    store(out, 0, vector(twist, 0))
    store_quaternion_rate(out, pose, 3, vector(twist, 3))


@inner
def command(control: Any, pose: Any, twist: Any, row: Any, load: Any, work: Any, out: Any) -> bool:
    """Write the leg forces (6,) of a control law to `out`; return whether they exist.

    `row` contains the law's reference motion, or the given forces; `load` is the motion of the
    base, `work` is scratch.
    """
    (lanes,) = control.model
    if control.law == control_laws.GIVEN:
        for j in range(6):
            out[j] = row[j]
        return True
    poses = work.poses
    here, moving, corrected, error = poses[0], poses[1, :6], poses[2, :6], poses[3, :6]
    clear(corrected)
    clear(moving)
    if control.law == control_laws.COMPUTED_TORQUE:
        copy(twist, moving)
        copy(pose, here)
        normalize(here)
        pose_difference(here, row[:7], error)
        control_laws.corrected_acceleration(
            control.kp, control.kv, error, twist, row[7:13], row[13:], corrected
        )
    state = state_with_load(pose, moving, corrected, load, False)
    if not single.find_forces(lanes, state, True, out):
        return False
    if control.law == control_laws.COMPUTED_TORQUE:
        control_laws.add_planned(control.kp, row, 19, error, out)
    return True


@preoptimize
def accelerate(plant: Any, state: Any, work: Any, rate: Any, accel: Any) -> int:
    """Write time derivatives of pose and twist to `rate` (7,) and `accel` (6,).

    Forces, wrench and motion of the base are those of `state`; `work` is scratch. Return OK, or
    another status code of `kernels.layout`.
    """
    (lanes,) = plant.mechanism
    pose, twist, forces = state.q, state.rates, state.acceleration_or_effort
    pose_rate(pose, twist, rate)
    if held_forces(plant, pose, twist, forces, work, work.slopes):
        held = State(pose, twist, work.held, state.wrench, True, state.base, state.moves)
        if single.find_accelerations(lanes, held, True, accel):
            return layout.OK
    return single.geometry_status(lanes, pose, True)


@inner
def to_manifold(plant: Any, pose: Any, twist: Any, work: Any, at_stage: bool) -> int:
    """Normalize the pose's quaternion in place; return the status code OK."""
    normalize(pose)
    return layout.OK


@inner
def equations(plant: Any, state: Any, with_damping: bool, work: Any, out: Any) -> int:
    """Write the equations of motion of one platform to `out`.

    The fields of `out`, among them mass matrix, forces and leg Jacobian, are those of
    `dynamics.kernels.simulation`; D is written only if `with_damping`. `work` is scratch. Return
    OK, or the status code of a failure.
    """
    (lanes,) = plant.mechanism
    pose, twist, forces = state.q, state.rates, state.acceleration_or_effort
    force, L = out.force, out.L
    legs, platform = rows_of(lanes, 0), lanes[single.PLATFORM :]
    X, Y, Z = single.unit_columns(pose)
    v, w = vector(twist, 0), vector(twist, 3)
    if not held_forces(plant, pose, twist, forces, work, out.stops):
        return single.geometry_status(lanes, pose, True)
    none = (0.0, 0.0, 0.0)
    base = base_of(state.base, state.moves, vector(platform, layout.GRAVITY), 0.0)
    g = leg.leg_geometry(legs, vector(pose, 0), X, Y, Z)
    if single.is_degenerate(g):
        return single.geometry_status(lanes, pose, True)
    m = leg.leg_velocity(g, v, w)
    n = leg.leg_acceleration(g, m, none, none, w)
    load = leg.leg_load(legs, g, m, n, w, base)
    moving = vector(pose, 0), v, w
    linear, angular = dynamics.platform_wrench(platform, (X, Y, Z), moving, (none, none), base)
    linear = single.add_legs(linear, load.tip_force)
    angular = single.add_legs(angular, sub(cross(g.q, load.tip_force), load.friction))
    arm = cross(g.q, g.s)
    for j in range(3):
        force[j] = state.wrench[j] - linear[j]
        force[j + 3] = state.wrench[j + 3] - angular[j]
        for i in range(6):
            L[i, j] = lane(g.s[j], i)
            L[i, j + 3] = lane(arm[j], i)
    for i in range(6):
        out.drift[i] = lane(n.rate, i)
        for j in range(6):
            force[j] += L[i, j] * work.held[i]
    if with_damping:
        dynamics.write_mass_matrix(
            single.sum_of_legs(dynamics.no_blocks(0.0), dynamics.damping_blocks(legs, g)), out.D
        )
    dynamics.write_mass_matrix(single.mass_blocks(legs, platform, X, Y, Z, g), out.M)
    return layout.OK


@inner
def configuration_rate(plant: Any, pose: Any, twist: Any, work: Any, out: Any) -> None:
    """Write the time derivative (7,) of a pose that moves with a twist (6,) to `out`."""
    pose_rate(pose, twist, out)


@inner
def sizes(plant: Any) -> tuple[int, int, int]:
    """Return the lengths of a pose, a twist and the leg forces: 7, 6 and 6."""
    return 7, 6, 6


@inner
def joint_positions(plant: Any, pose: Any, out: Any) -> None:
    """Write the lengths (6,) [m] of the legs at a pose to `out`."""
    X, Y, Z = single.unit_columns(pose)
    g = leg.leg_geometry(rows_of(plant.mechanism[0], 0), vector(pose, 0), X, Y, Z)
    for i in range(6):
        out[i] = lane(g.length, i)


@inner
def work_shapes(platform: Any, model: Any) -> Work:
    """Return the shapes of the scratch arrays for the simulation of one platform."""
    return WORK


FUNCTIONS = Functions(
    command, accelerate, to_manifold, equations, configuration_rate, sizes, layout.SINGULAR,
    compile_step=preoptimize,
)  # fmt: skip
simulate, simulate_hybrid, simulate_elastic = loop_entries(
    __name__, FUNCTIONS, joint_positions, work_shapes
)
