# SPDX-License-Identifier: Apache-2.0

"""Derivatives against Pinocchio's, in one run: `python -m benchmarks.derivatives`."""

from __future__ import annotations

import sys
import tempfile
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

import robodyn as rd
from benchmarks import engines
from benchmarks.loops import FOLDER, ConstrainedTree, setting
from benchmarks.timing import Contender, Timing, compare
from robodyn.solvers.tree.closing.kinematics import tangent

warnings.simplefilter("ignore")
BATCH = 2048
# Published link lengths and masses of a UR5e.
UR5E = """
type: serial
name: ur5e
convention: standard_dh
links:
  - {joint: revolute, d: 0.1625, a: 0, alpha: 1.570796327, mass: 3.761, com: [0, -0.02561, 0.00193],
     inertia: [[0.01, 0, 0], [0, 0.01, 0], [0, 0, 0.007]]}
  - {joint: revolute, d: 0, a: -0.425, alpha: 0, mass: 8.058, com: [0.2125, 0, 0.11336],
     inertia: [[0.015, 0, 0], [0, 0.133, 0], [0, 0, 0.133]]}
  - {joint: revolute, d: 0, a: -0.3922, alpha: 0, mass: 2.846, com: [0.15, 0, 0.0265],
     inertia: [[0.004, 0, 0], [0, 0.031, 0], [0, 0, 0.031]]}
  - {joint: revolute, d: 0.1333, a: 0, alpha: 1.570796327, mass: 1.37, com: [0, -0.0018, 0.01634],
     inertia: [[0.003, 0, 0], [0, 0.002, 0], [0, 0, 0.003]]}
  - {joint: revolute, d: 0.0997, a: 0, alpha: -1.570796327, mass: 1.3, com: [0, 0.0018, 0.01634],
     inertia: [[0.003, 0, 0], [0, 0.002, 0], [0, 0, 0.003]]}
  - {joint: revolute, d: 0.0996, a: 0, alpha: 0, mass: 0.365, com: [0, 0, -0.001159],
     inertia: [[0.0002, 0, 0], [0, 0.0002, 0], [0, 0, 0.0003]]}
"""


def table() -> list[Timing]:
    """A UR5e, a 6-UPS platform and a delta: one call, and a state of batches."""
    return [*arm(), *platform(), *loops()]


def ur5e(line: str = "") -> Any:
    """A UR5e without motors; with a line more in its file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "ur5e.yaml")
        path.write_text(f"{UR5E}{line}\n")
        return rd.load(path)


def arm() -> list[Timing]:
    """A UR5e."""
    m = ur5e()
    model, (Q, V, A) = engines.pinocchio_arm(m), np.random.default_rng(0).normal(size=(3, BATCH, 6))
    data, T = model.createData(), m.inverse_dynamics(Q, V, A)
    q, v, a, tau = (part[0].copy() for part in (Q, V, A, T))
    _agree(
        pin.computeRNEADerivatives(model, data, q, v, a), m.inverse_dynamics_derivatives(q, v, a)
    )
    _agree(
        pin.computeABADerivatives(model, data, q, v, tau), m.forward_dynamics_derivatives(q, v, tau)
    )
    return compare(
        [
            Contender(
                "computeRNEADerivatives", lambda: pin.computeRNEADerivatives(model, data, q, v, a)
            ),
            Contender(
                "computeABADerivatives", lambda: pin.computeABADerivatives(model, data, q, v, tau)
            ),
            *_ours("UR5e", m, (Q, V, A, T)),
        ]
    )


def platform() -> list[Timing]:
    """A platform in its pose."""
    m: Any = rd.load("stewart_symmetric").without_friction()
    rng = np.random.default_rng(0)
    Q = m.advance(m.home, rng.uniform(-0.1, 0.1, (BATCH, 6)))
    V, A = rng.normal(size=(2, BATCH, 6))
    return compare(_ours("6-UPS", m, (Q, V, A, m.inverse_dynamics(Q, V, A))))


def loops() -> list[Timing]:
    """A 6-UPS and a delta as closed loops; Pinocchio's, whose numbers are others."""
    contenders = []
    for name in ("stewart_tree", "delta"):
        m: Any = rd.load(FOLDER / f"{name}.urdf", kind="closed_loop").without_friction()
        rng, nv = np.random.default_rng(0), m.mobility
        Q = m.advance(m.home, rng.uniform(-0.05, 0.05, (BATCH, nv)))
        V, A = rng.normal(size=(2, BATCH, nv))
        T = m.inverse_dynamics(Q, V, A)
        tree = ConstrainedTree(m)
        where, tau = tree.configuration(Q[0]), tree.efforts(T[0])
        rates = tree.rates(Q[0], tangent(m, Q[0]) @ V[0])
        known = setting(tree, where, rates, tau, A[0])
        given = tree.model, tree.data, tree.contacts, tree.states, known
        pin.constraintDynamics(tree.model, tree.data, where, rates, tau, *given[2:])
        contenders += [
            Contender(
                f"computeConstraintDynamicsDerivatives, {name}",
                partial(pin.computeConstraintDynamicsDerivatives, *given),
            ),
            *_ours(name, m, (Q, V, A, T)),
        ]
    return compare(contenders)


def _ours(name: str, m: Any, states: Any) -> list[Contender]:
    Q, V, A, T = states
    q, v, a, tau = (part[0].copy() for part in states)
    inverse, forward = m.inverse_dynamics_derivatives, m.forward_dynamics_derivatives
    return [
        Contender(f"{name}, inverse", partial(inverse, q, v, a)),
        Contender(f"{name}, forward", partial(forward, q, v, tau)),
        Contender(f"{name}, inverse, batch of {BATCH}", partial(inverse, Q, V, A), BATCH),
        Contender(f"{name}, forward, batch of {BATCH}", partial(forward, Q, V, T), BATCH),
    ]


def _agree(theirs: Any, ours: Any) -> None:
    """Refuse to time what is not the same."""
    for expected, block in zip(theirs, ours[1:], strict=True):
        np.testing.assert_allclose(block, expected, rtol=0.0, atol=1e-10 * np.abs(expected).max())


if __name__ == "__main__":
    rd.set_threads(1)
    for timing in table():
        sys.stdout.write(f"{timing.name}: {timing.median:.2f} us\n")
