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
    """Motion of a base, in base axes.

    Attributes:
        force: specific force [m/s^2] at the origin of the base frame; minus gravity at rest.
        omega, alpha: angular velocity [rad/s] and angular acceleration [rad/s^2].
        moves: whether the base moves; otherwise `omega` and `alpha` are zero.
    """

    force: Any
    omega: Any
    alpha: Any
    moves: bool


@inner
def base_of(base: Any, moves: bool, gravity: Any, zero: Any) -> Any:
    """Return the `Base` for components (9,) of its motion, or one at rest.

    The base is at rest if not `moves`; its specific force is then minus `gravity` (3,). `zero` is
    0, as a float or SIMD vector.
    """
    if moves:
        return Base(vector(base, 0), vector(base, 3), vector(base, 6), moves)
    none = (zero, zero, zero)
    return Base((zero - gravity[0], zero - gravity[1], zero - gravity[2]), none, none, moves)


@inner
def base_at_rest(gravity: Any) -> Any:
    """Return the `Base` of a mechanism whose base does not move.

    Its specific force is minus `gravity` (3,) [m/s^2].
    """
    none = (0.0, 0.0, 0.0)
    return Base((-gravity[0], -gravity[1], -gravity[2]), none, none, False)


@inner
def transport_and_coriolis(base: Any, p: Vector, u: Vector) -> Vector:
    """Return the acceleration of a point due to the rotation of the base.

    It is alpha x p + w x (w x p + 2 u), in base axes, and includes the Coriolis term. The point p
    has the velocity u, both relative to the base.
    """
    turned = cross(base.omega, axpy(2.0, u, cross(base.omega, p)))
    return add(cross(base.alpha, p), turned)


@inner
def absolute_angular_motion(base: Any, omega: Vector, alpha: Vector) -> tuple[Vector, Vector]:
    """Convert a body's angular motion from base-relative to absolute.

    Arguments and results are angular velocity and angular acceleration, in base axes. If the base
    does not move, they are equal.
    """
    if base.moves:
        changed = add(base.alpha, cross(base.omega, omega))
        return add(base.omega, omega), add(alpha, changed)
    return omega, alpha
