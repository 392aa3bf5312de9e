"""Closed-loop and open-loop simulation of any mechanism under any controller."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robodyn.checks import as_array, as_exact, as_scalar
from robodyn.errors import InvalidInput, KinematicsError, SimulationFailed
from robodyn.simulation.adaptive import DormandPrince853
from robodyn.simulation.plant import EndStops, Plant
from robodyn.simulation.result import Event, SimulationResult
from robodyn.simulation.runge_kutta import runge_kutta_4
from robodyn.trajectories.base import Motion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import ArrayLike, NDArray

    from robodyn.control.computed_torque import Controller
    from robodyn.mechanism import Mechanism
    from robodyn.trajectories.base import Trajectory

    FloatArray = NDArray[np.float64]
    WrenchOfTime = Callable[[float], ArrayLike]
    # From one recorded time to the next: efforts asked for and applied at the first of them.
    Advance = Callable[[float, float], tuple[FloatArray, FloatArray]]

INTEGRATORS = ("rk4", "dop853")


def simulate(
    mechanism: Mechanism,
    controller: Controller,
    trajectory: Trajectory,
    dt: float = 1e-3,
    control_dt: float | None = 1e-2,
    *,
    duration: float | None = None,
    initial: tuple[ArrayLike, ArrayLike] | None = None,
    wrench: ArrayLike | WrenchOfTime | None = None,
    end_stops: EndStops | None = EndStops(),  # noqa: B008, frozen
    limit_efforts: bool = True,
    integrator: str = "rk4",
    progress: Callable[[float], None] | None = None,
) -> SimulationResult:
    """Simulate a mechanism that a controller drives along a trajectory.

    With `control_dt` the controller is sampled and its efforts held in between (a zero-order
    hold), as on a real machine; with None it acts continuously, at every stage of every step.

    Args:
        mechanism: the plant; the controller may hold another model of it.
        controller: efforts (n,) for (time, configuration, velocity, trajectory).
        trajectory: what to follow; also where to start, if `initial` is not given.
        dt: [s] longest integration step; steps also end on the trajectory's switching times
            (continuous) or on control instants (sampled).
        control_dt: [s] control period, or None.
        duration: [s] of the simulation, the trajectory's by default.
        initial: configuration and velocity to start from.
        wrench: external wrench (6,) [N, N m], constant or a function of time [s]; where efforts
            are held, so is its value at the middle of each step.
        end_stops: at the position limits; None to let joints pass them.
        limit_efforts: cut efforts to the actuators' limits.
        integrator: `rk4`, Runge-Kutta of order 4 with fixed steps, or, where the controller acts
            continuously, `dop853`, adaptive of order 8, as a reference; `dt` is then only how
            far apart the recorded times are.
        progress: called with the simulated time [s] now and then.

    Returns:
        Histories at every control instant (sampled) or step (continuous).

    Raises:
        InvalidInput: arguments out of range, or a controller that answers something not finite.
        SimulationFailed: no finite state follows, with the time it happened.
    """
    end = as_scalar(
        "duration", trajectory.duration if duration is None else duration, "s", above=0.0
    )
    start = trajectory.sample(0.0)
    state = initial if initial is not None else (start.configuration, start.velocity)
    plant = Plant(mechanism, *state, dt=dt, end_stops=end_stops, limit_efforts=limit_efforts)
    load = _as_function(wrench)
    if integrator not in INTEGRATORS:
        raise InvalidInput(
            f"integrator is {integrator!r}, expected one of {', '.join(INTEGRATORS)}",
            value=integrator,
        )
    if control_dt is None:
        # it comes to rest at its end as it switches on the way: with a jump
        jumps = {t for t in (*trajectory.switching_times, trajectory.duration) if 0.0 < t < end}
        grid = _grid([0.0, *sorted(jumps), end], plant.dt)
        marks = np.array([*sorted(jumps), end]) if integrator == "dop853" else None
        advance = _continuous(plant, controller, trajectory, load, marks)
    else:
        if integrator != "rk4":
            raise InvalidInput(
                f"integrator is {integrator!r}, which needs control_dt=None: held efforts jump at "
                "every control instant",
                value=integrator,
            )
        grid = _periods(end, as_scalar("control_dt", control_dt, "s", above=0.0))
        advance = _sampled(plant, controller, trajectory, load)
    return _run(plant, trajectory, grid, advance, progress)


def _run(
    plant: Plant,
    trajectory: Trajectory,
    grid: FloatArray,
    advance: Advance,
    progress: Callable[[float], None] | None,
) -> SimulationResult:
    configurations: list[FloatArray] = []
    velocities: list[FloatArray] = []
    efforts: list[FloatArray] = []
    watch = _Watch(plant)
    for now, then in zip(grid, [*grid[1:], None], strict=True):
        configurations.append(plant.configuration)
        velocities.append(plant.velocity)
        watch.look_at_position(float(now))
        if then is None:
            efforts.append(efforts[-1])
            break
        if progress is not None:
            progress(float(now))
        try:
            wanted, applied = advance(float(now), float(then))
        except SimulationFailed as error:
            raise SimulationFailed(
                f"at {now + error.time:.6g} s: {error}", time=now + error.time, value=error.value
            ) from error
        efforts.append(applied)
        watch.look_at_effort(float(now), wanted, applied)
    return SimulationResult(
        plant.mechanism,
        grid,
        np.array(configurations),
        np.array(velocities),
        np.array(efforts),
        Motion(*trajectory.sample(grid)),
        watch.events,
    )


def _sampled(
    plant: Plant, controller: Controller, trajectory: Trajectory, load: WrenchOfTime
) -> Advance:
    longest = plant.dt

    def advance(now: float, then: float) -> tuple[FloatArray, FloatArray]:
        wanted = _command(controller, now, plant.configuration, plant.velocity, trajectory)
        # whole steps of equal length that end on the next control instant
        steps = max(int(np.ceil((then - now) / longest * (1.0 - 1e-9))), 1)
        plant.dt = (then - now) / steps
        if load is _no_load:
            plant.hold(wanted, steps)
            return wanted, plant.effort
        for step in range(steps):
            try:
                plant.hold(wanted, 1, load(now + (step + 0.5) * plant.dt))
            except SimulationFailed as error:
                time = step * plant.dt
                raise SimulationFailed(str(error), time=time, value=error.value) from error
        return wanted, plant.effort

    return advance


def _continuous(
    plant: Plant,
    controller: Controller,
    trajectory: Trajectory,
    load: WrenchOfTime,
    marks: FloatArray | None,
) -> Advance:
    mechanism = plant.mechanism

    def acceleration(t: float, configuration: FloatArray, velocity: FloatArray) -> FloatArray:
        effort = plant.saturate(_command(controller, t, configuration, velocity, trajectory))
        if plant.end_stops is not None:
            effort = effort + plant.end_stops.efforts(mechanism, configuration, velocity)
        return mechanism.forward_dynamics(configuration, velocity, effort, load(t))

    adaptive = None if marks is None else DormandPrince853(mechanism, acceleration, marks)

    def advance(now: float, then: float) -> tuple[FloatArray, FloatArray]:
        state = plant.configuration, plant.velocity
        wanted = _command(controller, now, *state, trajectory)
        if adaptive is None:
            state = runge_kutta_4(mechanism, acceleration, (now, then), state)
        else:
            state = adaptive((now, then), state)
        plant.configuration, plant.velocity = state
        return wanted, plant.saturate(wanted)

    return advance


class _Watch:
    """Notes when an actuator saturates and when a joint reaches its end stop."""

    def __init__(self, plant: Plant) -> None:
        self.events: list[Event] = []
        self._plant = plant
        self._was: dict[str, NDArray[np.bool_]] = {
            kind: np.zeros(len(plant.mechanism.joint_names), dtype=bool)
            for kind in ("saturation", "end_stop")
        }

    def look_at_position(self, time: float) -> None:
        mechanism = self._plant.mechanism
        position = mechanism.joint_positions(self._plant.configuration)
        limits = mechanism.position_limits
        outside = (position < limits[:, 0]) | (position > limits[:, 1])
        self._note(time, "end_stop", outside, position)

    def look_at_effort(self, time: float, wanted: FloatArray, applied: FloatArray) -> None:
        self._note(time, "saturation", wanted != applied, wanted)

    def _note(self, time: float, kind: str, now: NDArray[np.bool_], values: FloatArray) -> None:
        for i in np.flatnonzero(now & ~self._was[kind]):
            name = self._plant.mechanism.joint_names[i]
            self.events.append(Event(time, kind, name, float(values[i])))
        self._was[kind] = now


def _command(
    controller: Controller,
    time: float,
    configuration: FloatArray,
    velocity: FloatArray,
    trajectory: Trajectory,
) -> FloatArray:
    try:
        answer = controller(time, configuration, velocity, trajectory)
    except KinematicsError as error:
        raise SimulationFailed(f"no command: {error}", time=0.0, value=error.value) from error
    return as_array(f"the controller's answer at {time:.6g} s", answer, (), "N or N m")


def _grid(marks: list[float], period: float) -> FloatArray:
    """Times from mark to mark, each stretch in equal steps of at most `period`."""
    stretches: Iterator[FloatArray] = (
        np.linspace(a, b, max(int(np.ceil((b - a) / period * (1.0 - 1e-9))), 1) + 1)[:-1]
        for a, b in zip(marks[:-1], marks[1:], strict=True)
    )
    return np.append(np.concatenate(list(stretches)), marks[-1])


def _periods(end: float, period: float) -> FloatArray:
    """Times 0, period, 2 period, ... and `end`, whole period or not."""
    whole = np.arange(0.0, end, period)
    return np.append(whole[whole < end * (1.0 - 1e-12)], end)


def _no_load(_: float) -> FloatArray:
    return np.zeros(6)


def _as_function(wrench: ArrayLike | WrenchOfTime | None) -> WrenchOfTime:
    if wrench is None:
        return _no_load
    if callable(wrench):
        return wrench
    constant = as_exact("wrench", wrench, (6,), "N, N m")
    return lambda _: constant
