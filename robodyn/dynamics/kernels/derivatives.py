# SPDX-License-Identifier: Apache-2.0

"""Derivatives of the dynamics of one state, by finite differences in SIMD lanes.

The differentiated function is the residual of a motion in the equations,

    g(q, v, a, f) = M a + h - A f - J' w,

with the driven joints' efforts f and a wrench w; no system of equations has to be solved at each
point. Then A df = dg for derivatives of efforts, and M da = -dg for those of accelerations. g is
linear in a and, without dry friction, quadratic in v, so central differences with respect to a and
v are exact to rounding; those with respect to the configuration are of order 4.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from robodyn.dynamics.kernels.base_motion import BASE, WRENCH
from robodyn.dynamics.kernels.dry_friction import dry_friction_slope
from robodyn.dynamics.kernels.state import State
from robodyn.numerics.compiler import inner
from robodyn.numerics.linear import solve_columns
from robodyn.numerics.simd.access import entry, lane, set_entry
from robodyn.numerics.simd.lanes import WIDTH

# Quantities to differentiate: efforts, accelerations, or g at rest (w.r.t. displacement only).
EFFORTS: Final = 0
ACCELERATIONS: Final = 1
LOADS_AT_REST: Final = 2
# Number of stencil points for each coordinate: for its acceleration, velocity and displacement.
OF_ACCELERATION: Final = 1
OF_VELOCITY: Final = 2
OF_DISPLACEMENT: Final = 4


class Points(NamedTuple):
    """Arguments and residuals at eight finite-difference points, one per SIMD lane.

    Attributes:
        q, v, a: (nq,), (nv,) and (nv,) configuration, velocity and acceleration.
        wrench, base: (6,) and (9,) external wrench and motion of the base.
        step: (nv,) displacement of the configuration from that of the state.
        found: (nv,) residual of the equations of motion.
    """

    q: Any
    v: Any
    a: Any
    wrench: Any
    base: Any
    step: Any
    found: Any


class DerivativeMemory(NamedTuple):
    """Scratch arrays for the residual of the equations of motion and its derivatives.

    Attributes:
        M: (nv, nv) mass matrix.
        A: (nv, n) generalized forces per unit of the driven joints' efforts.
        rows: (nv, 2 nv + max(n, nv)) derivatives with respect to configuration and velocity, and
            space for those with respect to the load.
        rest: (nv,) residual at the state itself.
        rates: (n, nv) derivatives of the driven joints' rates with respect to the configuration.
        friction_slope: (n,) derivatives of their dry friction with respect to these rates.
    """

    M: Any
    A: Any
    rows: Any
    rest: Any
    rates: Any
    friction_slope: Any


@inner
def points_shapes(nq: int, nv: int) -> Any:
    """Return the array shapes of `Points` for nq positions and nv velocities."""
    return Points(nq, nv, nv, WRENCH, BASE, nv, nv)


@inner
def derivative_shapes(nv: int, n: int) -> Any:
    """Return the array shapes of `DerivativeMemory` for nv velocities and n drives."""
    return DerivativeMemory((nv, nv), (nv, n), (nv, 2 * nv + max(n, nv)), nv, (n, nv), n)


@inner
def place_of(point: int) -> float:
    """Return the displacement of finite-difference point 0 to 3, in steps.

    It is 1, -1, 2 or -2.
    """
    return (1.0 + point // 2) * (1.0 - 2.0 * (point % 2))


@inner
def weight_of(point: int) -> float:
    """Return the weight of finite-difference point 0 to 3, for unit step length.

    The weighted sum of the values at the four points of `place_of` is a first derivative of order
    4.
    """
    return (8.0 if point < 2 else -1.0) * (1.0 - 2.0 * (point % 2)) / 12.0


@inner
def point_number(first: int, k: int, skipped: int) -> int:
    """Return the number of the point in SIMD lane k; -1 for the state itself.

    The nv points for accelerations have the first numbers, then the 2 nv for velocities and the 4
    nv for displacements.

    Args:
        first: number of points in earlier groups of eight lanes, the state itself included.
        k: index of the lane.
        skipped: number of points that are left out, from point 0 on.
    """
    return first + k - 1 + (skipped if first + k > 0 else 0)


@inner
def put_points(given: Any, first: int, skipped: int, steps: Any, size: float, p: Any) -> None:
    """Write the states at eight finite-difference points to SIMD lanes.

    Args:
        given: arrays of the state, beginning with configuration, velocity and acceleration.
        first, skipped: as for `point_number`.
        steps: (nv,) step of each displacement.
        size: step of the acceleration.
        p: `Points`, of which q, v, a and `step` are written; q is that of the state.
    """
    q, v, a = given[0], given[1], given[2]
    nv = v.shape[0]
    for i in range(q.shape[0]):
        p.q[i] = q[i]
    for i in range(nv):
        p.v[i], p.a[i], p.step[i] = v[i], a[i], 0.0
    for k in range(WIDTH):
        n = point_number(first, k, skipped)
        if 0 <= n < nv:
            set_entry(p.a, n, k, a[n] + size)
        elif nv <= n < 3 * nv:
            j = (n - nv) // OF_VELOCITY
            set_entry(p.v, j, k, v[j] + place_of((n - nv) % OF_VELOCITY))
        elif 3 * nv <= n < 7 * nv:
            j = (n - 3 * nv) // OF_DISPLACEMENT
            set_entry(p.step, j, k, place_of((n - 3 * nv) % OF_DISPLACEMENT) * steps[j])


@inner
def add_weighted_residuals(
    first: int, skipped: int, steps: Any, size: float, p: Any, out: Any
) -> None:
    """Add weighted residuals at eight finite-difference points to the derivatives.

    Args:
        first, skipped, steps, size: as for `put_points`.
        p: `Points` with the residuals.
        out: `DerivativeMemory`; M and `rest` are written, the derivatives in `rows` are increased.
    """
    nv = out.M.shape[0]
    for k in range(WIDTH):
        n = point_number(first, k, skipped)
        for i in range(nv):
            value = entry(p.found, i, k)
            if n < 0:
                out.rest[i] = value
            elif n < nv:
                out.M[i, n] = (value - out.rest[i]) / size
            elif n < 3 * nv:
                j = (n - nv) // OF_VELOCITY
                out.rows[i, nv + j] += 0.5 * place_of((n - nv) % OF_VELOCITY) * value
            elif n < 7 * nv:
                j, point = (n - 3 * nv) // OF_DISPLACEMENT, (n - 3 * nv) % OF_DISPLACEMENT
                out.rows[i, j] += weight_of(point) / steps[j] * value


@inner
def read_drives(
    drive: Any, mechanism: Any, s: Any, v: Any, friction: Any, p: Any, out: Any
) -> bool:
    """Write A and the slopes of the driven joints' dry friction to `out`.

    They belong to the state itself, which is in lane 0. `v` (nv,) is its velocity, and `friction`
    contains the parameters of the driven joints' dry friction. The field `rates` of `out` is set to
    zero.

    Returns:
        Whether the dry friction of any driven joint depends on its rate.
    """
    nv, n = out.A.shape
    falling = False
    for j in range(n):
        rate = 0.0
        for i in range(nv):
            out.A[i, j] = lane(0.0 * p.v[0] + drive(mechanism, s, i, j), 0)
            rate += out.A[i, j] * v[i]
        out.friction_slope[j] = 0.0
        if j < friction.shape[0]:
            out.friction_slope[j] = dry_friction_slope(friction[j], 0, rate)
        falling = falling or out.friction_slope[j] != 0.0
        for i in range(nv):
            out.rates[j, i] = 0.0
    return falling


@inner
def add_weighted_rates(
    drive: Any, mechanism: Any, s: Any, first: int, skipped: int, steps: Any, p: Any, out: Any
) -> None:
    """Add weighted rates of the driven joints at eight points to `out.rates`.

    Summed over all points, they are the derivatives of these rates with respect to the
    configuration. `first`, `skipped`, `steps` and p are as for `put_points`, and drive(mechanism,
    s, i, j) is the rate of driven joint j per unit of velocity i.
    """
    nv, n = out.A.shape
    for j in range(n):
        rates = 0.0 * p.v[0]
        for i in range(nv):
            rates = rates + drive(mechanism, s, i, j) * p.v[i]
        for k in range(WIDTH):
            at = point_number(first, k, skipped) - 3 * nv
            if 0 <= at < OF_DISPLACEMENT * nv:
                i = at // OF_DISPLACEMENT
                weight = weight_of(at % OF_DISPLACEMENT) / steps[i]
                out.rates[j, i] += weight * lane(rates, k)


@inner
def add_falling_friction(out: Any) -> None:
    """Add the derivatives of rate-dependent dry friction to those of the residual.

    For small changes dq of configuration and dv of velocity, the residual changes by A
    diag(friction_slope) (rates dq + A' dv), with the arrays of the `DerivativeMemory` `out`, of
    which `rows` is changed.
    """
    nv, n = out.A.shape
    for i in range(nv):
        for k in range(n):
            factor = out.A[i, k] * out.friction_slope[k]
            for j in range(nv):
                out.rows[i, j] += factor * out.rates[k, j]
                out.rows[i, nv + j] += factor * out.A[j, k]


@inner
def solve_derivatives(forward: bool, s: Any, out: Any) -> bool:
    """Convert derivatives of the residual to those of efforts or accelerations.

    Args:
        forward: whether to compute the derivatives of accelerations instead of efforts.
        s: `DerivativeMemory` with the derivatives of the residual; overwritten.
        out: flat array for the derivatives with respect to configuration, velocity and load, one
            after the other, each row by row. The load is the efforts if `forward`, else the
            acceleration.

    Returns:
        False if the equations are singular, or if efforts are sought and n is not nv.
    """
    nv, n = s.A.shape
    if not forward and n != nv:
        return False
    matrix = s.M if forward else s.A
    load = s.A if forward else s.M
    sign, width = (-1.0 if forward else 1.0), load.shape[1]
    for i in range(nv):
        for j in range(2 * nv):
            s.rows[i, j] *= sign
        for j in range(width):
            s.rows[i, 2 * nv + j] = load[i, j]
    if not solve_columns(matrix, s.rows, 2 * nv + width):
        return False
    for i in range(nv):
        for j in range(nv):
            out[i * nv + j] = s.rows[i, j]
            out[nv * (nv + i) + j] = s.rows[i, nv + j]
        for j in range(width):
            out[2 * nv * nv + i * width + j] = s.rows[i, 2 * nv + j]
    return True


def derivative_kernel(residual: Any, displace: Any, drive: Any) -> Any:
    """Create the function for derivatives of the dynamics of a kind of mechanism.

    Args:
        residual: residual(mechanism, state, efforts, s, out) -> status. Write g (nv,), in lanes;
            efforts are numbers.
        displace: displace(mechanism, step, s, q). Displace configurations in place, in lanes, to
            first order.
        drive: drive(mechanism, s, i, j). After `residual`: generalized effort i per unit of effort
            j.

    Returns:
        Compiled function write_derivatives(mechanism, given, steps, friction, quantity, memory,
        out) that writes the derivatives at one state, `given`, to the flat array `out`, and returns
        whether they exist. `quantity` is EFFORTS, ACCELERATIONS or LOADS_AT_REST.
    """

    @inner
    def write_derivatives(
        mechanism: Any, given: Any, steps: Any, friction: Any, quantity: int, memory: Any, out: Any
    ) -> bool:
        """Write the derivatives of the dynamics to the flat array `out`.

        Return False if they do not exist. The derivatives with respect to configuration, velocity
        and load follow each other, each row by row. For LOADS_AT_REST, the array contains the
        derivatives (nv, nv) of the residual with respect to displacement, then the Jacobian (n, nv)
        of the driven joints' rates.

        `given` are q, v, a, efforts, wrench and base of a state that satisfies the equations, and
        the last two may have length zero. `steps` (nv,) are the displacements of the stencil.
        `friction` (n or more, DRY_FRICTION) contains the dry-friction parameters of the driven
        joints first; it has no rows if dry friction is ignored.
        """
        _, v, a, efforts, wrench, base = given
        s, p, found = memory
        nv, n = found.A.shape
        for i in range(wrench.shape[0]):
            p.wrench[i] = wrench[i]
        for i in range(base.shape[0]):
            p.base[i] = base[i]
        contact, moves = wrench.shape[0] > 0, base.shape[0] > 0
        state = State(p.q, p.v, p.a, p.wrench, contact, p.base, moves)
        size, falling = 1.0, False
        for i in range(nv):
            # a small change of large accelerations would be lost in rounding
            size = max(size, 1.0 + abs(a[i]))
            for j in range(2 * nv):
                found.rows[i, j] = 0.0
        skipped = (OF_ACCELERATION + OF_VELOCITY) * nv if quantity == LOADS_AT_REST else 0
        points = (OF_ACCELERATION + OF_VELOCITY + OF_DISPLACEMENT) * nv - skipped
        for first in range(0, 1 + points, WIDTH):
            put_points(given, first, skipped, steps, size, p)
            displace(mechanism, p.step, s, p.q)
            if residual(mechanism, state, efforts, s, p.found) != 0:
                return False
            add_weighted_residuals(first, skipped, steps, size, p, found)
            if first == 0:
                falling = read_drives(drive, mechanism, s, v, friction, p, found)
            if falling:
                add_weighted_rates(drive, mechanism, s, first, skipped, steps, p, found)
        if falling:
            add_falling_friction(found)
        if quantity == LOADS_AT_REST:
            for i in range(nv):
                for j in range(nv):
                    out[i * nv + j] = found.rows[i, j]
                for j in range(n):
                    out[(nv + j) * nv + i] = found.A[i, j]
            return True
        return solve_derivatives(quantity == ACCELERATIONS, found, out)

    return write_derivatives


class StateArrays(NamedTuple):
    """Arrays of one state and its loads.

    Attributes:
        q: (nq,) configuration.
        v, a: (nv,) velocity and acceleration.
        efforts: (n,) efforts of the driven joints.
        wrench, base: (6,) and (9,) external wrench and motion of the base, or (0,) if absent.
    """

    q: Any
    v: Any
    a: Any
    efforts: Any
    wrench: Any
    base: Any


@inner
def given_shapes(nq: int, nv: int, n: int) -> Any:
    """Return the array shapes of `StateArrays` for nq positions, nv velocities and n drives."""
    return StateArrays(nq, nv, nv, n, WRENCH, BASE)


@inner
def state_row(given: Any, k: int, memory: Any) -> Any:
    """Copy state k of a batch to scratch memory, and check that it is finite.

    Args:
        given: arrays (N, width) of the states; absent arrays have width zero.
        k: index of the state.
        memory: `StateArrays`, to be filled.

    Returns:
        The arrays of the state, and whether all their entries are finite.
    """
    total = 0.0
    for j in range(len(given)):
        for i in range(given[j].shape[1]):
            memory[j][i] = given[j][k, i]
            total += 0.0 * given[j][k, i]
    wrench = memory[4][: max(given[4].shape[1], 0)]
    base = memory[5][: max(given[5].shape[1], 0)]
    state = StateArrays(memory[0], memory[1], memory[2], memory[3], wrench, base)
    return state, total == 0.0
