"""The whole 6-UPS Stewart platform: inverse and forward dynamics, mass matrix, one state a call.

Dasgupta and Mruthyunjaya (1998), section 3, in the form  H F + wrench = M accel + h : the wrench
that a motion requires at the platform is summed first, then either six forces are solved for or
the acceleration. Every function returns a status code of `stewart_layout`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.kernels.compiler import kernel
from robodyn.kernels.linear import solve, solve_positive_definite
from robodyn.kernels.rotations import rotation_columns
from robodyn.kernels.stewart_kinematics import geometry_status
from robodyn.kernels.stewart_layout import COM, GRAVITY, INERTIA, MASS, OK, SINGULAR
from robodyn.kernels.stewart_leg import (
    leg_acceleration,
    leg_geometry,
    leg_load,
    leg_tip_mass,
    leg_velocity,
)
from robodyn.kernels.vectors import (
    Vector,
    add,
    combine,
    cross,
    scale,
    store,
    sub,
    turn_inertia,
    vector,
)


@kernel
def platform_wrench(
    platform: Any,
    X: Vector,
    Y: Vector,
    Z: Vector,
    w: Vector,
    a: Vector,
    alpha: Vector,
    out: Any,
) -> None:
    """Wrench (6,) that the platform's own motion requires (eq. 33, 34 without the legs)."""
    r = combine(X, Y, Z, vector(platform, COM))
    ag = add(add(a, cross(alpha, r)), cross(w, cross(w, r)))
    force = scale(platform[MASS], sub(ag, vector(platform, GRAVITY)))
    moment = add(cross(r, force), turn_inertia(X, Y, Z, platform, INERTIA, alpha))
    moment = add(moment, cross(w, turn_inertia(X, Y, Z, platform, INERTIA, w)))
    store(out, 0, force)
    store(out, 3, moment)


@kernel
def required_wrench(
    legs: Any,
    platform: Any,
    pose: Any,
    twist: Any,
    accel: Any,
    with_legs: bool,
    H: Any,
    out: Any,
) -> int:
    """H (6, 6) and the wrench (6,) for which H F + external wrench = out."""
    position = vector(pose, 0)
    X, Y, Z = rotation_columns(pose)
    v, w = vector(twist, 0), vector(twist, 3)
    a, alpha = vector(accel, 0), vector(accel, 3)
    gravity = vector(platform, GRAVITY)
    platform_wrench(platform, X, Y, Z, w, a, alpha, out)
    force, moment = vector(out, 0), vector(out, 3)
    for i in range(6):
        g = leg_geometry(legs, i, position, X, Y, Z)
        status = geometry_status(g, i)
        if status != OK:
            return status
        store(H[:, i], 0, g.s)
        store(H[:, i], 3, cross(g.q, g.s))
        if with_legs:
            m = leg_velocity(g, v, w)
            n = leg_acceleration(g, m, a, alpha, w)
            load = leg_load(legs, i, g, m, n, w, gravity)
            force = add(force, load.tip_force)
            moment = add(moment, sub(cross(g.q, load.tip_force), load.friction))
    store(out, 0, force)
    store(out, 3, moment)
    return OK


@kernel
def inverse_dynamics(
    legs: Any,
    platform: Any,
    pose: Any,
    twist: Any,
    accel: Any,
    wrench: Any,
    with_legs: bool,
    H: Any,
    out: Any,
) -> int:
    """Actuator forces (6,) of one state; H (6, 6) is work space."""
    status = required_wrench(legs, platform, pose, twist, accel, with_legs, H, out)
    if status != OK:
        return status
    for j in range(6):
        out[j] -= wrench[j]
    return OK if solve(H, out) else SINGULAR


@kernel
def mass_matrix(legs: Any, platform: Any, pose: Any, out: Any) -> int:
    """Mass matrix (6, 6) of one pose: sum of J' m J, with J = [E, -q x] at every leg's tip."""
    position = vector(pose, 0)
    X, Y, Z = rotation_columns(pose)
    tip_mass = np.empty((3, 3))
    zero = (0.0, 0.0, 0.0)
    gravity_free = platform.copy()
    store(gravity_free, GRAVITY, zero)
    for j in range(3):
        unit = (1.0 if j == 0 else 0.0, 1.0 if j == 1 else 0.0, 1.0 if j == 2 else 0.0)
        platform_wrench(gravity_free, X, Y, Z, zero, unit, zero, out[:, j])
        platform_wrench(gravity_free, X, Y, Z, zero, zero, unit, out[:, 3 + j])
    for i in range(6):
        g = leg_geometry(legs, i, position, X, Y, Z)
        status = geometry_status(g, i)
        if status != OK:
            return status
        leg_tip_mass(legs, i, g, tip_mass)
        t0, t1, t2 = vector(tip_mass[:, 0], 0), vector(tip_mass[:, 1], 0), vector(tip_mass[:, 2], 0)
        for j in range(3):
            unit = (1.0 if j == 0 else 0.0, 1.0 if j == 1 else 0.0, 1.0 if j == 2 else 0.0)
            linear = combine(t0, t1, t2, unit)
            angular = combine(t0, t1, t2, cross(unit, g.q))
            linear_moment = cross(g.q, linear)
            angular_moment = cross(g.q, angular)
            for row in range(3):
                out[row, j] += linear[row]
                out[row + 3, j] += linear_moment[row]
                out[row, j + 3] += angular[row]
                out[row + 3, j + 3] += angular_moment[row]
    return OK


@kernel
def forward_dynamics(
    legs: Any,
    platform: Any,
    pose: Any,
    twist: Any,
    forces: Any,
    wrench: Any,
    H: Any,
    M: Any,
    out: Any,
) -> int:
    """Platform acceleration (6,) of one state: M accel = H F + wrench - h; H, M are work space."""
    out[:] = 0.0
    status = required_wrench(legs, platform, pose, twist, np.zeros(6), True, H, out)
    if status != OK:
        return status
    status = mass_matrix(legs, platform, pose, M)
    if status != OK:
        return status
    for row in range(6):
        total = wrench[row] - out[row]
        for j in range(6):
            total += H[row, j] * forces[j]
        out[row] = total
    return OK if solve_positive_definite(M, out) else SINGULAR
