# SPDX-License-Identifier: Apache-2.0

"""Compiled simulation: inputs, outputs, and the functions that each kind of mechanism provides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numba import types

from robodyn.arrays import FloatArray
from robodyn.dynamics.end_stops import EndStops
from robodyn.dynamics.joint_friction import JointFriction
from robodyn.dynamics.kernels.control_laws import GIVEN
from robodyn.dynamics.kernels.end_stops import LIMITS_MOTORS, STOPS
from robodyn.dynamics.kernels.integration import DIVERGED, PackedRollout
from robodyn.errors import SimulationFailed
from robodyn.numerics.array_arguments import MATRIX, MATRIX_OUT, VECTOR, BorrowedArrayType, direct
from robodyn.numerics.simd.lanes import WIDTH
from robodyn.threads import cached_threadsafe

_STACK = BorrowedArrayType(3)
# Numba's type of `Rollout.arrays`.
_ARRAYS = types.Tuple([VECTOR, MATRIX, MATRIX, _STACK, VECTOR, VECTOR, _STACK, *(MATRIX_OUT,) * 4])
_NO_GAIN = np.zeros((0, 0))
# Options of a plant with elastic drives, by whether its controller measures the motors.
_ELASTIC_OPTIONS = {measures: np.array([1.0, 0.0, float(measures)]) for measures in (False, True)}
# Options of a plant, by whether damping may be stiff and steps are semi-implicit.
_OPTIONS = {flags: np.array(flags, dtype=np.float64) for flags in product((False, True), repeat=2)}


class Outcome(NamedTuple):
    """Result of a simulation: status, last valid row, and steps completed after it.

    Attributes:
        status: 0, or the code of the reason for a failure.
        row: index of the last valid row of the histories.
        step: number of steps completed after that row; 0 unless the simulation failed.
    """

    status: int
    row: int
    step: int


@dataclass(frozen=True)
class Rollout:
    """Arrays of a simulation, float64 and contiguous; see `kernels.integration.PackedRollout`.

    Attributes:
        stops: (5,) parameters of the end stops, see `stop_numbers`.
        effort_limits: (2 n,) [N or N m] the least, then the largest.
        law: code of `dynamics.kernels.control_laws`.
        kp, kv: (nv, nv) gains, if the law uses any. kp may have n more rows, see
            `control_laws.add_planned`.
        plan: (N - 1, 1 or 4, k) rows for the law.
        dt: (N - 1,) [s] length of the steps after each row.
        offset: (N,) number of steps before each row.
        loads: (steps or 1, 1 or 3, 6) [N, N m], or (..., 15) with the rows of a `BaseMotion`.
        configuration, velocity: (N, ...) histories; the first row is the initial state.
        required, applied: (N - 1, n) effort histories.
        driver: function that wraps a kind's loop, such as `compiled_controller.driver`.
        measures_motors: whether a law of a plant with elastic drives measures the motors, not the
            joints.
        is_semi_implicit: whether the steps are those of `kernels.semi_implicit`.
    """

    stops: FloatArray
    effort_limits: FloatArray
    law: int
    kp: FloatArray
    kv: FloatArray
    plan: FloatArray
    dt: FloatArray
    offset: FloatArray
    loads: FloatArray
    configuration: FloatArray
    velocity: FloatArray
    required: FloatArray
    applied: FloatArray
    driver: Callable[[Any], Any] | None = None
    measures_motors: bool = True
    is_semi_implicit: bool = False

    @property
    def arrays(self) -> tuple[FloatArray, ...]:
        """All arrays as one tuple, in the order that the compiled simulation loops expect."""
        return tuple(getattr(self, name) for name in PackedRollout._fields)


class Kernels(NamedTuple):
    """Compiled simulation loops of a kind of mechanism, and their argument types.

    Attributes:
        loop, loop_hybrid: loops of `dynamics.kernels.simulation_entries`, for smooth steps and for
            steps with stiction.
        numbers: types of the arrays that describe a mechanism.
        batch, batch_hybrid: batched loops, if any, for smooth steps and for steps with stiction.
        elastic: loop with elastic drives, if there is one.
    """

    loop: Any
    loop_hybrid: Any
    numbers: tuple[Any, ...]
    batch: Any = None
    batch_hybrid: Any = None
    elastic: Any = None


@cached_threadsafe
def run_entry(
    loop: Any,
    numbers: tuple[Any, ...],
    known: int,
    driver: Callable[[Any], Any] | None = None,
    elastic: bool = False,
) -> Callable[..., tuple[int, int, int]]:
    """Compile a simulation loop of `Kernels` for calls from Python.

    Args:
        loop: simulation loop.
        numbers: types of the arrays that describe a mechanism. In the plant, they are followed by
            its `joint_table`, friction, options and end stops and, with `elastic`, the drives.
        known: number of copies of these arrays in the controller's model.
        driver: function that wraps the loop; by default the loop is unchanged.
        elastic: whether the loop simulates elastic drives.

    Returns:
        Function of the plant's arrays, those of the controller's model, those of the `Rollout`, the
        control law, and the first and last row, that returns an `Outcome` as a tuple.
    """
    further = [MATRIX] if elastic else []
    plant = types.Tuple([*numbers, MATRIX, MATRIX, VECTOR, VECTOR, *further])
    model = types.Tuple([*numbers * known])
    loop = loop if driver is None else driver(loop)
    return direct(loop, plant, model, _ARRAYS, types.intp, types.intp, types.intp)


@dataclass(frozen=True)
class CompiledRun:
    """Compiled simulation of a plant and of a controller with its own model of the plant.

    Attributes:
        kernels: compiled simulation loops.
        plant: parameters of the simulated mechanism.
        smooth: function that returns `plant` without dry friction, and without rotors if the drives
            are elastic; called when needed.
        table: `joint_table` of the plant.
        friction: friction of the plant's joints.
        model: parameters of the controller's model.
        drives: (n, 3) stiffness, damping and motor inertia; None for rigid drives.
    """

    kernels: Kernels
    plant: tuple[FloatArray, ...]
    smooth: Callable[[], tuple[FloatArray, ...]]
    table: FloatArray
    friction: JointFriction
    model: tuple[FloatArray, ...]
    drives: FloatArray | None = None

    def advance(self, rollout: Rollout, first: int, last: int) -> Outcome:
        """Simulate rows `first` + 1 to `last` of a rollout, without checks.

        Row `first` contains the initial state. The histories of the rollout are written in place.

        Returns:
            The `Outcome` of the run.
        """
        friction, kernels = self.friction, self.kernels
        further: tuple[FloatArray, ...] = ()
        if self.drives is not None:
            kernel, plant, further = kernels.elastic, self.smooth(), (self.drives,)
            options = _ELASTIC_OPTIONS[rollout.measures_motors]
        else:
            may_be_stiff, semi = friction.may_be_stiff(rollout.dt), rollout.is_semi_implicit
            hybrid = friction.is_dry or may_be_stiff or semi
            kernel = kernels.loop_hybrid if hybrid else kernels.loop
            plant = self.smooth() if hybrid else self.plant
            options = _OPTIONS[may_be_stiff, semi]
        known = len(self.model) // len(self.plant)
        loop = run_entry(kernel, kernels.numbers, known, rollout.driver, bool(further))
        moved = *plant, self.table, friction.rows, options, rollout.stops, *further
        return Outcome(*loop(moved, self.model, rollout.arrays, rollout.law, first, last))


@dataclass(frozen=True)
class BatchSteps:
    """Compiled simulation steps of a batch of mechanisms, with constant efforts.

    Attributes:
        advance: compiled loop, see `kernels.batch_simulation`.
        structure: (k,) structure that all rows share, see `Solver.lane_numbers`.
        numbers: (groups, k * 8) parameters, with eight mechanisms per group.
        columns: number of columns of `joint_table` in `numbers`.
        friction: number of rows of friction in `numbers`.
        options: (OPTIONS,) options of all rows, see `kernels.integration.PackedPlant`.
    """

    advance: Callable[..., int]
    structure: FloatArray
    numbers: FloatArray
    columns: int
    friction: int
    options: FloatArray

    def run(
        self,
        settings: tuple[float, FloatArray],
        loads: tuple[FloatArray, FloatArray, bool],
        state: tuple[FloatArray, FloatArray, FloatArray],
        span: tuple[int, int],
    ) -> None:
        """Advance a range of groups of eight mechanisms in place, without checks.

        A mechanism whose step fails keeps the state before that step and its number of remaining
        steps.

        Args:
            settings: dt [s], and `stop_numbers` of the end stops.
            loads: efforts (N, n), wrenches with motions of the bases (N, 15), and whether the bases
                move.
            state: configuration (N, nq), velocity (N, nv) and remaining steps (N, 1), in place.
            span: indices of the first group and of the group after the last.
        """
        (dt, stops), (efforts, wrenches, moves) = settings, loads
        packed = np.array([dt, *stops, self.columns, moves, self.friction, *self.options])
        self.advance(self.structure, self.numbers, packed, efforts, wrenches, *state, *span)


def group_rows(*parts: FloatArray) -> FloatArray:
    """Pack the rows of arrays for a batched simulation, eight rows per group.

    Args:
        parts: (N, ...) arrays whose columns are concatenated. The last row also fills the remaining
            SIMD lanes of its group.

    Returns:
        Array (groups, k * 8), in which each column holds eight values, one per row.
    """
    count = len(parts[0])
    groups, whole = -(-count // WIDTH), count // WIDTH
    lanes = np.empty((groups, sum(part.shape[1] for part in parts), WIDTH))
    first = 0
    for part in parts:
        width = part.shape[1]
        columns, left = lanes[:, first : first + width], part[whole * WIDTH :]
        columns[:whole] = part[: whole * WIDTH].reshape(whole, WIDTH, width).swapaxes(1, 2)
        if len(left):
            columns[whole] = left[np.minimum(np.arange(WIDTH), len(left) - 1)].T
        first += width
    return lanes.reshape(groups, -1)


@cached_threadsafe
def batch_entry(kernel: Any) -> Callable[..., int]:
    """Compile a batched simulation loop for calls from Python.

    Returns:
        Function (structure, numbers, settings, efforts, loads, q, v, left, first, last), see
        `kernels.batch_simulation.batch_loops`.
    """
    arrays = VECTOR, MATRIX, VECTOR, MATRIX, MATRIX, *(MATRIX_OUT,) * 3
    return direct(kernel, *arrays, types.intp, types.intp)


def final_state(
    rollout: Rollout, outcome: Outcome, reason: Callable[[int, FloatArray], str]
) -> tuple[FloatArray, FloatArray]:
    """Return the final state of a rollout with constant efforts; raise if it failed.

    Args:
        rollout: completed rollout.
        outcome: its outcome.
        reason: reason(status, configuration) explains a status of the kind, or NO_COMMAND.

    Returns:
        Configuration (nq,) and velocity (nv,).

    Raises:
        SimulationFailed: its `value` is the last good state, its `time` the time reached [s].
    """
    configuration, velocity = rollout.configuration[1], rollout.velocity[1]
    if outcome.status:
        why = (
            "the state diverged"
            if outcome.status == DIVERGED
            else reason(outcome.status, configuration)
        )
        done, dt = outcome.step, float(rollout.dt[0])
        raise SimulationFailed(
            f"simulation stopped after {done} of {rollout.offset[1]:g} steps of {dt:g} s: {why}",
            time=done * dt,
            value=(configuration, velocity),
        )
    return configuration, velocity


def stop_numbers(stops: EndStops | None, limit_motors: bool) -> FloatArray:
    """Return the parameters (5,) of end stops and motor limits for compiled functions.

    Args:
        stops: end stops whose time constant is known; None for no end stops (zeros).
        limit_motors: whether motors stay within their torque-speed curves.
    """
    numbers = np.zeros(STOPS) if stops is None else stops.numbers
    numbers[LIMITS_MOTORS] = float(limit_motors)
    return numbers


class StepSettings(NamedTuple):
    """Settings of integration steps: end stops, motor limits and method.

    Attributes:
        end_stops: end stops at the position limits; none by default.
        limit_motors: whether motors stay within their torque-speed curves.
        is_semi_implicit: whether the steps are semi-implicit instead of Runge-Kutta of order 4.
    """

    end_stops: EndStops | None = None
    limit_motors: bool = False
    is_semi_implicit: bool = False


def constant_effort_rollout(
    configuration: FloatArray,
    velocity: FloatArray,
    effort: FloatArray,
    wrench: FloatArray,
    dt: float,
    steps: int,
    settings: StepSettings,
) -> Rollout:
    """Create the arrays of a simulation with constant efforts and loads.

    Args:
        configuration: (nq,) initial configuration.
        velocity: (nv,) initial velocity.
        effort: (n,) [N or N m].
        wrench: (6,) [N, N m]; or (k, 15), followed by the motion of the base.
        dt: [s] length of a step.
        steps: number of steps.
        settings: end stops, motor limits and method.

    Returns:
        The arrays, with space for the final state.
    """
    n, (stops, limit_motors, is_semi_implicit) = len(effort), settings
    states = np.empty((2, len(configuration))), np.empty((2, len(velocity)))
    states[0][0], states[1][0] = configuration, velocity
    required, applied = np.empty((2, 1, n))
    return Rollout(
        stop_numbers(None if stops is None else stops.for_step(dt), limit_motors),
        np.repeat([-np.inf, np.inf], n),
        GIVEN,
        _NO_GAIN,
        _NO_GAIN,
        np.array(effort, dtype=np.float64).reshape(1, 1, n),
        np.array([dt]),
        np.array([0.0, steps]),
        np.array(wrench, dtype=np.float64).reshape(1, -1, wrench.shape[-1]),
        configuration=states[0],
        velocity=states[1],
        required=required,
        applied=applied,
        is_semi_implicit=is_semi_implicit,
    )
