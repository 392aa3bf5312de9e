# SPDX-License-Identifier: Apache-2.0

"""Closed-loop and open-loop simulation of any mechanism under any controller."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.control.computed_torque import Controller
from robodyn.errors import InvalidInput
from robodyn.mechanisms.mechanism import Mechanism
from robodyn.simulation.compiled import complete
from robodyn.simulation.result import Event, SimulationResult
from robodyn.simulation.settings import SimulationSettings
from robodyn.simulation.task import SimulationTask, WrenchOfState, WrenchOfTime
from robodyn.trajectories.base import AtRest, Motion, Trajectory

DEFAULT = SimulationSettings()


def simulate(
    mechanism: Mechanism,
    controller: Controller,
    trajectory: Trajectory | None = None,
    dt: float = 1e-3,
    control_dt: float | None = 1e-2,
    *,
    wrench: ArrayLike | WrenchOfTime | WrenchOfState | None = None,
    settings: SimulationSettings = DEFAULT,
    progress: Callable[[float], None] | None = None,
    **options: Any,
) -> SimulationResult:
    """Simulate a mechanism that a controller drives, along a trajectory if there is one.

    With `control_dt` the controller is sampled and its efforts held in between (a zero-order
    hold), as on a real machine; with None it acts continuously, at every stage of every step.

    Mechanisms under `ComputedTorque`, `Feedforward`, `GravityCompensation` and
    `ConstantEffort` are simulated in compiled code, and so they are, sampled, under a function that
    `numba.njit` has compiled, of time [s], configuration (nq,), velocity (nv,) and the `Motion`
    that is planned for that time. A controller of your own in Python gives equal results in 1.3
    to 5 times the time at 200 Hz and 2 to 18 times at 1 kHz if it costs nothing itself, as a call
    takes some 15 to 30 us; with computed torque called from Python, 60 to 140 us, it is 2 to 16 and
    8 to 55 times.

    Dry friction holds: a joint at rest under less than its static friction stays exactly where it
    is, and damping too strong for the step is integrated implicitly. Where joints stick, or are
    damped so strongly, a controller of your own that acts continuously is asked once a step.

    Args:
        mechanism: the plant; the controller may hold another model of it.
        controller: efforts (n,) for (time, configuration, velocity, trajectory), or, compiled by
            Numba, for (time, configuration, velocity, planned motion).
        trajectory: what to follow; also where to start, if the settings do not say. Without one,
            for a `duration`, it starts at home and at rest, and the controller gets a trajectory
            that stays where it started.
        dt: [s] longest integration step; steps also end on the trajectory's switching times
            (continuous) or on control instants (sampled).
        control_dt: [s] control period, or None.
        wrench: external wrench (6,) [N, N m], constant or a function of time [s]; where efforts
            are held, so is its value at the middle of each step. Or a function of time,
            configuration and velocity, as of a contact or a spring: where efforts are held, of the
            state before each step. Such simulations are not compiled.
        settings: all else that is asked of the simulation, such as a base that moves.
        progress: called with the simulated time [s] now and then.
        options: fields of the settings that are to be others, such as `duration`.

    Returns:
        Histories at every control instant (sampled) or step (continuous).

    Raises:
        InvalidInput: arguments out of range, or a controller that answers something not finite.
        SimulationFailed: no finite state follows, with the time it happened.
        TypeError: an option that is no field of the settings.
    """
    wanted = replace(settings, **options)
    desired = trajectory
    if trajectory is None:
        if wanted.duration is None:
            raise InvalidInput("without a trajectory a duration is needed: duration=5.0, for one")
        trajectory = AtRest(mechanism, wanted.initial[0] if wanted.initial else mechanism.home)
    run = SimulationTask(mechanism, controller, trajectory, dt, control_dt, wrench, wanted)
    complete(run, progress)
    return SimulationResult(
        mechanism,
        run.time,
        run.configuration,
        run.velocity,
        np.concatenate([run.applied, run.applied[-1:]]),
        None if desired is None else Motion(*desired.sample(run.time)),
        find_events(mechanism, run.time, run.configuration, run.wanted, run.applied),
    )


def find_events(
    mechanism: Mechanism,
    time: FloatArray,
    configuration: FloatArray,
    wanted: FloatArray,
    applied: FloatArray,
) -> list[Event]:
    """The beginnings of both, in order of time.

    Args:
        mechanism: what moved.
        time, configuration: (N,) [s] and (N, ...).
        wanted, applied: (N - 1, n) efforts from each time on, before and after limits.
    """
    limits, names = mechanism.travel_limits, [limit.name for limit in mechanism.travel_limits]
    position = mechanism.travel(configuration)
    outside = (position < [limit.lower for limit in limits]) | (
        position > [limit.upper for limit in limits]
    )
    found = [
        (row, order, joint, kind, values[row, joint])
        for order, (kind, states, values) in enumerate(
            (("end_stop", outside, position), ("saturation", wanted != applied, wanted))
        )
        for row, joint in np.argwhere(states & ~np.vstack([np.zeros_like(states[0]), states[:-1]]))
    ]
    return [
        Event(float(time[row]), kind, names[joint], float(value))
        for row, _, joint, kind, value in sorted(found, key=lambda event: event[:3])
    ]
