# SPDX-License-Identifier: Apache-2.0

"""Derivatives of an arm's dynamics by recursion, for floats or SIMD lanes.

See `dynamics.kernels.effort_derivatives`.
"""

from __future__ import annotations

from typing import Any

from robodyn.dynamics.kernels.dry_friction import dry_friction_slope, friction_rate
from robodyn.dynamics.kernels.effort_derivatives import (
    ARM,
    AXIS,
    MOVED,
    MOVING,
    TURNED,
    TURNING,
    LinkMotion,
    LinkTerms,
    columns_of,
    link_terms,
    pass_joint,
)
from robodyn.numerics.compiler import inner
from robodyn.numerics.linear import LEAST_PIVOT, factor_positive, solve_rows_by_factor
from robodyn.numerics.matrices import plus
from robodyn.numerics.vectors import add, cross, dot, scale, store, vector
from robodyn.solvers.serial.kernels import layout, spatial

# Scratch, a row for each joint: data of the coordinate, then motion of the link.
OMEGA, VELOCITY, ALPHA, ACCELERATION = 18, 21, 24, 27
SLOPE_SIZE = 30


@inner
def outward(chain: Any, frames: Any, base: Any, qd: Any, qdd: Any, rows: Any) -> None:
    """Write the motion of each link, base to tip, to a row of the scratch array `rows`.

    The motion is that of `LinkMotion`, about the base's origin in base axes. Each row also gets the
    motion axis S of the link's joint and the derived axes Psi' and Psi'', see
    `dynamics.kernels.effort_derivatives`.
    """
    none = scale(0.0, base.force)
    motion = LinkMotion(base.omega, none, base.alpha, base.force)
    for i in range(chain.shape[0] - 1):
        row, z = rows[i], spatial.joint_axis(frames, i)
        axis, arm = z, cross(spatial.joint_origin(frames, i), z)
        if chain[i + 1, layout.PRISMATIC] != 0.0:
            axis, arm = none, z
        motion = pass_joint(axis, arm, qd[i], qdd[i], motion, row)
        store(row, OMEGA, motion.omega)
        store(row, VELOCITY, motion.velocity)
        store(row, ALPHA, motion.alpha)
        store(row, ACCELERATION, motion.accel)


@inner
def terms_of_link(chain: Any, frames: Any, row: Any, i: int) -> Any:
    """Return the `LinkTerms` of link `i`, from its mass properties and its motion.

    The motion is read from the link's row of the scratch array, as written by `outward`.
    """
    motion = LinkMotion(
        vector(row, OMEGA), vector(row, VELOCITY), vector(row, ALPHA), vector(row, ACCELERATION)
    )
    com, inertia = spatial.link_com(chain, frames, i), spatial.link_inertia(chain, frames, i)
    return link_terms(chain[i + 1, layout.MASS], com, inertia, motion)


@inner
def effort_derivatives(
    chain: Any, frames: Any, base: Any, state: Any, planned: bool, rows: Any, out: Any
) -> None:
    """Write derivatives of efforts with respect to q, qd and qdd to `out` (3 n n).

    Each is a matrix (n, n) in row-major order. Rotors, friction and the tip wrench are included.
    `state` contains q, qd, qdd and the wrench, and `rows` is scratch. If `planned`, a joint at rest
    has the dry friction of the direction in which it accelerates.
    """
    n = chain.shape[0] - 1
    qd, qdd = state.rates, state.acceleration_or_effort
    outward(chain, frames, base, qd, qdd, rows)
    none = scale(0.0, base.force)
    mass, first, inertia = 0.0, none, (none, none, none)
    D, p, moment, force = (none, none, none), none, none, none
    by_rate, by_change = n * n, 2 * n * n
    for j in range(n - 1, -1, -1):
        row = rows[j]
        own = terms_of_link(chain, frames, row, j)
        mass, first, inertia = mass + own[0], add(first, own[1]), plus(inertia, own[2])
        D, p, moment, force = (
            plus(D, own[3]),
            add(p, own[4]),
            add(moment, own[5]),
            add(force, own[6]),
        )
        half = vector(row, TURNING), vector(row, MOVING)
        total = LinkTerms(mass, first, inertia, D, p, moment, force)
        change, rate, place, factor = columns_of(row, half, total)
        for i in range(j + 1):
            other = rows[i]
            z, arm_of = vector(other, AXIS), vector(other, ARM)
            entry = dot(z, change[0]) + dot(arm_of, change[1])
            out[by_change + i * n + j] = entry
            out[by_change + j * n + i] = entry
            out[i * n + j] = dot(z, place[0]) + dot(arm_of, place[1])
            out[by_rate + i * n + j] = dot(z, rate[0]) + dot(arm_of, rate[1])
            if i < j:
                w, u = vector(other, TURNING), vector(other, MOVING)
                mixed = dot(change[0], w) + dot(change[1], u)
                out[by_rate + j * n + i] = dot(factor, z) + 2.0 * mixed
                mixed = dot(change[0], vector(other, TURNED)) + dot(change[1], vector(other, MOVED))
                out[j * n + i] = dot(factor, w) + mixed
        side = friction_rate(qd[j], qdd[j]) if planned else qd[j]
        slope = chain[j + 1, layout.DAMPING] + dry_friction_slope(
            chain[j + 1], layout.DRY_FRICTION, side
        )
        at = j * n + j
        out[at] = out[at] + chain[j + 1, layout.STIFFNESS]
        out[by_rate + at] = out[by_rate + at] + slope
        out[by_change + at] = out[by_change + at] + chain[j + 1, layout.ARMATURE]
    if state.contact:
        add_wrench_derivatives(chain, frames, state.wrench, rows, out)


@inner
def add_wrench_derivatives(chain: Any, frames: Any, wrench: Any, rows: Any, out: Any) -> None:
    """Add the contribution of a tip wrench to the effort derivatives w.r.t. q.

    The wrench (6,), exerted on the tip by the environment, is constant in the base frame.
    """
    n = chain.shape[0] - 1
    tip, force = spatial.joint_origin(frames, n), vector(wrench, 0)
    moment = add(vector(wrench, 3), cross(tip, force))
    for j in range(n):
        z, arm_of = vector(rows[j], AXIS), vector(rows[j], ARM)
        moved = cross(add(cross(z, tip), arm_of), force)
        for i in range(n):
            axis, arm = vector(rows[i], AXIS), vector(rows[i], ARM)
            total = dot(axis, moved)
            if j < i:
                arm = add(cross(z, arm), cross(arm_of, axis))
                total = total + dot(cross(z, axis), moment) + dot(arm, force)
            out[i * n + j] = out[i * n + j] - total


@inner
def solve_derivatives(n: int, M: Any, rows: Any, out: Any) -> bool:
    """Replace derivatives of efforts in `out` (3 n n) by those of accelerations.

    On entry, `out` contains three matrices (n, n): the derivatives of the efforts with respect to
    q, qd and qdd; on return, those of the accelerations with respect to q, qd and efforts. `M` (n,
    n) is the mass matrix, which is overwritten and may be the last part of `out`; `rows` (n, at
    least 3 n) is scratch. Return False if the mass matrix is singular.
    """
    if not factor_positive(M, n, LEAST_PIVOT, False):
        return False
    zero = 0.0 * M[0, 0]
    for i in range(n):
        for j in range(n):
            rows[i, j] = -out[i * n + j]
            rows[i, n + j] = -out[(n + i) * n + j]
            rows[i, 2 * n + j] = zero
        rows[i, 2 * n + i] = 1.0 + zero
    solve_rows_by_factor(M, n, rows, 3 * n)
    for i in range(n):
        for j in range(n):
            out[i * n + j] = rows[i, j]
            out[(n + i) * n + j] = rows[i, n + j]
            out[(2 * n + i) * n + j] = rows[min(i, j), 2 * n + max(i, j)]
    return True
