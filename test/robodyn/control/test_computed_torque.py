# SPDX-License-Identifier: Apache-2.0

"""Computed torque: with the exact model, the error obeys e'' + Kv e' + Kp e = 0."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.errors import InvalidInput


def positive_definite(rng, n):
    root = rng.normal(size=(n, n))
    return root @ root.T + np.eye(n)


@pytest.fixture(params=["scalar", "diagonal", "full"])
def gains(request, rng):
    if request.param == "scalar":
        return 100.0, 20.0
    if request.param == "diagonal":
        return rng.uniform(1, 200, (2, 6))
    return positive_definite(rng, 6), positive_definite(rng, 6)


def as_matrix(gain):
    gain = np.asarray(gain)
    return gain if gain.ndim == 2 else gain * np.eye(6)


def test_error_dynamics_of_a_platform(dasgupta, rng, gains):
    kp, kv = gains
    path, t = rd.paper_path("I"), rng.uniform(0, 6)
    desired = path.sample(t)
    pose = dasgupta.advance(desired.configuration, 0.01 * rng.normal(size=6))
    twist = desired.velocity + 0.1 * rng.normal(size=6)
    wrench = 100 * rng.normal(size=6)
    control = rd.ComputedTorque(dasgupta, kp, kv)
    forces = control(t, pose, twist, path, wrench)
    accel = dasgupta.forward_dynamics(pose, twist, forces, wrench)
    error = dasgupta.difference(pose, desired.configuration)
    rate, change = desired.velocity - twist, desired.acceleration - accel
    residual = change + as_matrix(kv) @ rate + as_matrix(kp) @ error
    np.testing.assert_allclose(residual, 0.0, atol=1e-9)


def test_error_dynamics_of_an_arm(puma, rng, gains):
    kp, kv = gains
    puma = puma.without_dry_friction()  # which is compensated for the planned rate
    path = rd.plan_joints(np.zeros(6), rng.normal(size=6), duration=1.0, profile="quintic")
    desired = path.sample(0.4)
    q, qd = desired.configuration + 0.1 * rng.normal(size=6), rng.normal(size=6)
    accel = puma.forward_dynamics(q, qd, rd.ComputedTorque(puma, kp, kv)(0.4, q, qd, path))
    rate, error = desired.velocity - qd, desired.configuration - q
    residual = desired.acceleration - accel + as_matrix(kv) @ rate + as_matrix(kp) @ error
    np.testing.assert_allclose(residual, 0.0, atol=1e-9)


def test_without_error_it_is_feedforward(dasgupta):
    path = rd.paper_path("II")
    motion = path.sample(0.2)
    closed = rd.ComputedTorque(dasgupta)(0.2, motion.configuration, motion.velocity, path)
    planned = rd.Feedforward(dasgupta)(0.2, dasgupta.home, np.zeros(6), path)
    np.testing.assert_allclose(closed, planned, rtol=1e-12)
    np.testing.assert_array_equal(planned, dasgupta.inverse_dynamics(*motion))


def test_preview_takes_the_acceleration_ahead(dasgupta):
    path = rd.paper_path("II")
    early = rd.ComputedTorque(dasgupta, preview=0.01)
    pose, twist, _ = path.sample(0.095)  # the blend ends at 0.1
    forces = early(0.095, pose, twist, path)
    np.testing.assert_allclose(
        forces, dasgupta.inverse_dynamics(pose, twist, path.sample(0.105).acceleration)
    )


@pytest.mark.parametrize(
    ("gains", "text"),
    [
        ({"kp": 0.0}, "kp is 0., must be positive"),
        ({"kv": -1.0}, "kv is -1., must be positive"),
        ({"kp": [1, 1, 1, 1, 1, 0]}, "kp is .* must be positive"),
        ({"kp": [1.0, 2.0]}, r"kp has shape \(2,\), expected one number, \(6,\) or \(6, 6\)"),
        ({"kp": np.ones((6, 6))}, "symmetric positive definite"),
        ({"kv": np.eye(6) + np.eye(6, k=1)}, "symmetric positive definite"),
        ({"kv": np.nan}, "kv is nan"),
        ({"kp": "stiff"}, "kp must be numbers"),
        ({"preview": -0.1}, "preview is -0.1, must be at least 0"),
    ],
)
def test_gains_that_would_not_let_the_error_die_out_are_refused(dasgupta, gains, text):
    with pytest.raises(InvalidInput, match=text):
        rd.ComputedTorque(dasgupta, **gains)
