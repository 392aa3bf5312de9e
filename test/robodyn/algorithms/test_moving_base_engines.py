# SPDX-License-Identifier: Apache-2.0

"""Bases that move, against Pinocchio's trees on a free-flyer: arms, platforms, closed loops."""

import numpy as np
import pytest
from test_derivatives_engines import slope

import robodyn as rd
from robodyn.algorithms import motions
from robodyn.solvers.tree.closing import joint_motion, tangent

pin = pytest.importorskip("pinocchio")

pytestmark = pytest.mark.filterwarnings("ignore::robodyn.errors.UnphysicalInertiaWarning")


def on_a_free_flyer(tree):
    """Pinocchio's model of the same tree behind a joint of six freedoms; no gravity."""
    root = pin.Model()
    base = root.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    frame = pin.Frame("base", base, pin.SE3.Identity(), pin.FrameType.BODY)
    model = pin.appendModel(root, tree.model, root.addFrame(frame), pin.SE3.Identity())
    model.gravity = pin.Motion.Zero()
    assert list(model.names)[2:] == list(tree.model.names)[1:]
    return model


def floating_rates(loops):
    """Return the first index of the rates of each floating joint."""
    kinds = {joint.name: joint.kind for joint in loops.model.joints}
    sizes = [6 if kinds[name] == "floating" else 1 for name in loops.structure.joint_names]
    starts = np.cumsum([0, *sizes[:-1]])
    return [start for start, size in zip(starts, sizes, strict=True) if size == 6]


class OnAFreeFlyer:
    """Efforts of a mechanism's driven joints by Pinocchio's `rnea` of its tree."""

    def __init__(self, name):
        from benchmarks.loops import ConstrainedTree  # which has no other engine than Pinocchio

        self.m = rd.load(name).without_actuators().without_friction()
        self.loops = rd.load(name, kind="closed_loop").without_actuators().without_friction()
        self.tree = ConstrainedTree(self.loops)
        self.model = on_a_free_flyer(self.tree)
        self.data = self.model.createData()

    def efforts(self, q, v, a, base):
        tree, loops = self.tree, self.loops
        driven = motions.driven_motion(self.m, q, v, a)
        joints = loops.assemble(driven.positions)
        rates, changes = joint_motion(loops, joints, driven.velocities, driven.accelerations)
        # Pinocchio differentiates the twist of a floating joint in the axes of its body
        for k in floating_rates(loops):
            changes[k : k + 3] -= np.cross(rates[k + 3 : k + 6], rates[k : k + 3])
        S = np.array([tree.rates(joints, column) for column in tangent(loops, joints).T])
        force, omega, alpha = base.reshape(3, 3)
        tau = pin.rnea(
            self.model,
            self.data,
            np.concatenate([[0.0] * 6, [1.0], tree.configuration(joints)]),
            np.concatenate([[0.0] * 3, omega, tree.rates(joints, rates)]),
            np.concatenate([force, alpha, tree.rates(joints, changes)]),
        )[6:]
        return S @ tau


@pytest.mark.parametrize("name", ["puma560", "stanford_arm", "delta", "stewart_symmetric"])
def test_efforts_and_their_derivatives_are_those_of_pinocchio_on_a_free_flyer(name, rng):
    peer = OnAFreeFlyer(name)
    m, nv = peer.m, peer.m.coordinates.velocity_size
    q = m.advance(m.home, rng.uniform(-0.05, 0.05, nv) * min(1.0, 2.0 * m.size))
    v, a = rng.normal(size=(2, nv))
    base = rd.BaseMotion(*rng.normal(size=(3, 3)) * [[5.0], [1.0], [3.0]])
    expected = peer.efforts(q, v, a, base.rows)
    found = m.inverse_dynamics_derivatives(q, v, a, base=base)
    is_near(found.efforts, expected)
    # efforts are of degree 2 in the base's motion, of degree 1 in the acceleration
    by_base = slope(lambda t: peer.efforts(q, v, a, base.rows + t), 9, step=1.0)
    is_near(found.base, by_base)
    mass = slope(lambda t: peer.efforts(q, v, a + t, base.rows), nv, step=1.0)
    forward = m.forward_dynamics_derivatives(q, v, found.efforts, base=base)
    is_near(forward.base, -np.linalg.solve(mass, by_base))


def is_near(found, expected):
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-10 * np.abs(expected).max())
