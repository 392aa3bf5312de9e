# SPDX-License-Identifier: Apache-2.0

"""Strobing: finding the matrices of the dynamics by probing inverse dynamics with unit motions.

Turney, Mudge and Lee (1980), end of section 3 and section 7. With h(q') the effort of a motion at
constant rates without gravity and friction, C_jj = h(e_j), and as h(e_j + e_k) is C_jj + C_kk + 2
C_jk (the report omits the first two), C_jk = [h(e_j + e_k) - h(e_j) - h(e_k)]/2.
"""

from __future__ import annotations

from typing import Any

from robodyn.mechanisms.common.kernels.base_motion import at_rest
from robodyn.mechanisms.common.kernels.dry_friction import imminent
from robodyn.mechanisms.common.kernels.state import State
from robodyn.mechanisms.serial.kernels.newton_euler import newton_euler
from robodyn.mechanisms.serial.kernels.terms import friction
from robodyn.numerics.compiler import kernel
from robodyn.numerics.linear import solve_positive_definite


@kernel
def mass_matrix(chain: Any, q: Any, unit: Any, rest: Any, work: Any, tau: Any, out: Any) -> None:
    """Mass matrix out (n, n): column j is the effort of a unit acceleration of joint j at rest.

    `rest` (n,) is zero, `unit` (n,) zero on entry and on return; no gravity.
    """
    n = q.shape[0]
    for j in range(n):
        unit[j] = 1.0
        newton_euler(chain, at_rest(rest), State(q, rest, unit, q, False, q, False), work, tau)
        unit[j] = 0.0
        for i in range(n):
            out[i, j] = tau[i]
        # the dry friction of a joint that is about to move
        row = chain[j + 1]
        out[j, j] -= friction(row, 0.0, imminent(0.0, 1.0)) - friction(row, 0.0, 0.0)


@kernel
def christoffel(chain: Any, q: Any, unit: Any, rest: Any, work: Any, tau: Any, out: Any) -> None:
    """C^i_jk, out (n, n, n) at [i, j, k], of a chain without friction; scratch as `mass_matrix`."""
    n = q.shape[0]
    for j in range(n):
        unit[j] = 1.0
        newton_euler(chain, at_rest(rest), State(q, unit, rest, q, False, q, False), work, tau)
        unit[j] = 0.0
        for i in range(n):
            out[i, j, j] = tau[i]
    for j in range(n):
        for k in range(j):
            unit[j] = 1.0
            unit[k] = 1.0
            newton_euler(chain, at_rest(rest), State(q, unit, rest, q, False, q, False), work, tau)
            unit[j] = 0.0
            unit[k] = 0.0
            for i in range(n):
                mixed = 0.5 * (tau[i] - out[i, j, j] - out[i, k, k])
                out[i, j, k] = mixed
                out[i, k, j] = mixed


@kernel
def forward_dynamics(
    chain: Any,
    gravity: Any,
    q: Any,
    qd: Any,
    tau: Any,
    wrench: Any,
    unit: Any,
    rest: Any,
    work: Any,
    effort: Any,
    M: Any,
    qdd: Any,
) -> bool:
    """Section 7: the bias and the columns of M by inverse dynamics, then M q'' = tau - bias.

    Solved by Cholesky factorisation, as M is symmetric and positive definite; False if not.
    """
    mass_matrix(chain, q, unit, rest, work, effort, M)
    state = State(q, qd, rest, wrench, True, rest, False)
    newton_euler(chain, at_rest(gravity), state, work, effort)
    for i in range(q.shape[0]):
        qdd[i] = tau[i] - effort[i]
    return solve_positive_definite(M, qdd)
