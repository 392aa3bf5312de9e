# SPDX-License-Identifier: Apache-2.0

"""Simulate from one recorded time to the next with a controller and a mechanism of any kind.

`compiled` does the same faster, with equal results, for the controllers and kinds it knows.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray, IntArray
from robodyn.base_motion import BaseMotion, rows_of
from robodyn.checks import as_array
from robodyn.control.computed_torque import Controller
from robodyn.errors import KinematicsError, SimulationFailed
from robodyn.simulation.integrators import runge_kutta_4
from robodyn.simulation.plant import Plant
from robodyn.trajectories.base import Trajectory

# of time [s], configuration and velocity
Load = Callable[[float, FloatArray, FloatArray], ArrayLike]
# of time [s]
Base = Callable[[float], BaseMotion]
# From one recorded time to the next: efforts asked for and applied at the first of them.
Advance = Callable[[float, float], tuple[FloatArray, FloatArray]]


def steps_between(now: ArrayLike, then: ArrayLike, longest: float) -> IntArray:
    """How many (...) equal steps of at most `longest` lead from times to times (...) [s]."""
    needed = np.ceil(np.subtract(then, now) / longest * (1.0 - 1e-9))
    return np.maximum(needed, 1.0).astype(np.int64)


def sampled_advance(
    plant: Plant,
    controller: Controller,
    trajectory: Trajectory,
    load: Load | None,
    base: Base | None = None,
) -> Advance:
    """Efforts are computed at the first time and held; `load` is asked mid-step.

    It is told the state before the step. How the base moves is asked thrice a step.
    """
    longest, command = plant.dt, _commands(controller, trajectory, base)

    def advance(now: float, then: float) -> tuple[FloatArray, FloatArray]:
        wanted = command(now, plant.configuration, plant.velocity)
        # whole steps of equal length that end on the next control instant
        steps = int(steps_between(now, then, longest))
        plant.dt = (then - now) / steps
        if load is None and base is None:
            plant.hold(wanted, steps)
            return wanted, plant.effort
        for step in range(steps):
            try:
                at, state = now + step * plant.dt, (plant.configuration, plant.velocity)
                middle = now + (step + 0.5) * plant.dt
                wrench = None if load is None else load(middle, *state)
                moved = None if base is None else in_step(base, at, plant.dt)
                plant.hold(wanted, 1, wrench, moved)
            except SimulationFailed as error:
                time = step * plant.dt
                raise SimulationFailed(str(error), time=time, value=error.value) from error
        return wanted, plant.effort

    return advance


def in_step(base: Base, at: float, dt: float) -> BaseMotion:
    """How a base moves (3,) at the beginning, in the middle and at the end of a step of dt [s]."""
    rows = [rows_of(base(at + part * dt)) for part in (0.0, 0.5, 1.0)]
    return BaseMotion(*np.split(np.stack(rows), 3, axis=-1))


def continuous(
    plant: Plant,
    controller: Controller,
    trajectory: Trajectory,
    load: Load | None,
    base: Base | None,
    marks: FloatArray | None,
) -> Advance:
    """Efforts are computed at every stage; the adaptive method, with `marks`, stops at them.

    Joints that stick are left to compiled code, which cannot ask a controller of one's own at its
    stages: efforts are then held over each step.
    """
    mechanism = plant.mechanism
    if marks is None and mechanism.friction.is_rough(plant.dt):
        return _step_by_step(plant, controller, trajectory, load, base)
    none, command = np.zeros(6), _commands(controller, trajectory, base)

    def acceleration(t: float, configuration: FloatArray, velocity: FloatArray) -> FloatArray:
        effort = plant.saturate(command(t, configuration, velocity))
        effort = plant.available(effort, configuration, velocity)
        if plant.end_stops is not None:
            effort = effort + plant.end_stops.efforts(
                mechanism.joint_positions(configuration),
                mechanism.joint_velocities(configuration, velocity),
                mechanism.position_limits,
            )
        wrench = none if load is None else load(t, configuration, velocity)
        moved = None if base is None else base(t)
        return mechanism.forward_dynamics(configuration, velocity, effort, wrench, base=moved)

    adaptive = None
    if marks is not None:
        from robodyn.simulation.integrators import DormandPrince853  # slow to import: it has SciPy

        adaptive = DormandPrince853(mechanism, acceleration, marks)

    def advance(now: float, then: float) -> tuple[FloatArray, FloatArray]:
        state = plant.configuration, plant.velocity
        wanted = command(now, *state)
        applied = plant.available(plant.saturate(wanted), *state)
        if adaptive is None:
            state = runge_kutta_4(mechanism, acceleration, (now, then), state)
        else:
            state = adaptive((now, then), state)
        plant.configuration, plant.velocity = state
        return wanted, applied

    return advance


def _step_by_step(
    plant: Plant,
    controller: Controller,
    trajectory: Trajectory,
    load: Load | None,
    base: Base | None,
) -> Advance:
    command = _commands(controller, trajectory, base)

    def advance(now: float, then: float) -> tuple[FloatArray, FloatArray]:
        state = plant.configuration, plant.velocity
        wanted = command(now, *state)
        plant.dt = then - now
        wrench = None if load is None else load(0.5 * (now + then), *state)
        plant.hold(wanted, 1, wrench, None if base is None else in_step(base, now, plant.dt))
        return wanted, plant.effort

    return advance


def _commands(
    controller: Controller, trajectory: Trajectory, base: Base | None
) -> Callable[[float, FloatArray, FloatArray], FloatArray]:
    """What a controller answers at a time and a state; told of the base if it asks for that."""
    base_at = base if base is not None and takes_base(controller) else None

    def command(time: float, configuration: FloatArray, velocity: FloatArray) -> FloatArray:
        more = {} if base_at is None else {"base": base_at(time)}
        try:
            answer = controller(time, configuration, velocity, trajectory, **more)
        except KinematicsError as error:
            raise SimulationFailed(f"no command: {error}", time=0.0, value=error.value) from error
        return as_array(f"the controller's answer at {time:.6g} s", answer, (), "N or N m")

    return command


def takes_base(controller: Controller) -> bool:
    """Whether a controller has a parameter `base`."""
    try:
        return "base" in inspect.signature(controller).parameters
    except ValueError:  # of compiled functions that do not tell
        return False
