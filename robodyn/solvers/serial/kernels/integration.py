# SPDX-License-Identifier: Apache-2.0

"""Simulation loop of serial arms.

The mechanism of a plant is (chain, gravity), and so is that of a controller's model. With
stick-slip friction, the plant's chain is without dry friction, and every joint has a row of
friction.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from robodyn.dynamics.kernels.base_motion import base_of
from robodyn.dynamics.kernels.batch_simulation import LaneFunctions, batch_loops
from robodyn.dynamics.kernels.control_laws import (
    COMPUTED_TORQUE,
    GIVEN,
    add_planned,
    corrected_acceleration,
)
from robodyn.dynamics.kernels.elastic_drives import ElasticPlant, elastic_loop
from robodyn.dynamics.kernels.end_stops import add_end_stops, joint_efforts
from robodyn.dynamics.kernels.integration import OK, PackedPlant
from robodyn.dynamics.kernels.simulation import Functions, simulation_loop
from robodyn.dynamics.kernels.state import State, loaded
from robodyn.numerics.array_arguments import borrowed_array, stack_all
from robodyn.numerics.compiler import batch_entry, inner, noinline
from robodyn.numerics.simd.tables import new_tables, table_of
from robodyn.numerics.turns import shortest_turn
from robodyn.numerics.vectors import clear, copy
from robodyn.solvers.serial.kernels.articulated import forward_dynamics
from robodyn.solvers.serial.kernels.composite import mass_matrix
from robodyn.solvers.serial.kernels.layout import (
    BODY_SIZE,
    DAMPING,
    FRAME_SIZE,
    LINK_SIZE,
    WORK_SIZE,
    WRAPS,
)
from robodyn.solvers.serial.kernels.newton_euler import newton_euler
from robodyn.solvers.serial.kernels.spatial import place

NO_INERTIA: Final = 1


class Scratch(NamedTuple):
    """Memory for one state or eight.

    Attributes:
        vectors: 4 vectors.
        links, frames, bodies: rows of WORK_SIZE, FRAME_SIZE and BODY_SIZE.
        M, L, slopes: (n, n), (n, n) and (n, 2) for `end_stops.add_end_stops`.
    """

    vectors: Any
    links: Any
    frames: Any
    bodies: Any
    M: Any
    L: Any
    slopes: Any


@inner
def scratch_shapes(n: int) -> Any:
    """Return the shapes of the scratch memory of n joints."""
    return Scratch(
        (4, n), (n, WORK_SIZE), (n + 1, FRAME_SIZE), (n, BODY_SIZE), (n, n), (n, n), (n, 2)
    )


@noinline
def carry(chain: Any, gravity: Any, state: Any, links: Any, out: Any) -> None:
    """Compute efforts (n,) of inverse dynamics, for floats or lanes."""
    base = base_of(state.base, state.moves, gravity, abs(0.0 * gravity[0]))
    newton_euler(chain, base, state, links, out)


@inner
def command(control: Any, q: Any, qd: Any, row: Any, load: Any, work: Any, out: Any) -> bool:
    """Compute the efforts of a control law in `control_laws`."""
    n = q.shape[0]
    if control.law == GIVEN:
        copy(row, out)
        return True
    chain, gravity = control.model
    vectors, links = work.vectors, work.links
    moving, corrected, error = vectors[0], vectors[1], vectors[2]
    clear(moving)
    clear(corrected)
    if control.law == COMPUTED_TORQUE:
        copy(qd, moving)
        for j in range(n):
            error[j] = row[j] - q[j]
            if chain[j + 1, WRAPS] != 0.0:
                error[j] = shortest_turn(error[j])
        corrected_acceleration(
            control.kp, control.kv, error, qd, row[n : 2 * n], row[2 * n :], corrected
        )
    carry(chain, gravity, loaded(q, moving, corrected, load, False), links, out)
    if control.law == COMPUTED_TORQUE:
        add_planned(control.kp, row, 3 * n, error, out)
    return True


@inner
def derivative(
    plant: Any, q: Any, qd: Any, tau: Any, load: Any, work: Any, rate: Any, acceleration: Any
) -> int:
    """Compute the rates of q and qd."""
    return accelerate(plant, loaded(q, qd, tau, load, True), work, rate, acceleration)


@inner
def accelerate(plant: Any, state: Any, work: Any, rate: Any, acceleration: Any) -> int:
    """Write the rates of q and qd of a `State`, for floats or lanes."""
    chain, gravity = plant.mechanism
    frames, q, qd, effort = work.frames, state.q, state.rates, work.vectors[3]
    for i in range(chain.shape[0] - 1):
        rate[i] = qd[i]
    place(chain, q, frames)
    tau = state.acceleration_or_effort
    if not held_efforts(plant, q, qd, tau, work, effort, work.slopes):
        return NO_INERTIA
    base = base_of(state.base, state.moves, gravity, abs(0.0 * gravity[0]))
    if forward_dynamics(
        chain, frames, base, q, qd, effort, state.wrench, work.bodies, acceleration
    ):
        return OK
    return NO_INERTIA


@inner
def held_efforts(
    plant: Any, q: Any, qd: Any, effort: Any, work: Any, out: Any, slopes: Any
) -> bool:
    """Write the efforts of motors and end stops, after `place`; return whether they exist."""
    if not joint_efforts(plant, effort, q, qd, out, slopes):
        return True
    n = plant.table.shape[0]
    mass_matrix(plant.mechanism[0], work.frames, work.M)
    for i in range(n):
        for j in range(n):
            work.L[i, j] = (1.0 if i == j else 0.0) + 0.0 * q[0]
    return bool(add_end_stops(plant, q, qd, work.M, work.L, out, slopes))


@inner
def to_manifold(plant: Any, q: Any, qd: Any, work: Any, at_stage: bool) -> int:
    """Do nothing: every q is a valid configuration."""
    return OK


@inner
def equations(plant: Any, state: Any, with_damping: bool, work: Any, out: Any) -> int:
    """Write the equations of motion, see `dynamics.kernels.simulation`; for floats or lanes."""
    chain, gravity = plant.mechanism
    frames, still, bias, held = work.frames, work.vectors[0], work.vectors[1], work.vectors[3]
    n = chain.shape[0] - 1
    q, qd, tau = state.q, state.rates, state.acceleration_or_effort
    place(chain, q, frames)
    mass_matrix(chain, frames, out.M)
    clear(still)
    under = state.wrench, True, state.base, state.moves
    carry(chain, gravity, State(q, qd, still, *under), work.links, bias)
    if not held_efforts(plant, q, qd, tau, work, held, out.stops):
        return NO_INERTIA
    for i in range(n):
        out.force[i] = held[i] - bias[i]
        out.drift[i] = 0.0
        for j in range(n):
            out.L[i, j] = 1.0 if i == j else 0.0
            out.D[i, j] = chain[i + 1, DAMPING] if i == j else 0.0
    return OK


@inner
def configuration_rate(plant: Any, q: Any, qd: Any, work: Any, out: Any) -> None:
    """Write qd, the rate of q."""
    for j in range(plant.mechanism[0].shape[0] - 1):
        out[j] = qd[j]


@inner
def sizes(plant: Any) -> tuple[int, int, int]:
    """Return the sizes of configuration, velocity and effort."""
    n = plant.mechanism[0].shape[0] - 1
    return n, n, n


@inner
def joint_positions(plant: Any, q: Any, out: Any) -> None:
    """Write the positions of the driven joints."""
    copy(q, out)


FUNCTIONS = Functions(
    command, derivative, to_manifold, equations, configuration_rate, sizes, NO_INERTIA
)
loop, loop_with_drives = simulation_loop(FUNCTIONS), elastic_loop(FUNCTIONS, joint_positions)


@batch_entry
def simulate(plant: Any, model: Any, arrays: Any, law: int, first: int, last: int) -> Any:
    """Run the loop for calls from Python."""
    chain, gravity, table, friction, options, stops = borrowed_array(plant)
    n = chain.shape[0] - 1
    work = stack_all(scratch_shapes(n))
    own = PackedPlant((chain, gravity), table, friction, options, stops)
    return loop(own, borrowed_array(model), work, borrowed_array(arrays), law, first, last)


@batch_entry
def simulate_elastic(plant: Any, model: Any, arrays: Any, law: int, first: int, last: int) -> Any:
    """Run the loop with elastic drives for calls from Python."""
    chain, gravity, table, friction, options, stops, drives = borrowed_array(plant)
    n = chain.shape[0] - 1
    work = stack_all(scratch_shapes(n))
    own = PackedPlant((chain, gravity), table, friction, options, stops)
    moved = ElasticPlant(own, friction, options, drives)
    known, rows = borrowed_array(model), borrowed_array(arrays)
    return loop_with_drives(moved, known, work, rows, law, first, last)


@inner
def unpack(slides: Any, numbers: Any) -> Any:
    """Return chain and gravity of eight arms from rows of lanes."""
    rows = slides.shape[0]
    chain = table_of(numbers, rows, LINK_SIZE)
    return chain, chain[rows]


smooth, hybrid = batch_loops(
    LaneFunctions(unpack, accelerate, to_manifold, equations, configuration_rate, NO_INERTIA)
)


@batch_entry
def advance(
    slides: Any, numbers: Any, settings: Any, efforts: Any, loads: Any, q: Any, v: Any, left: Any,
    first: int, last: int,
) -> int:  # fmt: skip
    """Advance many arms, see `batch_loops`; `slides` (n + 1,) is 1 for prismatic joints."""
    arrays = borrowed_array((numbers, settings, efforts, loads, q, v, left))
    slides = borrowed_array(slides)
    n = slides.shape[0] - 1
    return int(smooth(slides, arrays, new_tables(scratch_shapes(n)), first, last))


@batch_entry
def advance_hybrid(
    slides: Any, numbers: Any, settings: Any, efforts: Any, loads: Any, q: Any, v: Any, left: Any,
    first: int, last: int,
) -> int:  # fmt: skip
    """Advance many arms by hybrid steps, as `advance`."""
    arrays = borrowed_array((numbers, settings, efforts, loads, q, v, left))
    slides = borrowed_array(slides)
    n = slides.shape[0] - 1
    return int(hybrid(slides, arrays, new_tables(scratch_shapes(n)), first, last))
