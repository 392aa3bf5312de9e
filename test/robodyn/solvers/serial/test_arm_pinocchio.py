# SPDX-License-Identifier: Apache-2.0

"""Random chains, and arms that others described, against Pinocchio's reading of the same URDF."""

from importlib import metadata

import numpy as np
import pytest
from serial_arms import arm_from_urdf, random_urdf

from robodyn.errors import MissingInertiaWarning, ModelError
from robodyn.solvers.serial.arm import INVERSE_METHODS

pin = pytest.importorskip("pinocchio")

RIGID = {"friction": False, "armature": False}


class Peer:
    """Pinocchio on the chain of an arm, its other joints locked at zero."""

    def __init__(self, arm, text):
        full = pin.buildModelFromXML(text)
        chain = set(arm.joint_names)
        beside = [i for i, name in enumerate(full.names) if i and name not in chain]
        self.model = pin.buildReducedModel(full, beside, pin.neutral(full))
        self.model.gravity.linear = np.array([0.0, 0.0, -9.81])
        self.data = self.model.createData()
        self.tip = self.model.getFrameId(arm.model.tip_link)
        self.base = self.model.getFrameId(arm.model.base_link)
        assert list(self.model.names)[1:] == list(arm.joint_names)

    def q(self, q):
        """Pinocchio writes the angle of a continuous joint as cosine and sine."""
        parts = []
        for value, joint in zip(q, list(self.model.joints)[1:], strict=True):
            parts += [value] if joint.nq == 1 else [np.cos(value), np.sin(value)]
        return np.array(parts)

    def place(self, q):
        pin.framesForwardKinematics(self.model, self.data, self.q(q))
        base = self.data.oMf[self.base]
        return base, base.actInv(self.data.oMf[self.tip])

    def external(self, q, wrench):
        """A wrench about the tip, in the base link's axes, as forces on Pinocchio's joints."""
        base, tip = self.place(q)
        about_base = np.concatenate(
            [wrench[:3], wrench[3:] + np.cross(tip.translation, wrench[:3])]
        )
        forces = pin.StdVec_Force()
        forces.extend([pin.Force.Zero() for _ in range(self.model.njoints)])
        last = self.model.njoints - 1
        forces[last] = self.data.oMi[last].actInv(base.act(pin.Force(about_base)))
        return forces


def agree(arm, text, rng):
    """All of the dynamics, to 1e-9 of the largest entry."""
    peer = Peer(arm, text)
    for _ in range(3):
        q, qd, qdd = rng.uniform(-1.5, 1.5, (3, arm.n))
        wrench = rng.normal(size=6) * 10.0
        forces = peer.external(q, wrench)
        tau = pin.rnea(peer.model, peer.data, peer.q(q), qd, qdd, forces)
        for method in INVERSE_METHODS:
            near(arm.inverse_dynamics(q, qd, qdd, wrench, method, **RIGID), tau)
        M = pin.crba(peer.model, peer.data, peer.q(q))
        M = np.triu(M) + np.triu(M, 1).T
        near(arm.mass_matrix(q, armature=False), M)
        near(arm.mass_matrix(q, "strobing", armature=False), M)
        expected = pin.aba(peer.model, peer.data, peer.q(q), qd, tau, forces)
        # an ill-conditioned M magnifies the rounding of both sides
        slack = max(1.0, np.linalg.cond(M) * 1e-6)
        near(arm.forward_dynamics(q, qd, tau, wrench, **RIGID), expected, slack)
        near(arm.gravity(q), pin.computeGeneralizedGravity(peer.model, peer.data, peer.q(q)))
        _, tip = peer.place(q)
        near(arm.forward_kinematics(q), pose(tip))


def derivatives_agree(arm, text, rng):
    """To 1e-10 of the largest entry; without a wrench, which Pinocchio turns with the tip."""
    peer = Peer(arm, text)
    for _ in range(3):
        q, qd, qdd = rng.uniform(-1.5, 1.5, (3, arm.n))
        by_q, by_qd, M = pin.computeRNEADerivatives(peer.model, peer.data, peer.q(q), qd, qdd)
        ours = arm.inverse_dynamics_derivatives(q, qd, qdd)
        for block, expected in zip(ours[1:], (by_q, by_qd, M), strict=True):
            near(block, expected, 0.1)
        slack = max(1.0, np.linalg.cond(M) * 1e-4) * 0.1
        expected = pin.computeABADerivatives(peer.model, peer.data, peer.q(q), qd, ours.efforts)
        for block, reference in zip(
            arm.forward_dynamics_derivatives(q, qd, ours.efforts)[1:], expected, strict=True
        ):
            near(block, reference, slack)


def near(value, expected, slack=1.0):
    assert np.abs(value - expected).max() < 1e-9 * slack * max(1.0, np.abs(expected).max())


def pose(placement):
    quaternion = pin.Quaternion(placement.rotation).coeffs()
    if quaternion[3] < 0.0:
        quaternion = -quaternion
    return np.concatenate([placement.translation, quaternion])


@pytest.mark.parametrize("n", range(1, 13))
def test_a_random_chain(rng, n):
    text = random_urdf(rng, n, motors=False)
    arm = arm_from_urdf(text)
    assert arm.n == n
    agree(arm, text, rng)


@pytest.mark.parametrize("n", [1, 3, 6, 7, 12])
def test_derivatives_of_a_random_chain(rng, n):
    text = random_urdf(rng, n, motors=False)
    derivatives_agree(arm_from_urdf(text), text, rng)


def described_elsewhere(path):
    """URDF text from the package pyroboplan, a dependency of the tests for its models alone."""
    try:
        models = metadata.distribution("pyroboplan")
    except metadata.PackageNotFoundError:
        pytest.skip("pyroboplan is not installed")
    return models.locate_file(f"pyroboplan/models/{path}").read_text()


def test_a_universal_robots_ur5(rng):
    text = described_elsewhere("ur_description/urdf/ur5_gripper.urdf")
    arm = arm_from_urdf(text)
    assert arm.joint_names[0] == "shoulder_pan_joint"
    assert arm.n == 6
    agree(arm, text, rng)


def test_a_ur10_between_two_links_of_a_larger_robot(rng):
    text = described_elsewhere("ur_description/urdf/ur10_on_base.urdf")
    arm = arm_from_urdf(text, base_link="base_link", tip_link="tool0")
    assert arm.n == 6
    agree(arm, text, rng)
    # the same arm on a base that moves by links without inertia, which are massless
    with pytest.warns(MissingInertiaWarning, match=r"'odom_tx'.*without <inertial>"):
        agree(arm_from_urdf(text, tip_link="tool0"), text, rng)


def test_a_panda_is_refused_by_the_names_of_its_fingers():
    # its fixed joint states an axis of zero length, which means nothing
    text = described_elsewhere("panda_description/urdf/panda.urdf")
    text = text.replace('<axis xyz="0 0 0" />', "")
    with pytest.raises(ModelError, match=r"panda_leftfinger.*panda_rightfinger.*name the tip link"):
        arm_from_urdf(text)
    with pytest.raises(ModelError, match="'panda_finger_joint1' is movable"):
        arm_from_urdf(text, tip_link="panda_hand")
    with pytest.raises(ModelError, match="mimics 'panda_finger_joint1'"):
        arm_from_urdf(text, tip_link="panda_rightfinger", hold_branches=True)
    assert arm_from_urdf(text, tip_link="panda_hand", hold_branches=True).n == 7
