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

"""What the simulation loop of `common.kernels.integration` asks of a mechanism with closed loops.

Its velocities are those of the plan's independent coordinates, its configurations closed at every
stage. Where these coordinates get poor, the loop stops with a status, and whoever called it goes
on in others.
"""

from __future__ import annotations

from typing import Any, Final

from robodyn.mechanisms.closed_loop.kernels import dynamics, newton, tree
from robodyn.mechanisms.closed_loop.kernels.layout import (
    AT_DRIVEN,
    AT_FREE,
    AT_FREE_PLACES,
    AT_PLACES,
    AT_STEEP,
    BODIES,
    BODY_SIZE,
    DRIVEN,
    DRIVES_FREE,
    FREE,
    OK,
    POOR,
    POSITIONS,
    RATES,
    STEEP,
    WIDEST,
)
from robodyn.mechanisms.common.kernels.control_laws import (
    COMPUTED_TORQUE,
    GIVEN,
    corrected_acceleration,
)
from robodyn.mechanisms.common.kernels.end_stops import end_stop_effort
from robodyn.mechanisms.common.kernels.integration import run
from robodyn.numerics.array_arguments import stack, taken, taken_integers
from robodyn.numerics.compiler import batch_entry, inner

# Loops are closed to this at every stage [parts of the size]; rounding may keep them from it.
TARGET: Final = 1e-14
CLOSED: Final = 1e-11
MOST_STEPS: Final = 8


@inner
def command(
    model: Any, law: int, kp: Any, kv: Any, q: Any, rates: Any, row: Any, work: Any, out: Any
) -> bool:
    """Efforts (driven,) that a law of `control_laws` asks for.

    `model` is (plan, numbers, gravity) of what the control takes the mechanism for, in the
    coordinates of the law, and the same of the plant, whose rates are given.
    """
    if law == GIVEN:
        for j in range(out.shape[0]):
            out[j] = row[j]
        return True
    plan, numbers, gravity, own_plan, own_numbers, own_gravity = model
    B, W, S, _, M, state = work
    moving, corrected, error, told = state[0], state[1], state[2], state[3]
    n = plan[FREE]
    for k in range(n):
        moving[k], corrected[k], told[k] = 0.0, 0.0, rates[k]
    if law == COMPUTED_TORQUE:
        first, other = plan[AT_FREE], own_plan[AT_FREE]
        alike = True
        for k in range(n):
            alike = alike and plan[first + k] == own_plan[other + k]
        if not alike:
            if dynamics.prepare(own_plan, own_numbers, own_gravity, q, True, B, W[0], W[4]) != OK:
                return False
            dynamics.spread(own_plan, W[0], rates, W[4], W[1])
            for k in range(n):
                told[k] = W[1][plan[first + k]]
        places = plan[AT_FREE_PLACES]
        for k in range(n):
            place = plan[places + k]
            moving[k] = told[k]
            error[k] = row[place] - q[place]
        wide = plan[POSITIONS]
        corrected_acceleration(
            kp, kv, error[:n], told, row[wide : wide + n], row[wide + n :], corrected[:n]
        )
    if plan[DRIVES_FREE] == 1:
        status = dynamics.inverse_dynamics(
            plan, numbers, gravity, q, moving, corrected, row, False, True, B, W, out
        )
    else:
        status = dynamics.driven_efforts(
            plan, numbers, gravity, q, moving, corrected, row, False, True, B, W, S, M, out
        )
    return bool(status == OK)


@inner
def derivative(
    plant: Any, q: Any, rates: Any, effort: Any, wrench: Any, work: Any, rate: Any, change: Any
) -> int:
    """Rates of configuration and velocity.

    `plant` is (plan, numbers, gravity, (n, 2) limits of the driven joints, end stops).
    """
    plan, numbers, gravity, limits, stops = plant
    B, W, S, T, M, state = work
    status = dynamics.forward_start(
        plan, numbers, gravity, q, rates, wrench, True, True, B, W, S, T, M
    )
    if status != OK:
        return status
    steepest = numbers[plan[AT_STEEP]]
    for j in range(plan[RATES]):
        for k in range(plan[FREE]):
            if not abs(S[j, k]) <= steepest:
                return STEEP
    v, held = W[1], state[0]
    for i in range(plan[DRIVEN]):
        place, own = plan[plan[AT_PLACES] + i], plan[plan[AT_DRIVEN] + i]
        held[i] = effort[i] + end_stop_effort(
            q[place], v[own], limits[i, 0], limits[i, 1], stops[0], stops[1]
        )
    tree.configuration_rate(plan, numbers, q, B, v, rate)
    return dynamics.forward_end(plan, S, held, W[5], M, change)


@inner
def to_manifold(plant: Any, q: Any, rates: Any, work: Any) -> int:
    """Close the loops, independent coordinates held."""
    plan, numbers, gravity, _, _ = plant
    B, W, _, _, _, _ = work
    finite = 0.0
    for j in range(plan[POSITIONS]):
        finite += 0.0 * q[j]
    if finite != 0.0:
        return OK  # the loop sees that itself
    tree.normalize(plan, q)
    left = newton.close(plan, numbers, gravity, q, TARGET, MOST_STEPS, B, W)
    if left < 0.0 or left > CLOSED:
        return POOR
    return OK


@batch_entry
def simulate(
    plant: Any, model: Any, arrays: Any, law: int, first: int, last: int
) -> tuple[int, int, int]:
    """Run the loop for calls from Python; plans are of whole numbers lent as float64."""
    plan, numbers, gravity, limits, stops = plant
    plan = taken_integers(plan)
    own = plan, taken(numbers), taken(gravity), taken(limits), taken(stops)
    plan_1, numbers_1, gravity_1, plan_2, numbers_2, gravity_2 = model
    known = (
        taken_integers(plan_1), taken(numbers_1), taken(gravity_1),
        taken_integers(plan_2), taken(numbers_2), taken(gravity_2),
    )  # fmt: skip
    n, wide = plan[FREE], max(plan[WIDEST], plan[DRIVEN])
    bodies = plan[BODIES] + 1
    work = (
        stack(bodies, BODY_SIZE), stack(7, wide), stack(plan[RATES], n), stack(bodies, 6 * n),
        stack(n, n), stack(4, wide),
    )  # fmt: skip
    return run(
        command,
        derivative,
        to_manifold,
        own,
        known,
        work,
        (plan[POSITIONS], n, plan[DRIVEN]),
        taken(arrays),
        law,
        first,
        last,
    )
