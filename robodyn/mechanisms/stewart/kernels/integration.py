# SPDX-License-Identifier: Apache-2.0

"""The functions that the loop and steps of `common.kernels` need for a Stewart platform."""

from __future__ import annotations

import math
from typing import Any

from robodyn.mechanisms.common.kernels.control_laws import (
    COMPUTED_TORQUE,
    GIVEN,
    add_planned,
    corrected_acceleration,
)
from robodyn.mechanisms.common.kernels.end_stops import joint_effort
from robodyn.mechanisms.common.kernels.integration import ROUGH, WATCHED, classical_step, run
from robodyn.mechanisms.common.kernels.rough_step import rough_step
from robodyn.mechanisms.stewart.kernels.dynamics import platform_wrench, unit_motion
from robodyn.mechanisms.stewart.kernels.layout import (
    GRAVITY,
    OK,
    PRISMATIC_DAMPING,
    SINGULAR,
    SPHERICAL_DAMPING,
    UNIVERSAL_DAMPING,
)
from robodyn.mechanisms.stewart.kernels.leg import (
    leg_acceleration,
    leg_geometry,
    leg_load,
    leg_velocity,
)
from robodyn.mechanisms.stewart.kernels.single import (
    PLATFORM,
    forward_dynamics,
    geometry_status,
    inverse_dynamics,
    lacks_frame,
    mass_matrix,
    plus_legs,
    unit_columns,
)
from robodyn.numerics.array_arguments import stack, taken
from robodyn.numerics.compiler import apart, batch_entry, inner, settled
from robodyn.numerics.rotations import pose_difference
from robodyn.numerics.simd.access import lane, rows_of
from robodyn.numerics.vectors import add, clear, copy, cross, dot, sub, vector


@inner
def held_forces(
    model: Any, limits: Any, stops: Any, pose: Any, twist: Any, forces: Any, out: Any
) -> None:
    """Forces that the motors have, plus what the end stops add; as in `joint_effort`."""
    X, Y, Z = unit_columns(pose)
    g = leg_geometry(rows_of(model, 0), vector(pose, 0), X, Y, Z)
    rate = dot(g.s, add(vector(twist, 0), cross(vector(twist, 3), g.q)))
    for i in range(6):
        out[i] = joint_effort(forces[i], lane(g.length, i), lane(rate, i), limits[i], stops)


@inner
def normalize(pose: Any) -> None:
    """Normalise the quaternion of pose (7,)."""
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
    """Forces (6,) that a law of `control_laws` commands; `model` is (lanes,), `work` (5, 7)."""
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
    if not inverse_dynamics(lanes, pose, moving, corrected, twist, False, True, out):
        return False
    if law == COMPUTED_TORQUE:
        add_planned(kp, row, 19, error, out)
    return True


@settled
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
    """Rates of pose and twist.

    `plant` is (lanes, table of the legs, friction, options, end stops).
    """
    lanes, limits, _, _, stops = plant
    effective = work[4, :6]
    held_forces(lanes, limits, stops, pose, twist, forces, effective)
    pose_rate(pose, twist, rate)
    if forward_dynamics(lanes, pose, twist, effective, wrench, True, True, acceleration):
        return OK
    return geometry_status(lanes, pose, True)


@inner
def to_manifold(plant: Any, pose: Any, twist: Any, work: Any) -> int:
    """Normalise the quaternion."""
    normalize(pose)
    return OK


@inner
def equations(
    plant: Any,
    pose: Any,
    twist: Any,
    forces: Any,
    wrench: Any,
    damped: bool,
    work: Any,
    M: Any,
    D: Any,
    L: Any,
    force: Any,
    drift: Any,
) -> int:
    """As `common.kernels.rough_step` says.

    The plant's lanes are without dry friction, and every leg has a row of friction.
    """
    lanes, limits, _, _, stops = plant
    legs, platform = rows_of(lanes, 0), lanes[PLATFORM:]
    X, Y, Z = unit_columns(pose)
    v, w = vector(twist, 0), vector(twist, 3)
    none = (0.0, 0.0, 0.0)
    gravity = vector(platform, GRAVITY)
    g = leg_geometry(legs, vector(pose, 0), X, Y, Z)
    if lacks_frame(g):
        return geometry_status(lanes, pose, True)
    m = leg_velocity(g, v, w)
    n = leg_acceleration(g, m, none, none, w)
    load = leg_load(legs, g, m, n, w, gravity)
    linear, angular = platform_wrench(platform, X, Y, Z, w, none, none)
    linear = plus_legs(linear, load.tip_force)
    angular = plus_legs(angular, sub(cross(g.q, load.tip_force), load.friction))
    arm = cross(g.q, g.s)
    for j in range(3):
        force[j] = wrench[j] - linear[j]
        force[j + 3] = wrench[j + 3] - angular[j]
        for i in range(6):
            L[i, j] = lane(g.s[j], i)
            L[i, j + 3] = lane(arm[j], i)
    for i in range(6):
        drift[i] = lane(n.rate, i)
        push = joint_effort(forces[i], lane(g.length, i), lane(m.rate, i), limits[i], stops)
        for j in range(6):
            force[j] += L[i, j] * push
    if damped:
        damping(legs, g, D)
    mass_matrix(lanes, pose, True, M)
    return OK


@inner
def damping(legs: Any, g: Any, D: Any) -> None:
    """Viscous damping D (6, 6), lower triangle: half its quadratic form is the power that is lost.

    What the spherical joints' friction depends on is the platform's angular velocity less a leg's.
    """
    for j in range(6):
        _, about = unit_motion(j)
        first = leg_velocity(g, unit_motion(j)[0], about)
        spin = sub(first.W, about)
        for k in range(j + 1):
            along, about_k = unit_motion(k)
            second = leg_velocity(g, along, about_k)
            lost = legs[UNIVERSAL_DAMPING] * dot(first.W, second.W)
            lost = lost + legs[PRISMATIC_DAMPING] * (first.rate * second.rate)
            lost = lost + legs[SPHERICAL_DAMPING] * dot(spin, sub(second.W, about_k))
            D[j, k] = 0.0
            for i in range(6):
                D[j, k] += lane(lost, i)


@inner
def configuration_rate(plant: Any, pose: Any, twist: Any, work: Any, out: Any) -> None:
    """Time derivative of a pose."""
    pose_rate(pose, twist, out)


@settled
def smooth_step(
    plant: Any, model: Any, control: Any, rows: Any, load: Any, h: float, instant: bool,
    record: Any, work: Any, scratch: Any, here: Any, moving: Any, efforts: Any,
) -> int:  # fmt: skip
    """A step of a platform without dry friction."""
    return classical_step(
        command, derivative, to_manifold, plant, model, control, rows, load, h, instant, record,
        work, scratch, here, moving, efforts,
    )  # fmt: skip


@inner
def sticking_step(
    plant: Any, model: Any, control: Any, rows: Any, load: Any, h: float, instant: bool,
    record: Any, work: Any, scratch: Any, here: Any, moving: Any, efforts: Any,
) -> int:  # fmt: skip
    """A step of a platform with dry friction in its legs, or strong damping."""
    return rough_step(
        command, equations, configuration_rate, to_manifold, SINGULAR, plant[2],
        plant[3][WATCHED] != 0.0, plant, model, control, rows, load, h, instant, record, work,
        scratch, here, moving, efforts,
    )  # fmt: skip


@apart
def run_sticking(
    plant: Any, model: Any, work: Any, arrays: Any, law: int, first: int, last: int
) -> tuple[int, int, int]:
    """The loop with legs that stick and slide."""
    scratch = (
        stack(4, 7), stack(4, 6), stack(2, 7), stack(2, 6), stack(6, 6), stack(6, 6), stack(6, 6),
        stack(6, 6), stack(6, 6), stack(6, 6), stack(6, 6), stack(3, 6), stack(10, 6),
        stack(2, max(arrays[3].shape[2], 6)),
    )  # fmt: skip
    return run(sticking_step, plant, model, work, scratch, 6, arrays, law, first, last)


@batch_entry
def simulate(
    plant: Any, model: Any, arrays: Any, law: int, first: int, last: int
) -> tuple[int, int, int]:
    """Run the loop for calls from Python."""
    plant, model, arrays = taken(plant), taken(model), taken(arrays)
    work = stack(5, 7)
    if plant[3][ROUGH] != 0.0:
        return run_sticking(plant, model, work, arrays, law, first, last)
    scratch = stack(4, 7), stack(4, 6), stack(1, 7), stack(1, 6)
    return run(smooth_step, plant, model, work, scratch, 6, arrays, law, first, last)
