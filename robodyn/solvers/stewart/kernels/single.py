# SPDX-License-Identifier: Apache-2.0

"""Dynamics of one state of a 6-UPS Stewart platform, its six legs in the lanes of one vector.

The equations are those of `kernels.leg`, evaluated once for all legs. `model` is the flat array of
`solvers.stewart.packing.pack_lanes`: the rows of `legs`, eight lanes each, then the platform.
Every function checks its arguments and returns whether a result exists; `geometry_status` gives the
reason if not. `trusted` skips the checks.
"""

from __future__ import annotations

import math
from typing import Any

from robodyn.dynamics.kernels.base_motion import base_of
from robodyn.dynamics.kernels.state import is_motion, state_of
from robodyn.numerics import rotations
from robodyn.numerics.array_arguments import borrowed_array
from robodyn.numerics.compiler import entry_kernel, inner, preoptimize
from robodyn.numerics.jacobi import condition_of_rows
from robodyn.numerics.rotations import rotation_columns
from robodyn.numerics.simd.access import as_lane, lane, new_rows, rows_of, with_lane
from robodyn.numerics.simd.lanes import WIDTH, any_of
from robodyn.numerics.simd.linear_systems import solve_rows
from robodyn.numerics.vectors import Vector, cross, store, vector
from robodyn.solvers.stewart.kernels import dynamics, layout
from robodyn.solvers.stewart.kernels.leg import leg_geometry, leg_tip_inertia, leg_wrench

PLATFORM = layout.LEG_SIZE * WIDTH
# Tolerance of a quaternion's squared length: twice `checks.QUATERNION_TOLERANCE`.
QUATERNION_TOLERANCE = 2e-6
NONE = (0.0, 0.0, 0.0)


@inner
def is_pose(pose: Any) -> bool:
    """Return whether `pose` is one pose: seven finite components and a unit quaternion."""
    if pose.shape[0] != 7:
        return False
    # 0 times infinity or NaN is NaN, which is never equal to itself
    total = 0.0 * pose[0] + 0.0 * pose[1] + 0.0 * pose[2]
    square = pose[3] * pose[3] + pose[4] * pose[4] + pose[5] * pose[5] + pose[6] * pose[6]
    return bool(total == 0.0 and abs(square - 1.0) <= QUATERNION_TOLERANCE)


@inner
def unit_columns(pose: Any) -> Any:
    """Return the columns of a pose's rotation matrix; the quaternion is normalized first."""
    x, y, z, w = pose[3], pose[4], pose[5], pose[6]
    factor = 1.0 / math.sqrt(x * x + y * y + z * z + w * w)
    return rotation_columns(
        (pose[0], pose[1], pose[2], factor * x, factor * y, factor * z, factor * w)
    )


@inner
def add_legs(start: Vector, a: Any) -> Vector:
    """Return the sum of a vector and the six legs' vectors, added one after the other.

    Each component of `a` is a SIMD vector with a leg in each of its first six lanes.
    """
    x, y, z = start
    for i in range(6):
        x += lane(a[0], i)
        y += lane(a[1], i)
        z += lane(a[2], i)
    return x, y, z


@inner
def is_degenerate(g: Any) -> bool:
    """Return whether any leg has zero length, undefined axes or a NaN.

    `g` is the geometry of all legs, one per SIMD lane.
    """
    return bool(any_of(~((g.length > layout.SMALLEST_LENGTH) & (g.sine > layout.SMALLEST_SINE))))


@inner
def geometry_status(model: Any, pose: Any, needs_frames: bool) -> int:
    """Return the status code of the first leg with zero length or undefined axes.

    It is SINGULAR if there is no such leg: then the equations have no solution. The axes are
    checked only if `needs_frames`.
    """
    X, Y, Z = unit_columns(pose)
    g = leg_geometry(rows_of(model, 0), vector(pose, 0), X, Y, Z)
    for i in range(6):
        if not lane(g.length, i) > layout.SMALLEST_LENGTH:
            return layout.ZERO_LENGTH + i + 1
        if needs_frames and not lane(g.sine, i) > layout.SMALLEST_SINE:
            return layout.ALONG_UNIVERSAL_AXIS + i + 1
    return layout.SINGULAR


@inner
def is_valid_state(state: Any, trusted: bool) -> bool:
    """Return whether pose and motion of a state are valid; True if `trusted`."""
    return trusted or (is_pose(state.q) and is_motion(state, 6, 6))


@inner
def required_wrench(model: Any, state: Any, axes: Any, g: Any, accel: Any) -> tuple[Vector, Vector]:
    """Return the force and moment that a motion of platform and legs requires.

    Both are in the base frame, the moment is about the platform's reference point. `state` contains
    pose and twist, `accel` is the acceleration, `axes` are the columns of the platform's rotation,
    and `g` is the geometry of the legs.
    """
    legs, platform, twist = rows_of(model, 0), model[PLATFORM:], state.rates
    v, w = vector(twist, 0), vector(twist, 3)
    a, alpha = accel
    base = base_of(state.base, state.moves, vector(platform, layout.GRAVITY), 0.0)
    leg_force, leg_moment = leg_wrench(legs, g, v, w, a, alpha, base)
    moving = vector(state.q, 0), v, w
    force, moment = dynamics.platform_wrench(platform, axes, moving, accel, base)
    return add_legs(force, leg_force), add_legs(moment, leg_moment)


@inner
def find_bias(model: Any, state: Any, trusted: bool, out: Any) -> bool:
    """Write the wrench (6,) of gravity, velocity terms and friction to `out`.

    It is about the platform's reference point, base frame. Return False if the state is invalid, or
    a leg's length is zero or its axes are undefined.
    """
    if not is_valid_state(state, trusted):
        return False
    X, Y, Z = unit_columns(state.q)
    g = leg_geometry(rows_of(model, 0), vector(state.q, 0), X, Y, Z)
    if is_degenerate(g):
        return False
    force, moment = required_wrench(model, state, (X, Y, Z), g, (NONE, NONE))
    store(out, 0, force)
    store(out, 3, moment)
    return True


@inner
def find_forces(model: Any, state: Any, trusted: bool, out: Any) -> bool:
    """Write the actuator forces (6,) for the motion in `state` to `out`.

    Return False if the state is invalid, a leg has no direction or axes, or the force Jacobian is
    singular.
    """
    if not is_valid_state(state, trusted):
        return False
    X, Y, Z = unit_columns(state.q)
    g = leg_geometry(rows_of(model, 0), vector(state.q, 0), X, Y, Z)
    if is_degenerate(g):
        return False
    accel = vector(state.acceleration_or_effort, 0), vector(state.acceleration_or_effort, 3)
    force, moment = required_wrench(model, state, (X, Y, Z), g, accel)
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


@preoptimize
def find_accelerations(model: Any, state: Any, trusted: bool, out: Any) -> bool:
    """Write the platform acceleration (6,) for the leg forces in `state` to `out`.

    Return False if the state is invalid, a leg has no direction or axes, or the mass matrix is
    singular.
    """
    if not is_valid_state(state, trusted):
        return False
    legs, platform, forces = rows_of(model, 0), model[PLATFORM:], state.acceleration_or_effort
    X, Y, Z = unit_columns(state.q)
    g = leg_geometry(legs, vector(state.q, 0), X, Y, Z)
    if is_degenerate(g):
        return False
    force, moment = required_wrench(model, state, (X, Y, Z), g, (NONE, NONE))
    arm = cross(g.q, g.s)
    (first, second), coupling, (third, fourth) = mass_blocks(legs, platform, X, Y, Z, g)
    upper = first, (first[1], second[0], second[1]), (first[2], second[1], second[2])
    lower = third, (third[1], fourth[0], fourth[1]), (third[2], fourth[1], fourth[2])
    M = new_rows(6)
    for j in range(3):
        linear, angular = -force[j], -moment[j]
        if state.contact:
            linear += state.wrench[j]
            angular += state.wrench[j + 3]
        for i in range(6):
            linear += lane(g.s[j], i) * forces[i]
            angular += lane(arm[j], i) * forces[i]
        M[j] = row_of_seven(upper[j], (coupling[0][j], coupling[1][j], coupling[2][j]), linear)
        M[j + 3] = row_of_seven(coupling[j], lower[j], angular)
    return solve_rows(M, True, out)


@inner
def row_of_seven(first: Vector, second: Vector, last: float) -> Any:
    """Return two vectors (3,) and a number in the first seven lanes of a SIMD vector."""
    row = with_lane(as_lane(first[0]), 1, first[1])
    row = with_lane(with_lane(row, 2, first[2]), 3, second[0])
    return with_lane(with_lane(with_lane(row, 4, second[1]), 5, second[2]), 6, last)


@inner
def mass_blocks(legs: Any, platform: Any, X: Vector, Y: Vector, Z: Vector, g: Any) -> Any:
    """Return the mass matrix of platform and legs, in the blocks of `at_reference`.

    `X`, `Y`, `Z` are the columns of the platform's rotation, `g` is the geometry of the legs.
    """
    legs_blocks = dynamics.at_reference(leg_tip_inertia(legs, g), g.q)
    return sum_of_legs(dynamics.platform_inertia(platform, X, Y, Z), legs_blocks)


@inner
def sum_of_legs(start: Any, legs: Any) -> Any:
    """Return the sum of a mass matrix and those of the six legs.

    All are in the blocks of `dynamics.at_reference`; the legs are added one after the other.
    """
    (f, s), (x, y, z), (p, q) = start
    (g1, g2), (u, v, w), (h1, h2) = legs
    return (
        (add_legs(f, g1), add_legs(s, g2)),
        (add_legs(x, u), add_legs(y, v), add_legs(z, w)),
        (add_legs(p, h1), add_legs(q, h2)),
    )


@entry_kernel
def inverse_dynamics(
    model: Any, pose: Any, twist: Any, accel: Any, wrench: Any, base: Any, trusted: bool, out: Any
) -> bool:
    """Write the actuator forces (6,) of one state to `out`; return whether they exist."""
    state = state_of(pose, twist, accel, wrench, base)
    return find_forces(borrowed_array(model), state, trusted, borrowed_array(out))


@entry_kernel
def bias(model: Any, pose: Any, twist: Any, base: Any, trusted: bool, out: Any) -> bool:
    """Write one state's wrench (6,) of gravity, velocity terms and friction to `out`.

    It is about the platform's reference point, base frame. Return whether it exists.
    """
    state = state_of(pose, twist, twist, None, base)
    return find_bias(borrowed_array(model), state, trusted, borrowed_array(out))


@entry_kernel
def forward_dynamics(
    model: Any, pose: Any, twist: Any, forces: Any, wrench: Any, base: Any, trusted: bool, out: Any
) -> bool:
    """Write the platform acceleration (6,) for the leg forces of one state to `out`.

    Return whether the acceleration exists.
    """
    state = state_of(pose, twist, forces, wrench, base)
    return find_accelerations(borrowed_array(model), state, trusted, borrowed_array(out))


@entry_kernel
def mass_matrix(model: Any, pose: Any, trusted: bool, out: Any) -> bool:
    """Write the mass matrix (6, 6) at one pose to `out`; return whether it exists."""
    model, pose = borrowed_array(model), borrowed_array(pose)
    if not trusted and not is_pose(pose):
        return False
    legs, platform = rows_of(model, 0), model[PLATFORM:]
    X, Y, Z = unit_columns(pose)
    g = leg_geometry(legs, vector(pose, 0), X, Y, Z)
    if is_degenerate(g):
        return False
    dynamics.write_mass_matrix(mass_blocks(legs, platform, X, Y, Z, g), borrowed_array(out))
    return True


@entry_kernel
def condition_number(model: Any, pose: Any, length: float, trusted: bool) -> float:
    """Return the force Jacobian's condition number at one pose.

    The Jacobian's moment rows are divided by `length` [m]. The result is -1 if an argument is
    invalid or a leg has zero length.
    """
    model, pose = borrowed_array(model), borrowed_array(pose)
    if not trusted and not (is_pose(pose) and 0.0 < length < math.inf):
        return -1.0
    X, Y, Z = unit_columns(pose)
    g = leg_geometry(rows_of(model, 0), vector(pose, 0), X, Y, Z)
    if any_of(~(g.length > layout.SMALLEST_LENGTH)):
        return -1.0
    arm = cross(g.q, g.s)
    inverse = 1.0 / length
    H = new_rows(6)
    for j in range(3):
        H[j] = g.s[j]
        H[j + 3] = inverse * arm[j]
    return condition_of_rows(H)


@entry_kernel
def pose_difference(start: Any, goal: Any, out: Any) -> None:
    """Write the displacement (6,) [m, rad] between two poses (7,) to `out`.

    It consists of the translation and the rotation vector from `start` to `goal`, base frame.
    """
    rotations.pose_difference(borrowed_array(start), borrowed_array(goal), borrowed_array(out))


@entry_kernel
def advanced_pose(pose: Any, displacement: Any, out: Any) -> None:
    """Write the pose (7,) after a displacement (6,) [m, rad] from `pose` to `out`.

    The displacement consists of a translation and a rotation vector, base frame.
    """
    rotations.advanced_pose(borrowed_array(pose), borrowed_array(displacement), borrowed_array(out))
