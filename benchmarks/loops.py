# SPDX-License-Identifier: Apache-2.0

"""Mechanisms with closed loops against Pinocchio, which closes the same loops as constraints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

import robodyn as rd
from benchmarks.timing import Contender, Timing, compare
from robodyn.solvers.tree.closing.kinematics import tangent

FOLDER = Path(__file__).parents[1] / "test" / "reference" / "closed_loops"
# Files, and what they are.
MODELS = {
    "delta": "delta, 21 tree coordinates, 3 freedoms",
    "fivebar": "five-bar, 4 tree coordinates, 2 freedoms, a redundant equation",
    "stewart_tree": "6-UPS platform, 21 tree coordinates, 6 freedoms",
}
BATCH = 4096
# Settings of Pinocchio's solver, tried from the quickest on: mu, iterations.
SETTINGS = [(0.0, 1), *((mu, n) for n in (1, 2, 3, 5, 10) for mu in (1e-14, 1e-12, 1e-10, 1e-8))]
RIGHT = 1e-9


def se3(placement: Any) -> Any:
    """A placement of ours."""
    return pin.SE3(np.array(placement.rotation), np.array(placement.translation))


class ConstrainedTree:
    """A tree with spherical closures.

    Args:
        mechanism: of ours, without friction.
    """

    def __init__(self, mechanism: Any) -> None:
        self.mechanism, description = mechanism, mechanism.model
        self.model = pin.Model()
        self.model.gravity = pin.Motion(np.array(description.gravity), np.zeros(3))
        self._links = {link.name: link for link in description.links}
        self._at = {description.base_link: (0, pin.SE3.Identity())}
        self.joints: dict[str, int] = {}
        self._grow(description.base_link)
        armature = np.zeros(self.model.nv)
        for joint in description.joints:
            if joint.name in self.joints and joint.kind != "floating":
                armature[self.index(joint.name)] = joint.armature
        self.model.armature = armature
        self.data = self.model.createData()
        self.contacts = pin.StdVec_RigidConstraintModel()
        self.states = pin.StdVec_RigidConstraintData()
        for closure in description.closures:
            assert closure.kind == "spherical"
            (a, at_a), (b, at_b) = self._at[closure.parent], self._at[closure.child]
            self.contacts.append(
                pin.RigidConstraintModel(
                    pin.ContactType.CONTACT_3D,
                    self.model,
                    a,
                    at_a * se3(closure.at),
                    b,
                    at_b * se3(closure.child_at),
                    pin.ReferenceFrame.LOCAL,
                )
            )
            self.states.append(self.contacts[-1].createData())
        pin.initConstraintDynamics(self.model, self.data, self.contacts, self.states)

    def _grow(self, link: str) -> None:
        """Add the links below a link, depth first, as Pinocchio requires."""
        for joint in self.mechanism.model.joints:
            if joint.parent != link:
                continue
            parent, at = self._at[link]
            place, back = at * se3(joint.at), se3(joint.child_at).inverse()
            if joint.kind != "fixed":
                parent = self.model.addJoint(parent, _moves(joint), place, joint.name)
                self.joints[joint.name], place = parent, pin.SE3.Identity()
            body = self._links[joint.child]
            self._at[joint.child] = parent, place * back
            inertia = pin.Inertia(body.mass, np.array(body.com), np.array(body.inertia))
            if parent:
                self.model.appendBodyToJoint(parent, inertia, place * back)
            self._grow(joint.child)

    def index(self, name: str) -> int:
        """Of a joint's first rate."""
        return int(self.model.joints[self.joints[name]].idx_v)

    def configuration(self, q: Any) -> Any:
        """One of ours in the order of Pinocchio's."""
        out, at = np.zeros(self.model.nq), 0
        for name in self.mechanism.structure.joint_names:
            joint = self.model.joints[self.joints[name]]
            out[joint.idx_q : joint.idx_q + joint.nq] = q[at : at + joint.nq]
            at += joint.nq
        return out

    def rates(self, q: Any, v: Any) -> Any:
        """Return the rates of all joints; here those of a floating one are in its body's axes."""
        pin.forwardKinematics(self.model, self.data, self.configuration(q))
        out, at = np.zeros(self.model.nv), 0
        for name in self.mechanism.structure.joint_names:
            number = self.joints[name]
            joint = self.model.joints[number]
            own = np.array(v[at : at + joint.nv])
            if joint.nv == 6:
                own = (own.reshape(2, 3) @ self.data.oMi[number].rotation).ravel()
            out[joint.idx_v : joint.idx_v + joint.nv] = own
            at += joint.nv
        return out

    def efforts(self, values: Any) -> Any:
        """Of all joints, from those of the driven ones."""
        out = np.zeros(self.model.nv)
        for name, value in zip(self.mechanism.joint_names, values, strict=True):
            out[self.index(name)] = value
        return out


def _moves(joint: Any) -> Any:
    """Pinocchio's joint for one of ours."""
    if joint.kind == "floating":
        return pin.JointModelFreeFlyer()
    kind = "Prismatic" if joint.kind == "prismatic" else "Revolute"
    for n in range(3):
        if np.array_equal(joint.axis, np.eye(3)[n]):
            return getattr(pin, f"JointModel{kind[0]}{'XYZ'[n]}")()
    return getattr(pin, f"JointModel{kind}Unaligned")(np.array(joint.axis))


def setting(tree: ConstrainedTree, q: Any, v: Any, tau: Any, expected: Any) -> Any:
    """The quickest setting with which `constraintDynamics` is right."""
    names = tree.mechanism.independent_joints
    places = [tree.index(name) for name in names]
    for mu, iterations in SETTINGS:
        settings = pin.ProximalSettings(1e-14, mu, iterations)
        found = pin.constraintDynamics(
            tree.model, tree.data, q, v, tau, tree.contacts, tree.states, settings
        )
        if np.abs(found[places] - expected).max() < RIGHT * np.abs(expected).max():
            return settings
    raise AssertionError("no setting of Pinocchio is right")


def one(name: str, rounds: int = 101) -> list[Timing]:
    """One call, and a batch, of a mechanism."""
    loaded: Any = rd.load(FOLDER / f"{name}.urdf", kind="closed_loop")
    m, rng = loaded.without_friction(), np.random.default_rng(3)
    n = m.mobility
    Q = m.advance(m.home, rng.uniform(-0.05, 0.05, (BATCH, n)))
    U, A = rng.normal(size=(2, BATCH, n))
    T = m.inverse_dynamics(Q, U, A)
    q, u, a, efforts = (np.ascontiguousarray(part[0]) for part in (Q, U, A, T))
    tree = ConstrainedTree(m)
    where, tau = tree.configuration(q), tree.efforts(efforts)
    v = tree.rates(q, tangent(m, q) @ u)
    settings = setting(tree, where, v, tau, a)
    fast, out = m.solver.unchecked, np.empty(len(efforts))
    rd.set_threads(1)
    timings = compare(
        [
            Contender("robodyn forward_dynamics", lambda: m.forward_dynamics(q, u, efforts)),
            Contender(
                f"Pinocchio constraintDynamics, mu {settings.mu:g}, {settings.max_iter} steps",
                lambda: pin.constraintDynamics(
                    tree.model, tree.data, where, v, tau, tree.contacts, tree.states, settings
                ),
            ),
            Contender("robodyn inverse_dynamics", lambda: m.inverse_dynamics(q, u, a)),
            Contender("robodyn, unchecked", lambda: fast.inverse_dynamics(q, u, a, out)),
            Contender(
                "Pinocchio rnea, open tree", lambda: pin.rnea(tree.model, tree.data, where, v, v)
            ),
            Contender("robodyn mass_matrix", lambda: m.mass_matrix(q)),
            Contender(
                f"robodyn inverse_dynamics, batch of {BATCH}",
                lambda: m.inverse_dynamics(Q, U, A),
                BATCH,
            ),
            Contender(
                f"robodyn forward_dynamics, batch of {BATCH}",
                lambda: m.forward_dynamics(Q, U, T),
                BATCH,
            ),
            Contender(f"robodyn jacobian, batch of {BATCH}", lambda: m.jacobian(Q), BATCH),
            Contender(f"robodyn mass_matrix, batch of {BATCH}", lambda: m.mass_matrix(Q), BATCH),
        ],
        rounds,
    )
    rd.set_threads(None)
    return timings


def tables(rounds: int = 101) -> list[tuple[str, list[Timing]]]:
    """Return a table of the mechanisms, and one of their timings."""
    return [(text, one(name, rounds)) for name, text in MODELS.items()]
