# SPDX-License-Identifier: Apache-2.0

"""Simulation loop for any kind of mechanism, from control law to motion, and its usual step.

Turney, Mudge and Lee (1980), section 7. `run` is the whole loop, with `classical_step`, Runge-Kutta
of order 4, or `hybrid_step.hybrid_step` for joints that stick or are damped too strongly for
explicit steps. `simulation` combines them with the functions of a kind, and documents the functions
that a kind has to provide.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from robodyn.dynamics.kernels.control_laws import clip_efforts
from robodyn.dynamics.kernels.state import state_with_load
from robodyn.numerics.compiler import inner
from robodyn.numerics.runge_kutta import is_within, put_stage, put_step
from robodyn.numerics.vectors import copy

# Options of hybrid steps: whether damping may be strong; whether the steps are semi-implicit.
STIFF_CHECK: Final = 0
SEMI_IMPLICIT: Final = 1
OPTIONS: Final = 2
# Status codes; those that are specific to a kind of mechanism are positive.
OK: Final = 0
DIVERGED: Final = -1
NO_COMMAND: Final = -2


class PackedPlant(NamedTuple):
    """Simulated mechanism as packed arrays: parameters, motors, friction and end stops.

    Attributes:
        mechanism: arrays that only the functions of the kind read.
        table: (n, 2 or more) position limits and torque-speed curves, see `joint_table`.
        friction: (nf, sticking.ROW) parameters of the joints that have dry friction.
        options: (OPTIONS,) options of hybrid steps, 1 or 0.
        stops: (5,) parameters of the end stops, see `EndStops.numbers`.
    """

    mechanism: Any
    table: Any
    friction: Any
    options: Any
    stops: Any


class Control(NamedTuple):
    """Control law of a simulation, with model, gains and effort limits.

    Attributes:
        model: arrays of the mechanism that the controller assumes; only the kind reads them.
        law: integer code of a law in `control_laws`.
        kp, kv: (nv, nv) gains, or (0, 0); further rows of kp contain data of the law.
        effort_limits: (2 n,) [N or N m] the least, then the largest.
    """

    model: Any
    law: int
    kp: Any
    kv: Any
    effort_limits: Any


class PackedRollout(NamedTuple):
    """Arrays of a simulation, in the order of `compiled_run.Rollout.arrays`.

    Attributes:
        effort_limits, kp, kv: as in `Control`.
        plan: (N - 1, 1, k) a row of data for the law at each instant, with efforts that are
            constant until the next instant; or (N - 1, 4, k) for a continuous law: rows at the
            instant, and at the start, middle and end of the one step to the next instant.
        dt: (N - 1,) [s] length of the steps after each instant.
        offset: (N,) number of steps before each instant.
        loads: (steps or 1, 1 or 3, 6 or 15) external wrench, followed by the motion of the base if
            it moves (see `base_motion`): one row for each step, or three at its start, middle and
            end. A single entry applies to all steps.
        configuration, velocity: (N, nq) and (N, nv), histories to be filled.
        required, applied: (N - 1, n) effort histories, before and after limits.
    """

    effort_limits: Any
    kp: Any
    kv: Any
    plan: Any
    dt: Any
    offset: Any
    loads: Any
    configuration: Any
    velocity: Any
    required: Any
    applied: Any


class Task(NamedTuple):
    """Plant, control law and scratch memory, shared by all steps of a simulation.

    Attributes:
        plant: `PackedPlant` to simulate.
        control: `Control` law and its data.
        work: scratch memory for the dynamics of the kind of mechanism.
        scratch: scratch memory for the integration of a step.
    """

    plant: Any
    control: Any
    work: Any
    scratch: Any


class Step(NamedTuple):
    """Inputs of one simulation step, and the arrays that record its efforts.

    Attributes:
        rows: (1, k) row of the plan for a law with constant efforts; or (4, k) rows for a
            continuous law, see `PackedRollout`.
        load: (1 or 3, 6 or 15) external wrench, and the motion of the base if it moves.
        h: [s] length of the step.
        at_instant: whether it starts at an instant of control: then efforts are computed first, and
            recorded.
        required, applied: (n,) recorded efforts, before and after limits.
    """

    rows: Any
    load: Any
    h: float
    at_instant: bool
    required: Any
    applied: Any


class Stages(NamedTuple):
    """Scratch arrays of a Runge-Kutta step.

    Attributes:
        rates, accelerations: (4, nq) and (4, nv) time derivatives at the stages.
        configuration, velocity: (nq,) and (nv,) the state at a stage.
        required, effort: (n,) efforts before and after limits.
    """

    rates: Any
    accelerations: Any
    configuration: Any
    velocity: Any
    required: Any
    effort: Any


@inner
def stages_shapes(sizes: tuple[int, int, int]) -> Any:
    """Return the shapes of `Stages` for the sizes of configuration, velocity and efforts."""
    nq, nv, n = sizes
    return Stages((4, nq), (4, nv), nq, nv, n, n)


@inner
def run(step: Any, task: Any, rollout: Any, first: int, last: int) -> tuple[int, int, int]:
    """Simulate rows `first` + 1 to `last` of the histories of configuration and velocity.

    Args:
        step: function that advances a state, step(task, step, configuration, velocity).
        task: a `Task`.
        rollout: a `PackedRollout`.
        first, last: indices of the first row (given) and the last row to compute.

    Returns:
        A status code, the index of the last valid row, and the number of steps completed after it.
        After a failure, the row after the last valid one contains the last good state.
    """
    r = rollout
    for k in range(first, last):
        configuration, velocity = r.configuration[k + 1], r.velocity[k + 1]
        copy(r.configuration[k], configuration)
        copy(r.velocity[k], velocity)
        start = int(r.offset[k])
        for count in range(int(r.offset[k + 1]) - start):
            load = r.loads[start + count if r.loads.shape[0] > 1 else 0]
            one = Step(r.plan[k], load, r.dt[k], count == 0, r.required[k], r.applied[k])
            status = step(task, one, configuration, velocity)
            if status != OK:
                return status, k, count
    return OK, last, 0


@inner
def evaluate_command(
    command: Any, task: Any, configuration: Any, velocity: Any, row: Any, load: Any, required: Any,
    effort: Any,
) -> bool:  # fmt: skip
    """Compute a control law's efforts before and after limits.

    They are written to `required` and `effort` (n,). `row` is that of the plan, and `load` contains
    the external wrench and, if the base moves, its motion.

    Returns:
        False if the law has no efforts at this state or they are not finite.
    """
    control = task.control
    return bool(
        command(control, configuration, velocity, row, load, task.work, required)
        and clip_efforts(required, control.effort_limits, effort)
    )


@inner
def classical_step(
    command: Any, accelerate: Any, normalize: Any, task: Any, step: Any, start: Any, start_rate: Any
) -> int:
    """Take one Runge-Kutta step of order 4; the state is unchanged if it fails.

    Args:
        command, accelerate, normalize: functions of the kind, see `simulation.Functions`.
        task, step: a `Task`, with `Stages` as scratch, and a `Step`.
        start, start_rate: configuration (nq,) and velocity (nv,), advanced in place.

    Returns:
        A status code: OK, DIVERGED, NO_COMMAND, or a positive status of the kind.
    """
    s, plant, load = task.scratch, task.plant, step.load
    q, v = s.configuration, s.velocity
    # call 0 is that of the controller at an instant, calls 1 to 4 are the stages of the step
    for call in range(0 if step.at_instant else 1, 5):
        stage = max(call - 1, 0)
        part = (stage + 1) // 2
        put_stage(start, s.rates, stage, step.h, start.shape[0], q)
        put_stage(start_rate, s.accelerations, stage, step.h, start_rate.shape[0], v)
        if stage > 0:
            status = normalize(plant, q, v, task.work, True)
            if status != OK:
                return int(status)
        if not (is_within(q) and is_within(v)):
            return DIVERGED
        given = load[part if load.shape[0] > 1 else 0]
        if call == 0 or step.rows.shape[0] > 1:
            row = step.rows[0 if call == 0 else part + 1]
            if not evaluate_command(command, task, q, v, row, given, s.required, s.effort):
                return NO_COMMAND
        if call == 0:
            copy(s.required, step.required)
            copy(s.effort, step.applied)
            continue
        state = state_with_load(q, v, s.effort, given, True)
        status = accelerate(plant, state, task.work, s.rates[stage], s.accelerations[stage])
        if status != OK:
            return int(status)
    put_step(start, s.rates, step.h, start.shape[0], q)
    put_step(start_rate, s.accelerations, step.h, start_rate.shape[0], v)
    status = normalize(plant, q, v, task.work, False)
    if status != OK:
        return int(status)
    if not (is_within(q) and is_within(v)):
        return DIVERGED
    copy(q, start)
    copy(v, start_rate)
    return OK
