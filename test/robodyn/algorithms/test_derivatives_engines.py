# SPDX-License-Identifier: Apache-2.0

"""Derivatives of closed loops against differences of Pinocchio's dynamics of the same tree.

Pinocchio's own derivatives of closed loops are not these: of the five-bar they differ by more than
the largest entry.
"""

from types import SimpleNamespace

import numpy as np
import pytest

import robodyn as rd
from robodyn.algorithms import motions
from robodyn.solvers.tree.closing import joint_motion

pin = pytest.importorskip("pinocchio")


class Peer:
    """The mechanism in Pinocchio: a tree, its loops closed by constraint models."""

    def __init__(self, source, kind):
        from benchmarks.loops import ConstrainedTree  # which has no other engine than Pinocchio

        self.m = rd.load(source, kind=kind).without_actuators().without_friction()
        self.loops = rd.load(source, kind="closed_loop").without_actuators().without_friction()
        self.tree = ConstrainedTree(self.loops)
        self.driven = [self.tree.index(joint) for joint in self.m.joint_names]
        self.settings = pin.ProximalSettings(1e-14, 1e-12, 3)

    def accelerations(self, q, v, efforts):
        """Those of our velocity, by way of the driven joints' accelerations."""
        tree, driven = self.tree, motions.driven_motion(self.m, q, v, np.zeros_like(v))
        joints = self.loops.assemble(driven.positions)
        rates, _ = joint_motion(self.loops, joints, driven.velocities, driven.velocities)
        found = pin.constraintDynamics(
            tree.model,
            tree.data,
            tree.configuration(joints),
            tree.rates(joints, rates),
            tree.efforts(efforts),
            tree.contacts,
            tree.states,
            self.settings,
        )[self.driven]
        return motions.motion_of_joints(self.m, *driven[:2], found, q).acceleration

    def efforts(self, q, v, acceleration):
        """Return the function that is linear in the accelerations, solved for them."""
        units = 1e3 * np.eye(len(self.driven))
        free = self.accelerations(q, v, 0.0 * units[0])
        per_unit = [self.accelerations(q, v, unit) - free for unit in units]
        return 1e3 * np.linalg.solve(np.transpose(per_unit), acceleration - free)


@pytest.fixture(
    params=[
        ("fivebar.urdf", None),
        ("delta.urdf", None),
        ("stewart_tree.urdf", "closed_loop"),
        ("stewart_symmetric", None),
    ],
    ids=lambda param: param[0],
)
def case(request, rng):
    """A mechanism, the same in Pinocchio, and a state in motion."""
    from benchmarks.loops import FOLDER

    name, kind = request.param
    peer = Peer(FOLDER / name if name.endswith(".urdf") else name, kind)
    nv = peer.m.coordinates.velocity_size
    q = peer.m.advance(peer.m.home, rng.uniform(-0.05, 0.05, nv))
    v, a = rng.normal(size=(2, nv))
    return SimpleNamespace(
        m=peer.m, peer=peer, q=q, v=v, a=a, efforts=peer.m.inverse_dynamics(q, v, a)
    )


def slope(function, nv, step=3e-4):
    """Columns of derivatives at zero, by differences of order 6."""
    weights = list(enumerate((3 / 4, -3 / 20, 1 / 60), start=1))
    return np.stack(
        [
            sum(w * (function(k * step * e) - function(-k * step * e)) for k, w in weights) / step
            for e in np.eye(nv)
        ],
        axis=-1,
    )


def assert_blocks(function, found, case, load):
    """Blocks by configuration, velocity and `load`, right to 1e-9 of the largest entry.

    Near singularities, differences have no more: the peer's rounding over the step.
    """
    m, q, v, nv = case.m, case.q, case.v, len(case.v)
    expected = (
        slope(lambda t: function(m.advance(q, t), v, load), nv),
        slope(lambda t: function(q, v + t, load), nv),
        slope(lambda t: function(q, v, load + t), len(load)),
    )
    scale = max(np.abs(block).max() for block in expected)
    for block, reference in zip(found, expected, strict=True):
        np.testing.assert_allclose(block, reference, rtol=0.0, atol=1e-9 * scale)


def test_dynamics(case):
    m, q, v = case.m, case.q, case.v
    again = case.peer.accelerations(q, v, case.efforts)
    np.testing.assert_allclose(again, case.a, rtol=0.0, atol=1e-9)
    free = case.peer.accelerations(q, v, 0.0 * case.efforts)
    bias = m.bias(q, v)
    held = m.mass_matrix(q) @ free
    np.testing.assert_allclose(held, -bias, rtol=0.0, atol=1e-11 * np.abs(bias).max())


def test_forward_dynamics(case):
    found = case.m.forward_dynamics_derivatives(case.q, case.v, case.efforts)[1:]
    assert_blocks(case.peer.accelerations, found, case, case.efforts)


def test_inverse_dynamics(case):
    found = case.m.inverse_dynamics_derivatives(case.q, case.v, case.a)[1:]
    assert_blocks(case.peer.efforts, found, case, case.a)
