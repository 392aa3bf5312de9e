# SPDX-License-Identifier: Apache-2.0

"""Simulation in progress, which computes its histories step by step.

The module `compiled` does this faster, with equal results, for the controllers and mechanisms that
it supports.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, get_args

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray, IntArray
from robodyn.base_motion import BaseMotion, rows_of
from robodyn.checks import as_array, as_exact, as_scalar, check_choice
from robodyn.control.computed_torque import Controller
from robodyn.errors import InvalidInput, KinematicsError, SimulationFailed
from robodyn.mechanism.mechanism import Mechanism
from robodyn.simulation.compiled_controller import as_controller
from robodyn.simulation.integrators import State, dormand_prince_853, runge_kutta_4
from robodyn.simulation.plant import Plant, StepMethod
from robodyn.simulation.settings import Integrator, Side, SimulationSettings
from robodyn.trajectories.base import Trajectory, refuse_other

WrenchOfTime = Callable[[float], ArrayLike]
WrenchOfState = Callable[[float, FloatArray, FloatArray], ArrayLike]

INTEGRATORS: tuple[str, ...] = get_args(Integrator)


class SimulationTask:
    """Simulation in progress: a plant, its controller, and histories of N rows.

    A row is a recorded time: a control instant or an integration step.

    Args:
        mechanism, controller, trajectory, dt, control_dt, wrench, settings: as for `simulate`.

    Attributes:
        plant: the plant, in the initial state of the settings or the trajectory.
        time: (N,) [s] of each row.
        configuration, velocity: (N, nq) and (N, nv) of the mechanism.
        motor_positions, motor_velocities: (N, n) positions and velocities of elastic drives'
            motors; (N, 0) for rigid drives.
        rows: complete states of the plant, two arrays (N, ...): configurations with motor
            positions, and velocities with motor velocities.
        feedback: side of elastic drives at which the controller measures.
        required, applied: (N - 1, n) [N or N m] efforts before and after limits.
        load: the wrench: constant, a function of time, or of time and state.
        load_knows_state: whether the load is a function of time and state.
        base: motion of the base as a function of time [s]; None for a base at rest.
        row: index of the last filled row.
        is_sampled: whether efforts are constant between rows.
        longest: longest integration step [s].

    Raises:
        InvalidInput: arguments are out of range.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        controller: Controller,
        trajectory: Trajectory,
        dt: float,
        control_dt: float | None,
        wrench: ArrayLike | WrenchOfTime | WrenchOfState | None,
        settings: SimulationSettings,
    ) -> None:
        duration = trajectory.duration if settings.duration is None else settings.duration
        end = as_scalar("duration", duration, "s", above=0.0)
        refuse_other(mechanism, trajectory)
        start = trajectory.sample(0.0)
        state = settings.initial or (start.configuration, start.velocity)
        stops, limited = settings.end_stops, settings.limit_efforts
        integrator = settings.integrator
        check_choice("integrator", integrator, INTEGRATORS)
        method: StepMethod = "rk4" if integrator == "dop853" else integrator
        plant = Plant(
            mechanism, *state, dt=dt, end_stops=stops, limit_efforts=limited, integrator=method
        )
        self.plant, self.trajectory, self.longest = plant, trajectory, plant.dt
        check_choice("feedback", settings.feedback, get_args(Side))
        self.feedback = settings.feedback
        self.is_elastic = plant.motor_positions is not None
        if self.is_elastic and integrator != "rk4":
            raise InvalidInput(
                f"integrator is {integrator!r}, which does not support elastic drives; choose rk4",
                value=integrator,
            )
        self.controller = as_controller(controller)
        self.load: Any = wrench
        if wrench is not None and not callable(wrench):
            self.load = as_exact("wrench", wrench, (6,), "N, N m")
        self.load_knows_state = _depends_on_state(wrench)
        self.base = _of_time(settings.base)
        self._base_argument = self.base if "base" in _parameters(self.controller) else None
        self.is_sampled = control_dt is not None
        self.has_fixed_steps = integrator != "dop853"
        # states of the adaptive method until the acceleration jumps
        self._pending_states: list[State] = []
        # the acceleration jumps at the end of the motion, as at switching times
        jumps = {t for t in (*trajectory.switching_times, trajectory.duration) if 0.0 < t < end}
        self._marks = [*sorted(jumps), end]
        if control_dt is None:
            self.time = _grid([0.0, *self._marks], plant.dt)
        elif self.has_fixed_steps:
            self.time = _periods(end, as_scalar("control_dt", control_dt, "s", above=0.0))
        else:
            raise InvalidInput(
                f"integrator is {integrator!r}, which needs control_dt=None: held efforts jump "
                "at every control instant",
                value=integrator,
            )
        self._allocate_histories()

    def _allocate_histories(self) -> None:
        """Create the arrays of the histories, with the plant's state in their first row."""
        plant = self.plant
        rows, size = len(self.time), len(plant.effort)
        q, v = plant.state
        nq, nv = len(plant.configuration), len(plant.velocity)
        self.rows = np.empty((rows, len(q))), np.empty((rows, len(v)))
        self.rows[0][0], self.rows[1][0] = q, v
        self.configuration, self.motor_positions = np.split(self.rows[0], [nq], axis=1)
        self.velocity, self.motor_velocities = np.split(self.rows[1], [nv], axis=1)
        self.required, self.applied = np.empty((rows - 1, size)), np.empty((rows - 1, size))
        self.row = 0

    def finish(self, progress: Callable[[float], None] | None = None) -> None:
        """Complete the simulation in Python.

        `progress` is called with the simulated time [s]. Semi-implicit steps and those with
        sticking joints or elastic drives run in compiled code, which cannot call a Python
        controller: efforts are then constant over each step.

        Raises:
            InvalidInput: the controller returns no valid effort, or the load no valid wrench.
            SimulationFailed: the state would not be finite; the error contains the time.
        """
        plant, first = self.plant, self.row
        plant.state = self.rows[0][first].copy(), self.rows[1][first].copy()
        sticks = self.has_fixed_steps and plant.mechanism.solver.friction.needs_hybrid_step(
            self.longest
        )
        holds = self.is_sampled or self.is_elastic or sticks or plant.is_semi_implicit
        advance = self._hold if holds else self._advance_continuously
        for row in range(first, len(self.time) - 1):
            now, then = float(self.time[row]), float(self.time[row + 1])
            if progress is not None:
                progress(now)
            try:
                self.required[row], self.applied[row] = advance(now, then)
            except SimulationFailed as error:
                time = now + error.time
                raise SimulationFailed(
                    f"at {time:.6g} s: {error}", time=time, value=error.value
                ) from error
            self.rows[0][row + 1], self.rows[1][row + 1] = plant.state
            self.row = row + 1

    def _hold(self, now: float, then: float) -> tuple[FloatArray, FloatArray]:
        """Advance to the next control instant with the controller's efforts held constant.

        The load is evaluated at the midpoint of each step with the state at its start. The base
        motion is evaluated three times per step. Returns the efforts (n,) before and after limits.
        """
        plant = self.plant
        required = self._command(now, *self._measure())
        # whole steps of equal length that end on the next control instant
        steps = int(steps_between(now, then, self.longest))
        plant.dt = (then - now) / steps
        if self.load is None and self.base is None:
            plant.hold(required, steps)
            return required, plant.effort
        for step, times in enumerate(step_times(now + np.arange(steps) * plant.dt, plant.dt)):
            load = self._load_at(float(times[1]), plant.configuration, plant.velocity)
            try:
                plant.hold(
                    required,
                    1,
                    load,
                    None if self.base is None else base_motion_at(self.base, times),
                )
            except SimulationFailed as error:
                time = step * plant.dt
                raise SimulationFailed(str(error), time=time, value=error.value) from error
        return required, plant.effort

    def _measure(self) -> State:
        try:
            return self.plant.measured(self.feedback)
        except KinematicsError as error:
            raise SimulationFailed(f"no command: {error}", time=0.0, value=error.value) from error

    def _advance_continuously(self, now: float, then: float) -> tuple[FloatArray, FloatArray]:
        """Advance by one step, with the controller evaluated at each Runge-Kutta stage.

        Returns the efforts (n,) at the start of the step, before and after limits.
        """
        plant, mechanism = self.plant, self.plant.mechanism
        state = plant.configuration, plant.velocity
        required = self._command(now, *state)
        applied = plant.available_efforts(plant.saturate(required), *state)
        if self.has_fixed_steps:
            after = runge_kutta_4(mechanism, self._acceleration, (now, then), state)
        else:
            if not self._pending_states:
                end = next(mark for mark in self._marks if mark >= then)
                times = self.time[(self.time >= now) & (self.time <= end)]
                self._pending_states = dormand_prince_853(
                    mechanism, self._acceleration, times, state
                )
            after = self._pending_states.pop(0)
        plant.configuration, plant.velocity = after
        return required, applied

    def _acceleration(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        plant, mechanism = self.plant, self.plant.mechanism
        effort = plant.available_efforts(plant.saturate(self._command(t, q, v)), q, v)
        if plant.end_stops is not None:
            effort = effort + plant.end_stops.efforts(mechanism, q, v)
        base = None if self.base is None else self.base(t)
        return mechanism.forward_dynamics(q, v, effort, self._load_at(t, q, v), base=base)

    def _load_at(self, time: float, q: FloatArray, v: FloatArray) -> Any:
        if self.load_knows_state:
            return self.load(time, q, v)
        return self.load(time) if callable(self.load) else self.load

    def _command(self, time: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """Return the efforts that the controller commands at a time [s] and state.

        A controller with a parameter `base` receives the motion of the base.
        """
        more = {} if self._base_argument is None else {"base": self._base_argument(time)}
        try:
            commanded = self.controller(time, q, v, self.trajectory, **more)
        except KinematicsError as error:
            raise SimulationFailed(f"no command: {error}", time=0.0, value=error.value) from error
        return as_array(f"the controller's efforts at {time:.6g} s", commanded, (), "N or N m")


def steps_between(now: ArrayLike, then: ArrayLike, longest: float) -> IntArray:
    """Compute how many equal steps of at most `longest` [s] fill each interval.

    Args:
        now, then: (...) [s] start and end of each interval.
        longest: longest step [s].

    Returns:
        Numbers of steps (...), each at least 1.
    """
    needed = np.ceil(np.subtract(then, now) / longest * (1.0 - 1e-9))
    return np.maximum(needed, 1.0).astype(np.int64)


def step_times(start: ArrayLike, dt: ArrayLike) -> FloatArray:
    """Compute the start, midpoint and end of steps.

    Args:
        start: (k,) [s] start of each step.
        dt: length [s] of each step (k,), or of all steps.

    Returns:
        Times (k, 3) [s]: start, midpoint and end of each step.
    """
    return np.asarray(start, dtype=np.float64)[:, None] + np.multiply.outer(dt, [0.0, 0.5, 1.0])


def base_motion_at(base: Callable[[float], BaseMotion], times: FloatArray) -> BaseMotion:
    """Evaluate a function of the base's motion at times (...) [s]; return a batch.

    Args:
        base: motion of the base as a function of time [s].
        times: (...) [s] at which to evaluate it.

    Returns:
        Motion of the base, a batch with the shape of `times`.
    """
    known, place = np.unique(times, return_inverse=True)
    rows = np.stack([rows_of(base(float(t))) for t in known])[place.reshape(times.shape)]
    return BaseMotion(*np.split(rows, 3, axis=-1))


def _depends_on_state(wrench: Any) -> bool:
    """Return whether a load function takes the state in addition to time."""
    by_place = {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD}
    given = _parameters(wrench).values() if callable(wrench) else ()
    return sum(p.kind in by_place and p.default is p.empty for p in given) == 3


def _parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    try:
        return dict(inspect.signature(function).parameters)
    except ValueError:  # compiled functions without a signature
        return {}


def _of_time(
    base: BaseMotion | Callable[[float], BaseMotion] | None,
) -> Callable[[float], BaseMotion] | None:
    if base is None or (callable(base) and not isinstance(base, BaseMotion)):
        return base
    if rows_of(base).shape != (9,):
        raise InvalidInput(
            f"base has the batch shape {rows_of(base).shape[:-1]}: expected a single base motion, "
            "or a function of time that returns one",
            value=base,
        )
    return lambda _: base


def _grid(marks: list[float], period: float) -> FloatArray:
    """Return times [s] at most `period` apart that include all times in `marks`."""
    stretches = [
        np.linspace(a, b, int(steps_between(a, b, period)) + 1)[:-1]
        for a, b in zip(marks[:-1], marks[1:], strict=True)
    ]
    return np.concatenate([*stretches, marks[-1:]])


def _periods(end: float, period: float) -> FloatArray:
    """Return the times [s] 0, period, 2 period and so on before `end`, and `end`."""
    whole = np.arange(0.0, end, period)
    return np.append(whole[whole < end * (1.0 - 1e-12)], end)
