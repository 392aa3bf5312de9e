# SPDX-License-Identifier: Apache-2.0

"""Every quantity against values that another program computed."""

import numpy as np
import pytest

from robodyn.solvers.serial.arm import INVERSE_METHODS

RIGID = {"friction": False, "armature": False}


def close(value, expected, scale=1.0):
    assert np.abs(value - np.asarray(expected)).max() < 1e-9 * max(scale, 1.0)


def motion(state):
    return state["q"], state["qd"], state["qdd"]


@pytest.mark.parametrize("method", INVERSE_METHODS)
def test_inverse_dynamics(reference, method):
    arm, states = reference
    for state in states:
        close(arm.inverse_dynamics(*motion(state), method=method, **RIGID), state["tau_rigid"])


def test_mass_matrix_bias_and_gravity(reference):
    arm, states = reference
    for state in states:
        close(arm.mass_matrix(state["q"], armature=False), state["M"])
        close(arm.mass_matrix(state["q"], method="strobing", armature=False), state["M"])
        close(arm.bias(state["q"], state["qd"], friction=False), state["bias"])
        close(arm.gravity(state["q"]), state["gravity"])


TOOLBOX = pytest.mark.parametrize("reference", ["puma560", "stanford"], indirect=True)
SPATIAL = pytest.mark.parametrize("reference", ["random_RPRRPRR"], indirect=True)


@TOOLBOX
@pytest.mark.parametrize("method", INVERSE_METHODS)
def test_motors(reference, method):
    arm, states = reference
    for state in states:
        with_inertia = arm.inverse_dynamics(*motion(state), method=method, friction=False)
        close(with_inertia, state["tau_rigid_plus_motor_inertia"])
        close(arm.inverse_dynamics(*motion(state), method=method), state["tau_toolbox_full"])


@SPATIAL
@pytest.mark.parametrize("method", INVERSE_METHODS)
def test_tip_wrench(reference, method):
    arm, states = reference
    for state in states:
        wrench = -in_base(arm, state["q"], state["f_tip"], state["n_tip"])
        tau = arm.inverse_dynamics(*motion(state), wrench, method, **RIGID)
        close(tau, state["tau_with_tip"])


def in_base(arm, q, *vectors):
    """Vectors of the tip frame, in base axes, one after the other."""
    x, y, z, w = arm.forward_kinematics(q)[3:]
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    R = np.eye(3) + 2 * w * cross + 2 * cross @ cross
    return np.concatenate([R @ vector for vector in vectors])


@TOOLBOX
@pytest.mark.parametrize("method", ["articulated_body", "strobing"])
def test_forward_dynamics(reference, method):
    arm, states = reference
    for state in states:
        expected = np.array(state["qdd_from_tau_in"])
        qdd = arm.forward_dynamics(state["q"], state["qd"], state["tau_in"], None, method, **RIGID)
        close(qdd, expected, np.abs(expected).max())


def test_the_bundled_puma_is_the_reference_with_its_motors(bundled, golden):
    arm = bundled("puma560")
    states = golden["puma560"]["states"]
    for state in states:
        close(arm.inverse_dynamics(*motion(state)), state["tau_toolbox_full"])
    close([joint.damping for joint in arm.chain.joints], states[0]["viscous"])
