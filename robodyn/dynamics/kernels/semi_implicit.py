# SPDX-License-Identifier: Apache-2.0

"""Semi-implicit Euler step: the velocity first, then the configuration with the new velocity.

With the mass matrix M, the forces f(q, v), the viscous damping D and the rows L of the joints'
rates at the beginning of a step,

    (M + h D) a = f(q, v) + L' r,    v + h a,    q + h q'(v + h a).

The dry friction r is that of Moreau's time stepping (Moreau, 1988): its efforts are within their
levels, and a joint whose rate they can bring to zero has no rate after the step. Hence a joint
sticks exactly, and friction adds no energy, however long the step. An active end stop of stiffness
k and damping d adds d + h k to D, so that it is stable for any k and d.

The method is of order 1: its error is proportional to h. Without damping it is symplectic, so the
energy oscillates about its value by an amount proportional to h and does not drift.
"""

from __future__ import annotations

from typing import Any

from robodyn.dynamics.kernels.dry_friction import dry_friction
from robodyn.dynamics.kernels.modes import (
    factor_with_damping,
    put_responses,
    rest_threshold,
    row_times,
)
from robodyn.dynamics.kernels.sticking import STATIC, STATIC_BACKWARD, solve_stiction
from robodyn.numerics.compiler import noinline
from robodyn.numerics.linear import solve_factored
from robodyn.numerics.simd.lanes import any_of, choose, largest_of
from robodyn.numerics.vectors import copy


@noinline
def put_velocity(plant: Any, e: Any, j: Any, h: float, v: Any, out: Any) -> bool:
    """Write the velocity (nv,) after a semi-implicit step; False if it is not determined.

    Args:
        plant: plant with `friction` (nf, sticking.ROW) and end stops.
        e: `hybrid_step.MotionEquations` with the damping, which is overwritten.
        j: `modes.FrictionMemory` with the joints' speeds.
        h: [s] length of the step.
        v: (nv,) velocity at the beginning of the step.
        out: (nv,) velocity at the end of the step.

    Returns:
        False if M + h D, of mass matrix M and damping D, is not positive definite.
    """
    friction, L, x = plant.friction, e.L, j.x
    nf, nv = friction.shape[0], x.shape[0]
    for i in range(e.stops.shape[0]):
        slope = e.stops[i, 1] + h * e.stops[i, 0]
        if any_of(slope > 0.0):
            for k in range(nv):
                for n in range(k + 1):
                    e.D[k, n] = e.D[k, n] + slope * (L[i, k] * L[i, n])
    step = h + 0.0 * v[0]
    if not factor_with_damping(j.factor, e.M, e.D, step, True, nv):
        return False
    copy(e.force, x)
    solve_factored(j.factor, nv, x)
    rest = rest_threshold(v, nv)
    for i in range(nf):
        row, speed = friction[i], j.speed[i]
        has_dry_friction = row[STATIC] + row[STATIC_BACKWARD] > 0.0
        j.among[i] = choose(has_dry_friction, 1.0, 0.0 * rest)
        if any_of(has_dry_friction):
            rests = ~(abs(speed) > rest)
            j.low[i] = choose(rests, -row[STATIC], -dry_friction(row, 0, 1.0 + 0.0 * rest, speed))
            backward = -dry_friction(row, 0, -1.0 + 0.0 * rest, speed)
            j.high[i] = choose(rests, row[STATIC_BACKWARD], backward)
    if not put_responses(L, j):
        for k in range(nv):
            out[k] = v[k] + h * x[k]
        return True
    for i in range(nf):
        j.free[i] = 0.0
        if any_of(j.among[i] != 0.0):
            ahead = row_times(L, i, x, e.drift[i]) + j.speed[i] / h
            j.free[i] = choose(j.among[i] != 0.0, ahead, 0.0)
    solve_stiction(j.G, j.free, j.low, j.high, j.among, j.side, j.held, j.H)
    sticking = 0.0 * rest
    for i in range(nf):
        if any_of(j.among[i] != 0.0):
            has_dry_friction = j.among[i] != 0.0
            for k in range(nv):
                x[k] = choose(has_dry_friction, x[k] + j.X[i, k] * j.held[i], x[k])
            sticking = sticking + choose(has_dry_friction & (j.side[i] == 0.0), 1.0, 0.0)
    left = 0.0 * rest
    for k in range(nv):
        out[k] = v[k] + h * x[k]
        left = largest_of(abs(out[k]), left)
    # rounding does not move a mechanism that sticks
    still = (sticking >= float(nv)) & (left <= rest)
    for k in range(nv):
        out[k] = choose(still, 0.0, out[k])
    return True
