# SPDX-License-Identifier: Apache-2.0

"""Compiled functions of a kind of mechanism, from which exported libraries are composed.

They take and write arrays by their memory addresses, as in C.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.dynamics.compiled_run import Kernels
from robodyn.dynamics.kernels.control_laws import GIVEN
from robodyn.dynamics.kernels.end_stops import (
    BY_INERTIA,
    DAMPING,
    LIMITS_MOTORS,
    STIFFNESS,
    STOPS,
)
from robodyn.dynamics.kernels.integration import DIVERGED, OK, OPTIONS, STIFF_CHECK
from robodyn.dynamics.kernels.joint_simulation import JointEquations
from robodyn.dynamics.kernels.state import State, state_without_load
from robodyn.errors import ModelError
from robodyn.exporting.marshaling import (
    ArraySpec,
    address_of,
    constant,
    is_null,
    marshaler,
    rows_out,
    vector,
)
from robodyn.mechanism.mechanism import Mechanism
from robodyn.numerics.array_arguments import MATRIX, BorrowedArrayType, borrowed_array, stack
from robodyn.numerics.compiler import inner
from robodyn.numerics.turns import shortest_turn
from robodyn.numerics.vectors import clear

# Return codes of exported functions, with the texts of NAME_status_text.
STATUSES = {
    "OK": "success",
    "INVALID": "an argument is not finite or out of range, or a quaternion is not of unit length",
    "SINGULAR": "no result in this configuration: it is singular, its loops are open, or, for "
    "derivatives, passive joints of loops have dry friction",
    "NO_SOLUTION": "no configuration with these joint positions was reached from the guess",
    "LIMITED": "efforts were reduced to the limits of the actuators",
    "DIVERGED": "the state diverged; shorter steps or smaller efforts may help",
    "TOO_LARGE": "a result is not finite: an argument is too large",
    "BEYOND_ENDS": "a reference is beyond the joints' position limits",
    "TOO_FAST": "rates exceed the velocity limits, or a reference's rates and accelerations "
    "are inconsistent with its motion",
    "TOO_STRONG": "a reference needs efforts far beyond the actuators' limits",
    "JUMPS": "a reference is too far from the previous one",
}
FINE, INVALID, NO_RESULT, NO_SOLUTION, LIMITED, GREW, TOO_LARGE = range(7)


class KindFunctions(NamedTuple):
    """Compiled functions of a mechanism, which its exported library functions call.

    Arguments are memory addresses of arrays, as in C: q is a configuration (nq,), v a generalized
    velocity (nv,), efforts are (n,), and `out` receives the result. A wrench (6,) acts on the body,
    and `base` (9,) is the motion of the base. A returned bool states whether there is a result.

    Attributes:
        is_configuration: (q) -> bool, whether q is a valid configuration.
        inverse, forward: (q, v, acceleration or efforts, wrench, base, out) -> bool, inverse and
            forward dynamics; wrench and base motion may be NULL.
        mass: (q, out) -> bool, mass matrix.
        bias: (q, v, base or NULL, out) -> bool, generalized forces (nv,) at zero acceleration.
        positions: (q, out) -> bool, positions (n,) of the driven joints.
        close: (positions, q) -> bool, configuration with these positions of the driven joints; q
            contains a guess, then the result.
        velocity: (q, joint velocities, out) -> bool, generalized velocity with these velocities
            (n,) of the driven joints.
        acceleration: (q, joint velocities, joint accelerations, out) -> bool, generalized
            acceleration (nv,) with these velocities and accelerations (n,) of the driven joints.
        rates: (q, v, out) -> bool, velocities (n,) of the driven joints.
        pose: (q, out) -> bool, pose (7,) of the body in the base frame.
        jacobian: (q, out) -> bool, matrix (6, nv) from v to the body's twist, base frame.
        condition: (q, length [m] that divides moments) -> condition number; negative if it does not
            exist.
        side: (q) -> number that changes its sign only at type 2 singularities, where the motors do
            not determine the motion.
        difference: (q, goal, out), displacement (nv,) from q to the configuration `goal`.
        advance: (q, displacement, out) -> bool, configuration (nq,) after a displacement (nv,) from
            q.
        step: (q, v, motor positions, motor velocities, efforts, wrench, base or NULL, options, dt,
            steps) -> status; advances the state in place. For rigid drives, the motors are NULL.
        derivatives: (q, v, a, efforts, wrench, base, forward, out) -> bool, derivatives of inverse
            or forward dynamics, see `CompiledDerivatives`.
    """

    is_configuration: Any
    inverse: Any
    forward: Any
    mass: Any
    bias: Any
    positions: Any
    close: Any
    velocity: Any
    acceleration: Any
    rates: Any
    pose: Any
    jacobian: Any
    condition: Any
    side: Any
    difference: Any
    advance: Any
    step: Any
    derivatives: Any


@singledispatch
def kind_functions_of(mechanism: Mechanism) -> KindFunctions:
    """Compile the functions from which a mechanism's exported library is composed.

    Every kind that can be exported registers its own implementation.

    Raises:
        ModelError: the mechanism cannot be exported.
    """
    raise ModelError(
        f"{mechanism.name} cannot be exported: the kind {mechanism.kind!r} has no functions for "
        "exports; register them with `robodyn.exporting.kind_functions_of.register`"
    )


@inner
def are_finite(address: Any, count: int) -> bool:
    """Return whether the `count` numbers at a memory address are all finite."""
    total = 0.0
    for j in range(count):
        total += 0.0 * address[j]
    return total == 0.0


@inner
def write_stops(time_constant: float, limited: float, out: Any) -> None:
    """Write the parameters of the default end stops to `out` (STOPS,).

    Args:
        time_constant: time constant [s] of the critically damped motion at a stop.
        limited: 1 if the motors have torque-speed curves, otherwise 0.
        out: address of the result.
    """
    out[STIFFNESS], out[DAMPING], out[LIMITS_MOTORS] = 0.0, 0.0, limited
    out[BY_INERTIA] = 1.0 / (time_constant * time_constant)
    out[BY_INERTIA + 1] = 2.0 / time_constant


@inner
def one_side(q: Any) -> float:
    """Return 1, the side of a mechanism without type 2 singularities.

    See `KindFunctions.side`.
    """
    return 1.0


@inner
def copy_numbers(start: Any, count: int, out: Any) -> None:
    """Copy `count` numbers from the memory address `start` to the address `out`."""
    for j in range(count):
        out[j] = start[j]


def joint_functions(nq: int, places: ArrayLike, wraps: ArrayLike) -> dict[str, Any]:
    """Compile the position and rate functions of a mechanism for `KindFunctions`.

    A configuration contains the positions of all joints; a velocity contains the rates of the
    driven joints, which are the independent ones.

    Args:
        nq: size of a configuration.
        places: (n,) indices of the driven joints in a configuration.
        wraps: (n,) whether positions of a driven joint that differ by a full turn are equal.

    Returns:
        Compiled functions by field of `KindFunctions`: `is_configuration`, `positions`,
        `difference`, `velocity`, `rates` and `acceleration`.
    """
    at_wraps, turning = address_of(np.array(wraps, dtype=np.float64)), bool(np.any(wraps))
    at_places = np.array(places, dtype=np.float64)
    n, at = len(at_places), address_of(at_places)

    @inner
    def is_configuration(q: Any) -> bool:
        return are_finite(q, nq)

    @inner
    def positions(q: Any, out: Any) -> bool:
        for i in range(n):
            out[i] = q[int(at()[i])]
        return are_finite(q, nq)

    @inner
    def difference(q: Any, goal: Any, out: Any) -> None:
        for i in range(n):
            place = int(at()[i])
            out[i] = goal[place] - q[place]
            if turning and at_wraps()[i] != 0.0:
                out[i] = shortest_turn(out[i])

    @inner
    def rates(q: Any, v: Any, out: Any) -> bool:
        copy_numbers(v, n, out)
        return are_finite(v, n)

    @inner
    def acceleration(q: Any, v: Any, changes: Any, out: Any) -> bool:
        copy_numbers(changes, n, out)
        return True

    return {
        "is_configuration": is_configuration,
        "positions": positions,
        "difference": difference,
        "velocity": rates,
        "rates": rates,
        "acceleration": acceleration,
    }


def position_functions(n: int, wraps: ArrayLike) -> dict[str, Any]:
    """Compile the position and rate functions of a mechanism with driven joints only.

    A configuration contains the positions of the joints, and a velocity their rates.

    Args:
        n: number of joints.
        wraps: (n,) whether positions of a joint that differ by a full turn are equal.

    Returns:
        Compiled functions by field of `KindFunctions`: those of `joint_functions`, `close`,
        `advance` and `side`.
    """
    joints = joint_functions(n, range(n), wraps)

    @inner
    def advance(q: Any, displacement: Any, out: Any) -> bool:
        for j in range(n):
            out[j] = q[j] + displacement[j]
        return True

    return joints | {"close": joints["positions"], "advance": advance, "side": one_side}


@inner
def state_at(q: Any, v: Any, acceleration_or_effort: Any, wrench: Any, base: Any) -> State:
    """Create a `State` from memory addresses; `wrench` and `base` may be NULL.

    The other arrays are the configuration, the velocity, and the acceleration or the efforts.
    """
    return State(q, v, acceleration_or_effort, wrench, not is_null(wrench), base, not is_null(base))


def equation_functions(
    packed: tuple[FloatArray, ...],
    n: int,
    equations: JointEquations,
    *,
    pose: Any,
    jacobian: Any,
    derivatives: Any,
) -> dict[str, Any]:
    """Compile the dynamics functions of a mechanism from its equations of motion.

    The equations take a `State` and need no scratch memory.

    Args:
        packed: arrays with the data of the mechanism.
        n: number of joints of the mechanism.
        equations: equations of motion of the mechanism.
        pose, jacobian, derivatives: further functions with the arguments of those for
            `dynamics.kernels.lanes.evaluate_lanes`. The setting of `derivatives` is True for
            derivatives of the acceleration and False for derivatives of the efforts.

    Returns:
        Compiled functions by field of `KindFunctions`: `inverse`, `forward`, `mass`, `bias`,
        `pose`, `jacobian` and `derivatives`.
    """
    marshal = marshaler(*map(constant, packed))
    efforts, write_mass_matrix = equations.efforts, equations.mass_matrix

    def of_state(find: Any) -> Any:
        @inner
        def call(
            q: Any, v: Any, acceleration_or_effort: Any, wrench: Any, base: Any, out: Any
        ) -> bool:
            state = state_at(q, v, acceleration_or_effort, wrench, base)
            return bool(find(borrowed_array(marshal(())), state, False, 0, out) == OK)

        return call

    def of_configuration(find: Any) -> Any:
        @inner
        def call(q: Any, out: Any) -> bool:
            return bool(
                find(borrowed_array(marshal(())), state_without_load(q, q, q), False, 0, out) == OK
            )

        return call

    @inner
    def mass(q: Any, out: Any) -> bool:
        M = stack(n, n)
        write_mass_matrix(borrowed_array(marshal(())), q, 0, M)
        for i in range(n):
            for j in range(n):
                out[n * i + j] = M[i, j]
        return True

    @inner
    def bias(q: Any, v: Any, base: Any, out: Any) -> bool:
        still = stack(1, n)
        clear(still[0])
        state = State(q, v, still[0], q, False, base, not is_null(base))
        return bool(efforts(borrowed_array(marshal(())), state, False, 0, out) == OK)

    @inner
    def differentiate(
        q: Any, v: Any, a: Any, given: Any, wrench: Any, base: Any, forward: bool, out: Any
    ) -> bool:
        state = state_at(q, v, a, wrench, base)
        return bool(derivatives(borrowed_array(marshal(())), state, forward, 0, out) == OK)

    return {
        "inverse": of_state(efforts),
        "forward": of_state(equations.accelerations),
        "mass": mass,
        "bias": bias,
        "pose": of_configuration(pose),
        "jacobian": of_configuration(jacobian),
        "derivatives": differentiate,
    }


def plant_model(mechanism: Mechanism) -> Mechanism:
    """Return the mechanism that the equations of a simulation step describe.

    It has no dry friction, and no rotors if the drives are elastic: the simulation loops called by
    `KindFunctions.step` add both.
    """
    bare = mechanism if mechanism.drives.elasticity is None else mechanism._rotorless
    return bare._smooth


def _status_of(loop: Any) -> Any:
    """Compile a function (options, *arguments) that runs a simulation loop.

    The function ignores the options and returns only the status code of the loop.
    """

    @inner
    def simulate(options: Any, *arguments: Any) -> int:
        return int(loop(*arguments)[0])

    return simulate


def _rigid_status_of(mechanism: Mechanism, kernels: Kernels) -> Any:
    """Compile the simulation function (options, *arguments) for rigid drives.

    The mechanism's friction and the options determine which simulation loop it runs.
    """
    friction, smooth, hybrid = mechanism.solver.friction, kernels.loop, kernels.loop_hybrid
    if friction.is_dry or friction.decay == 0.0:
        return _status_of(hybrid if friction.is_dry else smooth)

    @inner
    def simulate(options: Any, *arguments: Any) -> int:
        if options[STIFF_CHECK] != 0.0:
            return int(hybrid(*arguments)[0])
        return int(smooth(*arguments)[0])

    return simulate


def _plant_marshaler(mechanism: Mechanism, plant: tuple[ArraySpec, ...]) -> Any:
    """Compile the conversion of options and end stops to the `plant` of a simulation loop."""
    drives = mechanism.drives.elasticity
    elastic = () if drives is None else (constant(drives),)
    return marshaler(
        *plant,
        constant(mechanism.drives.motor_table),
        constant(mechanism.solver.friction.rows),
        vector(OPTIONS + len(elastic)),
        vector(STOPS),
        *elastic,
    )


def _rollout_marshaler(sizes: tuple[int, int, int], load: int) -> Any:
    """Compile the conversion of memory addresses to the arrays of a `PackedRollout`."""
    nq, nv, n = sizes
    unlimited, nothing = constant(np.repeat([-np.inf, np.inf], n)), ArraySpec(MATRIX, (0, 0))
    return marshaler(
        unlimited, nothing, nothing, ArraySpec(BorrowedArrayType(3), (1, 1, n)), vector(1),
        vector(2), ArraySpec(BorrowedArrayType(3), (1, 1, load)), rows_out(2, nq), rows_out(2, nv),
        rows_out(1, n), rows_out(1, n),
    )  # fmt: skip


def step_of(
    mechanism: Mechanism, loop: Kernels, plant: tuple[ArraySpec, ...], model: tuple[ArraySpec, ...]
) -> Any:
    """Compile the simulation step of an exported library, `KindFunctions.step`.

    Args:
        mechanism: mechanism of any kind.
        loop: compiled simulation loops of this kind of mechanism.
        plant: arrays with the data of the `plant_model`, without those of its joints.
        model: arrays of a controller's model, which is not used here.

    Returns:
        Compiled function for the field `step` of `KindFunctions`.
    """
    n, nq = len(mechanism.joint_names), len(mechanism.home)
    nv, drives = mechanism.coordinates.velocity_size, mechanism.drives.elasticity
    simulate, motors = _rigid_status_of(mechanism, loop), 0
    if drives is not None:
        simulate, motors = _status_of(loop.elastic), n
    limited = float(mechanism.drives.has_torque_speed_curve)
    marshal_plant, marshal_model = _plant_marshaler(mechanism, plant), marshaler(*model)
    sizes = nq + motors, nv + motors, n
    marshal, marshal_on_base = _rollout_marshaler(sizes, 6), _rollout_marshaler(sizes, 15)

    @inner
    def step(
        q: Any, v: Any, at_motors: Any, motor_rates: Any, efforts: Any, wrench: Any, base: Any,
        options: Any, dt: Any, steps: Any,
    ) -> int:  # fmt: skip
        before, rates = stack(2, nq + motors), stack(2, nv + motors)
        applied, stops, load, times = stack(2, n), stack(1, STOPS), stack(1, 15), stack(1, 3)
        copy_numbers(q, nq, before[0])
        copy_numbers(v, nv, rates[0])
        copy_numbers(at_motors, motors, before[0, nq:])
        copy_numbers(motor_rates, motors, rates[0, nv:])
        copy_numbers(wrench, 6, load[0])
        times[0, 0], times[0, 1], times[0, 2] = 0.0, steps, dt
        write_stops(dt, limited, stops[0])
        given = (
            efforts, efforts, efforts, times[0, 2:], times, load, before, rates, applied[0],
            applied[1],
        )  # fmt: skip
        arrays = marshal(given)
        if not is_null(base):
            copy_numbers(base, 9, load[0, 6:])
            arrays = marshal_on_base(given)
        # literals would specialize the compiled loop for these values
        law, first, last = np.intp(GIVEN), np.intp(0), np.intp(1)
        status = simulate(
            options, marshal_plant((options, stops[0])), marshal_model(()), arrays, law, first, last
        )
        if status == OK:
            copy_numbers(before[1], nq, q)
            copy_numbers(rates[1], nv, v)
            copy_numbers(before[1, nq:], motors, at_motors)
            copy_numbers(rates[1, nv:], motors, motor_rates)
            return FINE
        return GREW if status == DIVERGED else NO_RESULT

    return step
