# SPDX-License-Identifier: Apache-2.0

"""Effect of a moving base on the accelerations of the bodies that it carries.

Positions, velocities and accelerations are relative to the base, in its axes. At a point p of the
base frame with relative velocity u, the absolute acceleration minus gravity is, with f, w and alpha
as measured by an inertial measurement unit at the base frame's origin,

    a + f + alpha x p + w x (w x p + 2 u).

`base` (9,) is that specific force [m/s^2], angular velocity [rad/s] and angular acceleration
[rad/s^2]. At rest f is minus gravity, and the other terms are not computed.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from robodyn.numerics.compiler import inner
from robodyn.numerics.vectors import Vector, add, axpy, cross, vector

BASE: Final = 9
# A wrench (6,) may be followed by the motion of the base.
WRENCH: Final = 6


class Base(NamedTuple):
    """Motion of a base: specific force, angular velocity and acceleration; may be at rest."""

    force: Any
    omega: Any
    alpha: Any
    moves: bool


@inner
def base_of(base: Any, moves: bool, gravity: Any, zero: Any) -> Any:
    """Return the `Base` for components (9,) of its motion if it `moves`, else one at rest."""
    if moves:
        return Base(vector(base, 0), vector(base, 3), vector(base, 6), moves)
    none = (zero, zero, zero)
    return Base((zero - gravity[0], zero - gravity[1], zero - gravity[2]), none, none, moves)


@inner
def base_at_rest(gravity: Any) -> Any:
    """Return the `Base` of a mechanism whose base does not move."""
    none = (0.0, 0.0, 0.0)
    return Base((-gravity[0], -gravity[1], -gravity[2]), none, none, False)


@inner
def transport_and_coriolis(base: Any, p: Vector, u: Vector) -> Vector:
    """Return a point's acceleration due to the rotation of the base (Coriolis included)."""
    turned = cross(base.omega, axpy(2.0, u, cross(base.omega, p)))
    return add(cross(base.alpha, p), turned)


@inner
def absolute_angular_motion(base: Any, omega: Vector, alpha: Vector) -> tuple[Vector, Vector]:
    """Convert a body's angular velocity and acceleration from base-relative to absolute."""
    if base.moves:
        changed = add(base.alpha, cross(base.omega, omega))
        return add(base.omega, omega), add(alpha, changed)
    return omega, alpha
