# SPDX-License-Identifier: Apache-2.0

"""Inverse dynamics by Lagrange's equations in the trace form of Turney, Mudge and Lee (1980).

tau_i = sum_q Tr{ [sum_j dT_q/dj q_j'' + sum_jk d2T_q/djdk q_j' q_k'] J_q (dT_q/di)' }
        - sum_q m_q g' dT_q/di rbar_q,
with the homogeneous transform T_q = T_0^q of link q, its pseudo-inertia J_q = integral of d d' dm
(eq. 1.28), mass m_q and center of mass rbar_q, and gravity g; organized as in the report's
appendix, which makes it of order n^3. Differentiation puts Q_j before T_{j-1}^q: for a revolute
joint a row interchange and a negation, for a prismatic one a shift of a row, so it costs nothing.
"""

from __future__ import annotations

import math
from typing import Any

from robodyn.numerics.compiler import kernel
from robodyn.numerics.matrices import apply_transposed, matrix
from robodyn.numerics.vectors import Vector, cross, dot, sub
from robodyn.solvers.serial.kernels.layout import PRISMATIC, ROTATION, SHIFT
from robodyn.solvers.serial.kernels.terms import add_motor


@kernel
def lagrange(
    chain: Any,
    pseudo: Any,
    gravity: Any,
    q: Any,
    qd: Any,
    qdd: Any,
    wrench: Any,
    contact: bool,
    T: Any,
    D: Any,
    work: Any,
    tau: Any,
) -> None:
    """Write the joint efforts of one state to `tau` (n,), by Lagrange's equations.

    `q`, `qd`, `qdd` (n,) are the motion of the joints; the tip `wrench` (6,), base frame, counts if
    `contact`. `pseudo` (n, 4, 4) contains the pseudo-inertias of the links. Scratch: `T` (n + 1, n
    + 1, 4, 4) for the transforms from frame i to frame j at [j, i], `D` (n + 1, n, 4, 4) for the
    derivative of the transform of frame i w.r.t. joint j at [i, j], `work` (4, 4, 4).
    """
    n = q.shape[0]
    g = apply_transposed(matrix(chain[0], ROTATION), (gravity[0], gravity[1], gravity[2]))
    for i in range(1, n + 1):
        neighbor(chain[i], q[i - 1], T[i - 1, i])
    transforms(q, T)
    for i in range(1, n + 1):
        for j in range(i):
            first_derivative(chain, T, i, j, work[0], D[i, j])
    for i in range(n):
        tau[i] = add_motor(chain[i + 1], 0.0, q[i], qd[i], qdd[i])
    for link in range(1, n + 1):
        motion = work[1]
        bracket(chain, T, D, link, qd, qdd, work, motion)
        momentum = work[3]
        times_pseudo_inertia(motion, pseudo[link - 1], momentum)
        for i in range(link):
            tau[i] = add_torque(tau[i], trace_of_product(momentum, D[link, i]))
    for axis in range(3):
        if g[axis] != 0.0:
            for i in range(n):
                tau[i] = subtract_weight(tau[i], g[axis], gravity_moment(pseudo, D, i, axis, n))
    if contact:
        R = matrix(chain[0], ROTATION)
        force = apply_transposed(R, (wrench[0], wrench[1], wrench[2]))
        moment = apply_transposed(R, (wrench[3], wrench[4], wrench[5]))
        for i in range(n):
            tau[i] = tau[i] - tip_effort(chain, T, i, n, force, moment)


@kernel
def transforms(q: Any, T: Any) -> None:
    """Write the transforms T_j^i from frame i to frame j, for all i > j + 1, to `T`.

    Those of neighboring frames, i = j + 1, must already be in `T`.
    """
    n = q.shape[0]
    for j in range(n - 1):
        for i in range(j + 2, n + 1):
            multiply(T[j, i - 1], T[i - 1, i], T[j, i])


@kernel
def neighbor(row: Any, q: float, out: Any) -> None:
    """Write the transform T_{i-1}^i to `out`: a joint's motion, then a fixed part.

    The fixed part is the transform of the link, from its row of the packed chain.
    """
    sliding = row[PRISMATIC] != 0.0
    c = 1.0 if sliding else math.cos(q)
    s = 0.0 if sliding else math.sin(q)
    d = q if sliding else 0.0 * q
    for k in range(4):
        start = ROTATION + k if k < 3 else SHIFT
        step = 3 if k < 3 else 1
        x, y, z = row[start], row[start + step], row[start + 2 * step]
        out[0, k] = c * x - s * y
        out[1, k] = s * x + c * y
        out[2, k] = z + d if k == 3 else z
        out[3, k] = 1.0 if k == 3 else 0.0


@kernel
def multiply(a: Any, b: Any, out: Any) -> None:
    """Write the product of two 4 x 4 matrices to `out`, without skipping zeros.

    It is written out in full, because the operations are counted as in Turney, Mudge and Lee
    (1980).
    """
    for i in range(4):
        for j in range(4):
            out[i, j] = (
                a[i, 0] * b[0, j] + a[i, 1] * b[1, j] + a[i, 2] * b[2, j] + a[i, 3] * b[3, j]
            )


@kernel
def differentiate(row: Any, a: Any, out: Any) -> None:
    """Write Q_j A to `out`: rows of A interchanged and negated, without arithmetic.

    Q_j is the matrix by which a transform is differentiated with respect to joint j.
    """
    sliding = row[PRISMATIC] != 0.0
    for k in range(4):
        x, y, last = a[0, k], a[1, k], a[3, k]
        out[0, k] = 0.0 if sliding else -y
        out[1, k] = 0.0 if sliding else x
        out[2, k] = last if sliding else 0.0
        out[3, k] = 0.0


@kernel
def first_derivative(chain: Any, T: Any, i: int, j: int, turned: Any, out: Any) -> None:
    """Write the derivative of the transform T_0^i w.r.t. joint j (0 to i-1) to `out`.

    It is T_0^j Q_j T_j^i, with the differentiation matrix Q_j of the joint: Turney, Mudge and Lee
    (1980), eq. 1.11. `turned` (4, 4) is scratch.
    """
    if j == 0:
        differentiate(chain[1], T[0, i], out)
        return
    differentiate(chain[j + 1], T[j, i], turned)
    multiply(T[0, j], turned, out)


@kernel
def second_derivative(
    chain: Any, T: Any, D: Any, i: int, j: int, k: int, turned: Any, out: Any
) -> None:
    """Write the second derivative of transform T_0^i w.r.t. joints j <= k to `out`.

    This takes at most one matrix product: Turney, Mudge and Lee (1980), eq. 1.12. `turned` (4, 4)
    is scratch.
    """
    if j == 0:
        differentiate(chain[1], D[i, k], out)
        return
    if j == k:
        differentiate(chain[j + 1], T[j, i], out)
        differentiate(chain[j + 1], out, turned)
        multiply(T[0, j], turned, out)
        return
    differentiate(chain[k + 1], T[k, i], turned)
    multiply(D[k, j], turned, out)


@kernel
def bracket(chain: Any, T: Any, D: Any, i: int, qd: Any, qdd: Any, work: Any, out: Any) -> None:
    """Write the second time derivative of the transform T_0^i of frame i to `out`.

    It is the bracket in eq. 4.34 of Turney, Mudge and Lee (1980). Each pair of joints is evaluated
    once.
    """
    for a in range(4):
        for b in range(4):
            out[a, b] = D[i, 0, a, b] * qdd[0]
    for j in range(1, i):
        accumulate(out, D[i, j], qdd[j])
    for j in range(i):
        for k in range(j, i):
            second_derivative(chain, T, D, i, j, k, work[0], work[2])
            rates = qd[j] * qd[k]
            accumulate(out, work[2], rates if j == k else rates + rates)


@kernel
def accumulate(out: Any, a: Any, factor: float) -> None:
    """Add a matrix times a factor to the 4 x 4 matrix `out`."""
    for i in range(4):
        for j in range(4):
            out[i, j] = out[i, j] + a[i, j] * factor


@kernel
def times_pseudo_inertia(motion: Any, pseudo: Any, out: Any) -> None:
    """Multiply a transform's second time derivative by the link's pseudo-inertia."""
    multiply(motion, pseudo, out)


@kernel
def trace_of_product(a: Any, b: Any) -> float:
    """Return the trace of A B' for 4 x 4 matrices, from the product's diagonal alone."""
    total: float = a[0, 0] * b[0, 0]
    for k in range(1, 16):
        total = total + a[k // 4, k % 4] * b[k // 4, k % 4]
    return total


@kernel
def add_torque(total: float, term: float) -> float:
    """Return the sum of a joint's effort and the contribution `term` of one link."""
    return total + term


@kernel
def gravity_moment(pseudo: Any, D: Any, i: int, axis: int, n: int) -> float:
    """Return component `axis` of the gravity term of joint i, summed over the links.

    The term is the sum of dT_q/di m_q rbar_q: the derivative of link q's transform w.r.t. joint i,
    times the link's first moment, which is the last column of its pseudo-inertia: Turney, Mudge and
    Lee (1980), eq. 2.8. The result times that component of gravity is subtracted from the joint's
    effort.
    """
    total = lever_component(D[i + 1, i], pseudo[i], axis)
    for link in range(i + 2, n + 1):
        total = total + lever_component(D[link, i], pseudo[link - 1], axis)
    return total


@kernel
def lever_component(derivative: Any, pseudo: Any, axis: int) -> float:
    """Return component `axis` of a transform's derivative times a link's first moment.

    The first moment is the last column of the link's `pseudo` inertia (4, 4).
    """
    total: float = (
        derivative[axis, 0] * pseudo[0, 3]
        + derivative[axis, 1] * pseudo[1, 3]
        + derivative[axis, 2] * pseudo[2, 3]
        + derivative[axis, 3] * pseudo[3, 3]
    )
    return total


@kernel
def subtract_weight(total: float, gravity: float, moment: float) -> float:
    """Return a joint's effort minus the contribution of gravity along one axis."""
    return total - gravity * moment


@kernel
def tip_effort(chain: Any, T: Any, i: int, n: int, force: Vector, moment: Vector) -> float:
    """Return the effort of joint i equivalent to a force and a moment on the tip.

    Both vectors are in frame 0; the force acts at the tip.
    """
    axis = (0.0, 0.0, 1.0)
    origin = (0.0, 0.0, 0.0)
    if i > 0:
        axis = (T[0, i, 0, 2], T[0, i, 1, 2], T[0, i, 2, 2])
        origin = (T[0, i, 0, 3], T[0, i, 1, 3], T[0, i, 2, 3])
    if chain[i + 1, PRISMATIC] != 0.0:
        return dot(axis, force)
    tip = (T[0, n, 0, 3], T[0, n, 1, 3], T[0, n, 2, 3])
    return dot(axis, moment) + dot(cross(axis, sub(tip, origin)), force)
