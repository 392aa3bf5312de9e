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

"""An arm simulated by Runge-Kutta of order 4: from control law to motion in one call.

Turney, Mudge and Lee (1980), section 7, with the articulated-body algorithm inside.
"""

from __future__ import annotations

from typing import Any

from robodyn.mechanisms.common.kernels.control_laws import (
    COMPUTED_TORQUE,
    GIVEN,
    corrected_acceleration,
    cut,
)
from robodyn.mechanisms.common.kernels.end_stops import end_stop_effort
from robodyn.mechanisms.serial.kernels.articulated import forward_dynamics
from robodyn.mechanisms.serial.kernels.layout import BODY_SIZE, FRAME_SIZE, WORK_SIZE
from robodyn.mechanisms.serial.kernels.newton_euler import newton_euler
from robodyn.mechanisms.serial.kernels.spatial import place
from robodyn.numerics.array_arguments import stack, taken
from robodyn.numerics.compiler import batch_entry, inner
from robodyn.numerics.runge_kutta import is_within, put_stage, put_step
from robodyn.numerics.vectors import clear, copy

OK = 0
NO_INERTIA = 1
DIVERGED = 2
NO_COMMAND = 3


@inner
def command(
    chain: Any,
    gravity: Any,
    law: int,
    kp: Any,
    kv: Any,
    q: Any,
    qd: Any,
    row: Any,
    work: Any,
    links: Any,
    out: Any,
) -> None:
    """Efforts (n,) that a law of `control_laws` asks for; scratch `work` (3, n), `links`."""
    n = q.shape[0]
    if law == GIVEN:
        for j in range(n):
            out[j] = row[j]
        return
    moving, corrected, error = work[0], work[1], work[2]
    clear(moving)
    clear(corrected)
    if law == COMPUTED_TORQUE:
        for j in range(n):
            moving[j] = qd[j]
            error[j] = row[j] - q[j]
        corrected_acceleration(kp, kv, error, qd, row[n : 2 * n], row[2 * n :], corrected)
    newton_euler(chain, gravity, q, moving, corrected, qd, False, links, out)


@inner
def run(
    plant: Any,
    plant_gravity: Any,
    limits: Any,
    stops: Any,
    effort_limits: Any,
    chain: Any,
    gravity: Any,
    law: int,
    kp: Any,
    kv: Any,
    plan: Any,
    dt: Any,
    offset: Any,
    loads: Any,
    q: Any,
    qd: Any,
    wanted: Any,
    applied: Any,
    first: int,
    last: int,
) -> tuple[int, int, int]:
    """Fill rows `first` + 1 to `last` of the histories of q and qd (N, n).

    `plant` and `chain` are the arm that moves and what the control takes it for; all else, and
    what is returned, is as in `stewart_integration.run`.
    """
    n = q.shape[1]
    continuous = plan.shape[1] > 1
    frames, bodies, links = stack(n + 1, FRAME_SIZE), stack(n, BODY_SIZE), stack(n, WORK_SIZE)
    rates, accelerations, work, rows = stack(4, n), stack(4, n), stack(3, n), stack(5, n)
    asked, tau, effort, position, rate = rows[0], rows[1], rows[2], rows[3], rows[4]
    for k in range(first, last):
        here, moving = q[k + 1], qd[k + 1]
        copy(q[k], here)
        copy(qd[k], moving)
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
                if not (is_within(position) and is_within(rate)):
                    return DIVERGED, k, step
                if call == 0 or continuous:
                    row = plan[k, 0 if call == 0 else part + 1]
                    command(chain, gravity, law, kp, kv, position, rate, row, work, links, asked)
                    if not cut(asked, effort_limits, tau):
                        return NO_COMMAND, k, step
                if call == 0:
                    copy(asked, wanted[k])
                    copy(tau, applied[k])
                    continue
                for i in range(n):
                    rates[stage, i] = rate[i]
                    effort[i] = tau[i] + end_stop_effort(
                        position[i], rate[i], limits[i, 0], limits[i, 1], stops[0], stops[1]
                    )
                place(plant, position, frames)
                if not forward_dynamics(
                    plant,
                    frames,
                    plant_gravity,
                    rate,
                    effort,
                    load[part if loads.shape[1] > 1 else 0],
                    bodies,
                    accelerations[stage],
                ):
                    return NO_INERTIA, k, step
            put_step(here, rates, h, position)
            put_step(moving, accelerations, h, rate)
            if not (is_within(position) and is_within(rate)):
                return DIVERGED, k, step
            copy(position, here)
            copy(rate, moving)
    return OK, last, 0


@batch_entry
def simulate(
    plant: Any,
    plant_gravity: Any,
    limits: Any,
    stops: Any,
    effort_limits: Any,
    chain: Any,
    gravity: Any,
    law: int,
    kp: Any,
    kv: Any,
    plan: Any,
    dt: Any,
    offset: Any,
    loads: Any,
    q: Any,
    qd: Any,
    wanted: Any,
    applied: Any,
    first: int,
    last: int,
) -> tuple[int, int, int]:
    """The same for calls from Python, with arrays that are `given`."""
    return run(
        taken(plant),
        taken(plant_gravity),
        taken(limits),
        taken(stops),
        taken(effort_limits),
        taken(chain),
        taken(gravity),
        law,
        taken(kp),
        taken(kv),
        taken(plan),
        taken(dt),
        taken(offset),
        taken(loads),
        taken(q),
        taken(qd),
        taken(wanted),
        taken(applied),
        first,
        last,
    )
