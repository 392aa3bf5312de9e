# SPDX-License-Identifier: Apache-2.0

"""Entry points for one state of a mechanism with closed loops, with checks of the arguments.

Arrays are borrowed for the call; `plan` contains integers stored as float64. Every function returns
whether it has a result; if not, the caller calls a function that finds the reason. `trusted` skips
the checks. A wrench or a base that is None has the length `ABSENT`.
"""

from __future__ import annotations

from typing import Any, Final

from robodyn.dynamics.kernels.state import are_numbers, is_motion, state_of, state_without_load
from robodyn.numerics.array_arguments import borrowed_array, stack, stack_all
from robodyn.numerics.compiler import batch_entry, entry_kernel, inner
from robodyn.solvers.tree.kernels import (
    closures,
    distribution,
    dynamics,
    inverse_kinematics,
    newton,
    projection,
    tree,
)
from robodyn.solvers.tree.kernels.layout import (
    BODY_SIZE,
    COMPOSITE,
    OK,
    mechanism,
    shapes,
)

# Largest number of scratch values on the stack; larger mechanisms are not supported here.
MOST: Final = 130_000


@inner
def fits(m: Any) -> bool:
    """Return whether the scratch arrays for this mechanism fit on the stack."""
    rows = BODY_SIZE + max(6 * m.free, COMPOSITE) + 7
    return bool((m.bodies + 1 + m.rates) * rows + 7 * m.widest < MOST)


@inner
def evaluate(find: Any, m: Any, state: Any, count: int, trusted: bool, out: Any) -> bool:
    """Write the result of a function for one state to `out`; return whether it exists.

    `find` is called as find(m, state, trusted, s, out), with scratch arrays `s`, and returns a
    status. `count` is the number of accelerations or efforts in `state`, for the check of its
    arguments, which `trusted` skips.
    """
    if not fits(m):
        return False
    if not (trusted or (are_numbers(state.q, m.positions) and is_motion(state, m.free, count))):
        return False
    s = stack_all(shapes(m))
    return bool(find(m, state, trusted, s, borrowed_array(out)) == OK)


@inner
def place_bodies(m: Any, q: Any, B: Any) -> None:
    """Write the frames of all bodies at `q` (positions,) to `B` (bodies + 1, BODY_SIZE)."""
    tree.place_base(m, B)
    tree.place(m, q, B)


@entry_kernel
def equations(plan: Any, numbers: Any, q: Any, gap: Any, K: Any) -> None:
    """Write the closure residuals (rows,) at `q` to `gap`, and their Jacobian to `K`.

    `K` (entries,) has only the entries that can be nonzero, in the order of the packed arrays.
    """
    m = mechanism(plan, numbers)
    B = stack(m.bodies + 1, BODY_SIZE)
    place_bodies(m, borrowed_array(q), B)
    closures.residual(m, B, borrowed_array(gap))
    closures.fill(m, B, borrowed_array(K))


@entry_kernel
def tree_state(plan: Any, numbers: Any, q: Any, v: Any, B: Any) -> None:
    """Write the frame and the motion of each body to `B` (bodies + 1, BODY_SIZE).

    `q` (positions,) is a configuration, `v` (rates,) contains the rates of all joints. The motion
    consists of velocities, and of accelerations at constant rates.
    """
    m, B = mechanism(plan, numbers), borrowed_array(B)
    place_bodies(m, borrowed_array(q), B)
    tree.velocity_pass(m, borrowed_array(v), True, B)


@entry_kernel
def inverse_dynamics(
    plan: Any, numbers: Any, q: Any, rates: Any, change: Any, wrench: Any, base: Any, trusted: bool,
    out: Any,
) -> bool:  # fmt: skip
    """Write to `out` (driven,) the efforts for a motion; return whether they exist.

    They are those of `distribution.limited_efforts`.
    """
    m, state = mechanism(plan, numbers), state_of(q, rates, change, wrench, base)
    return evaluate(distribution.limited_efforts, m, state, m.free, trusted, out)


@entry_kernel
def forward_dynamics(
    plan: Any, numbers: Any, q: Any, rates: Any, effort: Any, wrench: Any, base: Any, trusted: bool,
    out: Any,
) -> bool:  # fmt: skip
    """Write the accelerations (free,) due to the drives' efforts (driven,) to `out`.

    They are those of the independent coordinates. Return whether they exist.
    """
    m, state = mechanism(plan, numbers), state_of(q, rates, effort, wrench, base)
    return evaluate(dynamics.forward_dynamics, m, state, m.driven, trusted, out)


@entry_kernel
def free_efforts(
    plan: Any, numbers: Any, q: Any, rates: Any, change: Any, wrench: Any, base: Any, trusted: bool,
    out: Any,
) -> bool:  # fmt: skip
    """Write the efforts at the independent coordinates for a motion to `out` (free,).

    They are those that would be required if the independent joints were driven. Return whether they
    exist.
    """
    m, state = mechanism(plan, numbers), state_of(q, rates, change, wrench, base)
    return evaluate(dynamics.inverse_dynamics, m, state, m.free, trusted, out)


@entry_kernel
def tree_efforts(
    plan: Any, numbers: Any, q: Any, v: Any, a: Any, wrench: Any, base: Any, tau: Any, B: Any
) -> None:
    """Write the efforts at all tree joints to `tau` (rates,), without loop forces.

    `v` and `a` (rates,) are the rates and accelerations of all joints. The force and moment that
    each joint transmits are written to `B` (bodies + 1, BODY_SIZE).
    """
    m, B, tau = mechanism(plan, numbers), borrowed_array(B), borrowed_array(tau)
    state = state_of(q, v, a, wrench, base)
    place_bodies(m, state.q, B)
    tree.velocity_pass(m, state.rates, True, B)
    dynamics.tree_efforts(m, state.rates, state.acceleration_or_effort, state, B, tau)


@entry_kernel
def jacobian(plan: Any, numbers: Any, q: Any, trusted: bool, out: Any) -> bool:
    """Write the tip's Jacobian (6, free) to `out`: linear over angular, base frame.

    It maps the rates of the independent joints to the tip's twist. Return whether it exists.
    """
    m, q = mechanism(plan, numbers), borrowed_array(q)
    if not fits(m) or not (trusted or are_numbers(q, m.positions)):
        return False
    s = stack_all(shapes(m))
    return bool(dynamics.jacobian(m, q, trusted, s, borrowed_array(out)) == OK)


@entry_kernel
def mass_matrix(plan: Any, numbers: Any, q: Any, trusted: bool, out: Any) -> bool:
    """Write the mass matrix (free, free) of the independent joints at `q` to `out`.

    Return whether it exists.
    """
    m, q, out = mechanism(plan, numbers), borrowed_array(q), borrowed_array(out)
    if not fits(m) or not (trusted or are_numbers(q, m.positions)):
        return False
    s = stack_all(shapes(m))
    if dynamics.mass_matrix(m, q, trusted, s, out) != OK:
        return False
    for i in range(m.free):
        for j in range(i):
            out[j, i] = out[i, j]
    return True


@entry_kernel
def tangent(plan: Any, numbers: Any, q: Any, out: Any) -> bool:
    """Write the tangent matrix (rates, free) at a configuration to `out`.

    It maps independent rates to the rates of all joints. Return whether it exists.
    """
    m = mechanism(plan, numbers)
    if not fits(m):
        return False
    s = stack_all(shapes(m))
    if dynamics.prepare(m, borrowed_array(q), True, s) != OK:
        return False
    projection.tangent(m, s.K, s.R, borrowed_array(out))
    return True


@entry_kernel
def motion(plan: Any, numbers: Any, q: Any, rates: Any, change: Any, out: Any) -> bool:
    """Write joint rates and accelerations and the tip's acceleration to `out`.

    `out` (2 * rates + 6,) contains the rates of all joints, their accelerations, and the tip's
    linear and angular acceleration, base frame. Return whether the result exists.
    """
    m, q = mechanism(plan, numbers), borrowed_array(q)
    state = state_without_load(q, borrowed_array(rates), borrowed_array(change))
    return evaluate(dynamics.motion, m, state, m.free, True, out)


@entry_kernel
def displace(plan: Any, numbers: Any, q: Any, displacement: Any, target: float) -> float:
    """Displace a closed configuration `q` in place, and close the loops again.

    The displacement (free,) is that of the independent coordinates. Newton's method stops at a
    residual of at most `target`. Return the largest closure residual, relative to the mechanism's
    size; -1 if the elimination of the closure equations fails.
    """
    m = mechanism(plan, numbers)
    if not fits(m):
        return -1.0
    s = stack_all(shapes(m))
    return newton.displace(m, borrowed_array(q), borrowed_array(displacement), target, s)


@batch_entry
def displace_all(
    plan: Any,
    numbers: Any,
    q: Any,
    displacements: Any,
    chained: bool,
    target: float,
    accepted: float,
) -> int:
    """Displace N configurations `q` (N, positions) in place, and close their loops.

    The displacements (N, free) are those of the independent coordinates. If `chained`, each starts
    from the result of the one before it, the first from q[0]. Return the number of configurations,
    counted from the first, with a closure residual of at most `accepted`.
    """
    m, q, displacements = mechanism(plan, numbers), borrowed_array(q), borrowed_array(displacements)
    if not fits(m):
        return 0
    s = stack_all(shapes(m))
    for row in range(q.shape[0]):
        if chained and row > 0:
            for j in range(m.positions):
                q[row, j] = q[row - 1, j]
        left = newton.displace(m, q[row], displacements[row], target, s)
        if not 0.0 <= left <= accepted:
            return row
    return int(q.shape[0])


@entry_kernel
def tip_pose(plan: Any, numbers: Any, q: Any, out: Any) -> None:
    """Write the pose of the tip at configuration `q` to `out` (7,), base frame."""
    m, out = mechanism(plan, numbers), borrowed_array(out)
    B = stack(m.bodies + 1, BODY_SIZE)
    place_bodies(m, borrowed_array(q), B)
    inverse_kinematics.tip_pose(m, B, out)


@entry_kernel
def reach(
    plan: Any, numbers: Any, q: Any, goal: Any, weights: Any, target: float, most: int
) -> float:
    """Move `q` in place to a configuration with the tip at, or near, a goal pose (7,).

    `weights` (6,) scale the components of the tip's error, and are zero for components to ignore.
    Return the largest weighted tip error or closure residual that remains after at most `most`
    steps; -1 if the loops cannot be closed.
    """
    m = mechanism(plan, numbers)
    if not fits(m):
        return -1.0
    s, before = stack_all(shapes(m)), stack(1, m.positions)[0]
    q, goal, weights = borrowed_array(q), borrowed_array(goal), borrowed_array(weights)
    return inverse_kinematics.reach(m, q, goal, weights, target, most, before, s)


@batch_entry
def reach_all(
    plan: Any,
    numbers: Any,
    start: Any,
    goals: Any,
    weights: Any,
    target: float,
    accepted: float,
    most: int,
    out: Any,
) -> int:
    """Write configurations with the tip at the poses `goals` (N, 7) to `out`.

    `out` is (N, positions). `weights` (6,) scale the components of the tip's error. Each search
    starts from the configuration before it, the first from `start` (positions,). Return the number
    of configurations, counted from the first, with a remaining error of at most `accepted`.
    """
    m, goals, out = mechanism(plan, numbers), borrowed_array(goals), borrowed_array(out)
    start, weights = borrowed_array(start), borrowed_array(weights)
    if not fits(m):
        return 0
    s, before = stack_all(shapes(m)), stack(1, m.positions)[0]
    for row in range(goals.shape[0]):
        for j in range(m.positions):
            out[row, j] = start[j] if row == 0 else out[row - 1, j]
        q, goal = out[row], goals[row]
        left = inverse_kinematics.reach(m, q, goal, weights, target, most, before, s)
        if not 0.0 <= left <= accepted:
            return row
    return int(goals.shape[0])


@entry_kernel
def advance(plan: Any, numbers: Any, q: Any, step: Any) -> None:
    """Displace `q` (positions,) in place by a step (rates,) of all joints.

    The loops are not closed.
    """
    m, q = mechanism(plan, numbers), borrowed_array(q)
    B = stack(m.bodies + 1, BODY_SIZE)
    place_bodies(m, q, B)
    tree.advance(m, B, borrowed_array(step), q)


@entry_kernel
def configuration_rate(plan: Any, numbers: Any, q: Any, v: Any, out: Any) -> None:
    """Write the time derivative of a configuration `q` to `out` (positions,).

    `v` (rates,) contains the rates of all joints.
    """
    m, q = mechanism(plan, numbers), borrowed_array(q)
    B = stack(m.bodies + 1, BODY_SIZE)
    place_bodies(m, q, B)
    tree.configuration_rate(m, q, B, borrowed_array(v), borrowed_array(out))
