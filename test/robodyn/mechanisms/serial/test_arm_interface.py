# SPDX-License-Identifier: Apache-2.0

"""Broadcasting, options, the shared protocol, and what is refused."""

import re

import numpy as np
import pytest

from robodyn.errors import InvalidInput, SingularMassMatrix
from robodyn.mechanisms.mechanism import Mechanism
from robodyn.mechanisms.serial.arm import SerialArm


def test_it_is_a_mechanism(arm):
    assert isinstance(arm, Mechanism)
    assert arm.kind == "serial"
    assert arm.home.shape == arm.effort_limits.shape == arm.velocity_limits.shape == (arm.n,)
    assert arm.position_limits.shape == (arm.n, 2)
    goal = arm.home + 0.3
    assert np.allclose(arm.advance(arm.home, arm.difference(arm.home, goal)), goal)
    assert arm == SerialArm(arm.model)


def test_leading_dimensions_broadcast(arm, rng):
    n = arm.n
    q, qd, qdd = rng.normal(size=(4, 1, n)), rng.normal(size=(3, n)), rng.normal(size=n)
    wrench = rng.normal(size=(4, 3, 6))
    tau = arm.inverse_dynamics(q, qd, qdd, wrench)
    assert tau.shape == (4, 3, n)
    assert np.allclose(tau[2, 1], arm.inverse_dynamics(q[2, 0], qd[1], qdd, wrench[2, 1]))
    assert arm.forward_dynamics(q, qd, tau).shape == (4, 3, n)
    assert arm.mass_matrix(q).shape == (4, 1, n, n)
    assert arm.christoffel(q).shape == (4, 1, n, n, n)
    assert arm.coriolis_matrix(q, qd).shape == (4, 3, n, n)
    assert arm.forward_kinematics(q).shape == (4, 1, 7)
    assert arm.jacobian(q).shape == (4, 1, 6, n)
    assert arm.condition_number(q).shape == (4, 1)
    assert [part.shape for part in arm.energy(q, qd)] == [(4, 3), (4, 3)]


def test_an_empty_batch_stays_empty(arm):
    empty = np.zeros((0, arm.n))
    for method in ("newton_euler", "lagrange"):
        assert arm.inverse_dynamics(empty, empty, empty, method=method).shape == (0, arm.n)
    assert arm.forward_dynamics(empty, empty, empty).shape == (0, arm.n)
    assert arm.coriolis_matrix(empty, empty).shape == (0, arm.n, arm.n)
    assert arm.condition_number(empty).shape == (0,)


def test_inputs_are_left_alone(arm, state):
    before = state.copy()
    arm.inverse_dynamics(*state)
    arm.step(state[0], state[1], state[2], np.zeros(6), 1e-3, 2)
    assert (state == before).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda q: q[:-1], r"q has shape \(\d+,\), expected"),
        (lambda q: np.where(np.arange(len(q)) == 1, np.nan, q), r"q\[1\] is nan"),
        (lambda q: "here", "q must be numbers"),
    ],
)
def test_a_wrong_configuration_is_refused(arm, change, message):
    rest = np.zeros(arm.n)
    wrong = change(arm.home)
    for call in (
        lambda: arm.inverse_dynamics(wrong, rest, rest),
        lambda: arm.forward_kinematics(wrong),
        lambda: arm.mass_matrix(wrong),
    ):
        with pytest.raises(InvalidInput, match=message):
            call()


def test_shapes_that_do_not_broadcast_are_named(arm):
    with pytest.raises(InvalidInput, match=r"q .*qd .*"):
        arm.bias(np.zeros((2, arm.n)), np.zeros((3, arm.n)))


@pytest.mark.parametrize(
    "call",
    [
        lambda arm, q: arm.inverse_dynamics(q, q, q, method="newton"),
        lambda arm, q: arm.mass_matrix(q, method="newton"),
        lambda arm, q: arm.forward_dynamics(q, q, q, method="newton"),
    ],
)
def test_an_unknown_method_is_answered_with_those_there_are(arm, call):
    with pytest.raises(InvalidInput, match=re.escape("'newton', expected one of ")) as caught:
        call(arm, arm.home)
    assert caught.value.value == "newton"


def test_a_joint_without_inertia_cannot_be_accelerated(bundled):
    puma = bundled("puma560")
    chain = puma.model.joints
    light = {"mass": 0.0, "com": np.zeros(3), "inertia": np.zeros((3, 3)), "armature": 0.0}
    from dataclasses import replace

    model = replace(puma.model, joints=(*chain[:-1], replace(chain[-1], **light)))
    arm, rest = SerialArm(model), np.zeros((2, 6))
    for method in ("articulated_body", "strobing"):
        with pytest.raises(SingularMassMatrix, match=r"element \[0\]") as caught:
            arm.forward_dynamics(rest, rest, rest, method=method)
        assert caught.value.index == (0,)


def test_the_condition_number_with_a_length_is_that_of_the_scaled_jacobian(arm, state):
    J = arm.jacobian(state[0])
    J[3:] *= 0.3
    values = np.linalg.svd(J, compute_uv=False)
    assert len(values) == min(6, arm.n)
    assert arm.condition_number(state[0], 0.3) == pytest.approx(values[0] / values[-1], rel=1e-9)
    with pytest.raises(InvalidInput, match="characteristic_length"):
        arm.condition_number(state[0], 0.0)
