# SPDX-License-Identifier: Apache-2.0

"""Compiled loops over a batch of states, for functions without a version in SIMD lanes."""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.dynamics.kernels.base_motion import base_at_rest
from robodyn.dynamics.kernels.state import State
from robodyn.numerics.compiler import kernel
from robodyn.solvers.serial.kernels import lagrange as serial_lagrange
from robodyn.solvers.serial.kernels import newton_euler as serial_newton_euler
from robodyn.solvers.serial.kernels.layout import FRAME_SIZE, WORK_SIZE
from robodyn.solvers.serial.kernels.spatial import place, write_pose


@kernel
def modified_newton_euler(
    chain: Any, gravity: Any, q: Any, qd: Any, qdd: Any, wrench: Any, contact: bool, out: Any
) -> None:
    """Write joint efforts of N states to `out` (N, n) by Turney's modified recursion."""
    work = np.empty((q.shape[1], WORK_SIZE))
    base = base_at_rest(gravity)
    for s in range(q.shape[0]):
        state = State(q[s], qd[s], qdd[s], wrench[s], contact, q[s], False)
        serial_newton_euler.modified_newton_euler(chain, base, state, work, out[s])


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
    out: Any,
) -> None:
    """Write the joint efforts of N states to `out` (N, n), by Lagrange's equations."""
    n = q.shape[1]
    T = np.empty((n + 1, n + 1, 4, 4))
    D = np.empty((n + 1, n, 4, 4))
    work = np.empty((4, 4, 4))
    for s in range(q.shape[0]):
        serial_lagrange.lagrange(
            chain, pseudo, gravity, q[s], qd[s], qdd[s], wrench[s], contact, T, D, work, out[s]
        )


@kernel
def poses(chain: Any, q: Any, out: Any) -> None:
    """Write the tip poses at N configurations to `out` (N, 7), base frame."""
    n = q.shape[1]
    frames = np.empty((n + 1, FRAME_SIZE))
    for s in range(q.shape[0]):
        place(chain, q[s], frames)
        write_pose(frames[n], out[s])
