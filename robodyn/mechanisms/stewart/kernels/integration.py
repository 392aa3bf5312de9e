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

"""What the simulation loop of `common.kernels.integration` asks of a Stewart platform."""

from __future__ import annotations

import math
from typing import Any

from robodyn.mechanisms.common.kernels.control_laws import (
    COMPUTED_TORQUE,
    GIVEN,
    corrected_acceleration,
)
from robodyn.mechanisms.common.kernels.end_stops import end_stop_effort
from robodyn.mechanisms.common.kernels.integration import run
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
from robodyn.numerics.simd.access import lane, rows_of
from robodyn.numerics.vectors import add, clear, copy, cross, dot, vector


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
    """Forces (6,) that a law of `control_laws` asks for; `model` is (lanes,), `work` (5, 7)."""
    (lanes,) = model
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
    return inverse_dynamics(lanes, pose, moving, corrected, twist, False, True, out)


@inner
def derivative(
    plant: Any,
    pose: Any,
    twist: Any,
    forces: Any,
    wrench: Any,
    work: Any,
    rate: Any,
    acceleration: Any,
) -> int:
    """Rates of pose and twist; `plant` is (lanes, (6, 2) limits of the legs, end stops)."""
    lanes, limits, stops = plant
    effective = work[4, :6]
    held_forces(lanes, limits, stops, pose, twist, forces, effective)
    pose_rate(pose, twist, rate)
    if forward_dynamics(lanes, pose, twist, effective, wrench, True, True, acceleration):
        return OK
    return geometry_status(lanes, pose, True)


@inner
def to_manifold(plant: Any, pose: Any, twist: Any, work: Any) -> int:
    """The quaternion back to unit length."""
    normalize(pose)
    return OK


@batch_entry
def simulate(
    plant: Any, model: Any, arrays: Any, law: int, first: int, last: int
) -> tuple[int, int, int]:
    """Run the loop for calls from Python."""
    return run(
        command,
        derivative,
        to_manifold,
        taken(plant),
        taken(model),
        stack(5, 7),
        (7, 6, 6),
        taken(arrays),
        law,
        first,
        last,
    )
