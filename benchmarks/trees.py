# SPDX-License-Identifier: Apache-2.0

"""Large trees and regressors against Pinocchio's, in one run: `python -m benchmarks.trees`.

Forward dynamics and derivatives of branched trees and of a humanoid on a floating base, derivatives
of an arm, and regressors of closed loops, which Pinocchio has of the open tree only. Every value is
compared with Pinocchio's before it is timed.
"""

from __future__ import annotations

import sys
import warnings
from functools import partial
from typing import Any

import numpy as np
import pinocchio as pin

import robodyn as rd
from benchmarks import derivatives
from benchmarks.links import HUMANOID, Tree, humanoid_urdf, joint_text, link_text
from benchmarks.timing import Contender, Timing, compare
from robodyn.solvers.tree.closing.kinematics import tangent

BATCH = 1024
# Values must agree to this part of the largest.
RIGHT = 1e-10


def tree_urdf(joints: int) -> str:
    """A tree of revolute joints, each on a link drawn from the last eight, as a URDF."""
    rng = np.random.default_rng(joints)
    parts = ['<robot name="tree">', link_text("link0", 1.0, rng)]
    for k in range(1, joints + 1):
        parts.append(link_text(f"link{k}", rng.uniform(0.5, 3.0), rng))
        parent = f"link{rng.integers(max(0, k - 8), k)}"
        parts.append(joint_text(f"link{k}", parent, rng.integers(3), rng))
    return "".join([*parts, "</robot>"])


class Both:
    """State of a tree here and in Pinocchio.

    Args:
        m: a tree without closures.
    """

    def __init__(self, m: Any) -> None:
        rng, nv = np.random.default_rng(1), m.mobility
        self.m = m
        self.Q = m.advance(m.home, rng.uniform(-0.6, 0.6, (BATCH, nv)))
        self.V, self.A = rng.normal(size=(2, BATCH, nv))
        self.T = rng.normal(size=(BATCH, len(m.joint_names)))
        self.q, self.v, self.a, self.tau = (
            part[0].copy() for part in (self.Q, self.V, self.A, self.T)
        )
        self.tree = Tree(m, m.model.tip_link)
        self.theirs = self.tree.configuration(self.q)
        self.turn = self.rates_of(self.q)
        self.rates, self.efforts = self.turn @ self.v, self.tree.efforts(self.tau)

    def rates_of(self, q: Any) -> Any:
        """(nv, nv) Pinocchio's rates, a floating base's in its own axes, for each of ours."""
        return np.transpose([self.tree.rates(q, column) for column in tangent(self.m, q).T])

    def accelerations(self, q: Any, v: Any, tau: Any) -> Any:
        """Pinocchio's, in our terms."""
        tree, turn = self.tree, self.rates_of(q)
        rates, where = turn @ v, tree.configuration(q)
        found = pin.aba(tree.model, tree.data, where, rates, tree.efforts(tau))
        for joint in self.m.model.joints:
            if joint.kind == "floating":
                at = tree.index(joint.name)
                found[at : at + 3] += np.cross(rates[at + 3 : at + 6], rates[at : at + 3])
        return np.linalg.solve(turn, found)

    def contenders(self) -> list[Contender]:
        """Forward dynamics and derivatives, ours and Pinocchio's in turns."""
        m, model, data = self.m, self.tree.model, self.tree.data
        theirs, rates, efforts = self.theirs, self.rates, self.efforts
        forward, slopes = m.forward_dynamics, m.forward_dynamics_derivatives
        return [
            Contender("forward_dynamics", partial(forward, self.q, self.v, self.tau)),
            Contender("Pinocchio aba", lambda: pin.aba(model, data, theirs, rates, efforts)),
            Contender("forward_dynamics_derivatives", partial(slopes, self.q, self.v, self.tau)),
            Contender(
                "Pinocchio computeABADerivatives",
                lambda: pin.computeABADerivatives(model, data, theirs, rates, efforts),
            ),
            Contender(
                f"forward_dynamics, batch of {BATCH}",
                partial(forward, self.Q, self.V, self.T),
                BATCH,
            ),
        ]


def machines() -> dict[str, Any]:
    """Trees by what they are."""
    return {
        "tree of 30 joints": rd.load(tree_urdf(30), kind="closed_loop"),
        "tree of 64 joints": rd.load(tree_urdf(64), kind="closed_loop"),
        HUMANOID: rd.load(humanoid_urdf()),
    }


def compared(m: Any, rounds: int = 31) -> list[Timing]:
    """Timings of a tree."""
    both = Both(m)
    state = both.q, both.v, both.tau
    found, expected = m.forward_dynamics(*state), both.accelerations(*state)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=RIGHT * np.abs(expected).max())
    return compare(both.contenders(), rounds)


def regressors(rounds: int = 31) -> list[Timing]:
    """Regressors of closed loops, and Pinocchio's of their open trees."""
    contenders = []
    for name in ("delta", "hexapod_rotary"):
        m: Any = rd.load(name)
        rng, nv = np.random.default_rng(2), m.mobility
        Q = m.advance(m.home, 0.05 * rng.uniform(-1.0, 1.0, (BATCH, nv)))
        V, A = rng.normal(size=(2, BATCH, nv))
        q, v, a = (part[0].copy() for part in (Q, V, A))
        efforts = m.inverse_dynamics(q, v, a)
        found = m.regressor(q, v, a) @ m.parameters.values
        np.testing.assert_allclose(found, efforts, rtol=0.0, atol=1e-12 * np.abs(efforts).max())
        tree = Tree(m, m.model.tip_link)
        where = tree.configuration(q)
        rates = tree.rates(q, tangent(m, q) @ v)
        contenders += [
            Contender(f"{name} regressor", partial(m.regressor, q, v, a)),
            Contender(
                f"Pinocchio, open tree of {name}",
                partial(
                    pin.computeJointTorqueRegressor, tree.model, tree.data, where, rates, rates
                ),
            ),
            Contender(f"{name} regressor, batch of {BATCH}", partial(m.regressor, Q, V, A), BATCH),
        ]
    return compare(contenders, rounds)


def table(rounds: int = 31) -> str:
    """Markdown tables."""
    parts = [(text, compared(m, rounds)) for text, m in machines().items()]
    parts.append(("UR5e, derivatives", derivatives.arm()))
    parts.append(("Regressors of closed loops", regressors(rounds)))
    out = []
    for text, timings in parts:
        rows = "".join(f"| {t.name} | {t.median:.2f} |\n" for t in timings)
        out.append(f"{text}:\n\n| | median |\n|---|---|\n{rows}")
    return "\n".join(out)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    rd.set_threads(1)
    sys.stdout.write(table())
