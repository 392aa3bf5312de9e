# SPDX-License-Identifier: Apache-2.0

"""Simulation of many platforms, each with its own parameters, eight at a time in SIMD lanes.

The packed parameters of a platform are those of its legs, then of body and springs; see
`dynamics.kernels.batch_simulation`.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from robodyn.dynamics.kernels.end_stops import add_end_stops, joint_efforts
from robodyn.dynamics.kernels.simulation_entries import lane_entries
from robodyn.dynamics.kernels.state import State
from robodyn.numerics.compiler import inner
from robodyn.numerics.simd.tables import as_table
from robodyn.solvers.stewart.kernels import integration, lanes
from robodyn.solvers.stewart.kernels.dynamics import MOTION_EQUATIONS, MotionEquations
from robodyn.solvers.stewart.kernels.layout import LEG_SIZE, OK, SINGULAR


class Memory(NamedTuple):
    """Preallocated scratch arrays for a simulation step of eight platforms.

    Attributes:
        unit: (7,) pose with a normalized quaternion.
        held: (6,) [N] actuator forces plus end-stop forces.
        M, L, slopes: (6, 6), (6, 6) and (6, 2) for `end_stops.add_end_stops`.
    """

    unit: Any
    held: Any
    M: Any
    L: Any
    slopes: Any


MEMORY: Final = Memory(7, 6, (6, 6), (6, 6), (6, 2))


@inner
def unpack(structure: Any, numbers: Any) -> Any:
    """Return views of the packed legs (6, LEG_SIZE) and bodies of eight platforms.

    Each SIMD lane holds one platform.
    """
    return as_table(numbers, LEG_SIZE), as_table(numbers, 6 * LEG_SIZE)[1]


@inner
def normalize(state: Any, unit: Any) -> tuple[bool, Any]:
    """Write eight poses with normalized quaternions to `unit` (7,), one per SIMD lane.

    Returns:
        Whether all eight quaternions are near unit length, and the state with `unit` as its pose.
    """
    for j in range(7):
        unit[j] = state.q[j]
    under = state.wrench, state.contact, state.base, state.moves
    return lanes.normalize(unit), State(unit, state.rates, state.acceleration_or_effort, *under)


@inner
def held_efforts(plant: Any, state: Any, e: Any, memory: Any, slopes: Any) -> bool:
    """Compute the leg forces plus end-stop forces of eight platforms in SIMD lanes.

    The leg forces are those of `state`, the legs' lengths and rates those of `e`; the sums are
    written to `memory.held` (6,). Return False if the end-stop forces have no solution for at least
    one platform.
    """
    forces = state.acceleration_or_effort
    if not joint_efforts(plant, forces, e.lengths, e.rates, memory.held, slopes):
        return True
    M, L = memory.M, memory.L
    for i in range(6):
        for j in range(6):
            M[i, j], L[i, j] = e.M[i, j], e.H[j, i]
    return bool(add_end_stops(plant, e.lengths, e.rates, M, L, memory.held, slopes))


@inner
def accelerate(plant: Any, state: Any, work: Any, rate: Any, acceleration: Any) -> int:
    """Write time derivatives of poses and twists of eight platforms to two arrays.

    `rate` (7,) becomes the derivative of the pose, `acceleration` (6,) that of the twist, one
    platform per SIMD lane. `work` is scratch. Return one status for all eight: OK, or another code
    of `kernels.layout`.
    """
    memory, e = work
    integration.pose_rate(state.q, state.rates, rate)
    is_unit, there = normalize(state, memory.unit)
    status = lanes.equations_in_lanes(plant.mechanism, there, False, e) if is_unit else SINGULAR
    if status != OK:
        return int(status)
    if not held_efforts(plant, state, e, memory, memory.slopes):
        return SINGULAR
    under = state.wrench, True, state.base, state.moves
    held = State(memory.unit, state.rates, memory.held, *under)
    return int(lanes.compute_accelerations(held, e, acceleration))


@inner
def equations(plant: Any, state: Any, with_damping: bool, work: Any, out: Any) -> int:
    """Write the equations of motion of eight platforms to `out`, one per SIMD lane.

    The fields of `out`, among them mass matrix, forces and leg Jacobian, are those of
    `dynamics.kernels.simulation`; D is written only if `with_damping`. Return one status for all
    eight: OK, or the code of a failure.
    """
    memory, own = work
    e = MotionEquations(out.M, own.H, own.bias, own.lengths, own.rates, out.drift, out.D)
    is_unit, there = normalize(state, memory.unit)
    status = SINGULAR
    if is_unit:
        status = lanes.equations_in_lanes(plant.mechanism, there, with_damping, e)
    if status != OK:
        return int(status)
    for j in range(6):
        out.force[j] = state.wrench[j] - e.bias[j]
        for i in range(6):
            out.L[i, j] = e.H[j, i]
    if not held_efforts(plant, state, e, memory, out.stops):
        return SINGULAR
    for i in range(6):
        for j in range(6):
            out.force[j] = out.force[j] + out.L[i, j] * memory.held[i]
    return OK


@inner
def shapes(structure: Any, rows: Any) -> Any:
    """Return the shapes of the scratch arrays for the simulation of eight platforms."""
    return MEMORY, MOTION_EQUATIONS


FUNCTIONS = integration.FUNCTIONS._replace(accelerate=accelerate, equations=equations)
advance, advance_hybrid = lane_entries(__name__, FUNCTIONS, unpack, shapes)
