# SPDX-License-Identifier: Apache-2.0

"""Inverse dynamics by recursion: Newton-Euler and Turney's modified form.

Turney, Mudge and Lee (1980), eq. 3.15-3.21, and eq. 5.1, 5.2 for the modified form, both with the
corrections listed in docs/arms.md and extended to prismatic joints. The outward pass of both forms
computes the force and moment that accelerate each link; `inward` propagates these from the tip to
the base.
"""

from __future__ import annotations

from typing import Any

from robodyn.numerics.compiler import inner
from robodyn.numerics.matrices import Matrix, apply_transposed, matrix, store_matrix
from robodyn.numerics.vectors import Vector, store, vector
from robodyn.solvers.serial.kernels import layout
from robodyn.solvers.serial.kernels.spatial import link_lever, link_reach, link_rotation
from robodyn.solvers.serial.kernels.terms import (
    add_force,
    add_moment,
    add_motor,
    along_axis,
    angular_acceleration,
    angular_inertia,
    angular_velocity,
    base_motion,
    carried_acceleration,
    com_acceleration,
    gyroscopic_moment,
    inertial_force,
    lever_moment,
    levered_force,
    origin_acceleration,
    passed_moment,
    rotation_operator,
    spread_moment,
    turned_force,
    turned_moment,
)


@inner
def newton_euler(chain: Any, base: Any, state: Any, work: Any, tau: Any) -> None:
    """Write the joint efforts of a `State`, with its tip wrench, to `tau` (n,).

    They are computed by the Newton-Euler recursion. `base` is the motion of the base, `work` (n,
    WORK_SIZE) is scratch.
    """
    q, qd, qdd = state.q, state.rates, state.acceleration_or_effort
    omega, alpha, a = base_motion(chain, base)
    for i in range(chain.shape[0] - 1):
        row = chain[i + 1]
        R = link_rotation(row, q[i])
        r = link_reach(row, q[i])
        alpha = angular_acceleration(row, R, alpha, omega, qd[i], qdd[i])
        carried = carried_acceleration(row, R, a, omega, qd[i], qdd[i])
        omega = angular_velocity(row, R, omega, qd[i])
        A = rotation_operator(omega, alpha)
        a = origin_acceleration(A, r, carried)
        F = inertial_force(row, com_acceleration(row, A, a))
        N = add_moment(angular_inertia(row, alpha), gyroscopic_moment(row, omega))
        store_link(work[i], R, r, link_lever(row, q[i]), F, N)
    inward(chain, state, work, tau)


@inner
def modified_newton_euler(chain: Any, base: Any, state: Any, work: Any, tau: Any) -> None:
    """Write the joint efforts to `tau` (n,), by Turney's modified recursion.

    The arguments are those of `newton_euler`.
    """
    q, qd, qdd = state.q, state.rates, state.acceleration_or_effort
    n = chain.shape[0] - 1
    omega, alpha, a = base_motion(chain, base)
    for i in range(n):
        row = chain[i + 1]
        R = link_rotation(row, q[i])
        r = link_reach(row, q[i])
        lever = link_lever(row, q[i])
        alpha = angular_acceleration(row, R, alpha, omega, qd[i], qdd[i])
        carried = carried_acceleration(row, R, a, omega, qd[i], qdd[i])
        omega = angular_velocity(row, R, omega, qd[i])
        A = rotation_operator(omega, alpha)
        F = levered_force(row, A, lever, carried)
        N = spread_moment(row, A)
        if i < n - 1:
            a = origin_acceleration(A, r, carried)
        store_link(work[i], R, r, lever, F, N)
    inward(chain, state, work, tau)


@inner
def inward(chain: Any, state: Any, work: Any, tau: Any) -> None:
    """Write the joint efforts to `tau` (n,), by recursion from the tip to the base.

    The recursion propagates the forces and moments between links, starting with the wrench on the
    tip: Turney, Mudge and Lee (1980), eq. 3.19-3.21. `work` contains what `store_link` has stored
    for each link.
    """
    n = chain.shape[0] - 1
    outer_force = (0.0, 0.0, 0.0)
    outer_moment = (0.0, 0.0, 0.0)
    if state.contact:
        outer_force, outer_moment = tip_load(chain, state.q, state.wrench)
    for i in range(n - 1, -1, -1):
        row = chain[i + 1]
        force = vector(work[i], layout.WORK_FORCE)
        moment = add_moment(
            vector(work[i], layout.WORK_MOMENT),
            lever_moment(vector(work[i], layout.WORK_LEVER), force),
        )
        if state.contact or i < n - 1:
            force = add_force(force, outer_force)
            moment = add_moment(
                moment, passed_moment(vector(work[i], layout.WORK_REACH), outer_force)
            )
            moment = add_moment(moment, outer_moment)
        effort = along_axis(row, force, moment)
        tau[i] = add_motor(row, effort, state.q[i], state.rates[i], state.acceleration_or_effort[i])
        if i > 0:
            R = matrix(work[i], layout.WORK_ROTATION)
            outer_force = turned_force(R, force)
            outer_moment = turned_moment(R, moment)


@inner
def tip_load(chain: Any, q: Any, wrench: Any) -> tuple[Vector, Vector]:
    """Return force and moment of the last link on its environment, in the tip frame.

    `wrench` (6,) is the opposite one, exerted by the environment on the link, in the base frame.
    The moments are about the tip.
    """
    R = matrix(chain[0], layout.ROTATION)
    force = apply_transposed(R, (-wrench[0], -wrench[1], -wrench[2]))
    moment = apply_transposed(R, (-wrench[3], -wrench[4], -wrench[5]))
    for i in range(chain.shape[0] - 1):
        R = link_rotation(chain[i + 1], q[i])
        force = apply_transposed(R, force)
        moment = apply_transposed(R, moment)
    return force, moment


@inner
def store_link(
    work: Any, R: Matrix, r: Vector, lever: Vector, force: Vector, moment: Vector
) -> None:
    """Store the data of a link that the inward recursion needs in its row `work`.

    They are the rotation `R` to the previous link, the vectors `r` and `lever` from the previous
    origin to the link's origin and center of mass, and the inertial force and moment (about the
    center of mass); all in the link's frame.
    """
    store_matrix(work, layout.WORK_ROTATION, R)
    store(work, layout.WORK_REACH, r)
    store(work, layout.WORK_LEVER, lever)
    store(work, layout.WORK_FORCE, force)
    store(work, layout.WORK_MOMENT, moment)
