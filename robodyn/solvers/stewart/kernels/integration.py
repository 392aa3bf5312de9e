# SPDX-License-Identifier: Apache-2.0

"""Simulation loop of Stewart platforms.

The mechanism of a plant is (lanes,), see `packing.pack_lanes`, and so is that of a controller's
model. With stick-slip friction, the plant's lanes are without dry friction, and every leg has a row
of friction.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

from robodyn.dynamics.kernels.base_motion import base_of
from robodyn.dynamics.kernels.control_laws import (
    COMPUTED_TORQUE,
    GIVEN,
    add_planned,
    corrected_acceleration,
)
from robodyn.dynamics.kernels.elastic_drives import ElasticPlant, elastic_loop
from robodyn.dynamics.kernels.end_stops import add_end_stops, joint_efforts
from robodyn.dynamics.kernels.integration import PackedPlant
from robodyn.dynamics.kernels.simulation import Functions, simulation_loop
from robodyn.dynamics.kernels.state import loaded
from robodyn.numerics.array_arguments import borrowed_array, stack_all
from robodyn.numerics.compiler import batch_entry, inner, preoptimized
from robodyn.numerics.rotations import pose_difference
from robodyn.numerics.simd.access import lane, rows_of
from robodyn.numerics.vectors import add, clear, copy, cross, dot, sub, vector
from robodyn.solvers.stewart.kernels.dynamics import (
    damping_blocks,
    no_blocks,
    platform_wrench,
    write_mass_matrix,
)
from robodyn.solvers.stewart.kernels.layout import (
    GRAVITY,
    OK,
    SINGULAR,
)
from robodyn.solvers.stewart.kernels.leg import (
    leg_acceleration,
    leg_geometry,
    leg_load,
    leg_velocity,
)
from robodyn.solvers.stewart.kernels.single import (
    PLATFORM,
    add_legs,
    find_accelerations,
    find_forces,
    geometry_status,
    is_degenerate,
    mass_blocks,
    sum_of_legs,
    unit_columns,
)


class Work(NamedTuple):
    """Scratch memory.

    Attributes:
        poses: (4, 7).
        held, lengths, rates: (6,) forces with end stops, and motion of the legs.
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
    """Write the forces of motors and end stops; return whether they exist."""
    legs, platform = rows_of(plant.mechanism[0], 0), plant.mechanism[0][PLATFORM:]
    X, Y, Z = unit_columns(pose)
    g = leg_geometry(legs, vector(pose, 0), X, Y, Z)
    rate = dot(g.s, add(vector(twist, 0), cross(vector(twist, 3), g.q)))
    for i in range(6):
        work.lengths[i], work.rates[i] = lane(g.length, i), lane(rate, i)
    if not joint_efforts(plant, forces, work.lengths, work.rates, work.held, slopes):
        return True
    if is_degenerate(g):
        return False
    arm = cross(g.q, g.s)
    for j in range(3):
        for i in range(6):
            work.L[i, j], work.L[i, j + 3] = lane(g.s[j], i), lane(arm[j], i)
    write_mass_matrix(mass_blocks(legs, platform, X, Y, Z, g), work.M)
    M, L = work.M, work.L
    return bool(add_end_stops(plant, work.lengths, work.rates, M, L, work.held, slopes))


@inner
def normalize(pose: Any) -> None:
    """Normalize the quaternion of pose (7,), for floats or lanes."""
    x, y, z, w = pose[3], pose[4], pose[5], pose[6]
    length = math.sqrt(x * x + y * y + z * z + w * w)
    for j in range(3, 7):
        pose[j] = pose[j] / length


@inner
def pose_rate(pose: Any, twist: Any, out: Any) -> None:
    """Compute the derivative (7,) of a pose: velocity, and omega times the quaternion over two."""
    x, y, z, w = pose[3], pose[4], pose[5], pose[6]
    a, b, c = twist[3], twist[4], twist[5]
    out[0], out[1], out[2] = twist[0], twist[1], twist[2]
    out[3] = 0.5 * (a * w + b * z - c * y)
    out[4] = 0.5 * (b * w + c * x - a * z)
    out[5] = 0.5 * (c * w + a * y - b * x)
    out[6] = -0.5 * (a * x + b * y + c * z)


@inner
def command(control: Any, pose: Any, twist: Any, row: Any, load: Any, work: Any, out: Any) -> bool:
    """Compute the forces (6,) of a control law in `control_laws`."""
    (lanes,) = control.model
    if control.law == GIVEN:
        for j in range(6):
            out[j] = row[j]
        return True
    poses = work.poses
    here, moving, corrected, error = poses[0], poses[1, :6], poses[2, :6], poses[3, :6]
    clear(corrected)
    clear(moving)
    if control.law == COMPUTED_TORQUE:
        copy(twist, moving)
        copy(pose, here)
        normalize(here)
        pose_difference(here, row[:7], error)
        corrected_acceleration(control.kp, control.kv, error, twist, row[7:13], row[13:], corrected)
    state = loaded(pose, moving, corrected, load, False)
    if not find_forces(lanes, state, True, out):
        return False
    if control.law == COMPUTED_TORQUE:
        add_planned(control.kp, row, 19, error, out)
    return True


@preoptimized
def derivative(
    plant: Any, pose: Any, twist: Any, forces: Any, load: Any, work: Any, rate: Any, accel: Any
) -> int:
    """Compute the rates of pose and twist."""
    (lanes,) = plant.mechanism
    pose_rate(pose, twist, rate)
    if held_forces(plant, pose, twist, forces, work, work.slopes):
        state = loaded(pose, twist, work.held, load, True)
        if find_accelerations(lanes, state, True, accel):
            return OK
    return geometry_status(lanes, pose, True)


@inner
def to_manifold(plant: Any, pose: Any, twist: Any, work: Any, at_stage: bool) -> int:
    """Normalize the quaternion."""
    normalize(pose)
    return OK


@inner
def equations(plant: Any, state: Any, with_damping: bool, work: Any, out: Any) -> int:
    """Write the equations of motion, see `dynamics.kernels.simulation`."""
    (lanes,) = plant.mechanism
    pose, twist, forces = state.q, state.rates, state.acceleration_or_effort
    force, L = out.force, out.L
    legs, platform = rows_of(lanes, 0), lanes[PLATFORM:]
    X, Y, Z = unit_columns(pose)
    v, w = vector(twist, 0), vector(twist, 3)
    if not held_forces(plant, pose, twist, forces, work, out.stops):
        return geometry_status(lanes, pose, True)
    none = (0.0, 0.0, 0.0)
    base = base_of(state.base, state.moves, vector(platform, GRAVITY), 0.0)
    g = leg_geometry(legs, vector(pose, 0), X, Y, Z)
    if is_degenerate(g):
        return geometry_status(lanes, pose, True)
    m = leg_velocity(g, v, w)
    n = leg_acceleration(g, m, none, none, w)
    load = leg_load(legs, g, m, n, w, base)
    moving = vector(pose, 0), v, w
    linear, angular = platform_wrench(platform, (X, Y, Z), moving, (none, none), base)
    linear = add_legs(linear, load.tip_force)
    angular = add_legs(angular, sub(cross(g.q, load.tip_force), load.friction))
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
        write_mass_matrix(sum_of_legs(no_blocks(0.0), damping_blocks(legs, g)), out.D)
    write_mass_matrix(mass_blocks(legs, platform, X, Y, Z, g), out.M)
    return OK


@inner
def configuration_rate(plant: Any, pose: Any, twist: Any, work: Any, out: Any) -> None:
    """Compute the time derivative of a pose."""
    pose_rate(pose, twist, out)


@inner
def sizes(plant: Any) -> tuple[int, int, int]:
    """Return the sizes of pose, twist and forces."""
    return 7, 6, 6


@inner
def joint_positions(plant: Any, pose: Any, out: Any) -> None:
    """Write the lengths of the legs."""
    X, Y, Z = unit_columns(pose)
    g = leg_geometry(rows_of(plant.mechanism[0], 0), vector(pose, 0), X, Y, Z)
    for i in range(6):
        out[i] = lane(g.length, i)


FUNCTIONS = Functions(
    command, derivative, to_manifold, equations, configuration_rate, sizes, SINGULAR,
    compile_step=preoptimized,
)  # fmt: skip
loop, loop_with_drives = simulation_loop(FUNCTIONS), elastic_loop(FUNCTIONS, joint_positions)


@batch_entry
def simulate(plant: Any, model: Any, arrays: Any, law: int, first: int, last: int) -> Any:
    """Run the loop for calls from Python."""
    lanes, table, friction, options, stops = borrowed_array(plant)
    own = PackedPlant((lanes,), table, friction, options, stops)
    work = stack_all(WORK)
    return loop(own, borrowed_array(model), work, borrowed_array(arrays), law, first, last)


@batch_entry
def simulate_elastic(plant: Any, model: Any, arrays: Any, law: int, first: int, last: int) -> Any:
    """Run the loop with elastic drives for calls from Python."""
    lanes, table, friction, options, stops, drives = borrowed_array(plant)
    own = PackedPlant((lanes,), table, friction, options, stops)
    moved, work = ElasticPlant(own, friction, options, drives), stack_all(WORK)
    known, rows = borrowed_array(model), borrowed_array(arrays)
    return loop_with_drives(moved, known, work, rows, law, first, last)
