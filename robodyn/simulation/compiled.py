# SPDX-License-Identifier: Apache-2.0

"""Simulation in compiled code, for the mechanisms and controllers that support it.

The planned motion and the load are sampled in advance, at all times at which the Python loop of
`SimulationTask` would evaluate them. Compiled code stops at the first failure. The Python loop then
continues from the last good state, encounters the same failure and raises the error. `law_of`
returns the compiled control law of a controller; `rows_for` computes the planned motion that is its
input.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.base_motion import BaseMotion
from robodyn.checks import as_array
from robodyn.control import computed_torque
from robodyn.dynamics.compiled_run import Outcome, Rollout, stop_numbers
from robodyn.dynamics.kernels.control_laws import COMPUTED_TORQUE, GIVEN, GRAVITY
from robodyn.mechanism.mechanism import Mechanism
from robodyn.simulation.compiled_controller import CompiledController, as_controller
from robodyn.simulation.integrators import inner_ends
from robodyn.simulation.plant import append_base_motion
from robodyn.simulation.task import SimulationTask, base_motion_at, step_times, steps_between
from robodyn.trajectories.base import Trajectory

# Number of instants to sample at a time, which limits the memory of long simulations.
WINDOW = 1024
# Number of progress reports.
PARTS = 100


def complete(run: SimulationTask, progress: Callable[[float], None] | None = None) -> None:
    """Complete a simulation, in compiled code as far as possible.

    The histories of `run` are filled. `progress` is called repeatedly with the simulated time [s].

    Raises:
        InvalidInput, SimulationFailed: as for `SimulationTask.finish`.
    """
    if run.has_fixed_steps:
        _fast_forward(run, progress)
    run.finish(progress)


def _fast_forward(run: SimulationTask, progress: Callable[[float], None] | None) -> None:
    """Advance a simulation in compiled code, as far as this is possible."""
    law = None if run.load_knows_state else law_of(run.controller)
    if law is not None and law.driver is not None and not run.is_sampled:
        return  # the load is evaluated at every stage
    advance = None if law is None else _compile(run.plant.mechanism, law)
    if law is None or advance is None:
        return
    last = len(run.time) - 1
    part = WINDOW if progress is None else max(last // PARTS, 1)
    while run.row < last:
        first = run.row
        end = min(first + WINDOW, last)
        try:
            rollout = _rollout(run, law, first, end)
        except Exception:  # errors of trajectory or load: the Python loop raises them at their time
            return
        while run.row < end:
            if progress is not None:
                progress(float(run.time[run.row]))
            row, until = run.row, min(run.row + part, end)
            run.row = first + advance(rollout, row - first, until - first).row
            rows = slice(row, run.row)
            states = run.rows[0][rows], run.rows[1][rows]
            run.applied[rows] = run.plant.available_efforts(run.applied[rows], *states)
            if run.row < until:
                return


def is_compiled(mechanism: Mechanism, controller: computed_torque.Controller) -> bool:
    """Return whether compiled code can simulate this mechanism with this controller."""
    law = law_of(controller)
    return law is not None and _compile(mechanism, law) is not None


def _compile(mechanism: Mechanism, law: Law) -> Callable[[Rollout, int, int], Outcome] | None:
    if law.driver is not None and mechanism.drives.elasticity is not None:
        return None  # a user's controller needs the measured state
    model = mechanism if law.model is None else law.model
    run: Callable[[Rollout, int, int], Outcome] | None = mechanism.solver.compiled_simulation(model)
    return run


def _rollout(run: SimulationTask, law: Law, first: int, last: int) -> Rollout:
    """Create the compiled rollout between two recorded times, given by their indices."""
    plant, time = run.plant, run.time[first : last + 1]
    size = len(plant.mechanism.joint_names)
    without = np.multiply.outer([-np.inf, np.inf], np.ones(size))
    ends = plant.mechanism.drives.effort_ends if plant.limits_efforts else without
    steps = steps_between(time[:-1], time[1:], run.longest if run.is_sampled else np.inf)
    dt = np.diff(time) / steps
    if run.is_sampled:
        before = np.concatenate([np.arange(count) for count in steps])
        h = np.repeat(dt, steps)
        instants = step_times(np.repeat(time[:-1], steps) + before * h, h)
        times, loaded = time[:-1, None], instants[:, 1:2]
    else:
        # at a switching time the ends of a step are evaluated on its own side
        begin, end = inner_ends(time[:-1], time[1:])
        instants = loaded = np.stack([begin, step_times(time[:-1], dt)[:, 1], end], axis=-1)
        times = np.column_stack([time[:-1], instants])
    rows = rows_for(run.controller, plant.mechanism, run.trajectory, times.reshape(-1), run.base)
    columns = int(rows.shape[-1])
    if law.driver is None:
        columns = {GIVEN: size, GRAVITY: 0}.get(law.kind, columns)
    loads = _wrenches(run.load, loaded)
    return Rollout(
        stop_numbers(plant.end_stops, plant.limits_motors),
        ends.ravel(),
        law.kind,
        law.kp,
        law.kv,
        np.array(as_array("plan", rows, (columns,)).reshape(*times.shape, columns), order="C"),
        dt,
        np.concatenate([[0.0], np.cumsum(steps)]),
        loads
        if run.base is None
        else append_base_motion(loads, base_motion_at(run.base, instants).rows),
        run.rows[0][first : last + 1],
        run.rows[1][first : last + 1],
        run.required[first:last],
        run.applied[first:last],
        law.driver,
        run.feedback == "motor",
        plant.is_semi_implicit,
    )


def _wrenches(load: Any, times: FloatArray) -> FloatArray:
    """Return the wrenches (k, m, 6) of a load at times [s]; (1, 1, 6) if it is fixed."""
    if callable(load):
        return as_array("wrench", [[load(float(t)) for t in row] for row in times], (6,))
    return np.zeros((1, 1, 6)) + (0.0 if load is None else load)


_NO_GAIN = np.zeros((0, 0))


class Law(NamedTuple):
    """Control law and gains of a controller in compiled code.

    Attributes:
        kind: integer that selects a law of `dynamics.kernels.control_laws`.
        model: the controller's model of the mechanism; None if it needs none.
        kp, kv: (nv, nv) position-error and velocity-error gains, or (0, 0) for laws without
            feedback; kp may have further rows (n, nv), see `control_laws.add_planned`.
        driver: driver of the simulation loop, see `Rollout`.
    """

    kind: int
    model: Mechanism | None
    kp: FloatArray = _NO_GAIN
    kv: FloatArray = _NO_GAIN
    driver: Callable[[Any], Any] | None = None


def law_of(controller: computed_torque.Controller) -> Law | None:
    """Return the compiled control law of a controller; None if there is none for it.

    Derived classes are not supported, because they may behave differently.
    """
    controller = as_controller(controller)
    # a derived class may behave differently
    if type(controller) is computed_torque.ComputedTorque:
        friction = controller.friction
        if not friction.exists:
            return Law(COMPUTED_TORQUE, controller.mechanism, controller.kp, controller.kv)
        kp = np.concatenate([controller.kp, friction.gain])
        return Law(COMPUTED_TORQUE, friction.rest, kp, controller.kv)
    if type(controller) is computed_torque.GravityCompensation:
        return Law(GRAVITY, controller.mechanism)
    if type(controller) in {computed_torque.Feedforward, computed_torque.ConstantEffort}:
        return Law(GIVEN, None)
    if isinstance(controller, CompiledController):
        return Law(GIVEN, None, driver=controller.drive)
    return None


def rows_for(
    controller: computed_torque.Controller,
    mechanism: Mechanism,
    trajectory: Trajectory,
    times: FloatArray,
    base: Callable[[float], BaseMotion] | None = None,
) -> FloatArray:
    """Compute the inputs (N, k) of a compiled control law at times (N,) [s].

    Args:
        controller: controller with a compiled law, see `law_of`.
        mechanism: simulated mechanism.
        trajectory: motion to follow.
        times: (N,) [s] at which the law is evaluated.
        base: motion of the base as a function of time [s]; None for a base at rest.

    Returns:
        A row for each time. For `ComputedTorque`: planned configuration, velocity and acceleration,
        then the efforts for friction that is compensated for the planned motion, if any. For
        `Feedforward` and `ConstantEffort`: the efforts. For a `CompiledController`: see
        `CompiledController.rows`. For `GravityCompensation`: no columns.

    Raises:
        RobodynError, or an error of the trajectory: the controller has no result at some time.
    """
    if isinstance(controller, computed_torque.ComputedTorque):
        desired = controller.with_preview(trajectory.sample(times), trajectory, times)
        goal = mechanism.coordinates.checked("goal", desired.configuration)
        parts = [goal, desired.velocity, desired.acceleration]
        if controller.friction.exists:
            parts.append(controller.friction.efforts(desired._replace(configuration=goal)))
        return np.concatenate(parts, axis=-1)
    if isinstance(controller, computed_torque.Feedforward):
        felt = None if base is None else base_motion_at(base, times)
        return controller.mechanism.inverse_dynamics(*trajectory.sample(times), base=felt)
    if isinstance(controller, CompiledController):
        return controller.rows(trajectory, times, len(mechanism.joint_names))
    if isinstance(controller, computed_torque.ConstantEffort):
        return np.tile(controller.effort, (len(times), 1))
    return np.zeros((len(times), 0))
