# SPDX-License-Identifier: Apache-2.0

"""The whole 6-UPS Stewart platform: inverse and forward dynamics, mass matrix, one state a call.

Dasgupta and Mruthyunjaya (1998), section 3, in the form  H F + wrench = M accel + h : the wrench
that a motion requires at the platform is summed first, then solved for either six forces or the
acceleration. Every function returns a status code of `kernels.layout`.
"""

from __future__ import annotations

from typing import Any

from robodyn.mechanisms.common.kernels.base_motion import at_rest, felt, turning
from robodyn.mechanisms.stewart.kernels.kinematics import geometry_status
from robodyn.mechanisms.stewart.kernels.layout import COM, GRAVITY, INERTIA, MASS, OK, SINGULAR
from robodyn.mechanisms.stewart.kernels.leg import leg_geometry, leg_tip_inertia, leg_wrench
from robodyn.numerics.compiler import inner
from robodyn.numerics.linear import solve
from robodyn.numerics.rotations import rotation_columns
from robodyn.numerics.vectors import (
    Vector,
    add,
    combine,
    cross,
    scale,
    store,
    turn_inertia,
    vector,
)


@inner
def platform_wrench(
    platform: Any, axes: Any, moving: Any, accel: Any, base: Any
) -> tuple[Vector, Vector]:
    """Force and moment that the platform's own motion requires (eq. 33, 34 without the legs).

    `axes` are the columns of its rotation, `moving` position, velocity and angular velocity,
    `accel` the derivatives of the latter two.
    """
    X, Y, Z = axes
    position, v, w = moving
    a, alpha = accel
    r = combine(X, Y, Z, vector(platform, COM))
    ag = add(add(a, cross(alpha, r)), cross(w, cross(w, r)))
    ag = felt(base, ag, add(position, r), add(v, cross(w, r)))
    force = scale(platform[MASS], ag)
    omega, change = turning(base, w, alpha)
    moment = add(cross(r, force), turn_inertia(X, Y, Z, platform, INERTIA, change))
    moment = add(moment, cross(omega, turn_inertia(X, Y, Z, platform, INERTIA, omega)))
    return force, moment


@inner
def platform_inertia(
    platform: Any, X: Vector, Y: Vector, Z: Vector, a: Vector, alpha: Vector
) -> tuple[Vector, Vector]:
    """Force and moment for an acceleration of the platform alone from rest, without gravity."""
    r = combine(X, Y, Z, vector(platform, COM))
    force = scale(platform[MASS], add(a, cross(alpha, r)))
    return force, add(cross(r, force), turn_inertia(X, Y, Z, platform, INERTIA, alpha))


@inner
def required_wrench(
    legs: Any, platform: Any, pose: Any, twist: Any, accel: Any, base: Any, with_legs: bool,
    H: Any, out: Any,
) -> int:  # fmt: skip
    """H (6, 6) and the wrench (6,) for which H F + external wrench = out."""
    position = vector(pose, 0)
    X, Y, Z = rotation_columns(pose)
    v, w = vector(twist, 0), vector(twist, 3)
    a, alpha = vector(accel, 0), vector(accel, 3)
    force, moment = platform_wrench(platform, (X, Y, Z), (position, v, w), (a, alpha), base)
    for i in range(6):
        g = leg_geometry(legs[i], position, X, Y, Z)
        status = geometry_status(g, i)
        if status != OK:
            return status
        write_column(H, i, g.s, cross(g.q, g.s))
        if with_legs:
            leg_force, leg_moment = leg_wrench(legs[i], g, v, w, a, alpha, base)
            force = add(force, leg_force)
            moment = add(moment, leg_moment)
    store(out, 0, force)
    store(out, 3, moment)
    return OK


@inner
def write_column(H: Any, i: int, upper: Any, lower: Any) -> None:
    """Write column i of a matrix (6, 6)."""
    for j in range(3):
        H[j, i] = upper[j]
        H[j + 3, i] = lower[j]


@inner
def inverse_dynamics(
    legs: Any, platform: Any, pose: Any, twist: Any, accel: Any, wrench: Any, H: Any, out: Any
) -> int:
    """Actuator forces (6,) of one state; H (6, 6) is work space."""
    base = at_rest(vector(platform, GRAVITY))
    status = required_wrench(legs, platform, pose, twist, accel, base, True, H, out)
    if status != OK:
        return status
    for j in range(6):
        out[j] -= wrench[j]
    return OK if solve(H, out) else SINGULAR


@inner
def mass_matrix(legs: Any, platform: Any, pose: Any, out: Any) -> int:
    """Mass matrix (6, 6) of one pose: sum of J' m J, with J = [E, -q x] at every leg's tip."""
    position = vector(pose, 0)
    X, Y, Z = rotation_columns(pose)
    for j in range(6):
        linear, angular = unit_motion(j)
        force, moment = platform_inertia(platform, X, Y, Z, linear, angular)
        write_column(out, j, force, moment)
    for i in range(6):
        g = leg_geometry(legs[i], position, X, Y, Z)
        status = geometry_status(g, i)
        if status != OK:
            return status
        at_tip = tip_inertia(legs[i], g)
        for j in range(6):
            linear, angular = unit_motion(j)
            force, moment = tip_share(g, at_tip, linear, angular)
            for k in range(3):
                out[k, j] = out[k, j] + force[k]
                out[k + 3, j] = out[k + 3, j] + moment[k]
    return OK


@inner
def tip_inertia(leg: Any, g: Any) -> Any:
    """Columns of a leg's inertia at its tip."""
    return (
        leg_tip_inertia(leg, g, (1.0, 0.0, 0.0)),
        leg_tip_inertia(leg, g, (0.0, 1.0, 0.0)),
        leg_tip_inertia(leg, g, (0.0, 0.0, 1.0)),
    )


@inner
def tip_share(g: Any, at_tip: Any, linear: Vector, angular: Vector) -> tuple[Vector, Vector]:
    """Force and moment by which a leg's inertia at its tip resists a platform acceleration."""
    force = combine(at_tip[0], at_tip[1], at_tip[2], add(linear, cross(angular, g.q)))
    return force, cross(g.q, force)


@inner
def unit_motion(j: int) -> tuple[Vector, Vector]:
    """Linear and angular part of the j-th unit acceleration of the platform."""
    return (
        (1.0 if j == 0 else 0.0, 1.0 if j == 1 else 0.0, 1.0 if j == 2 else 0.0),
        (1.0 if j == 3 else 0.0, 1.0 if j == 4 else 0.0, 1.0 if j == 5 else 0.0),
    )
