# SPDX-License-Identifier: Apache-2.0

"""Large trees without closures against Pinocchio."""

import numpy as np
import pytest

import robodyn as rd

pin = pytest.importorskip("pinocchio")
# Of Pinocchio's parameters m, m c, Ixx Ixy Iyy Ixz Iyz Izz, those in our order.
ORDER = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]


@pytest.fixture(scope="module")
def both():
    from benchmarks.trees import Both, tree_urdf  # which has no other engine than Pinocchio

    return Both(rd.load(tree_urdf(64), kind="closed_loop"))


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
