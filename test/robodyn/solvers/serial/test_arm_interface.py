# SPDX-License-Identifier: Apache-2.0

"""Broadcasting, options, the shared protocol, and what is refused."""

import re
from dataclasses import replace

import numpy as np
import pytest

import robodyn as rd
from robodyn.errors import InvalidInput, SingularMassMatrix
from robodyn.model import Link
from robodyn.solvers.serial.chain import model_of_chain


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
    last = puma.chain.joints[-1]
    light = replace(last, armature=0.0)
    model = replace(
        puma.model,
        joints=tuple(light if joint is last else joint for joint in puma.model.joints),
        links=tuple(Link(one.name) if one.name == last.child else one for one in puma.model.links),
    )
    arm, rest = rd.SerialArm(model), np.zeros((2, 6))
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


def test_options_count_for_single_states(rng, arm):
    q, qd, qdd = rng.normal(size=(3, arm.n))
    for friction in (False, True):
        for armature in (False, True):
            options = {"friction": friction, "armature": armature}
            np.testing.assert_allclose(
                arm.inverse_dynamics(q, qd, qdd, **options),
                arm.inverse_dynamics(q[None], qd, qdd, **options)[0],
                rtol=1e-12,
            )
    np.testing.assert_array_equal(
        arm.mass_matrix(q, armature=False), arm.mass_matrix(q[None], armature=False)[0]
    )


def test_angles_of_many_turns_are_the_same_in_batches(rng, arm):
    """Far ones have another source of sine and cosine, which each lane picks for itself."""
    q = rng.normal(size=(16, arm.n)) * 10.0 ** rng.uniform(-3, 9, size=(16, arm.n))
    batch = arm.mass_matrix(q)
    for n in range(16):
        np.testing.assert_array_equal(arm.mass_matrix(q[n]), batch[n])
    strobed = arm.mass_matrix(q, method="strobing")
    np.testing.assert_allclose(batch, strobed, rtol=1e-9, atol=1e-9 * np.abs(strobed).max())


def test_an_arm_of_more_joints_than_scratch_has_room_for(rng, arm):
    chain, n = arm.chain, 150
    parts = [
        (
            replace(chain.joints[i % arm.n], name=f"joint{i}"),
            replace(chain.links[i % arm.n], name=f"link{i}"),
        )
        for i in range(n)
    ]
    home = np.resize(arm.home, n)
    long = rd.SerialArm(model_of_chain("long", "base", parts, chain.tip.matrix, "tip", home=home))
    q, qd, qdd = 0.1 * rng.normal(size=(3, 3, n))
    tau = long.inverse_dynamics(q, qd, qdd)
    np.testing.assert_array_equal(tau[1], long.inverse_dynamics(q[1], qd[1], qdd[1]))
    modified = long.inverse_dynamics(q, qd, qdd, method="modified_newton_euler")
    np.testing.assert_allclose(tau, modified, rtol=1e-9, atol=1e-9 * np.abs(tau).max())
    M = long.mass_matrix(q)
    np.testing.assert_array_equal(M[1], long.mass_matrix(q[1]))
    again = long.forward_dynamics(q, qd, tau)
    np.testing.assert_array_equal(again[1], long.forward_dynamics(q[1], qd[1], tau[1]))
    assert long.jacobian(q).shape == (3, 6, n)


def test_condition_number_is_numpys_of_the_jacobian_in_units_of_a_length(rng, arm):
    q = rng.uniform(-3.0, 3.0, size=(50, arm.n))
    for length in (1.0, float(rng.uniform(0.05, 3.0))):
        batch = arm.condition_number(q, length)
        for n in range(50):
            J = arm.jacobian(q[n])
            J[3:] *= length
            expected = np.linalg.cond(J)
            # a number that small beside the largest is known to so many digits only
            digits = max(1e-11, 1e-14 * expected)
            np.testing.assert_allclose(arm.condition_number(q[n], length), expected, rtol=digits)
            np.testing.assert_allclose(batch[n], expected, rtol=digits)


@pytest.mark.filterwarnings("ignore::robodyn.errors.UnphysicalInertiaWarning")
def test_condition_number_of_a_singular_arm_is_beyond_measure():
    puma = rd.load("puma560")
    for q in (np.zeros(6), np.zeros((1, 6))):
        assert (puma.condition_number(q) > 1e15).all()
