# SPDX-License-Identifier: Apache-2.0

"""Derivatives of closed loops against differences of Pinocchio's dynamics of the same tree.

Pinocchio's own derivatives of closed loops are not these: of the five-bar they differ by more than
the largest entry.
"""

import numpy as np
import pytest

import robodyn as rd

pin = pytest.importorskip("pinocchio")

STEP = 1e-3


class Constrained:
    """Pinocchio's tree and closures: M a - J' l = tau - h, J a = -J' v."""

    def __init__(self, loops):
        from benchmarks.loops import ConstrainedTree  # which has no other engine than Pinocchio

        self.tree = ConstrainedTree(loops)
        self.model, self.data = self.tree.model, self.tree.data

    def accelerations(self, q, v, tau):
        model, data = self.model, self.data
        M = pin.crba(model, data, q)
        M = np.triu(M) + np.triu(M, 1).T
        bias = pin.nonLinearEffects(model, data, q, v).copy()
        pin.forwardKinematics(model, data, q, v, np.zeros(model.nv))
        pin.computeJointJacobians(model, data, q)
        ends = [
            [self.point(joint, placement) for joint, placement in pair]
            for contact in self.tree.contacts
            for pair in [
                (
                    (contact.joint1_id, contact.joint1_placement),
                    (contact.joint2_id, contact.joint2_placement),
                )
            ]
        ]
        J = np.vstack([a[0] - b[0] for a, b in ends])
        drift = np.concatenate([a[1] - b[1] for a, b in ends])
        rows = len(J)
        whole = np.block([[M, -J.T], [J, np.zeros((rows, rows))]])
        right = np.concatenate([tau - bias, -drift])
        return np.linalg.lstsq(whole, right, rcond=1e-12)[0][: model.nv]

    def point(self, joint, placement):
        """Jacobian and acceleration, where no rate changes, of a point of a joint's body."""
        own = placement.actInv(self.data.v[joint])
        change = placement.actInv(self.data.a[joint])
        R = self.data.oMi[joint].rotation @ placement.rotation
        J = pin.getJointJacobian(self.model, self.data, joint, pin.ReferenceFrame.LOCAL)
        J = placement.inverse().toActionMatrix()[:3] @ J
        return R @ J, R @ (change.linear + np.cross(own.angular, own.linear))


def slope(function, nv):
    """Columns of derivatives at zero, by differences of order 6."""
    weights = list(enumerate((3 / 4, -3 / 20, 1 / 60), start=1))
    return np.stack(
        [
            sum(w * (function(k * STEP * e) - function(-k * STEP * e)) for k, w in weights) / STEP
            for e in np.eye(nv)
        ],
        axis=-1,
    )


def assert_blocks(found, expected):
    scale = max(np.abs(block).max() for block in expected)
    for block, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(block, wanted, rtol=0.0, atol=1e-8 * scale)


@pytest.mark.parametrize("name", ["fivebar", "delta"])
def test_forward_dynamics_of_loops(name, rng):
    from benchmarks.loops import FOLDER

    m = rd.load(FOLDER / f"{name}.urdf").without_actuators().without_friction()
    peer, nv = Constrained(m), m.mobility
    at = [peer.tree.index(joint) for joint in m.independent_joints]
    q = m.advance(m.home, rng.uniform(-0.05, 0.05, nv))
    v, a = rng.normal(size=(2, nv))
    efforts = m.inverse_dynamics(q, v, a)

    def accelerations(q, v, efforts):
        rates = peer.tree.rates(q, m.tangent(q) @ v)
        tau = peer.tree.efforts(efforts)
        return peer.accelerations(peer.tree.configuration(q), rates, tau)[at]

    np.testing.assert_allclose(accelerations(q, v, efforts), a, rtol=0.0, atol=1e-9)
    d = m.forward_dynamics_derivatives(q, v, efforts)
    expected = (
        slope(lambda t: accelerations(m.advance(q, t), v, efforts), nv),
        slope(lambda t: accelerations(q, v + t, efforts), nv),
        slope(lambda t: accelerations(q, v, efforts + t), len(efforts)),
    )
    assert_blocks(d[1:], expected)


def test_forward_dynamics_of_a_platform(rng):
    name = "stewart_symmetric"
    m = rd.load(name).without_actuators().without_friction()
    loops = rd.load(name, kind="closed_loop").without_actuators().without_friction()
    peer = Constrained(loops)
    (floating,) = [joint.name for joint in loops.model.joints if joint.kind == "floating"]
    at = peer.tree.index(floating)
    q = m.advance(m.home, rng.uniform(-0.05, 0.05, 6))
    v, a = rng.normal(size=(2, 6))
    efforts = m.inverse_dynamics(q, v, a)

    def accelerations(q, v, efforts):
        driven = m.driven_motion(q, v, np.zeros(6))
        joints = loops.assemble(driven.positions)
        where = peer.tree.configuration(joints)
        rates = peer.tree.rates(joints, loops.joint_motion(joints, driven.velocities, v)[0])
        found = peer.accelerations(where, rates, peer.tree.efforts(efforts))[at : at + 6]
        own = rates[at : at + 6]
        R = peer.data.oMi[peer.tree.joints[floating]].rotation
        return np.concatenate([R @ (found[:3] + np.cross(own[3:], own[:3])), R @ found[3:]])

    np.testing.assert_allclose(accelerations(q, v, efforts), a, rtol=0.0, atol=1e-8)
    d = m.forward_dynamics_derivatives(q, v, efforts)
    expected = (
        slope(lambda t: accelerations(m.advance(q, t), v, efforts), 6),
        slope(lambda t: accelerations(q, v + t, efforts), 6),
        slope(lambda t: accelerations(q, v, efforts + t), 6),
    )
    assert_blocks(d[1:], expected)
