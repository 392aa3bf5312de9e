# SPDX-License-Identifier: Apache-2.0

"""Forward dynamics by the articulated-body algorithm (Featherstone, 2008, table 7.1).

Spatial vectors are pairs of an angular and a linear part (of a force: moment and force) in base
axes, each about the origin of its own joint, so a change of joint is a shift without rotation. The
articulated inertia is stored as blocks [A, B; B', M].
"""

from __future__ import annotations

from typing import Any

from robodyn.numerics.compiler import inner
from robodyn.numerics.matrices import (
    Matrix,
    add_outer,
    apply,
    apply_transposed,
    plus,
    shift_reference_point,
    skew,
)
from robodyn.numerics.simd.lanes import all_of, any_of
from robodyn.numerics.vectors import Vector, add, axpy, cross, dot, scale, store, sub, vector
from robodyn.solvers.serial.kernels import layout
from robodyn.solvers.serial.kernels.spatial import joint_axis, joint_origin, link_about
from robodyn.solvers.serial.kernels.terms import passive_effort

ZERO = (0.0, 0.0, 0.0)


@inner
def forward_dynamics(
    chain: Any,
    frames: Any,
    base: Any,
    q: Any,
    qd: Any,
    tau: Any,
    wrench: Any,
    bodies: Any,
    qdd: Any,
) -> bool:
    """Write joint accelerations to `qdd` (n,); return False if a joint has no inertia.

    `q`, `qd`, `tau` (n,) are positions, rates and efforts of the joints. `frames` are the link
    frames that `spatial.place` writes, `base` is the motion of the base, `wrench` (6,) acts on the
    tip and is in the base frame, and `bodies` (n, BODY_SIZE) is scratch.
    """
    n = chain.shape[0] - 1
    outward_velocities(chain, frames, base, qd, bodies)
    if not inward_inertias(chain, frames, q, qd, tau, wrench, bodies):
        return False
    angular, linear = base.alpha, base.force
    if base.moves:
        linear = add(linear, cross(angular, joint_origin(frames, 0)))
    for i in range(n):
        body = bodies[i]
        if i > 0:
            r = sub(joint_origin(frames, i), joint_origin(frames, i - 1))
            linear = add(linear, cross(angular, r))
        angular = add(angular, vector(body, layout.BODY_COUPLING))
        linear = add(linear, vector(body, layout.BODY_COUPLING + 3))
        resisted = dot(vector(body, layout.BODY_HANDLE), angular) + dot(
            vector(body, layout.BODY_HANDLE + 3), linear
        )
        qdd[i] = (body[layout.BODY_EFFORT] - resisted) / body[layout.BODY_INERTIA]
        if any_of(chain[i + 1, layout.PRISMATIC] > 0.0):
            linear = axpy(qdd[i], joint_axis(frames, i), linear)
        else:
            angular = axpy(qdd[i], joint_axis(frames, i), angular)
    return True


@inner
def outward_velocities(chain: Any, frames: Any, base: Any, qd: Any, bodies: Any) -> None:
    """Write the spatial velocity of each link, base to tip, to its row of `bodies`.

    Each row also gets the part of the link's acceleration that its own joint's rate causes at zero
    joint acceleration (Featherstone's c_i). Both are in base axes, about the origin of the link's
    joint.
    """
    # spatial motion with the base's origin at rest, which leaves accelerations unchanged
    angular = base.omega
    linear = cross(angular, joint_origin(frames, 0)) if base.moves else angular
    for i in range(chain.shape[0] - 1):
        if i > 0:
            r = sub(joint_origin(frames, i), joint_origin(frames, i - 1))
            linear = add(linear, cross(angular, r))
        motion = scale(qd[i], joint_axis(frames, i))
        if any_of(chain[i + 1, layout.PRISMATIC] > 0.0):
            linear = add(linear, motion)
            store(bodies[i], layout.BODY_COUPLING, ZERO)
            store(bodies[i], layout.BODY_COUPLING + 3, cross(angular, motion))
        else:
            angular = add(angular, motion)
            store(bodies[i], layout.BODY_COUPLING, cross(angular, motion))
            store(bodies[i], layout.BODY_COUPLING + 3, cross(linear, motion))
        store(bodies[i], layout.BODY_VELOCITY, angular)
        store(bodies[i], layout.BODY_VELOCITY + 3, linear)


@inner
def inward_inertias(
    chain: Any, frames: Any, q: Any, qd: Any, tau: Any, wrench: Any, bodies: Any
) -> bool:
    """Compute articulated inertias and bias forces, from the tip to the base.

    They are in base axes, about the origin of each link's joint. The terms from which the outward
    pass computes the joint accelerations are written to `bodies` (n, BODY_SIZE). Return False if a
    joint has no inertia.
    """
    n = chain.shape[0] - 1
    tip = sub(joint_origin(frames, n), joint_origin(frames, n - 1))
    force = (-wrench[0], -wrench[1], -wrench[2])
    moment = add((-wrench[3], -wrench[4], -wrench[5]), cross(tip, force))
    A = (ZERO, ZERO, ZERO)
    B = (ZERO, ZERO, ZERO)
    M = (ZERO, ZERO, ZERO)
    for i in range(n - 1, -1, -1):
        body = bodies[i]
        mass, first, inertia = link_about(chain, frames, i)
        A = plus(A, inertia)
        B = plus(B, skew(first))
        M = plus(M, ((mass, 0.0, 0.0), (0.0, mass, 0.0), (0.0, 0.0, mass)))
        gyroscopic = velocity_force(mass, first, inertia, body)
        moment = add(moment, gyroscopic[0])
        force = add(force, gyroscopic[1])
        z = joint_axis(frames, i)
        if any_of(chain[i + 1, layout.PRISMATIC] > 0.0):
            angular, linear = apply(B, z), apply(M, z)
            inert, load = dot(z, linear), dot(z, force)
        else:
            angular, linear = apply(A, z), apply_transposed(B, z)
            inert, load = dot(z, angular), dot(z, moment)
        inert += chain[i + 1, layout.ARMATURE]
        if not all_of(inert > 0.0):
            return False
        effort = tau[i] - passive_effort(chain[i + 1], q[i], qd[i], qd[i]) - load
        store(body, layout.BODY_HANDLE, angular)
        store(body, layout.BODY_HANDLE + 3, linear)
        body[layout.BODY_EFFORT] = effort
        body[layout.BODY_INERTIA] = inert
        if i > 0:
            A = add_outer(A, -1.0 / inert, angular, angular)
            B = add_outer(B, -1.0 / inert, angular, linear)
            M = add_outer(M, -1.0 / inert, linear, linear)
            alpha = vector(body, layout.BODY_COUPLING)
            a = vector(body, layout.BODY_COUPLING + 3)
            moment = add(moment, axpy(effort / inert, angular, add(apply(A, alpha), apply(B, a))))
            force = add(
                force, axpy(effort / inert, linear, add(apply_transposed(B, alpha), apply(M, a)))
            )
            r = sub(joint_origin(frames, i), joint_origin(frames, i - 1))
            moment = add(moment, cross(r, force))
            A, B = shift_reference_point(A, B, M, r)
    return True


@inner
def velocity_force(mass: float, first: Vector, inertia: Matrix, body: Any) -> tuple[Vector, Vector]:
    """Return the moment and force that a link's velocity alone requires.

    They are v x* I v (Featherstone), with the link's spatial velocity v, read from its row `body`,
    and its spatial inertia I. All are in base axes, about the origin of the link's joint; `first`
    is the link's first moment of mass.
    """
    omega = vector(body, layout.BODY_VELOCITY)
    v = vector(body, layout.BODY_VELOCITY + 3)
    momentum = axpy(mass, v, cross(omega, first))
    spin = add(apply(inertia, omega), cross(first, v))
    return add(cross(omega, spin), cross(v, momentum)), cross(omega, momentum)
