# SPDX-License-Identifier: Apache-2.0

"""Simulation of mechanisms whose configuration consists of the driven joints' positions.

Such a kind of mechanism provides its equations as `JointEquations`. Control laws, motors, end stops
and dry friction follow from them. Its packed mechanism is a matrix and a vector, as for
`batch_calls.entry`, and its scratch memory has the fields of `JointMemory`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from robodyn.dynamics.kernels import control_laws
from robodyn.dynamics.kernels.end_stops import add_end_stops, joint_efforts
from robodyn.dynamics.kernels.integration import OK
from robodyn.dynamics.kernels.simulation import Functions
from robodyn.dynamics.kernels.state import State, state_with_load
from robodyn.numerics.compiler import inner
from robodyn.numerics.simd.tables import as_table
from robodyn.numerics.turns import shortest_turn
from robodyn.numerics.vectors import clear, copy


class JointMemory(NamedTuple):
    """Preallocated scratch arrays for simulation of one state, or of eight in SIMD lanes.

    Attributes:
        vectors: (4, n) four vectors for intermediate results.
        M, L: (n, n) mass matrix and Jacobian of the driven joints, for end stops.
        slopes: (n, 2) stiffness and damping of the end stops that push.
    """

    vectors: Any
    M: Any
    L: Any
    slopes: Any


@inner
def do_nothing(mechanism: Any, q: Any, s: Any) -> None:
    """Do nothing: the default of `JointEquations.place`."""


@inner
def never(mechanism: Any, joint: int) -> bool:
    """Return False: the default of `JointEquations.wraps`, without continuous joints."""
    return False


class JointEquations(NamedTuple):
    """Compiled functions for the equations of motion of a kind of mechanism.

    Their argument `s` contains scratch arrays, of floats or SIMD lanes.

    Attributes:
        joints: joints(mechanism) -> number of joints.
        efforts: efforts(mechanism, state, settings, s, out) -> status. Inverse dynamics of a
            `State`, zero on success, as for `lanes.evaluate_lanes`.
        accelerations: the same for accelerations (forward dynamics). Called after `place`.
        mass_matrix: mass_matrix(mechanism, q, s, out). Write the mass matrix (n, n) to `out`.
            Called after `place`.
        damping: damping(mechanism, joint) -> viscous damping of a joint.
        without_inertia: status for a mass matrix that is not positive definite, above zero.
        place: place(mechanism, q, s). Compute what `accelerations` and `mass_matrix` share.
        wraps: wraps(mechanism, joint) -> whether positions a full turn apart are equal.
    """

    joints: Any
    efforts: Any
    accelerations: Any
    mass_matrix: Any
    damping: Any
    without_inertia: int
    place: Any = do_nothing
    wraps: Any = never


def mass_matrix_rows(kind: JointEquations) -> Any:
    """Return a function that writes the mass matrix, for `evaluate_lanes`.

    The matrix is written in row-major order.
    """
    joints, mass_matrix, place = kind.joints, kind.mass_matrix, kind.place

    @inner
    def find(mechanism: Any, state: Any, settings: Any, s: Any, found: Any) -> int:
        place(mechanism, state.q, s)
        mass_matrix(mechanism, state.q, s, as_table(found, joints(mechanism)))
        return OK

    return find


def command_of(kind: JointEquations) -> Any:
    """Create the function `command` of `simulation.Functions` from a kind's equations.

    The control law may be given efforts, computed torque, or gravity compensation.
    """
    joints, efforts, wraps = kind.joints, kind.efforts, kind.wraps

    @inner
    def command(control: Any, q: Any, qd: Any, row: Any, load: Any, work: Any, out: Any) -> bool:
        n = joints(control.model)
        if control.law == control_laws.GIVEN:
            copy(row, out)
            return True
        vectors = work.vectors
        moving, corrected, error = vectors[0], vectors[1], vectors[2]
        clear(moving)
        clear(corrected)
        if control.law == control_laws.COMPUTED_TORQUE:
            copy(qd, moving)
            for j in range(n):
                error[j] = row[j] - q[j]
                if wraps(control.model, j):
                    error[j] = shortest_turn(error[j])
            control_laws.corrected_acceleration(
                control.kp, control.kv, error, qd, row[n : 2 * n], row[2 * n :], corrected
            )
        state = state_with_load(q, moving, corrected, load, False)
        if efforts(control.model, state, False, work, out) != OK:
            return False
        if control.law == control_laws.COMPUTED_TORQUE:
            control_laws.add_planned(control.kp, row, 3 * n, error, out)
        return True

    return command


def held_efforts_of(kind: JointEquations) -> Any:
    """Create the function that sums the efforts of motors and end stops.

    Returns:
        Function held_efforts(plant, state, work, out, slopes) that writes the efforts of the
        motors, within their limits, plus those of the end stops to `out` (n,), and stiffness and
        damping of the end stops that push to `slopes` (n, 2). It returns False if the mass matrix
        is needed but not positive definite.
    """
    mass_matrix = kind.mass_matrix

    @inner
    def held_efforts(plant: Any, state: Any, work: Any, out: Any, slopes: Any) -> bool:
        q, qd = state.q, state.rates
        if not joint_efforts(plant, state.acceleration_or_effort, q, qd, out, slopes):
            return True
        n = plant.table.shape[0]
        mass_matrix(plant.mechanism, q, work, work.M)
        for i in range(n):
            for j in range(n):
                work.L[i, j] = (1.0 if i == j else 0.0) + 0.0 * q[0]
        return bool(add_end_stops(plant, q, qd, work.M, work.L, out, slopes))

    return held_efforts


@inner
def normalize(plant: Any, q: Any, qd: Any, work: Any, at_stage: bool) -> int:
    """Do nothing, because every vector of joint positions is a valid configuration."""
    return OK


@inner
def configuration_rate(plant: Any, q: Any, qd: Any, work: Any, out: Any) -> None:
    """Write the time derivative of the configuration, which is the velocity, to `out`."""
    copy(qd, out)


def loop_functions(kind: JointEquations) -> Functions:
    """Create a kind of mechanism's simulation functions from its equations of motion."""
    joints, efforts, accelerations, mass_matrix, damping, without_inertia, place, _ = kind
    held_efforts = held_efforts_of(kind)

    @inner
    def accelerate(plant: Any, state: Any, work: Any, rate: Any, acceleration: Any) -> int:
        held = work.vectors[3]
        copy(state.rates, rate)
        place(plant.mechanism, state.q, work)
        if not held_efforts(plant, state, work, held, work.slopes):
            return without_inertia
        under = state.wrench, state.contact, state.base, state.moves
        acting = State(state.q, state.rates, held, *under)
        return int(accelerations(plant.mechanism, acting, False, work, acceleration))

    @inner
    def equations(plant: Any, state: Any, with_damping: bool, work: Any, out: Any) -> int:
        still, bias, held = work.vectors[0], work.vectors[1], work.vectors[3]
        place(plant.mechanism, state.q, work)
        mass_matrix(plant.mechanism, state.q, work, out.M)
        clear(still)
        under = state.wrench, True, state.base, state.moves
        at_rest = State(state.q, state.rates, still, *under)
        status = efforts(plant.mechanism, at_rest, False, work, bias)
        if status != OK:
            return int(status)
        if not held_efforts(plant, state, work, held, out.stops):
            return without_inertia
        n = joints(plant.mechanism)
        for i in range(n):
            out.force[i] = held[i] - bias[i]
            out.drift[i] = 0.0
            for j in range(n):
                out.L[i, j] = 1.0 if i == j else 0.0
                out.D[i, j] = damping(plant.mechanism, i) if i == j else 0.0
        return OK

    @inner
    def sizes(plant: Any) -> tuple[int, int, int]:
        n = joints(plant.mechanism)
        return n, n, n

    command = command_of(kind)
    return Functions(
        command, accelerate, normalize, equations, configuration_rate, sizes, without_inertia
    )


@inner
def joint_positions(plant: Any, q: Any, out: Any) -> None:
    """Write the positions (n,) of the driven joints: the configuration itself."""
    copy(q, out)
