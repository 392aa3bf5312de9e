# SPDX-License-Identifier: Apache-2.0

"""Simulation loop of a kind of mechanism with elastic drives.

A motor is an additional coordinate of the state: configurations are followed by the motors'
positions t (n,) at the joints, velocities by their rates. With joint positions j, their Jacobian J,
drives of stiffness k and damping d, and rotors I, as in Spong (1987),

    M a + h = J' s,    I t'' = u - s - friction,    s = k (t - j) + d (t' - J v).

The mechanism has no rotors. Dry friction of driven joints acts on the motors, viscous friction and
the end stops on the joints. The reaction of a rotor's spin to a turning link is neglected.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from robodyn.dynamics.kernels.control_laws import GIVEN
from robodyn.dynamics.kernels.end_stops import motor_effort
from robodyn.dynamics.kernels.hybrid_step import equations_shapes
from robodyn.dynamics.kernels.integration import OK, OPTIONS
from robodyn.dynamics.kernels.simulation import Functions, hybrid_loop
from robodyn.dynamics.kernels.state import state_with_load
from robodyn.numerics.array_arguments import stack_all
from robodyn.numerics.compiler import inner, noinline
from robodyn.numerics.linear import factor_definite, solve_factored
from robodyn.numerics.vectors import clear, copy

# Columns of the array of drives (n, 3).
STIFFNESS: Final = 0
DAMPING: Final = 1
INERTIA: Final = 2
# Option of a plant: whether the controller measures the motors, 1 or 0.
MEASURES_MOTORS: Final = OPTIONS
# Tolerance of the search for the motors' configuration [m, rad]; Newton's method squares the last
# step.
NEAR: Final = 1e-8
MOST_STEPS: Final = 10


class ElasticPlant(NamedTuple):
    """Simulated mechanism with elastic drives, as packed arrays.

    Attributes:
        own: `PackedPlant` of the mechanism without rotors.
        friction: (nf, sticking.ROW) dry friction of the joints, the motors first.
        options: (OPTIONS + 1,) options of a `PackedPlant`, and MEASURES_MOTORS.
        drives: (n, 3) stiffness, damping and rotor inertia of each drive.
    """

    own: Any
    friction: Any
    options: Any
    drives: Any


class ElasticMemory(NamedTuple):
    """Scratch arrays for the equations of a mechanism without its elastic drives' motors.

    Attributes:
        equations: `MotionEquations`.
        N: (nv, nv) J'J of the driven joints' Jacobian J, factorized.
        none, positions: (n,) zeros, and positions of the driven joints.
        q, rate: (nq,) configuration that the motors' positions imply, and its change in a Newton
            step.
        v, change: (nv,) velocity that the motors' rates imply, and the Newton step as a
            displacement.
    """

    equations: Any
    N: Any
    none: Any
    positions: Any
    q: Any
    rate: Any
    v: Any
    change: Any


@inner
def add_drives(
    plant: Any, state: Any, sizes: tuple[int, int, int], memory: ElasticMemory, out: Any
) -> None:
    """Write the equations of motion of mechanism and motors to `out`.

    They are derived from those of the mechanism without motors.

    Args:
        plant: `ElasticPlant`.
        state: `State` of mechanism and motors, with the efforts (n,) of the motors as its third.
        sizes: nq, nv and n of the mechanism without motors.
        memory: `ElasticMemory` with the mechanism's equations and joint positions at this state.
        out: `MotionEquations` of mechanism and motors, to be written.
    """
    nq, nv, n = sizes
    e, drives = memory.equations, plant.drives
    q, v, effort = state.q, state.rates, state.acceleration_or_effort
    for i in range(nv):
        out.force[i] = e.force[i]
        for k in range(i + 1):
            out.M[i, k], out.D[i, k] = e.M[i, k], e.D[i, k]
    for i in range(plant.friction.shape[0]):
        out.drift[i] = 0.0 if i < n else e.drift[i]
        for k in range(nv + n):
            out.L[i, k] = e.L[i, k] if i >= n and k < nv else 0.0
    for i in range(n):
        stiffness, damping = drives[i, STIFFNESS], drives[i, DAMPING]
        motor, rate = nv + i, v[nv + i]
        for k in range(nv):
            rate -= e.L[i, k] * v[k]
        spring = stiffness * (q[nq + i] - memory.positions[i]) + damping * rate
        joint, stops = plant.own.table[i], plant.own.stops
        driven = effort[i]
        if joint.shape[0] > 2 and stops[2] > 0.0:
            driven = motor_effort(driven, v[motor], joint, joint.shape[0])
        out.force[motor] = driven - spring
        out.stops[i, 0] = out.stops[i, 1] = 0.0
        out.L[i, motor] = 1.0
        for k in range(motor):
            out.M[motor, k] = out.D[motor, k] = 0.0
        out.M[motor, motor], out.D[motor, motor] = drives[i, INERTIA], damping
        for j in range(nv):
            out.force[j] += e.L[i, j] * spring
            out.D[motor, j] = -damping * e.L[i, j]
            for k in range(j + 1):
                out.D[j, k] += damping * e.L[i, j] * e.L[i, k]


@inner
def solve_motion(m: ElasticMemory, nv: int, n: int, positions: Any, rates: Any) -> bool:
    """Compute a Newton step towards given motor positions, and the velocity at given rates.

    Args:
        m: `ElasticMemory` with equations and joint positions at the current configuration, and
            zeros in v. The displacement to take is written to m.change (nv,), the velocity to m.v
            (nv,).
        nv, n: numbers of velocities and driven joints.
        positions, rates: (n,) of the motors, at the joints.

    Returns:
        False if the driven joints' Jacobian is singular.
    """
    e = m.equations
    clear(m.change)
    for j in range(nv):
        for k in range(j + 1):
            m.N[j, k] = 0.0
            for i in range(n):
                m.N[j, k] += e.L[i, j] * e.L[i, k]
        for i in range(n):
            m.change[j] += e.L[i, j] * (positions[i] - m.positions[i])
            m.v[j] += e.L[i, j] * rates[i]
    if not factor_definite(m.N, nv, False):
        return False
    solve_factored(m.N, nv, m.v)
    solve_factored(m.N, nv, m.change)
    return True


def motions_with_drives(kind: Functions, joint_positions: Any, mechanism_equations: Any) -> Any:
    """Create normalize, equations, configuration_rate and sizes for elastic drives.

    These are the functions of `simulation.Functions`, for mechanism and motors together. The
    arguments are those of `elastic_loop`, and `mechanism_equations` of `command_with_drives`.

    Returns:
        The four functions, in this order.
    """
    rigid_sizes, rigid_rate, rigid_normalize = (
        kind.sizes, kind.configuration_rate, kind.normalize
    )  # fmt: skip

    @inner
    def normalize(plant: Any, q: Any, v: Any, work: Any, at_stage: bool) -> int:
        nq, nv, _ = rigid_sizes(plant.own)
        return int(rigid_normalize(plant.own, q[:nq], v[:nv], work[0], at_stage))

    @inner
    def equations(plant: Any, state: Any, with_damping: bool, work: Any, out: Any) -> int:
        nq, nv, n = rigid_sizes(plant.own)
        memory, q = work[1], state.q
        status = mechanism_equations(plant, q[:nq], state.rates[:nv], state.wrench, work)
        if status != OK:
            return int(status)
        joint_positions(plant.own, q[:nq], memory.positions)
        add_drives(plant, state, (nq, nv, n), memory, out)
        return OK

    @inner
    def configuration_rate(plant: Any, q: Any, v: Any, work: Any, out: Any) -> None:
        nq, nv, _ = rigid_sizes(plant.own)
        rigid_rate(plant.own, q[:nq], v[:nv], work[0], out[:nq])
        copy(v[nv:], out[nq:])

    @inner
    def sizes(plant: Any) -> tuple[int, int, int]:
        nq, nv, n = rigid_sizes(plant.own)
        return nq + n, nv + n, n

    return normalize, equations, configuration_rate, sizes


def command_with_drives(kind: Functions, joint_positions: Any, mechanism_equations: Any) -> Any:
    """Create the function `command` of `simulation.Functions` for elastic drives.

    It evaluates the control law at the state of the joints or, if the controller measures the
    motors, at the state that their positions and rates imply if drives are rigid.

    `mechanism_equations(plant, q, v, load, work)` writes the equations of motion of the mechanism
    without the efforts of its drives, and returns a status.
    """
    rigid_sizes, rigid_command, rigid_rate, rigid_normalize = (
        kind.sizes, kind.command, kind.configuration_rate, kind.normalize
    )  # fmt: skip

    @noinline
    def measure_motors(plant: Any, q: Any, v: Any, load: Any, work: Any) -> bool:
        """Find the mechanism state for the motors' positions and rates with rigid drives.

        The result is written to the scratch arrays. Return False if no such configuration was
        found.
        """
        nq, nv, n = rigid_sizes(plant.own)
        m = work[1]
        copy(q, m.q)
        for _ in range(MOST_STEPS):
            clear(m.v)
            if mechanism_equations(plant, m.q, m.v, load, work) != OK:
                return False
            joint_positions(plant.own, m.q, m.positions)
            if not solve_motion(m, nv, n, q[nq:], v[nv:]):
                return False
            largest = 0.0
            for j in range(nv):
                largest = max(largest, abs(m.change[j]))
            rigid_rate(plant.own, m.q, m.change, work[0], m.rate)
            for j in range(nq):
                m.q[j] += m.rate[j]
            if rigid_normalize(plant.own, m.q, m.v, work[0], False) != OK:
                return False
            if largest <= NEAR:
                return True
        return False

    @inner
    def command(control: Any, q: Any, v: Any, row: Any, load: Any, work: Any, out: Any) -> bool:
        own_work, memory, plant = work
        if control.law == GIVEN:
            copy(row, out)
            return True
        if plant.options[MEASURES_MOTORS] != 0.0:
            return measure_motors(plant, q, v, load, work) and rigid_command(
                control, memory.q, memory.v, row, load, own_work, out
            )
        nq, nv, _ = rigid_sizes(plant.own)
        return bool(rigid_command(control, q[:nq], v[:nv], row, load, own_work, out))

    return command


def elastic_loop(kind: Functions, joint_positions: Any) -> Any:
    """Create the simulation loop for mechanisms with elastic drives; see `hybrid_loop`.

    Its `plant` is an `ElasticPlant`. `joint_positions(plant, configuration, out)` writes the
    positions (n,) of the driven joints. The rows `L` of the kind's `equations` begin with those of
    the driven joints.
    """
    rigid_equations, rigid_sizes = kind.equations, kind.sizes

    @noinline
    def mechanism_equations(plant: Any, q: Any, v: Any, load: Any, work: Any) -> int:
        """Write the equations of motion of the mechanism without the efforts of its drives."""
        own_work, memory, _ = work
        state = state_with_load(q, v, memory.none, load, True)
        return int(rigid_equations(plant.own, state, True, own_work, memory.equations))

    command = command_with_drives(kind, joint_positions, mechanism_equations)
    normalize, equations, configuration_rate, sizes = motions_with_drives(
        kind, joint_positions, mechanism_equations
    )
    run = hybrid_loop(
        Functions(
            command, None, normalize, equations, configuration_rate, sizes, kind.without_inertia
        )
    )

    @inner
    def loop(
        plant: Any, model: Any, work: Any, arrays: Any, law: int, first: int, last: int
    ) -> tuple[int, int, int]:
        nq, nv, n = rigid_sizes(plant.own)
        shapes = equations_shapes(nv, n, plant.friction.shape[0])
        memory = stack_all(ElasticMemory(shapes, (nv, nv), n, n, nq, nq, nv, nv))
        clear(memory.none)
        return run(plant, model, (work, memory, plant), arrays, law, first, last)

    return loop
