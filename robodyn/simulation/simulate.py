"""Closed-loop and open-loop simulation of any mechanism under any controller."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robodyn.checks import as_array, as_scalar
from robodyn.errors import InvalidInput, KinematicsError, SimulationFailed
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
        wrench: external wrench (6,) [N, N m], constant or a function of time [s].
        end_stops: at the position limits; None to let joints pass them.
        limit_efforts: cut efforts to the actuators' limits.

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
    if control_dt is None:
        grid = _grid(end, plant.dt, [t for t in trajectory.switching_times if t < end])
        advance = _continuous(plant, controller, trajectory, load)
    else:
        period = as_scalar("control_dt", control_dt, "s", above=0.0)
        grid = _grid(end, period, [])
        advance = _sampled(plant, controller, trajectory, load)
    return _run(plant, trajectory, grid, advance)


def _run(
    plant: Plant,
    trajectory: Trajectory,
    grid: FloatArray,
    advance: Callable[[float, float], tuple[FloatArray, FloatArray]],
) -> SimulationResult:
    configurations: list[FloatArray] = []
    velocities: list[FloatArray] = []
    efforts: list[FloatArray] = []
    watch = _Watch(plant)
    for now, then in zip(grid, [*grid[1:], None], strict=True):
        configurations.append(plant.configuration)
        velocities.append(plant.velocity)
        if then is None:
            efforts.append(efforts[-1])
            break
        try:
            wanted, applied = advance(float(now), float(then))
        except SimulationFailed as error:
            raise SimulationFailed(
                f"at {now + error.time:.6g} s: {error}", time=now + error.time, value=error.value
            ) from error
        efforts.append(applied)
        watch.look(float(now), wanted, applied)
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
) -> Callable[[float, float], tuple[FloatArray, FloatArray]]:
    longest = plant.dt

    def advance(now: float, then: float) -> tuple[FloatArray, FloatArray]:
        wanted = _command(controller, now, plant.configuration, plant.velocity, trajectory)
        # whole steps of equal length that end on the next control instant
        steps = max(int(np.ceil((then - now) / longest * (1.0 - 1e-9))), 1)
        plant.dt = (then - now) / steps
        if load is _no_load:
            plant.hold(wanted, steps)
        else:
            for step in range(steps):
                plant.hold(wanted, 1, load(now + (step + 0.5) * plant.dt))
        return wanted, plant.effort

    return advance


def _continuous(
    plant: Plant, controller: Controller, trajectory: Trajectory, load: WrenchOfTime
) -> Callable[[float, float], tuple[FloatArray, FloatArray]]:
    mechanism = plant.mechanism

    def acceleration(t: float, configuration: FloatArray, velocity: FloatArray) -> FloatArray:
        effort = plant.saturate(_command(controller, t, configuration, velocity, trajectory))
        if plant.end_stops is not None:
            effort = effort + plant.end_stops.efforts(mechanism, configuration, velocity)
        return mechanism.forward_dynamics(configuration, velocity, effort, load(t))

    def advance(now: float, then: float) -> tuple[FloatArray, FloatArray]:
        wanted = _command(controller, now, plant.configuration, plant.velocity, trajectory)
        plant.configuration, plant.velocity = runge_kutta_4(
            mechanism, acceleration, (now, then), (plant.configuration, plant.velocity)
        )
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

    def look(self, time: float, wanted: FloatArray, applied: FloatArray) -> None:
        mechanism = self._plant.mechanism
        position = mechanism.joint_positions(self._plant.configuration)
        limits = mechanism.position_limits
        outside = (position < limits[:, 0]) | (position > limits[:, 1])
        for kind, now, values in (
            ("saturation", wanted != applied, wanted),
            ("end_stop", outside, position),
        ):
            for i in np.flatnonzero(now & ~self._was[kind]):
                self.events.append(Event(time, kind, mechanism.joint_names[i], float(values[i])))
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
    effort = np.asarray(answer, dtype=np.float64)
    if not np.isfinite(effort).all():
        raise InvalidInput(f"the controller answered {effort} at {time:.6g} s", value=effort)
    return effort


def _grid(end: float, period: float, extra: list[float]) -> FloatArray:
    """Times 0, period, ... end; `extra` times in between, each part divided into equal steps."""
    marks = [0.0, *sorted(extra), end]
    parts: Iterator[FloatArray] = (
        np.linspace(a, b, max(int(np.ceil((b - a) / period * (1.0 - 1e-9))), 1) + 1)[:-1]
        for a, b in zip(marks[:-1], marks[1:], strict=True)
        if b > a
    )
    if not extra:
        whole = np.arange(0.0, end, period)
        return np.append(whole[whole < end * (1.0 - 1e-12)], end)
    return np.append(np.concatenate(list(parts)), end)


def _no_load(_: float) -> FloatArray:
    return np.zeros(6)


def _as_function(wrench: ArrayLike | WrenchOfTime | None) -> WrenchOfTime:
    if wrench is None:
        return _no_load
    if callable(wrench):
        return wrench
    constant = as_array("wrench", wrench, (6,), "N, N m")
    return lambda _: constant
