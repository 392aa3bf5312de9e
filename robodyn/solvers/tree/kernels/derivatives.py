# SPDX-License-Identifier: Apache-2.0

"""Derivatives of the dynamics of closed loops; see `dynamics.kernels.derivatives`.

A displacement is along the tangent and does not close the loops again: the residual is then of
second order, and the equations are as smooth there as at closed configurations.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from robodyn.dynamics.kernels.derivatives import (
    derivative_kernel,
    derivative_shapes,
    given_shapes,
    points_shapes,
    state_row,
)
from robodyn.numerics.array_arguments import borrowed_array, stack_all
from robodyn.numerics.compiler import batch_entry, inner
from robodyn.numerics.simd.tables import new_table, new_tables
from robodyn.solvers.tree.kernels import dynamics, layout, tree
from robodyn.solvers.tree.kernels.projection import tangent


class DerivativeScratch(NamedTuple):
    """Preallocated scratch arrays for derivatives by finite differences.

    Attributes:
        lanes: arrays of `layout.Scratch` for eight displaced states, in SIMD lanes.
        step: (1, rates) displacement.
        start: arrays of `layout.Scratch` for the state without displacement.
    """

    lanes: Any
    step: Any
    start: Any


@inner
def residual_efforts(m: Any, state: Any, efforts: Any, s: Any, out: Any) -> int:
    """Write the efforts that a motion requires, minus those of the drives, to `out`.

    Both are generalized efforts at the independent coordinates (free,); `efforts` (driven,) are
    those of the drives. Return OK, or the status code of a failure.
    """
    status = dynamics.inverse_dynamics(m, state, True, s.lanes, out)
    if m.drives_free == 0:
        tangent(m, s.lanes.K, s.lanes.R, s.lanes.S)
    for i in range(m.free):
        for j in range(m.driven):
            out[i] = out[i] - drive(m, s, i, j) * efforts[j]
    return int(status)


@inner
def drive(m: Any, s: Any, i: int, j: int) -> Any:
    """Return the rate of driven joint `j` per rate of independent coordinate `i`.

    It is also the generalized effort at the coordinate per unit effort of the joint.
    """
    if m.drives_free == 1:
        return (1.0 if i == j else 0.0) + 0.0 * s.lanes.K[0]
    return s.lanes.S[m.integers[m.at_driven + j], i]


@inner
def displace(m: Any, step: Any, s: Any, q: Any) -> None:
    """Displace all joints of `q` in place along the tangent at the state `s.start`.

    `step` (free,) is the displacement of the independent coordinates. The loops are not closed
    again.
    """
    start = s.start
    for j in range(m.rates):
        s.step[0, j] = 0.0
        for k in range(m.free):
            s.step[0, j] = s.step[0, j] + start.S[j, k] * step[k]
    for i in range(1, m.bodies + 1):
        link = layout.body_of(m, i)
        if link.kind == layout.FLOATING:
            for k in range(9):
                s.lanes.B[link.parent, layout.X + k] = start.B[link.parent, layout.X + k]
    tree.advance(m, s.lanes.B, s.step[0], q)


write_derivatives = derivative_kernel(residual_efforts, displace, drive)


@batch_entry
def derivatives(
    plan: Any, numbers: Any, limits: Any, friction: Any, q: Any, rates: Any, change: Any,
    efforts: Any, wrench: Any, base: Any, quantity: int, out: Any,
) -> int:  # fmt: skip
    """Write derivatives of efforts, accelerations or unbalanced loads to `out` (N, ...).

    `quantity` selects one of the three. A row of `out` contains matrices in row-major order. For
    efforts, these are the derivatives with respect to displacement, velocity and acceleration; for
    accelerations, those with respect to displacement, velocity and efforts. For the loads at rest
    that the efforts leave unbalanced, the first is the derivative with respect to displacement, the
    second the Jacobian of the driven joints' rates. For the finite differences, no coordinate is
    displaced by more than its entry of `limits` (rates,). Return the number of states, counted from
    the first, for which the derivatives exist.
    """
    m, states = (
        layout.mechanism(plan, numbers),
        borrowed_array((q, rates, change, efforts, wrench, base)),
    )
    limits, friction, out = borrowed_array(limits), borrowed_array(friction), borrowed_array(out)
    if not layout.fits(m):
        return 0
    start = stack_all(layout.shapes(m))
    s = DerivativeScratch(new_tables(layout.shapes(m)), new_table(1, m.rates), start)
    memory = stack_all(given_shapes(m.positions, m.free, m.driven))
    room = stack_all(derivative_shapes(m.free, m.driven))
    scratch = s, new_tables(points_shapes(m.positions, m.free)), room
    for k in range(out.shape[0]):
        given, finite = state_row(states, k, memory)
        if not finite or dynamics.prepare(m, given[0], False, start) != layout.OK:
            return k
        tangent(m, start.K, start.R, start.S)
        for j in range(m.free):
            most = 0.0
            for i in range(m.rates):
                most = max(most, abs(start.S[i, j]) / limits[i])
            start.u[j] = 1.0 / most
        if not write_derivatives(m, given, start.u, friction, quantity, scratch, out[k]):
            return k
    return int(out.shape[0])
