# SPDX-License-Identifier: Apache-2.0

"""The dynamics of one state, or of eight in lanes: from the tree's to the mechanism's.

With S the tangent of the closures, v = S u': A' tau = S'M S u'' + S'(h + M S'u'). Inverse dynamics
does without S: efforts at dependent coordinates are balanced by the closures' multipliers, and
what these leave at the independent ones is the answer, so three solutions of one elimination do.

Every function returns a status of `layout`. `s` is the scratch of `Scratch`.
"""

from __future__ import annotations

import math
from typing import Any, Final

from robodyn.mechanisms.closed_loop.kernels.closures import (
    bias,
    component,
    damp,
    fill,
    is_open,
    turned,
)
from robodyn.mechanisms.closed_loop.kernels.elimination import (
    INCONSISTENT,
    demand,
    factor,
    share,
    solve,
    solve_transposed,
)
from robodyn.mechanisms.closed_loop.kernels.layout import (
    ACCEL,
    ALPHA,
    AT_DRIVEN,
    AT_FREE,
    AT_PIVOTS,
    AT_TIP,
    AT_WEIGHTS,
    CHANGE,
    DAMPED,
    DRIVEN,
    DRIVES_FREE,
    EQUATIONS,
    FREE,
    OK,
    OMEGA,
    OPEN,
    PIVOTS,
    POOR,
    RATES,
    RUBS,
    SINGULAR,
    SLIDES,
    TIP,
)
from robodyn.mechanisms.closed_loop.kernels.projection import project, tangent
from robodyn.mechanisms.closed_loop.kernels.tree import (
    gather,
    load,
    move,
    place,
    place_base,
    push,
    twists,
)
from robodyn.numerics.compiler import inner
from robodyn.numerics.simd.lanes import any_of
from robodyn.numerics.vectors import add, cross, store, vector

# Closures may be open by this part of the mechanism's size: positions with six digits.
OPEN_BY: Final = 1e-5


@inner
def prepare(
    plan: Any, numbers: Any, gravity: Any, q: Any, trusted: bool, B: Any, K: Any, y: Any
) -> int:
    """Place the bodies and eliminate the closures' equations, which must hold unless `trusted`."""
    place_base(B, gravity)
    place(plan, numbers, q, B)
    if not trusted and any_of(is_open(plan, numbers, B, OPEN_BY, y)):
        return OPEN
    fill(plan, numbers, B, K)
    if not factor(plan, numbers, K):
        return POOR
    return OK


@inner
def spread(plan: Any, K: Any, rates: Any, y: Any, v: Any) -> None:
    """Rates v (rates,) of all joints from independent ones; y (rows,) is scratch."""
    first = plan[AT_FREE]
    for n in range(plan[EQUATIONS]):
        y[n] = 0.0 * rates[0]
    demand(plan, K, rates, y)
    for k in range(plan[FREE]):
        v[plan[first + k]] = rates[k]
    solve(plan, K, y, v)


@inner
def contradicts(plan: Any, y: Any, v: Any) -> Any:
    """Whether redundant equations, in y after `solve`, are not satisfied by the rates v."""
    if plan[PIVOTS] == plan[EQUATIONS]:
        return 0.0 * v[0] > 1.0
    total, left = 1e-9 + 0.0 * v[0], 0.0 * y[0]
    for n in range(plan[RATES]):
        total = total + abs(v[n])
    for n in range(plan[EQUATIONS]):
        left = left + abs(y[n])
    at = plan[AT_PIVOTS]
    for n in range(plan[PIVOTS]):
        left = left - abs(y[plan[plan[at + n] + 1]])
    return left > INCONSISTENT * total


@inner
def accelerations(
    plan: Any, numbers: Any, K: Any, v: Any, change: Any, still: bool, B: Any, y: Any, a: Any
) -> None:
    """Rates of change a (rates,) of v from those of independent rates, 0 if `still`."""
    move(plan, numbers, v, plan[SLIDES] == 1, B)
    bias(plan, numbers, B, y)
    for n in range(plan[EQUATIONS]):
        y[n] = -y[n]
    first = plan[AT_FREE]
    if still:
        for k in range(plan[FREE]):
            a[plan[first + k]] = 0.0 * v[0]
    else:
        demand(plan, K, change, y)
        for k in range(plan[FREE]):
            a[plan[first + k]] = change[k]
    solve(plan, K, y, a)


@inner
def joint_motion(
    plan: Any,
    numbers: Any,
    gravity: Any,
    q: Any,
    rates: Any,
    change: Any,
    trusted: bool,
    B: Any,
    W: Any,
) -> int:
    """Rates of all joints in W[1], their changes in W[2]; the eliminated equations in W[0]."""
    K, v, a, y = W[0], W[1], W[2], W[4]
    status = prepare(plan, numbers, gravity, q, trusted, B, K, y)
    if status != OK:
        return status
    spread(plan, K, rates, y, v)
    if any_of(contradicts(plan, y, v)):
        return POOR
    accelerations(plan, numbers, K, v, change, False, B, y, a)
    return OK


@inner
def tree_efforts(
    plan: Any, numbers: Any, v: Any, a: Any, wrench: Any, contact: bool, B: Any, tau: Any
) -> None:
    """Efforts (rates,) of the tree for rates v that change by a, after `accelerations`."""
    load(plan, numbers, a, B)
    if plan[DAMPED] == 1:
        damp(plan, numbers, B)
    if contact:
        tip = plan[TIP]
        arm = turned(B[tip], vector(numbers, plan[AT_TIP]))
        push(B, tip, arm, vector(wrench, 0), vector(wrench, 3))
    gather(plan, numbers, v, a, plan[RUBS] == 1, B, tau)


@inner
def inverse_dynamics(
    plan: Any,
    numbers: Any,
    gravity: Any,
    q: Any,
    rates: Any,
    change: Any,
    wrench: Any,
    contact: bool,
    trusted: bool,
    B: Any,
    W: Any,
    out: Any,
) -> int:
    """Efforts out (free,) at the independent coordinates; scratch W (6, widest)."""
    K, v, a, tau, y = W[0], W[1], W[2], W[3], W[4]
    status = joint_motion(plan, numbers, gravity, q, rates, change, trusted, B, W)
    if status != OK:
        return status
    tree_efforts(plan, numbers, v, a, wrench, contact, B, tau)
    solve_transposed(plan, K, tau, y)
    share(plan, K, y, tau, out)
    return OK


@inner
def mass_matrix(
    plan: Any,
    numbers: Any,
    gravity: Any,
    q: Any,
    trusted: bool,
    B: Any,
    W: Any,
    S: Any,
    T: Any,
    M: Any,
) -> int:
    """Lower triangle of M (free, free) in the independent coordinates."""
    status = prepare(plan, numbers, gravity, q, trusted, B, W[0], W[4])
    if status != OK:
        return status
    tangent(plan, W[0], W[6], S)
    project(plan, numbers, S, B, T, W[5], M)
    return OK


@inner
def drive(plan: Any, S: Any, effort: Any, out: Any) -> None:
    """Generalised efforts A'tau out (free,) of the driven joints' efforts (driven,)."""
    count = plan[FREE]
    if plan[DRIVES_FREE] == 1:
        for k in range(count):
            out[k] = effort[k]
    else:
        for k in range(count):
            total = 0.0 * S[0, 0]
            for j in range(plan[DRIVEN]):
                total = total + S[plan[plan[AT_DRIVEN] + j], k] * effort[j]
            out[k] = total


@inner
def forward_start(
    plan: Any,
    numbers: Any,
    gravity: Any,
    q: Any,
    rates: Any,
    wrench: Any,
    contact: bool,
    trusted: bool,
    B: Any,
    W: Any,
    S: Any,
    T: Any,
    M: Any,
) -> int:
    """All of `forward_dynamics` that the efforts are not needed for.

    Rates of the tree in W[1], what the independent coordinates need to keep theirs in W[5].
    """
    K, v, a, tau, y = W[0], W[1], W[2], W[3], W[4]
    status = mass_matrix(plan, numbers, gravity, q, trusted, B, W, S, T, M)
    if status != OK:
        return status
    if plan[PIVOTS] == plan[EQUATIONS]:
        for j in range(plan[RATES]):
            v[j] = 0.0 * K[0]
            for k in range(plan[FREE]):
                v[j] = v[j] + S[j, k] * rates[k]
    else:
        spread(plan, K, rates, y, v)
        if any_of(contradicts(plan, y, v)):
            return POOR
    accelerations(plan, numbers, K, v, rates, True, B, y, a)
    tree_efforts(plan, numbers, v, a, wrench, contact, B, tau)
    need = W[5]
    for k in range(plan[FREE]):
        need[k] = 0.0 * K[0]
    for j in range(plan[RATES]):
        for k in range(plan[FREE]):
            need[k] = need[k] + S[j, k] * tau[j]
    return OK


@inner
def forward_end(plan: Any, S: Any, effort: Any, need: Any, M: Any, out: Any) -> int:
    """Accelerations out (free,) for efforts (driven,) after `forward_start`."""
    drive(plan, S, effort, out)
    count = plan[FREE]
    for k in range(count):
        out[k] = out[k] - need[k]
    if not solve_definite(M, count, out):
        return SINGULAR
    return OK


@inner
def forward_dynamics(
    plan: Any,
    numbers: Any,
    gravity: Any,
    q: Any,
    rates: Any,
    effort: Any,
    wrench: Any,
    contact: bool,
    trusted: bool,
    B: Any,
    W: Any,
    S: Any,
    T: Any,
    M: Any,
    out: Any,
) -> int:
    """Accelerations out (free,) of the independent coordinates for efforts (driven,)."""
    status = forward_start(
        plan, numbers, gravity, q, rates, wrench, contact, trusted, B, W, S, T, M
    )
    if status != OK:
        return status
    return forward_end(plan, S, effort, W[5], M, out)


@inner
def solve_definite(M: Any, count: int, x: Any) -> bool:
    """Solve M x = b in place by Cholesky's factors; reads the lower triangle, which is used up."""
    for j in range(count):
        total = M[j, j]
        size = total
        for k in range(j):
            total = total - M[j, k] * M[j, k]
        if any_of(~(total > 1e-13 * size)):
            return False
        inverse = 1.0 / math.sqrt(total)
        M[j, j] = inverse
        for i in range(j + 1, count):
            value = M[i, j]
            for k in range(j):
                value = value - M[i, k] * M[j, k]
            M[i, j] = value * inverse
    for i in range(count):
        value = x[i]
        for k in range(i):
            value = value - M[i, k] * x[k]
        x[i] = value * M[i, i]
    for i in range(count - 1, -1, -1):
        value = x[i]
        for k in range(i + 1, count):
            value = value - M[k, i] * x[k]
        x[i] = value * M[i, i]
    return True


@inner
def allot(plan: Any, numbers: Any, S: Any, effort: Any, M: Any, out: Any) -> bool:
    """Efforts out (driven,) that do what `effort` (free,) at the independent coordinates does.

    Of all that do, those of the least weighted sum of squares: out = W A (A'W A)^-1 effort, with
    W the inverse weights. `M` (free, free) is scratch and `effort` is used up.
    """
    count, first = plan[FREE], plan[AT_DRIVEN]
    weights = plan[AT_WEIGHTS]
    for i in range(count):
        for k in range(i + 1):
            total = 0.0 * S[0, 0]
            for j in range(plan[DRIVEN]):
                rate = plan[first + j]
                total = total + numbers[weights + j] * (S[rate, i] * S[rate, k])
            M[i, k] = total
    if not solve_definite(M, count, effort):
        return False
    for j in range(plan[DRIVEN]):
        total = 0.0 * S[0, 0]
        for k in range(count):
            total = total + S[plan[first + j], k] * effort[k]
        out[j] = numbers[weights + j] * total
    return True


@inner
def driven_efforts(
    plan: Any,
    numbers: Any,
    gravity: Any,
    q: Any,
    rates: Any,
    change: Any,
    wrench: Any,
    contact: bool,
    trusted: bool,
    B: Any,
    W: Any,
    S: Any,
    M: Any,
    out: Any,
) -> int:
    """Efforts out (driven,); scratch S and M where driven joints are not the independent ones."""
    effort = W[5]
    status = inverse_dynamics(
        plan, numbers, gravity, q, rates, change, wrench, contact, trusted, B, W, effort
    )
    if status != OK:
        return status
    if plan[DRIVES_FREE] == 1:
        for k in range(plan[FREE]):
            out[k] = effort[k]
        return OK
    tangent(plan, W[0], W[6], S)
    if not allot(plan, numbers, S, effort, M, out):
        return SINGULAR
    return OK


@inner
def tip_jacobian(plan: Any, numbers: Any, S: Any, B: Any, T: Any, out: Any) -> None:
    """J (6, free) of the tip for a tangent S, linear over angular; scratch T."""
    count, tip = plan[FREE], plan[TIP]
    twists(plan, numbers, S, count, B, T)
    arm = turned(B[tip], vector(numbers, plan[AT_TIP]))
    for k in range(count):
        omega = vector(T[tip], 6 * k)
        velocity = add(vector(T[tip], 6 * k + 3), cross(omega, arm))
        for n in range(3):
            out[n, k] = component(velocity, n)
            out[3 + n, k] = component(omega, n)


@inner
def tip_acceleration(plan: Any, numbers: Any, gravity: Any, B: Any, out: Any) -> None:
    """Acceleration out (6,) of the tip, linear over angular, after `load`."""
    body = B[plan[TIP]]
    arm, omega = turned(body, vector(numbers, plan[AT_TIP])), vector(body, OMEGA)
    alpha = add(vector(body, ALPHA), vector(body, CHANGE))
    accel = add(vector(body, ACCEL), vector(body, CHANGE + 3))
    accel = add(accel, add(cross(alpha, arm), cross(omega, cross(omega, arm))))
    store(out, 0, add(accel, vector(gravity, 0)))
    store(out, 3, alpha)


@inner
def motion(
    plan: Any,
    numbers: Any,
    gravity: Any,
    q: Any,
    rates: Any,
    change: Any,
    trusted: bool,
    B: Any,
    W: Any,
    out: Any,
) -> int:
    """Rates of all joints, their changes and the tip's acceleration, out (2 * rates + 6,)."""
    v, a, tip = W[1], W[2], W[5]
    status = joint_motion(plan, numbers, gravity, q, rates, change, trusted, B, W)
    if status != OK:
        return status
    load(plan, numbers, a, B)
    tip_acceleration(plan, numbers, gravity, B, tip)
    count = plan[RATES]
    for j in range(count):
        out[j] = v[j]
        out[count + j] = a[j]
    for j in range(6):
        out[2 * count + j] = tip[j]
    return OK
