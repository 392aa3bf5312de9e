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

"""A platform simulated by Runge-Kutta of order 4: from control law to motion in one call."""

from __future__ import annotations

import math
from typing import Any

from robodyn.mechanisms.common.kernels.control_laws import (
    COMPUTED_TORQUE,
    GIVEN,
    corrected_acceleration,
    cut,
)
from robodyn.mechanisms.common.kernels.end_stops import end_stop_effort
from robodyn.mechanisms.stewart.kernels.layout import OK
from robodyn.mechanisms.stewart.kernels.leg import leg_geometry
from robodyn.mechanisms.stewart.kernels.single import (
    forward_dynamics,
    geometry_status,
    inverse_dynamics,
    unit_columns,
)
from robodyn.numerics.array_arguments import stack, taken
from robodyn.numerics.compiler import batch_entry, inner
from robodyn.numerics.rotations import pose_difference
from robodyn.numerics.runge_kutta import is_within, put_stage, put_step
from robodyn.numerics.simd.access import lane, rows_of
from robodyn.numerics.vectors import add, clear, copy, cross, dot, vector

DIVERGED = 40
NO_COMMAND = 41


@inner
def held_forces(
    model: Any, limits: Any, stops: Any, pose: Any, twist: Any, forces: Any, out: Any
) -> None:
    """Actuator forces plus what the end stops add; `stops` is (stiffness, damping)."""
    X, Y, Z = unit_columns(pose)
    g = leg_geometry(rows_of(model, 0), vector(pose, 0), X, Y, Z)
    rate = dot(g.s, add(vector(twist, 0), cross(vector(twist, 3), g.q)))
    for i in range(6):
        out[i] = forces[i] + end_stop_effort(
            lane(g.length, i), lane(rate, i), limits[i, 0], limits[i, 1], stops[0], stops[1]
        )


@inner
def normalize(pose: Any) -> None:
    """Bring the quaternion of pose (7,) back to unit length."""
    length = math.sqrt(pose[3] ** 2 + pose[4] ** 2 + pose[5] ** 2 + pose[6] ** 2)
    for j in range(3, 7):
        pose[j] /= length


@inner
def pose_rate(pose: Any, twist: Any, out: Any) -> None:
    """Time derivative (7,) of a pose: velocity, and omega times the quaternion over two."""
    x, y, z, w = pose[3], pose[4], pose[5], pose[6]
    a, b, c = twist[3], twist[4], twist[5]
    out[0], out[1], out[2] = twist[0], twist[1], twist[2]
    out[3] = 0.5 * (a * w + b * z - c * y)
    out[4] = 0.5 * (b * w + c * x - a * z)
    out[5] = 0.5 * (c * w + a * y - b * x)
    out[6] = -0.5 * (a * x + b * y + c * z)


@inner
def command(
    model: Any, law: int, kp: Any, kv: Any, pose: Any, twist: Any, row: Any, work: Any, out: Any
) -> bool:
    """Forces (6,) that a law of `control_laws` asks for; scratch `work` (4, 7)."""
    if law == GIVEN:
        for j in range(6):
            out[j] = row[j]
        return True
    here, moving, corrected, error = work[0], work[1, :6], work[2, :6], work[3, :6]
    clear(corrected)
    clear(moving)
    if law == COMPUTED_TORQUE:
        copy(twist, moving)
        copy(pose, here)
        normalize(here)
        pose_difference(here, row[:7], error)
        corrected_acceleration(kp, kv, error, twist, row[7:13], row[13:], corrected)
    return inverse_dynamics(model, pose, moving, corrected, twist, False, True, out)


@inner
def run(
    plant: Any,
    limits: Any,
    stops: Any,
    effort_limits: Any,
    model: Any,
    law: int,
    kp: Any,
    kv: Any,
    plan: Any,
    dt: Any,
    offset: Any,
    loads: Any,
    pose: Any,
    twist: Any,
    wanted: Any,
    applied: Any,
    first: int,
    last: int,
) -> tuple[int, int, int]:
    """Fill rows `first` + 1 to `last` of the histories of pose (N, 7) and twist (N, 6).

    Args:
        plant, model: what moves, and what the control takes it for: lanes of `pack_lanes`.
        limits, stops: (6, 2) ends of the legs' travel, (stiffness, damping) of what is there.
        effort_limits: (6,).
        law, kp, kv: of `mechanisms.common.kernels.control_laws`, gains (6, 6).
        plan: (N - 1, 1, k) rows for the law at each instant, efforts held to the next; or
            (N - 1, 4, k), also at the beginning, middle and end of the step, for a law that acts
            throughout: then there is one step to the next instant.
        dt: (N - 1,) [s] length of a step from each instant on.
        offset: (N,) number of steps up to each instant.
        loads: (steps, 1 or 3, 6) external wrench in each step, or at beginning, middle and end of
            it; one row holds for all.
        wanted, applied: (N - 1, 6) histories of forces, before and after limits.

    Returns:
        A status, the number of rows that are right, and how many steps further it got; after a
        failure the row after the last right one holds the last good state.
    """
    continuous = plan.shape[1] > 1
    pose_rates, accels, work, states = stack(4, 7), stack(4, 6), stack(4, 7), stack(2, 7)
    efforts = stack(3, 6)
    asked, forces, effective = efforts[0], efforts[1], efforts[2]
    at_pose, at_twist = states[0], states[1, :6]
    for k in range(first, last):
        here, moving = pose[k + 1], twist[k + 1]
        copy(pose[k], here)
        copy(twist[k], moving)
        start = int(offset[k])
        steps = int(offset[k + 1]) - start
        h = dt[k]
        for step in range(steps):
            load = loads[start + step if loads.shape[0] > 1 else 0]
            # call 0 is the control's at an instant, calls 1 to 4 are the stages of a step
            for call in range(0 if step == 0 else 1, 5):
                stage = max(call - 1, 0)
                part = (stage + 1) // 2
                put_stage(here, pose_rates, stage, h, at_pose)
                put_stage(moving, accels, stage, h, at_twist)
                if stage > 0:
                    normalize(at_pose)
                if not (is_within(at_pose) and is_within(at_twist)):
                    return DIVERGED, k, step
                if call == 0 or continuous:
                    row = plan[k, 0 if call == 0 else part + 1]
                    if not (
                        command(model, law, kp, kv, at_pose, at_twist, row, work, asked)
                        and cut(asked, effort_limits, forces)
                    ):
                        return NO_COMMAND, k, step
                if call == 0:
                    copy(asked, wanted[k])
                    copy(forces, applied[k])
                    continue
                held_forces(plant, limits, stops, at_pose, at_twist, forces, effective)
                pose_rate(at_pose, at_twist, pose_rates[stage])
                if not forward_dynamics(
                    plant,
                    at_pose,
                    at_twist,
                    effective,
                    load[part if loads.shape[1] > 1 else 0],
                    True,
                    True,
                    accels[stage],
                ):
                    return geometry_status(plant, at_pose), k, step
            put_step(here, pose_rates, h, at_pose)
            put_step(moving, accels, h, at_twist)
            normalize(at_pose)
            if not (is_within(at_pose) and is_within(at_twist)):
                return DIVERGED, k, step
            copy(at_pose, here)
            copy(at_twist, moving)
    return OK, last, 0


@batch_entry
def simulate(
    plant: Any,
    limits: Any,
    stops: Any,
    effort_limits: Any,
    model: Any,
    law: int,
    kp: Any,
    kv: Any,
    plan: Any,
    dt: Any,
    offset: Any,
    loads: Any,
    pose: Any,
    twist: Any,
    wanted: Any,
    applied: Any,
    first: int,
    last: int,
) -> tuple[int, int, int]:
    """The same for calls from Python, with arrays that are `given`."""
    return run(
        taken(plant),
        taken(limits),
        taken(stops),
        taken(effort_limits),
        taken(model),
        law,
        taken(kp),
        taken(kv),
        taken(plan),
        taken(dt),
        taken(offset),
        taken(loads),
        taken(pose),
        taken(twist),
        taken(wanted),
        taken(applied),
        first,
        last,
    )
