# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Simulation by Runge-Kutta of order 4, from control law to motion, for any kind of mechanism.

Turney, Mudge and Lee (1980), section 7. `run` is the whole loop. What differs between kinds are
three compiled functions, passed to it as arguments: Numba compiles the loop once for each set and
inlines them, so no call is made through a pointer.

`command(model, law, kp, kv, configuration, velocity, row, work, out) -> bool`
    Write the efforts that a law of `control_laws` asks for into `out`; False if there are none.
`derivative(plant, configuration, velocity, effort, load, work, rate, acceleration) -> int`
    Write the time derivatives of configuration and velocity under efforts and an external wrench
    `load` (6,), end stops included; return OK or a status of the kind's own, above zero.
`normalize(plant, configuration, velocity, work) -> int`
    Bring a state back onto its manifold, after every step and at its later stages (a quaternion
    to unit length, loops closed again); return OK or a status of the kind's own. It may be called
    with NaN and with numbers beyond all bounds, which are checked afterwards.

To add a kind, write these three in its `kernels/integration.py`, all of them `inner`, and an entry
with scratch memory of its own, which lives as long as the call:

    @batch_entry
    def simulate(plant, model, arrays, law, first, last):
        work = stack(4, 7), stack(2, 6)
        sizes = 7, 6, 6
        return run(
            command, derivative, normalize, taken(plant), taken(model), work, sizes,
            taken(arrays), law, first, last,
        )

`plant` and `model` are tuples of arrays that only the kind's functions look into: what moves, and
what the control takes it for. `work` is any array or tuple of arrays. The sizes of configuration,
velocity and effort need not be equal; constants let the compiler unroll. A kind with internal
states (of friction, say) appends them to its configuration. `compiled_run.entry` makes the entry
callable from Python; `compiled_simulation` of the mechanism offers it to the simulation.
"""

from __future__ import annotations

from typing import Any, Final

from robodyn.mechanisms.common.kernels.control_laws import cut
from robodyn.numerics.array_arguments import stack
from robodyn.numerics.compiler import inner
from robodyn.numerics.runge_kutta import is_within, put_stage, put_step
from robodyn.numerics.vectors import copy

# Statuses; those of a kind's own are above zero.
OK: Final = 0
DIVERGED: Final = -1
NO_COMMAND: Final = -2


@inner
def run(
    command: Any,
    derivative: Any,
    normalize: Any,
    plant: Any,
    model: Any,
    work: Any,
    sizes: Any,
    arrays: Any,
    law: int,
    first: int,
    last: int,
) -> tuple[int, int, int]:
    """Fill rows `first` + 1 to `last` of the histories of configuration and velocity.

    Args:
        command, derivative, normalize: of the kind, see above.
        plant, model: what moves, and what the control takes it for.
        work: scratch memory of the kind.
        sizes: of configuration, velocity and effort, nc, nv and n.
        arrays: as in `mechanisms.common.compiled_run.Rollout.arrays`:
            effort_limits (n,);
            kp, kv: gains (n, n), or (0, 0);
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
    continuous = plan.shape[1] > 1
    rates, accelerations = stack(4, sizes[0]), stack(4, sizes[1])
    position, rate = stack(1, sizes[0])[0], stack(1, sizes[1])[0]
    efforts = stack(2, sizes[2])
    asked, effort = efforts[0], efforts[1]
    for k in range(first, last):
        here, moving = configuration[k + 1], velocity[k + 1]
        copy(configuration[k], here)
        copy(velocity[k], moving)
        start = int(offset[k])
        steps = int(offset[k + 1]) - start
        h = dt[k]
        for step in range(steps):
            load = loads[start + step if loads.shape[0] > 1 else 0]
            # call 0 is the control's at an instant, calls 1 to 4 are the stages of a step
            for call in range(0 if step == 0 else 1, 5):
                stage = max(call - 1, 0)
                part = (stage + 1) // 2
                put_stage(here, rates, stage, h, position)
                put_stage(moving, accelerations, stage, h, rate)
                if stage > 0:
                    status = normalize(plant, position, rate, work)
                    if status != OK:
                        return status, k, step
                if not (is_within(position) and is_within(rate)):
                    return DIVERGED, k, step
                if call == 0 or continuous:
                    row = plan[k, 0 if call == 0 else part + 1]
                    if not (
                        command(model, law, kp, kv, position, rate, row, work, asked)
                        and cut(asked, effort_limits, effort)
                    ):
                        return NO_COMMAND, k, step
                if call == 0:
                    copy(asked, wanted[k])
                    copy(effort, applied[k])
                    continue
                status = derivative(
                    plant,
                    position,
                    rate,
                    effort,
                    load[part if loads.shape[1] > 1 else 0],
                    work,
                    rates[stage],
                    accelerations[stage],
                )
                if status != OK:
                    return status, k, step
            put_step(here, rates, h, position)
            put_step(moving, accelerations, h, rate)
            status = normalize(plant, position, rate, work)
            if status != OK:
                return status, k, step
            if not (is_within(position) and is_within(rate)):
                return DIVERGED, k, step
            copy(position, here)
            copy(rate, moving)
    return OK, last, 0
