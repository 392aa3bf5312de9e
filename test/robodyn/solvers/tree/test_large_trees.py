# SPDX-License-Identifier: Apache-2.0

"""Large trees without closures against Pinocchio."""

import numpy as np
import pytest

import robodyn as rd

pin = pytest.importorskip("pinocchio")
STEP = 2e-3
# Of Pinocchio's parameters m, m c, Ixx Ixy Iyy Ixz Iyz Izz, those in our order.
ORDER = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]


@pytest.fixture(scope="module")
def both():
    from benchmarks.trees import Both, tree_urdf  # which has no other engine than Pinocchio

    return Both(rd.load(tree_urdf(64), kind="closed_loop"))


@pytest.fixture(scope="module")
def humanoid():
    from benchmarks import links, trees

    return trees.Both(rd.load(links.humanoid_urdf()))


def slope(function):
    """Derivative at zero of a function of one number, by differences of order 6."""
    weights = enumerate((3 / 4, -3 / 20, 1 / 60), start=1)
    return sum(w * (function(k * STEP) - function(-k * STEP)) for k, w in weights) / STEP


def close(found, expected, part):
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=part * np.abs(expected).max())


@pytest.mark.parametrize("name", ["both", "humanoid"])
def test_accelerations_are_those_of_pinocchio(name, request):
    peer = request.getfixturevalue(name)
    m, states = peer.m, list(zip(peer.Q[:3], peer.V[:3], peer.T[:3], strict=True))
    for q, v, tau in states:
        close(m.forward_dynamics(q, v, tau), peer.accelerations(q, v, tau), 1e-11)
    batch = m.forward_dynamics(peer.Q[:3], peer.V[:3], peer.T[:3])
    for found, (q, v, tau) in zip(batch, states, strict=True):
        close(found, peer.accelerations(q, v, tau), 1e-11)


def test_derivatives_of_64_joints_are_those_of_pinocchio(both):
    m, model, data = both.m, both.tree.model, both.tree.data
    pin.computeABADerivatives(model, data, both.theirs, both.rates, both.efforts)
    found = m.forward_dynamics_derivatives(both.q, both.v, both.tau)
    back = np.linalg.inv(both.turn)
    inverse = np.triu(data.Minv) + np.triu(data.Minv, 1).T
    rows = [both.tree.index(name) for name in m.joint_names]
    close(found.configuration, back @ data.ddq_dq @ both.turn, 1e-10)
    close(found.velocity, back @ data.ddq_dv @ both.turn, 1e-10)
    close(found.efforts, back @ inverse[:, rows], 1e-10)
    changes = both.turn @ both.a
    pin.computeRNEADerivatives(model, data, both.theirs, both.rates, changes)
    found = m.inverse_dynamics_derivatives(both.q, both.v, both.a)
    close(found.configuration, (data.dtau_dq @ both.turn)[rows], 1e-11)
    close(found.velocity, (data.dtau_dv @ both.turn)[rows], 1e-11)
    M = np.triu(data.M) + np.triu(data.M, 1).T
    close(found.acceleration, (M @ both.turn)[rows], 1e-11)


def test_derivatives_of_a_humanoid_are_the_slopes_of_pinocchios_accelerations(humanoid):
    m, q, v, tau = humanoid.m, humanoid.q, humanoid.v, humanoid.tau
    found, units = m.forward_dynamics_derivatives(q, v, tau), np.eye(m.mobility)
    ask = humanoid.accelerations
    expected = [slope(lambda t, u=u: ask(m.advance(q, t * u), v, tau)) for u in units]
    close(found.configuration, np.transpose(expected), 1e-9)
    expected = [slope(lambda t, u=u: ask(q, v + t * u, tau)) for u in units]
    close(found.velocity, np.transpose(expected), 1e-9)
    expected = [slope(lambda t, u=u: ask(q, v, tau + t * u)) for u in np.eye(len(tau))]
    close(found.efforts, np.transpose(expected), 1e-9)


def test_derivatives_of_a_humanoid_under_a_wrench_are_slopes_of_its_accelerations(humanoid, rng):
    m, q, v, tau = humanoid.m, humanoid.q, humanoid.v, humanoid.tau
    wrench = 10.0 * rng.normal(size=6)
    found = m.forward_dynamics_derivatives(q, v, tau, wrench)
    ask, units = m.forward_dynamics, np.eye(m.mobility)
    expected = [slope(lambda t, u=u: ask(m.advance(q, t * u), v, tau, wrench)) for u in units]
    close(found.configuration, np.transpose(expected), 1e-9)


@pytest.mark.slow
def test_a_regressor_of_64_joints_is_that_of_pinocchio(both):
    m, tree = both.m, both.tree
    Y = m.regressor(both.q, both.v, both.a)
    changes = both.turn @ both.a
    args = tree.model, tree.data, both.theirs, both.rates, changes
    theirs = pin.computeJointTorqueRegressor(*args)
    rows = [tree.index(name) for name in m.joint_names]
    bodies = m.parameters.bodies
    scale = np.abs(theirs).max()
    for k, body in enumerate(bodies):
        joint = next(joint.name for joint in m.model.joints if joint.child == body)
        # a column of Pinocchio's for each joint, from the first on; axes of ours are the link's
        first = 10 * (tree.joints[joint] - 1)
        expected = theirs[rows][:, first : first + 10][:, ORDER]
        np.testing.assert_allclose(
            Y[:, 10 * k : 10 * k + 10], expected, rtol=0.0, atol=1e-12 * scale
        )
