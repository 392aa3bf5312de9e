# SPDX-License-Identifier: Apache-2.0

"""Simulation of any mechanism under any controller, in closed or open loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from robodyn.algorithms.travel import travel_limits, travel_positions
from robodyn.arrays import ArrayLike, FloatArray, Unpack
from robodyn.control.computed_torque import Controller
from robodyn.errors import InvalidInput
from robodyn.mechanism.mechanism import Mechanism
from robodyn.simulation.compiled import complete
from robodyn.simulation.result import Event, SimulationResult
from robodyn.simulation.settings import SimulationOptions, SimulationSettings
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
    **options: Unpack[SimulationOptions],
) -> SimulationResult:
    """Simulate a mechanism with a controller, optionally along a trajectory.

    With `control_dt`, the controller is sampled and its efforts are constant in between (zero-order
    hold), as on a real machine. With None, the controller acts continuously: it is evaluated at
    every stage of every step.

    Simulations with `ComputedTorque`, `Feedforward`, `GravityCompensation` and `ConstantEffort` run
    in compiled code. So do sampled simulations with a function that `numba.njit` has compiled, of
    time [s], configuration (nq,), velocity (nv,) and the planned `Motion` at that time. A
    controller of your own in Python gives equal results, but each call takes 15 to 30 us. Compared
    with compiled code, the simulation then takes 1.3 to 5 times as long at 200 Hz and 2 to 18 times
    as long at 1 kHz. If the controller computes the torque with the mechanism's model, a call takes
    60 to 140 us, and these factors are 2 to 16 at 200 Hz and 8 to 55 at 1 kHz.

    With dry friction, a joint at rest under less than its static friction stays exactly at rest.
    Damping that is too strong for the step is integrated implicitly. In both cases, a continuous
    controller of your own is called once per step.

    With elastic drives, the motors have their own state, see `robodyn.simulation.Plant`.
    Controllers measure the motors or the joints, according to the setting `feedback`.

    Args:
        mechanism: the plant; the controller may use another model of it.
        controller: function of (time, configuration, velocity, trajectory) that returns efforts
            (n,), or, compiled by Numba, of (time, configuration, velocity, planned motion).
        trajectory: motion to follow; it also defines the initial state, unless the settings contain
            one. Without a trajectory, a `duration` is required; the simulation then starts at home
            at rest, and the controller receives a trajectory that rests there.
        dt: longest integration step [s]; steps also end at the switching times of the trajectory
            (continuous) or at control instants (sampled).
        control_dt: control period [s]; None for a controller that acts continuously.
        wrench: external wrench (6,) [N, N m] on the body about its reference point, base frame,
            constant or a function of time [s]; with sampled control, its value at the middle of
            each step applies. It may also be a function of time, configuration and velocity, for
            example of a contact or a spring, which is evaluated before each step with sampled
            control; such simulations are not compiled.
        settings: all other settings, such as a moving base.
        progress: called from time to time with the simulated time [s].
        options: keyword arguments that override fields of `settings`, such as `duration`.

    Returns:
        Histories at every control instant (sampled) or step (continuous).

    Raises:
        InvalidInput: arguments are out of range, or the controller returns a value that is not
            finite.
        SimulationFailed: the state would not be finite; the error contains the time.
        TypeError: an option is not a field of the settings.
    """
    settings = replace(settings, **options)
    desired = trajectory
    if trajectory is None:
        if settings.duration is None:
            raise InvalidInput("without a trajectory, a duration is required, such as duration=5.0")
        trajectory = AtRest(mechanism, settings.initial[0] if settings.initial else mechanism.home)
    run = SimulationTask(mechanism, controller, trajectory, dt, control_dt, wrench, settings)
    complete(run, progress)
    motors = (run.motor_positions, run.motor_velocities) if run.is_elastic else (None, None)
    return SimulationResult(
        mechanism,
        run.time,
        run.configuration,
        run.velocity,
        np.concatenate([run.applied, run.applied[-1:]]),
        None if desired is None else Motion(*desired.sample(run.time)),
        find_events(mechanism, run.time, run.configuration, run.required, run.applied),
        *motors,
    )


def find_events(
    mechanism: Mechanism,
    time: FloatArray,
    configuration: FloatArray,
    required: FloatArray,
    applied: FloatArray,
) -> list[Event]:
    """Find when saturations and violations of position limits begin, in order of time.

    Args:
        mechanism: mechanism that moved.
        time, configuration: (N,) [s] and (N, nq) history of the motion.
        required, applied: (N - 1, n) [N or N m] efforts from each time on, before and after limits.

    Returns:
        The events, with joint, time and value.
    """
    limits, names = travel_limits(mechanism), [limit.name for limit in travel_limits(mechanism)]
    position = travel_positions(mechanism, configuration)
    outside = (position < [limit.lower for limit in limits]) | (
        position > [limit.upper for limit in limits]
    )
    found = [
        (row, order, joint, kind, values[row, joint])
        for order, (kind, states, values) in enumerate(
            (("end_stop", outside, position), ("saturation", required != applied, required))
        )
        for row, joint in np.argwhere(states & ~np.vstack([np.zeros_like(states[0]), states[:-1]]))
    ]
    driven = set(mechanism.joint_names)
    return [
        Event(
            float(time[row]),
            kind if names[joint] in driven else "limit",
            names[joint],
            float(value),
        )
        for row, _, joint, kind, value in sorted(found, key=lambda event: event[:3])
    ]
