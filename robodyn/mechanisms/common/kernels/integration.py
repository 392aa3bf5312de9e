# SPDX-License-Identifier: Apache-2.0

"""Simulation from control law to motion, for any kind of mechanism: the loop, and its usual step.

Turney, Mudge and Lee (1980), section 7. `run` is the whole loop. It goes by a step of the kind's
own: `classical_step`, Runge-Kutta of order 4, or `rough_step.rough_step` where joints stick or are
damped so strongly that no explicit step could follow. The kinds differ in compiled functions that
these are given as arguments: Numba compiles the loop once for each set and inlines them, so no call
goes through a pointer.

`command(model, law, kp, kv, configuration, velocity, row, work, out) -> bool`
    Write the efforts that a law of `control_laws` commands into `out`; False if none exist.
`derivative(plant, configuration, velocity, effort, load, work, rate, acceleration) -> int`
    Write the time derivatives of configuration and velocity under efforts and an external wrench
    `load` (6,), end stops included; return OK or a status of the kind's own, above zero.
`normalize(plant, configuration, velocity, work) -> int`
    Bring a state back onto its manifold, after every step and at its later stages (a quaternion
    to unit length, loops closed again); return OK or a status of the kind's own. It may be called
    with NaN and with arbitrarily large numbers; the result is checked afterwards.

To add a kind, write these three in its `kernels/integration.py`, all of them `inner`, a step and an
entry with its own scratch memory, valid for the duration of the call:

    @inner
    def step(
        plant, model, control, rows, load, h, instant, record, work, scratch, here, moving, efforts
    ):
        return classical_step(
            command, derivative, normalize, plant, model, control, rows, load, h, instant, record,
            work, scratch, here, moving, efforts,
        )

    @batch_entry
    def simulate(plant, model, arrays, law, first, last):
        work = stack(4, 7), stack(2, 6)
        scratch = stack(4, 7), stack(4, 6), stack(1, 7), stack(1, 6)
        return run(
            step, taken(plant), taken(model), work, scratch, 6, taken(arrays), law, first, last
        )

Where joints stick, the entry chooses between two such loops by the first of the plant's options,
the other one `apart`. What both call and is long is best `apart` as well, so that there is one copy
of it: a call is nothing beside a step.

`plant` and `model` are tuples of arrays that only the kind's functions read: the simulated
mechanism with its joints' limits, friction, options and end stops, and the controller's model of
the mechanism. `work` is any array or tuple of arrays. The sizes of configuration, velocity and
effort need not be equal; constants let the compiler unroll. A kind with internal states appends
them to its configuration. `compiled_run.entry` makes the entry callable from Python;
`compiled_simulation` of the mechanism offers it to the simulation.
"""

from __future__ import annotations

from typing import Any, Final

from robodyn.mechanisms.common.kernels.control_laws import cut
from robodyn.numerics.array_arguments import stack
from robodyn.numerics.compiler import inner
from robodyn.numerics.runge_kutta import is_within, put_stage, put_step
from robodyn.numerics.vectors import copy

# Options of a plant: whether its joints stick or may be strongly damped, and whether the latter.
ROUGH: Final = 0
WATCHED: Final = 1
# Statuses; the kinds' own statuses are above zero.
OK: Final = 0
DIVERGED: Final = -1
NO_COMMAND: Final = -2


@inner
def run(
    step: Any,
    plant: Any,
    model: Any,
    work: Any,
    scratch: Any,
    size: int,
    arrays: Any,
    law: int,
    first: int,
    last: int,
) -> tuple[int, int, int]:
    """Fill rows `first` + 1 to `last` of the histories of configuration and velocity.

    Args:
        step: takes a state on by one step; its arguments are those of `classical_step` but for
            the kind's functions.
        plant, model: the simulated mechanism, and the controller's model of it.
        work: scratch memory of the kind.
        scratch: memory of the step.
        size: of an effort, n.
        arrays: as in `mechanisms.common.compiled_run.Rollout.arrays`:
            effort_limits (n,);
            kp, kv: gains (n, n), or (0, 0); rows of kp below these are the law's to read;
            plan: (N - 1, 1, k) rows for the law at each instant, efforts held to the next; or
            (N - 1, 4, k), also at the beginning, middle and end of the step, for a law that acts
            throughout: then there is one step to the next instant;
            dt: (N - 1,) [s] length of a step from each instant on;
            offset: (N,) number of steps up to each instant;
            loads: (steps, 1 or 3, 6) external wrench in each step, or at beginning, middle and
            end of it; one row holds for all;
            configuration, velocity: (N, nc) and (N, nv), histories to be filled;
            wanted, applied: (N - 1, n) histories of efforts, before and after limits.
        law: of `mechanisms.common.kernels.control_laws`.
        first, last: rows.

    Returns:
        A status, the number of rows that are right, and how many steps further it got; after a
        failure the row after the last right one holds the last good state.
    """
    (
        effort_limits, kp, kv, plan, dt, offset, loads, configuration, velocity, wanted, applied,
    ) = arrays  # fmt: skip
    control = law, kp, kv, effort_limits
    efforts = stack(2, size)
    for k in range(first, last):
        here, moving = configuration[k + 1], velocity[k + 1]
        copy(configuration[k], here)
        copy(velocity[k], moving)
        start = int(offset[k])
        record = wanted[k], applied[k]
        for count in range(int(offset[k + 1]) - start):
            load = loads[start + count if loads.shape[0] > 1 else 0]
            status = step(
                plant, model, control, plan[k], load, dt[k], count == 0, record, work, scratch,
                here, moving, efforts,
            )  # fmt: skip
            if status != OK:
                return status, k, count
    return OK, last, 0


@inner
def classical_step(
    command: Any,
    derivative: Any,
    normalize: Any,
    plant: Any,
    model: Any,
    control: Any,
    rows: Any,
    load: Any,
    h: float,
    instant: bool,
    record: Any,
    work: Any,
    scratch: Any,
    here: Any,
    moving: Any,
    efforts: Any,
) -> int:
    """One step of Runge-Kutta of order 4; the state is left as it was if it fails.

    Args:
        command, derivative, normalize: of the kind.
        plant, model, work: as for `run`.
        control: law, kp, kv and effort limits.
        rows: (1, k), efforts held; or (4, k) for a law that acts throughout.
        load: (1 or 3, 6).
        h: [s].
        instant: whether it begins at an instant of control: then efforts are asked for first, and
            recorded.
        record: rows (n,) of the histories of efforts, before and after limits.
        scratch: rates (4, nc), accelerations (4, nv), and a state, (1, nc) and (1, nv).
        here, moving: configuration and velocity.
        efforts: (2, n), asked for and applied.
    """
    law, kp, kv, effort_limits = control
    rates, accelerations, positions, velocities = scratch
    position, rate = positions[0], velocities[0]
    asked, effort = efforts[0], efforts[1]
    # call 0 is the control's at an instant, calls 1 to 4 are the stages
    for call in range(0 if instant else 1, 5):
        stage = max(call - 1, 0)
        part = (stage + 1) // 2
        put_stage(here, rates, stage, h, position)
        put_stage(moving, accelerations, stage, h, rate)
        if stage > 0:
            status = normalize(plant, position, rate, work)
            if status != OK:
                return int(status)
        if not (is_within(position) and is_within(rate)):
            return DIVERGED
        if call == 0 or rows.shape[0] > 1:
            row = rows[0 if call == 0 else part + 1]
            if not (
                command(model, law, kp, kv, position, rate, row, work, asked)
                and cut(asked, effort_limits, effort)
            ):
                return NO_COMMAND
        if call == 0:
            copy(asked, record[0])
            copy(effort, record[1])
            continue
        status = derivative(
            plant,
            position,
            rate,
            effort,
            load[part if load.shape[0] > 1 else 0],
            work,
            rates[stage],
            accelerations[stage],
        )
        if status != OK:
            return int(status)
    put_step(here, rates, h, position)
    put_step(moving, accelerations, h, rate)
    status = normalize(plant, position, rate, work)
    if status != OK:
        return int(status)
    if not (is_within(position) and is_within(rate)):
        return DIVERGED
    copy(position, here)
    copy(rate, moving)
    return OK
