# SPDX-License-Identifier: Apache-2.0

"""Sliding and sticking modes of joints, and the effect of sticking on the motion.

All functions accept one mechanism, or eight in SIMD lanes that are independent of each other.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from robodyn.dynamics.kernels.dry_friction import dry_friction
from robodyn.dynamics.kernels.sticking import STATIC, STATIC_BACKWARD, solve_stiction
from robodyn.numerics.compiler import inner, noinline
from robodyn.numerics.linear import factor_definite, solve_factored
from robodyn.numerics.simd.lanes import any_of, choose, largest_of
from robodyn.numerics.vectors import copy

# [m/s, rad/s] A joint below this rate is at rest, relative to 1 and to the largest velocity.
REST: Final = 1e-12
# Largest acceleration at which all joints count as sticking, relative to 1 and to the acceleration
# without friction.
REST_ACCELERATION: Final = 1e-8
# Modes of a joint: 1 or -1 if it slides, 0 if it sticks.
NO_FRICTION: Final = 2.0


class FrictionMemory(NamedTuple):
    """Scratch arrays that decide which of nf joints with dry friction stick.

    Attributes:
        factor: (nv, nv) Cholesky factor of the mass matrix, with implicit damping if any.
        x: (nv,) accelerations.
        X: (nf, nv) M^-1 L', row by row, with the mass matrix M and the joints' Jacobian L.
        G: (nf, nf) L M^-1 L', accelerations of the joints per unit of their efforts.
        H: (nf, nf) scratch.
        speed, first_speed: (nf,) rates of the joints now, and at the beginning of a piece.
        mode: (nf,) 1 or -1 for a joint that slides, 0 for one that sticks, or NO_FRICTION.
        required: (nf,) required changes of L x at the joints that stick.
        free: (nf,) accelerations of the joints at rest without friction.
        low, high: (nf,) bounds of their friction.
        among: (nf,) 1 for joints at rest, else 0.
        side, held: (nf,) results of `solve_stiction`.
    """

    factor: Any
    x: Any
    X: Any
    G: Any
    H: Any
    speed: Any
    first_speed: Any
    mode: Any
    required: Any
    free: Any
    low: Any
    high: Any
    among: Any
    side: Any
    held: Any


@inner
def joints_shapes(nv: int, nf: int) -> Any:
    """Return the array shapes of `FrictionMemory` for nv velocities and nf joints."""
    return FrictionMemory(
        (nv, nv), nv, (nf, nv), (nf, nf), (nf, nf), nf, nf, nf, nf, nf, nf, nf, nf, nf, nf
    )


@inner
def rest_threshold(rate: Any, count: int) -> Any:
    """Return the rate below which a joint counts as at rest.

    It is a small fraction of the largest of the rates `rate` (count,), or of 1 if they are all
    smaller.
    """
    largest = largest_of(abs(rate[0]), 1.0)
    for j in range(1, count):
        largest = largest_of(abs(rate[j]), largest)
    return REST * largest


@noinline
def factor_with_damping(A: Any, M: Any, D: Any, factor: Any, damped: bool, count: int) -> bool:
    """Factorize the mass matrix, plus implicit damping if `damped`, into A (nv, nv).

    The matrix is M, or M + factor D with the viscous damping D. A becomes its Cholesky factor with
    inverted diagonal. Returns False if the matrix is not positive definite.
    """
    for i in range(count):
        for j in range(i + 1):
            A[i, j] = M[i, j]
            if damped:
                A[i, j] = A[i, j] + factor * D[i, j]
    return factor_definite(A, count, False)


@noinline
def decay(A: Any, D: Any, count: int, x: Any) -> Any:
    """Return the sum [1/s] of the velocity decay rates due to viscous damping D.

    This is the trace of M^-1 D; A is the Cholesky factor of the mass matrix M, and x (nv,) is
    scratch.
    """
    total = 0.0 * A[0, 0]
    for j in range(count):
        for i in range(count):
            x[i] = D[max(i, j), min(i, j)]
        solve_factored(A, count, x)
        total = total + x[j]
    return total


@noinline
def put_responses(L: Any, j: Any) -> bool:
    """Compute the accelerations due to a unit friction effort of each joint at rest.

    With the mass matrix M and the joints' Jacobian L, these are M^-1 L' and L M^-1 L', the fields X
    and G of the `FrictionMemory`. Returns False if no joint is at rest.
    """
    nf, nv = L.shape
    some = False
    for i in range(nf):
        rests = any_of(j.among[i] != 0.0)
        if rests:
            some = True
            copy(L[i], j.X[i])
            solve_factored(j.factor, nv, j.X[i])
        for k in range(i + 1):
            j.G[i, k] = 0.0
            if rests and any_of(j.among[k] != 0.0):
                j.G[i, k] = row_times(L, i, j.X[k], 0.0)
            j.G[k, i] = j.G[i, k]
    return some


@noinline
def constrain_sticking_joints(L: Any, j: Any, is_known: bool, x: Any) -> None:
    """Change accelerations x (nv,) so that sticking joints have their required ones.

    The change is the smallest in the metric of the mass matrix with L dx = j.required, where dx is
    the change and L is the Jacobian of the sticking joints. `j.required` is overwritten. With
    `is_known`, the fields X and G of `j` are up to date.
    """
    mode, n, some = j.mode, j.mode.shape[0], False
    for i in range(n):
        sticks = mode[i] == 0.0
        some = some or any_of(sticks)
        if not is_known:
            j.among[i] = choose(sticks, 1.0, 0.0)
    if not some:
        return
    if not is_known:
        put_responses(L, j)
    for i in range(n):
        for k in range(i + 1):
            both = (mode[i] == 0.0) & (mode[k] == 0.0)
            j.H[i, k] = choose(both, j.G[i, k], 1.0 if i == k else 0.0)
    factor_definite(j.H, n, True)
    solve_factored(j.H, n, j.required)
    for i in range(n):
        if any_of(mode[i] == 0.0):
            for k in range(x.shape[0]):
                x[k] = choose(mode[i] == 0.0, x[k] + j.X[i, k] * j.required[i], x[k])


@noinline
def choose_modes(friction: Any, equations: Any, j: Any, rest: Any, rate: Any, fresh: Any) -> Any:
    """Choose which joints slide and which stick at the beginning of a piece of a step.

    Joints that move keep sliding. Joints at rest stick if friction can hold them, given the
    friction of the others. A joint that breaks away then has kinetic friction, which may be lower,
    so the remaining joints at rest are evaluated again.

    Args:
        friction: (nf, sticking.ROW) dry friction of the joints.
        equations: `hybrid_step.MotionEquations`.
        j: `FrictionMemory`; the modes are written. The mass matrix must be factorized and the
            speeds computed.
        rest: rate below which a joint is at rest.
        rate: (nv,) velocity.
        fresh: mask of the lanes in which to choose; the others keep their modes.

    Returns:
        Mask of the lanes of `fresh` in which all joints stick and friction balances all forces.
    """
    L, x, mode, among = equations.L, j.x, j.mode, j.among
    nf, nv = friction.shape[0], x.shape[0]
    copy(equations.force, x)
    for i in range(nf):
        row = friction[i]
        has_dry_friction = row[STATIC] + row[STATIC_BACKWARD] > 0.0
        slides = has_dry_friction & (abs(j.speed[i]) > rest)
        rests = has_dry_friction & ~slides
        direction = choose(j.speed[i] > 0.0, 1.0, -1.0 + 0.0 * rest)
        chosen = choose(slides, direction, choose(rests, 0.0, NO_FRICTION + 0.0 * rest))
        mode[i] = choose(fresh, chosen, mode[i])
        among[i] = choose(fresh & rests, 1.0, 0.0 * rest)
        j.low[i], j.high[i] = -row[STATIC], row[STATIC_BACKWARD]
        if any_of(slides):
            add_row(L, i, -dry_friction(row, 0, direction, j.speed[i]), slides, x)
    solve_factored(j.factor, nv, x)
    if not put_responses(L, j):
        return fresh & ~fresh
    for _ in range(nf):
        some = False
        for i in range(nf):
            j.free[i] = 0.0
            if any_of(among[i] != 0.0):
                some = True
                ahead = row_times(L, i, x, equations.drift[i])
                j.free[i] = choose(among[i] != 0.0, ahead, 0.0)
        if not some:
            return fresh & ~fresh
        solve_stiction(j.G, j.free, j.low, j.high, among, j.side, j.held, j.H)
        broke = False
        for i in range(nf):
            breaks = (among[i] != 0.0) & (j.side[i] != 0.0)
            if any_of(breaks):
                broke = True
                among[i] = choose(breaks, 0.0, among[i])
                mode[i] = choose(breaks, -j.side[i], mode[i])
                add_row(j.X, i, -dry_friction(friction[i], 0, mode[i], 0.0 * rest), breaks, x)
        if not broke:
            break
    sticking = 0.0 * rest
    for i in range(nf):
        sticking = sticking + among[i]
    everything = fresh & (sticking >= float(nv))
    if not any_of(everything):
        return everything
    return everything & is_at_equilibrium(j, rest, rate)


@inner
def is_at_equilibrium(j: Any, rest: Any, rate: Any) -> Any:
    """Return whether all joints are at rest and friction balances all forces.

    For SIMD lanes the result is a mask. `j` is the `FrictionMemory` after `choose_modes` has
    written accelerations and friction efforts. `rest` is the rate up to which a joint is at rest,
    and `rate` (nv,) the velocity.
    """
    largest, left, still = 0.0 * rest + 1.0, 0.0 * rest, rest > 0.0
    for k in range(j.x.shape[0]):
        still = still & ~(abs(rate[k]) > rest)
        largest = largest_of(abs(j.x[k]), largest)
        total = j.x[k]
        for i in range(j.among.shape[0]):
            if any_of(j.among[i] != 0.0):
                more = total + j.X[i, k] * j.held[i]
                total = choose(j.among[i] != 0.0, more, total)
        left = largest_of(abs(total), left)
    return still & (left <= REST_ACCELERATION * largest)


@inner
def row_times(L: Any, i: int, x: Any, start: Any) -> Any:
    """Return `start` plus the dot product of row i of L and x, summed in order."""
    total = start + 0.0 * L[i, 0]
    for k in range(x.shape[0]):
        total = total + L[i, k] * x[k]
    return total


@inner
def add_row(L: Any, i: int, factor: Any, where: Any, x: Any) -> None:
    """Add `factor` times row i of L to x (nv,), in the SIMD lanes of the mask `where`."""
    for k in range(x.shape[0]):
        x[k] = choose(where, x[k] + L[i, k] * factor, x[k])
