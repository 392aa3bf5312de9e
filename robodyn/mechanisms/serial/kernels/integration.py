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

"""What the simulation loop of `common.kernels.integration` asks of a serial arm."""

from __future__ import annotations

from typing import Any, Final

from robodyn.mechanisms.common.kernels.control_laws import (
    COMPUTED_TORQUE,
    GIVEN,
    corrected_acceleration,
)
from robodyn.mechanisms.common.kernels.end_stops import end_stop_effort
from robodyn.mechanisms.common.kernels.integration import OK, run
from robodyn.mechanisms.serial.kernels.articulated import forward_dynamics
from robodyn.mechanisms.serial.kernels.layout import BODY_SIZE, FRAME_SIZE, WORK_SIZE
from robodyn.mechanisms.serial.kernels.newton_euler import newton_euler
from robodyn.mechanisms.serial.kernels.spatial import place
from robodyn.numerics.array_arguments import stack, taken
from robodyn.numerics.compiler import batch_entry, inner
from robodyn.numerics.vectors import clear

NO_INERTIA: Final = 1


@inner
def command(
    model: Any, law: int, kp: Any, kv: Any, q: Any, qd: Any, row: Any, work: Any, out: Any
) -> bool:
    """Efforts (n,) that a law of `control_laws` asks for; `model` is (chain, gravity)."""
    n = q.shape[0]
    if law == GIVEN:
        for j in range(n):
            out[j] = row[j]
        return True
    chain, gravity = model
    vectors, links, _, _ = work
    moving, corrected, error = vectors[0], vectors[1], vectors[2]
    clear(moving)
    clear(corrected)
    if law == COMPUTED_TORQUE:
        for j in range(n):
            moving[j] = qd[j]
            error[j] = row[j] - q[j]
        corrected_acceleration(kp, kv, error, qd, row[n : 2 * n], row[2 * n :], corrected)
    newton_euler(chain, gravity, q, moving, corrected, qd, False, links, out)
    return True


@inner
def derivative(
    plant: Any, q: Any, qd: Any, tau: Any, wrench: Any, work: Any, rate: Any, acceleration: Any
) -> int:
    """Rates of q and qd; `plant` is (chain, gravity, (n, 2) limits of the joints, end stops)."""
    chain, gravity, limits, stops = plant
    vectors, _, frames, bodies = work
    effort = vectors[3]
    for i in range(q.shape[0]):
        rate[i] = qd[i]
        effort[i] = tau[i] + end_stop_effort(
            q[i], qd[i], limits[i, 0], limits[i, 1], stops[0], stops[1]
        )
    place(chain, q, frames)
    if forward_dynamics(chain, frames, gravity, qd, effort, wrench, bodies, acceleration):
        return OK
    return NO_INERTIA


@inner
def to_manifold(plant: Any, q: Any, qd: Any, work: Any) -> int:
    """Nothing: every q is a configuration."""
    return OK


@batch_entry
def simulate(
    plant: Any, model: Any, arrays: Any, law: int, first: int, last: int
) -> tuple[int, int, int]:
    """Run the loop for calls from Python."""
    plant = taken(plant)
    n = plant[0].shape[0] - 1
    work = stack(4, n), stack(n, WORK_SIZE), stack(n + 1, FRAME_SIZE), stack(n, BODY_SIZE)
    return run(
        command,
        derivative,
        to_manifold,
        plant,
        taken(model),
        work,
        (n, n, n),
        taken(arrays),
        law,
        first,
        last,
    )
