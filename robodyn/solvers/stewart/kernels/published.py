# SPDX-License-Identifier: Apache-2.0

"""Inverse dynamics as printed in two papers, errors included: the exact equations, modified.

Dasgupta and Mruthyunjaya (1998), and Pedrammehr, Mahboubkhah and Khani (2012). The correct parts of
a paper come from `kernels.leg`; three switches select how a formulation departs from them.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from robodyn.dynamics.kernels.base_motion import base_at_rest
from robodyn.dynamics.kernels.state import State
from robodyn.numerics.compiler import kernel
from robodyn.numerics.linear import solve
from robodyn.numerics.rotations import rotation_columns
from robodyn.numerics.vectors import (
    Vector,
    add,
    axpy,
    combine,
    cross,
    dot,
    resolve,
    scale,
    store,
    sub,
    vector,
)
from robodyn.solvers.stewart.kernels import layout
from robodyn.solvers.stewart.kernels.dynamics import platform_wrench
from robodyn.solvers.stewart.kernels.kinematics import geometry_status
from robodyn.solvers.stewart.kernels.leg import (
    LegAcceleration,
    LegVelocity,
    centers,
    leg_acceleration,
    leg_geometry,
    leg_load,
    leg_velocity,
)

# spin of the leg about its own axis
TRUE_SPIN: Final = 0
NO_SPIN: Final = 1  # 1998, eq. 6 and 9: W.s = A.s = 0
SPIN_2012: Final = 2  # 2012, eq. 25: the product of the rates not divided by |k x s|
# direction of the universal joint's constraint moment
ALONG_C: Final = 0
ALONG_LEG: Final = 1  # 1998, eq. 17 to 22
# term added to the inertia tensors although m r x a already contains it
NO_SHIFT: Final = 0
SHIFT_1998: Final = 1  # eq. 16: mu L^2 diag(0, 1, 1)
SHIFT_2012: Final = 2  # eq. 32, 33, 50: the parallel-axis term, of base-frame components


@kernel
def parallel_axis(mass: float, r: Vector, a: Vector) -> Vector:
    """Multiply a vector `a` by the inertia mass (r.r E - r r') of a point mass at r."""
    return scale(mass, axpy(-dot(r, a), r, scale(dot(r, r), a)))


@kernel
def shifted_inertia_times(leg: Any, g: Any, shift: int, a: Vector) -> Vector:
    """Multiply a vector by the inertia that a published formulation adds to a leg.

    `shift` is the code of the formulation's parallel-axis terms; without one, the result is zero.
    The vector and the result are in the base frame.
    """
    if shift == SHIFT_1998:
        return scale(leg[layout.UPPER_MASS] * g.length**2, axpy(-dot(g.s, a), g.s, a))
    if shift == SHIFT_2012:
        # as printed: L_d, L_u are resolved in the base frame, yet rotated by T once more
        rd, ru = centers(leg, g)
        local = resolve(g.s, g.y, g.z, a)
        lower = parallel_axis(leg[layout.LOWER_MASS], rd, local)
        upper = parallel_axis(leg[layout.UPPER_MASS], ru, local)
        return combine(g.s, g.y, g.z, add(lower, upper))
    return 0.0, 0.0, 0.0


@kernel
def leg_motion(g: Any, v: Vector, w: Vector, a: Vector, alpha: Vector, spin: int) -> Any:
    """Compute the motion of a leg with its spin as assumed by a published formulation.

    The platform has the twist (v, w) and the acceleration (a, alpha); `spin` is the code of the
    formulation. Returns a `LegVelocity` and a `LegAcceleration`.
    """
    m = leg_velocity(g, v, w)
    if spin == NO_SPIN:
        Wp = axpy(-dot(g.s, m.W), g.s, m.W)
        m = LegVelocity(m.tip, m.rate, Wp, m.about_k, m.about_y)
    n = leg_acceleration(g, m, a, alpha, w)
    if spin == TRUE_SPIN:
        return m, n
    along = 0.0
    Ap = axpy(-dot(g.s, n.A), g.s, n.A)
    if spin == SPIN_2012:
        u = cross(g.y, g.c)
        along = dot(Ap, u) * dot(u, g.s) / g.sine**2 - m.about_k * m.about_y
    return m, LegAcceleration(n.rate, axpy(along, g.s, Ap))


@kernel
def leg_tip_force(
    leg: Any,
    g: Any,
    m: Any,
    n: Any,
    w: Vector,
    base: Any,
    moment_axis: int,
    shift: int,
) -> tuple[Vector, Vector]:
    """Return the force and friction moment at a leg's tip, by a published formulation.

    The force is that of the platform on the leg's tip, without the actuator force; both vectors are
    in the base frame. `moment_axis` and `shift` are codes of the formulation.
    """
    load = leg_load(leg, g, m, n, w, base)
    C = add(load.C, shifted_inertia_times(leg, g, shift, n.A))
    C = add(C, cross(m.W, shifted_inertia_times(leg, g, shift, m.W)))
    if moment_axis == ALONG_C:
        C = axpy(dot(g.s, C) * g.spin, g.c, C)
    K = scale(1.0 / g.length, cross(C, g.s))
    return axpy(load.D, g.s, K), load.friction


@kernel
def inverse_dynamics_as_printed(
    legs: Any, platform: Any, state: Any, departures: Any, H: Any, out: Any
) -> int:
    """Write the actuator forces of one state, as printed in a paper, to `out` (6,).

    `departures` contains the codes of spin, moment and shift, in which the paper's equations differ
    from the exact ones. `H` (6, 6) is scratch. Return OK, or the status code of a failure.
    """
    spin, moment_axis, shift = departures
    pose, twist, accel, wrench = state.q, state.rates, state.acceleration_or_effort, state.wrench
    position = vector(pose, 0)
    X, Y, Z = rotation_columns(pose)
    v, w = vector(twist, 0), vector(twist, 3)
    a, alpha = vector(accel, 0), vector(accel, 3)
    base = base_at_rest(vector(platform, layout.GRAVITY))
    force, moment = platform_wrench(platform, (X, Y, Z), (position, v, w), (a, alpha), base)
    if shift == SHIFT_2012:
        r = combine(X, Y, Z, vector(platform, layout.COM))
        for_alpha = parallel_axis(platform[layout.MASS], r, resolve(X, Y, Z, alpha))
        for_w = parallel_axis(platform[layout.MASS], r, resolve(X, Y, Z, w))
        moment = add(moment, combine(X, Y, Z, for_alpha))
        moment = add(moment, cross(w, combine(X, Y, Z, for_w)))
    for i in range(6):
        g = leg_geometry(legs[i], position, X, Y, Z)
        status = geometry_status(g, i)
        if status != layout.OK:
            return status
        store(H[:, i], 0, g.s)
        store(H[:, i], 3, cross(g.q, g.s))
        m, n = leg_motion(g, v, w, a, alpha, spin)
        tip, friction = leg_tip_force(legs[i], g, m, n, w, base, moment_axis, shift)
        force = add(force, tip)
        moment = add(moment, sub(cross(g.q, tip), friction))
    store(out, 0, sub(force, vector(wrench, 0)))
    store(out, 3, sub(moment, vector(wrench, 3)))
    return layout.OK if solve(H, out) else layout.SINGULAR


@kernel
def all_as_printed(
    legs: Any, platform: Any, pose: Any, twist: Any, accel: Any, wrench: Any, departures: Any,
    out: Any, status: Any,
) -> None:  # fmt: skip
    """Write the actuator forces of N states, as printed in a paper, to `out` (N, 6).

    `departures` contains the codes of spin, moment and shift, in which the paper's equations differ
    from the exact ones. Status codes are written to `status` (N,).
    """
    H = np.empty((6, 6))
    for n in range(pose.shape[0]):
        state = State(pose[n], twist[n], accel[n], wrench[n], True, wrench[n], False)
        status[n] = inverse_dynamics_as_printed(legs, platform, state, departures, H, out[n])
