# SPDX-License-Identifier: Apache-2.0

"""One state of a 6-UPS Stewart platform, its six legs in the lanes of one vector.

The equations are those of `kernels.leg`, evaluated once for all legs. `model` is the flat array of
`mechanisms.stewart.packing.pack_lanes`: the rows of `legs`, eight lanes each, then the platform.
Every function checks its arguments and returns whether a result exists; `geometry_status` says why
not. `trusted` skips the checks.
"""

from __future__ import annotations

import math
from typing import Any

from robodyn.mechanisms.common.kernels.base_motion import base_of
from robodyn.mechanisms.common.kernels.state import is_motion
from robodyn.mechanisms.stewart.kernels.dynamics import (
    platform_inertia,
    platform_wrench,
    tip_inertia,
    tip_share,
    unit_motion,
)
from robodyn.mechanisms.stewart.kernels.layout import (
    ALONG_UNIVERSAL_AXIS,
    GRAVITY,
    LEG_SIZE,
    SINGULAR,
    SMALLEST_LENGTH,
    SMALLEST_SINE,
    ZERO_LENGTH,
)
from robodyn.mechanisms.stewart.kernels.leg import leg_geometry, leg_wrench
from robodyn.numerics.compiler import inner, preoptimized
from robodyn.numerics.jacobi import condition_of_rows
from robodyn.numerics.rotations import rotation_columns
from robodyn.numerics.simd.access import lane, new_rows, rows_of, set_entry, with_lane
from robodyn.numerics.simd.lanes import WIDTH, any_of
from robodyn.numerics.simd.linear_systems import solve_rows
from robodyn.numerics.vectors import Vector, cross, store, vector

PLATFORM = LEG_SIZE * WIDTH
# How far the squared length of a quaternion may be from 1: `checks.QUATERNION_TOLERANCE`, twice.
QUATERNION_TOLERANCE = 2e-6


@inner
def is_pose(pose: Any) -> bool:
    """Whether pose has seven finite numbers and a unit quaternion."""
    if pose.shape[0] != 7:
        return False
    # 0 times infinity or NaN is NaN, which is never equal to itself
    total = 0.0 * pose[0] + 0.0 * pose[1] + 0.0 * pose[2]
    square = pose[3] * pose[3] + pose[4] * pose[4] + pose[5] * pose[5] + pose[6] * pose[6]
    return bool(total == 0.0 and abs(square - 1.0) <= QUATERNION_TOLERANCE)


@inner
def unit_columns(pose: Any) -> Any:
    """Columns of the rotation matrix of a pose whose quaternion is normalised first."""
    x, y, z, w = pose[3], pose[4], pose[5], pose[6]
    factor = 1.0 / math.sqrt(x * x + y * y + z * z + w * w)
    return rotation_columns(
        (pose[0], pose[1], pose[2], factor * x, factor * y, factor * z, factor * w)
    )


@inner
def plus_legs(start: Vector, a: Any) -> Vector:
    """A vector plus those of the legs, in the summation order of a loop over the legs."""
    x, y, z = start
    for i in range(6):
        x += lane(a[0], i)
        y += lane(a[1], i)
        z += lane(a[2], i)
    return x, y, z


@inner
def lacks_frame(g: Any) -> bool:
    """Whether a leg has no length or no frame; NaN counts as missing."""
    return bool(any_of(~((g.length > SMALLEST_LENGTH) & (g.sine > SMALLEST_SINE))))


@inner
def geometry_status(model: Any, pose: Any, needs_frames: bool) -> int:
    """Why there is no result: a status of `kernels.layout`, SINGULAR if no leg is the cause."""
    X, Y, Z = unit_columns(pose)
    g = leg_geometry(rows_of(model, 0), vector(pose, 0), X, Y, Z)
    for i in range(6):
        if not lane(g.length, i) > SMALLEST_LENGTH:
            return ZERO_LENGTH + i + 1
        if needs_frames and not lane(g.sine, i) > SMALLEST_SINE:
            return ALONG_UNIVERSAL_AXIS + i + 1
    return SINGULAR


@inner
def inverse_dynamics(model: Any, state: Any, trusted: bool, out: Any) -> bool:
    """Actuator forces (6,) of one state of a pose, a twist and an acceleration."""
    pose, twist, accel = state.q, state.rates, state.third
    if not (trusted or (is_pose(pose) and is_motion(state, 6, 6))):
        return False
    legs, platform = rows_of(model, 0), model[PLATFORM:]
    X, Y, Z = unit_columns(pose)
    v, w = vector(twist, 0), vector(twist, 3)
    a, alpha = vector(accel, 0), vector(accel, 3)
    g = leg_geometry(legs, vector(pose, 0), X, Y, Z)
    if lacks_frame(g):
        return False
    motion = base_of(state.base, state.moves, vector(platform, GRAVITY), 0.0)
    leg_force, leg_moment = leg_wrench(legs, g, v, w, a, alpha, motion)
    moving = vector(pose, 0), v, w
    force, moment = platform_wrench(platform, (X, Y, Z), moving, (a, alpha), motion)
    force = plus_legs(force, leg_force)
    moment = plus_legs(moment, leg_moment)
    arm = cross(g.q, g.s)
    H = new_rows(6)
    for j in range(3):
        linear, angular = force[j], moment[j]
        if state.contact:
            linear -= state.wrench[j]
            angular -= state.wrench[j + 3]
        H[j] = with_lane(g.s[j], 6, linear)
        H[j + 3] = with_lane(arm[j], 6, angular)
    return solve_rows(H, False, out)


@preoptimized
def forward_dynamics(model: Any, state: Any, trusted: bool, out: Any) -> bool:
    """Platform acceleration (6,) of one state of a pose, a twist and forces."""
    pose, twist, forces = state.q, state.rates, state.third
    if not (trusted or (is_pose(pose) and is_motion(state, 6, 6))):
        return False
    legs, platform = rows_of(model, 0), model[PLATFORM:]
    X, Y, Z = unit_columns(pose)
    v, w = vector(twist, 0), vector(twist, 3)
    none = (0.0, 0.0, 0.0)
    g = leg_geometry(legs, vector(pose, 0), X, Y, Z)
    if lacks_frame(g):
        return False
    motion = base_of(state.base, state.moves, vector(platform, GRAVITY), 0.0)
    leg_force, leg_moment = leg_wrench(legs, g, v, w, none, none, motion)
    moving = vector(pose, 0), v, w
    force, moment = platform_wrench(platform, (X, Y, Z), moving, (none, none), motion)
    force = plus_legs(force, leg_force)
    moment = plus_legs(moment, leg_moment)
    arm = cross(g.q, g.s)
    M = new_rows(6)
    mass_rows(legs, platform, X, Y, Z, g, M)
    for j in range(3):
        linear, angular = -force[j], -moment[j]
        if state.contact:
            linear += state.wrench[j]
            angular += state.wrench[j + 3]
        for i in range(6):
            linear += lane(g.s[j], i) * forces[i]
            angular += lane(arm[j], i) * forces[i]
        set_entry(M, j, 6, linear)
        set_entry(M, j + 3, 6, angular)
    return solve_rows(M, True, out)


@inner
def mass_column(platform: Any, X: Vector, Y: Vector, Z: Vector, g: Any, at_tip: Any, j: int) -> Any:
    """Force and moment of the platform and all legs for its j-th unit acceleration."""
    linear, angular = unit_motion(j)
    force, moment = platform_inertia(platform, X, Y, Z, linear, angular)
    leg_force, leg_moment = tip_share(g, at_tip, linear, angular)
    return plus_legs(force, leg_force), plus_legs(moment, leg_moment)


@inner
def mass_rows(legs: Any, platform: Any, X: Vector, Y: Vector, Z: Vector, g: Any, M: Any) -> None:
    """Write the mass matrix into lanes 0 to 5 of six rows."""
    at_tip = tip_inertia(legs, g)
    for j in range(6):
        force, moment = mass_column(platform, X, Y, Z, g, at_tip, j)
        for k in range(3):
            set_entry(M, k, j, force[k])
            set_entry(M, k + 3, j, moment[k])


@inner
def mass_matrix(model: Any, pose: Any, trusted: bool, out: Any) -> bool:
    """Mass matrix (6, 6) of one pose."""
    if not trusted and not is_pose(pose):
        return False
    legs, platform = rows_of(model, 0), model[PLATFORM:]
    X, Y, Z = unit_columns(pose)
    g = leg_geometry(legs, vector(pose, 0), X, Y, Z)
    if lacks_frame(g):
        return False
    at_tip = tip_inertia(legs, g)
    for j in range(6):
        force, moment = mass_column(platform, X, Y, Z, g, at_tip, j)
        store(out[:, j], 0, force)
        store(out[:, j], 3, moment)
    return True


@inner
def condition_number(model: Any, pose: Any, length: float, trusted: bool) -> float:
    """Ratio of the extreme singular values of H, moments divided by `length`; -1 if none."""
    if not trusted and not (is_pose(pose) and 0.0 < length < math.inf):
        return -1.0
    X, Y, Z = unit_columns(pose)
    g = leg_geometry(rows_of(model, 0), vector(pose, 0), X, Y, Z)
    if any_of(~(g.length > SMALLEST_LENGTH)):
        return -1.0
    arm = cross(g.q, g.s)
    inverse = 1.0 / length
    H = new_rows(6)
    for j in range(3):
        H[j] = g.s[j]
        H[j + 3] = inverse * arm[j]
    return condition_of_rows(H)
