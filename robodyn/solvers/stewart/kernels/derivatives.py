# SPDX-License-Identifier: Apache-2.0

"""Derivatives of a platform's dynamics, see `dynamics.kernels.derivatives`."""

from __future__ import annotations

from typing import Any

from robodyn.dynamics.kernels.base_motion import base_of
from robodyn.dynamics.kernels.derivatives import (
    derivative_kernel,
    derivative_shapes,
    given_shapes,
    points_shapes,
    state_row,
)
from robodyn.numerics.array_arguments import borrowed_array, stack_all
from robodyn.numerics.compiler import batch_entry, inner
from robodyn.numerics.rotations import displace_pose
from robodyn.numerics.simd.tables import new_table, new_tables
from robodyn.numerics.vectors import vector
from robodyn.solvers.stewart.kernels.dynamics import required_wrench
from robodyn.solvers.stewart.kernels.layout import GRAVITY
from robodyn.solvers.stewart.kernels.single import is_pose


@inner
def residual_wrench(platform: Any, state: Any, forces: Any, H: Any, out: Any) -> int:
    """Write the residual wrench (6,) of the equations of motion to `out`.

    It is the wrench that the motion in `state` requires, minus those of the leg `forces` (6,) and
    of the environment, about the platform's reference point. `H` (6, 6) becomes the force Jacobian.
    Return OK, or the status code of a failure.
    """
    legs, body = platform
    base = base_of(state.base, state.moves, vector(body, GRAVITY), 0.0 * state.q[0])
    q, v, a = state.q, state.rates, state.acceleration_or_effort
    status = required_wrench(legs, body, q, v, a, base, True, H, out)
    for i in range(6):
        total = out[i]
        if state.contact:
            total = total - state.wrench[i]
        for j in range(6):
            total = total - H[i, j] * forces[j]
        out[i] = total
    return int(status)


@inner
def displace(platform: Any, step: Any, H: Any, pose: Any) -> None:
    """Displace a pose in place by a translation and a rotation vector; normalize it.

    `step` (6,) consists of both, in the base frame. Floats and SIMD lanes are supported.
    """
    displace_pose(pose, 0, vector(step, 0), vector(step, 3))


@inner
def drive(platform: Any, H: Any, i: int, j: int) -> Any:
    """Return component `i` of the wrench on the platform per unit force of leg `j`.

    It is an entry of the force Jacobian `H`.
    """
    return H[i, j]


write_derivatives = derivative_kernel(residual_wrench, displace, drive)


@batch_entry
def derivatives(
    legs: Any, body: Any, steps: Any, friction: Any, pose: Any, twist: Any, accel: Any, forces: Any,
    wrench: Any, base: Any, quantity: int, out: Any,
) -> int:  # fmt: skip
    """Write derivatives of forces, accelerations or unbalanced loads to `out` (N, 108).

    `quantity` selects one of the three. A row of `out` contains three matrices (6, 6), each stored
    row by row. For forces, these are the derivatives with respect to displacement, twist and
    acceleration; for accelerations, those with respect to displacement, twist and forces. For the
    loads at rest that the leg forces leave unbalanced, the first is the derivative with respect to
    displacement, the second the Jacobian of the leg rates w.r.t. the twist. Return the number of
    states, counted from the first, for which the derivatives exist.
    """
    platform = borrowed_array(legs), borrowed_array(body)
    states = borrowed_array((pose, twist, accel, forces, wrench, base))
    steps, friction, out = borrowed_array(steps), borrowed_array(friction), borrowed_array(out)
    memory, room = stack_all(given_shapes(7, 6, 6)), stack_all(derivative_shapes(6, 6))
    scratch = new_table(6, 6), new_tables(points_shapes(7, 6)), room
    for k in range(out.shape[0]):
        given, finite = state_row(states, k, memory)
        if not (finite and is_pose(given[0])):
            return k
        if not write_derivatives(platform, given, steps, friction, quantity, scratch, out[k]):
            return k
    return int(out.shape[0])
