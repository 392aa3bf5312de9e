# SPDX-License-Identifier: Apache-2.0

"""Dynamics of a mechanism from those of its tree, for one state, or eight in SIMD lanes.

With S the tangent of the closures, v = S u': A' tau = S'M S u'' + S'(h + M S'u'). Inverse
dynamics needs no S: the closures' multipliers balance the efforts at dependent coordinates, and the
result is the effort left at the independent ones. So three solutions with one elimination suffice.

`m` is a mechanism and `s` the `Scratch` of `layout`, `state` a `State` of `dynamics.kernels.state`;
functions that may fail return a status of `layout`. Closures must hold unless `trusted`.
"""

from __future__ import annotations

from typing import Any, Final

from robodyn.numerics.compiler import inner
from robodyn.numerics.linear import LEAST_PIVOT, solve_definite
from robodyn.numerics.simd.lanes import any_of
from robodyn.numerics.vectors import add, cross, store, vector
from robodyn.solvers.tree.kernels import closures, elimination, layout, tree
from robodyn.solvers.tree.kernels.projection import project, tangent

# Largest residual of closures, relative to the mechanism's size, for positions with six digits.
OPEN_BY: Final = 1e-5


@inner
def prepare(m: Any, q: Any, trusted: bool, s: Any) -> int:
    """Compute the bodies' frames and the eliminated closure Jacobian at `q`.

    They are written to `s.B` and `s.K`. Return OK, or the status code of a failure. Open loops are
    a failure unless `trusted`.
    """
    tree.place_base(m, s.B)
    tree.place(m, q, s.B)
    if not trusted:
        closures.residual(m, s.B, s.y)
        if any_of(closures.largest_gap(m, 0.0 * s.B[0][layout.X], s.y) > OPEN_BY):
            return layout.OPEN
    closures.fill(m, s.B, s.K)
    return layout.OK if elimination.factor(m, s.K) else layout.BAD_PIVOTS


@inner
def dependent_rates(m: Any, rates: Any, s: Any) -> None:
    """Write the rates of all joints to `s.v`, from the independent rates (free,).

    Call it after `prepare`.
    """
    for n in range(m.equations):
        s.y[n] = 0.0 * rates[0]
    elimination.subtract_independent(m, s.K, rates, s.y)
    for k in range(m.free):
        s.v[m.integers[m.at_free + k]] = rates[k]
    elimination.solve(m, s.K, s.y, s.v)


@inner
def violates_redundant_rows(m: Any, s: Any) -> Any:
    """Return whether the joint rates `s.v` violate redundant closure equations.

    Call it after `dependent_rates`, which leaves the equations' residuals in `s.y`. In SIMD lanes,
    the result is one value per lane.
    """
    if m.pivots == m.equations:
        return 0.0 * s.v[0] > 1.0
    total, left = 1e-9 + 0.0 * s.v[0], 0.0 * s.y[0]
    for n in range(m.rates):
        total = total + abs(s.v[n])
    for n in range(m.equations):
        left = left + abs(s.y[n])
    for n in range(m.pivots):
        left = left - abs(s.y[layout.pivot_of(m, n).row])
    return left > elimination.INCONSISTENT * total


@inner
def accelerations(m: Any, change: Any, still: bool, s: Any) -> None:
    """Write the accelerations of all joints to `s.a`, from the independent ones.

    The latter are `change` (free,), or zero if `still`. Call it after `dependent_rates`.
    """
    tree.velocity_pass(m, s.v, m.slides == 1, s.B)
    closures.bias(m, s.B, s.y)
    for n in range(m.equations):
        s.y[n] = -s.y[n]
    if not still:
        elimination.subtract_independent(m, s.K, change, s.y)
    for k in range(m.free):
        s.a[m.integers[m.at_free + k]] = 0.0 * s.v[0] if still else change[k]
    elimination.solve(m, s.K, s.y, s.a)


@inner
def joint_motion(m: Any, state: Any, trusted: bool, s: Any) -> int:
    """Write rates and accelerations of all joints to `s.v` and `s.a`, (rates,) each.

    `state` contains those of the independent joints. Return OK, or the status code of a failure.
    """
    status = prepare(m, state.q, trusted, s)
    if status != layout.OK:
        return status
    dependent_rates(m, state.rates, s)
    if any_of(violates_redundant_rows(m, s)):
        return layout.BAD_PIVOTS
    accelerations(m, state.acceleration_or_effort, False, s)
    return layout.OK


@inner
def tree_efforts(m: Any, v: Any, a: Any, state: Any, B: Any, tau: Any) -> None:
    """Write the efforts at all tree joints to `tau` (rates,), without loop forces.

    `v` and `a` (rates,) are the rates and accelerations of all joints. `state` contains the
    configuration, the wrench on the tip and the motion of the base, `B` the bodies' frames and
    velocities.
    """
    if state.moves:
        tree.move_base(state.base, B)
        tree.velocity_pass(m, v, False, B)
    tree.inertial_wrenches(m, a, B)
    if m.damped == 1:
        closures.damp(m, B)
    if m.springs > 0:
        closures.subtract_spring_forces(m, B)
    if state.contact:
        arm = closures.to_base(B[m.tip], vector(m.numbers, m.at_tip))
        tree.apply_wrench(B, m.tip, arm, vector(state.wrench, 0), vector(state.wrench, 3))
    tree.backward_pass(m, state.q, v, a, B, tau)


@inner
def inverse_dynamics(m: Any, state: Any, trusted: bool, s: Any, out: Any) -> int:
    """Write to `out` (free,) the efforts at the independent coordinates for a motion.

    Motion, tip wrench and motion of the base are those of `state`; `s` is scratch. Return OK, or
    the status code of a failure.
    """
    status = joint_motion(m, state, trusted, s)
    if status != layout.OK:
        return status
    tree_efforts(m, s.v, s.a, state, s.B, s.tau)
    elimination.solve_transposed(m, s.K, s.tau, s.y)
    elimination.project_efforts(m, s.K, s.y, s.tau, out)
    return layout.OK


@inner
def mass_matrix(m: Any, q: Any, trusted: bool, s: Any, M: Any) -> int:
    """Write the lower triangle of the mechanism's mass matrix to `M` (free, free).

    It is that of the independent coordinates, at the configuration `q`. The tangent is written to
    `s.S`. Return OK, or the status code of a failure.
    """
    status = prepare(m, q, trusted, s)
    if status != layout.OK:
        return status
    tangent(m, s.K, s.R, s.S)
    project(m, s.S, s.B, s.T, s.R, M)
    return layout.OK


@inner
def generalized_efforts(m: Any, S: Any, effort: Any, out: Any) -> None:
    """Convert efforts of the drives to equivalent efforts at independent coordinates.

    `effort` is (driven,), the results are written to `out` (free,). `S` is the tangent.
    """
    for k in range(m.free):
        if m.drives_free == 1:
            out[k] = effort[k]
        else:
            total = 0.0 * S[0, 0]
            for j in range(m.driven):
                total = total + S[m.integers[m.at_driven + j], k] * effort[j]
            out[k] = total


@inner
def bias_efforts(m: Any, state: Any, s: Any) -> int:
    """Write the efforts at zero independent accelerations to `s.u` (free,).

    Call it after `mass_matrix`. The rates and accelerations of all joints are written to `s.v` and
    `s.a`. Return OK, or the status code of a failure.
    """
    if m.pivots == m.equations:
        for j in range(m.rates):
            total = 0.0 * s.K[0]
            for k in range(m.free):
                total = total + s.S[j, k] * state.rates[k]
            s.v[j] = total
    else:
        dependent_rates(m, state.rates, s)
        if any_of(violates_redundant_rows(m, s)):
            return layout.BAD_PIVOTS
    accelerations(m, state.rates, True, s)
    tree_efforts(m, s.v, s.a, state, s.B, s.tau)
    for k in range(m.free):
        total = 0.0 * s.K[0]
        for j in range(m.rates):
            total = total + s.S[j, k] * s.tau[j]
        s.u[k] = total
    return layout.OK


@inner
def solve_accelerations(m: Any, effort: Any, s: Any, out: Any) -> int:
    """Write the accelerations (free,) due to the drives' efforts (driven,) to `out`.

    They are those of the independent coordinates. The mass matrix must be in `s.M`, the tangent in
    `s.S` and the bias efforts in `s.u`; `s.M` is overwritten. Return OK, or SINGULAR.
    """
    generalized_efforts(m, s.S, effort, out)
    for k in range(m.free):
        out[k] = out[k] - s.u[k]
    return layout.OK if solve_definite(s.M, m.free, LEAST_PIVOT, out) else layout.SINGULAR


@inner
def forward_dynamics(m: Any, state: Any, trusted: bool, s: Any, out: Any) -> int:
    """Write the accelerations of the independent coordinates to `out` (free,).

    Efforts (driven,), tip wrench and motion of the base are those of `state`; `s` is scratch.
    Return OK, or the status code of a failure.
    """
    status = mass_matrix(m, state.q, trusted, s, s.M)
    if status == layout.OK:
        status = bias_efforts(m, state, s)
    if status != layout.OK:
        return status
    return solve_accelerations(m, state.acceleration_or_effort, s, out)


@inner
def jacobian(m: Any, q: Any, trusted: bool, s: Any, J: Any) -> int:
    """Write the tip's Jacobian to `J` (6, free): linear over angular, base frame.

    It maps the rates of the independent joints to the tip's twist. Return OK, or the status code of
    a failure.
    """
    status = prepare(m, q, trusted, s)
    if status != layout.OK:
        return status
    tangent(m, s.K, s.R, s.S)
    tree.twists(m, s.S, m.free, s.B, s.T)
    arm = closures.to_base(s.B[m.tip], vector(m.numbers, m.at_tip))
    for k in range(m.free):
        omega = vector(s.T[m.tip], 6 * k)
        velocity = add(vector(s.T[m.tip], 6 * k + 3), cross(omega, arm))
        for n in range(3):
            J[n, k] = closures.component(velocity, n)
            J[3 + n, k] = closures.component(omega, n)
    return layout.OK


@inner
def motion(m: Any, state: Any, trusted: bool, s: Any, out: Any) -> int:
    """Write joint rates and accelerations and the tip's acceleration to `out`.

    `out` (2 * rates + 6,) contains the rates of all joints, their accelerations, and the tip's
    linear and angular acceleration, base frame. Return OK, or the status code of a failure.
    """
    status = joint_motion(m, state, trusted, s)
    if status != layout.OK:
        return status
    tree.inertial_wrenches(m, s.a, s.B)
    for j in range(m.rates):
        out[j] = s.v[j]
        out[m.rates + j] = s.a[j]
    accel, alpha = tip_acceleration(m, s.B)
    store(out, 2 * m.rates, accel)
    store(out, 2 * m.rates + 3, alpha)
    return layout.OK


@inner
def tip_acceleration(m: Any, B: Any) -> Any:
    """Return the tip's linear and angular acceleration, base frame.

    Call it after `inertial_wrenches`.
    """
    body = B[m.tip]
    arm, omega = closures.to_base(body, vector(m.numbers, m.at_tip)), vector(body, layout.OMEGA)
    alpha = add(vector(body, layout.ALPHA), vector(body, layout.CHANGE))
    accel = add(vector(body, layout.ACCEL), vector(body, layout.CHANGE + 3))
    accel = add(accel, add(cross(alpha, arm), cross(omega, cross(omega, arm))))
    return add(accel, m.gravity), alpha
