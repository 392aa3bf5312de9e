# SPDX-License-Identifier: Apache-2.0

"""Derivatives and linear models of every kind, at states in motion, under a wrench."""

import numpy as np
import pytest

from robodyn.algorithms import stepping
from robodyn.errors import InvalidInput

STEP = 2e-3


def slope(function):
    """Derivative at zero of a function of one number, by differences of order 6."""
    weights = enumerate((3 / 4, -3 / 20, 1 / 60), start=1)
    return sum(w * (function(k * STEP) - function(-k * STEP)) for k, w in weights) / STEP


def assert_close(found, expected, parts):
    scale = max(np.abs(part).max() for part in parts)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-8 * scale)


@pytest.fixture
def wrench(rng):
    return rng.normal(size=6)


def directions(rng, nv):
    return rng.uniform(-1.0, 1.0, (3, nv)) * np.array([[0.1], [1.0], [1.0]])


def test_efforts_along_a_line_of_motions(actuated, states, rng, wrench):
    q, v, a = states(actuated)
    d = actuated.inverse_dynamics_derivatives(q, v, a, wrench)
    np.testing.assert_array_equal(d.efforts, actuated.inverse_dynamics(q, v, a, wrench))
    moved, faster, pushed = directions(rng, len(v))
    expected = slope(
        lambda t: actuated.inverse_dynamics(
            actuated.advance(q, t * moved), v + t * faster, a + t * pushed, wrench
        )
    )
    found = d.configuration @ moved + d.velocity @ faster + d.acceleration @ pushed
    assert_close(found, expected, d[:3])


def test_accelerations_along_a_line_of_efforts(mechanism, states, rng, wrench):
    q, v, _ = states(mechanism)
    efforts = rng.uniform(-1.0, 1.0, len(mechanism.joint_names))
    d = mechanism.forward_dynamics_derivatives(q, v, efforts, wrench)
    np.testing.assert_array_equal(d.acceleration, mechanism.forward_dynamics(q, v, efforts, wrench))
    moved, faster, _ = directions(rng, len(v))
    pushed = rng.uniform(-1.0, 1.0, efforts.shape)
    expected = slope(
        lambda t: mechanism.forward_dynamics(
            mechanism.advance(q, t * moved), v + t * faster, efforts + t * pushed, wrench
        )
    )
    found = d.configuration @ moved + d.velocity @ faster + d.efforts @ pushed
    assert_close(found, expected, d[:3])


def test_forward_and_inverse_derivatives_belong_together(actuated, states, wrench):
    """Forward dynamics undoes inverse dynamics, also when both are changed."""
    smooth = actuated.without_dry_friction()
    q, v, a = states(smooth)
    inverse = smooth.inverse_dynamics_derivatives(q, v, a, wrench)
    forward = smooth.forward_dynamics_derivatives(q, v, inverse.efforts, wrench)
    np.testing.assert_allclose(forward.efforts @ inverse.acceleration, np.eye(len(v)), atol=1e-8)
    for part in ("configuration", "velocity"):
        undone = forward.efforts @ getattr(inverse, part)
        assert_close(getattr(forward, part), -undone, (undone, forward.configuration))


def test_batches_are_single_states(actuated, states, wrench):
    q, v, a = states(actuated, (2, 3))
    together = actuated.inverse_dynamics_derivatives(q, v, a, wrench)
    alone = actuated.inverse_dynamics_derivatives(q[1, 2], v[1, 2], a[1, 2], wrench)
    for many, one in zip(together, alone, strict=True):
        np.testing.assert_allclose(many[1, 2], one, rtol=0.0, atol=1e-8 * np.abs(one).max())
    linear = actuated.linearize(q, v, together.efforts, wrench, dt=1e-3)
    one = actuated.linearize(q[1, 2], v[1, 2], alone.efforts, wrench, dt=1e-3)
    np.testing.assert_allclose(linear.state_matrix[1, 2], one.state_matrix, atol=1e-7)


def test_two_motions_side_by_side_part_as_the_linear_model_says(actuated, states, rng, wrench):
    """In motion: the rate of a displacement is not only the change of the velocity."""
    smooth = actuated.without_dry_friction()
    q, v, a = states(smooth)
    efforts = smooth.inverse_dynamics(q, v, a, wrench)
    linear = smooth.linearize(q, v, efforts, wrench)
    moved, faster, _ = directions(rng, len(v))

    def apart(side, dt):
        here = stepping.step(smooth, q, v, efforts, wrench, dt, 1)
        start = smooth.advance(q, side * moved), v + side * faster
        there = stepping.step(smooth, *start, efforts, wrench, dt, 1)
        return np.concatenate([smooth.difference(here[0], there[0]), there[1] - here[1]])

    def parting(dt):
        """By how much they part in dt, to first order in where they began."""
        return 0.5 * (apart(1e-4, dt) - apart(-1e-4, dt)) / 1e-4

    begun = np.concatenate([moved, faster])
    dt = 1e-4  # the rate from differences over one and two periods
    rate = 2.0 * (parting(dt) - begun) / dt - (parting(2.0 * dt) - begun) / (2.0 * dt)
    found = linear.state_matrix @ begun
    scale = np.abs(linear.state_matrix).max() ** 2 * dt + np.abs(linear.state_matrix).max()
    np.testing.assert_allclose(found, rate, rtol=0.0, atol=1e-5 * scale)


def test_a_sampled_model_takes_a_period_at_once(actuated, states):
    q, _, _ = states(actuated)
    slow, quick = (actuated.linearize(q, dt=dt) for dt in (2e-3, 1e-3))
    A, B = quick.state_matrix, quick.input_matrix
    np.testing.assert_allclose(slow.state_matrix, A @ A, atol=1e-8)
    np.testing.assert_allclose(slow.input_matrix, A @ B + B, atol=1e-8)


def test_a_linear_model_is_a_state_space_elsewhere(actuated):
    linear = actuated.linearize(actuated.home, dt=1e-3)
    theirs = linear.to_scipy()
    np.testing.assert_array_equal(theirs.A, linear.state_matrix)
    np.testing.assert_array_equal(theirs.B, linear.input_matrix)
    assert theirs.dt == linear.dt
    assert actuated.linearize(actuated.home).to_scipy().dt is None
    with pytest.raises(InvalidInput, match="expected a single matrix"):
        actuated.linearize(np.stack([actuated.home] * 2)).to_scipy()


def test_python_control_takes_a_linear_model(actuated):
    # not the folder of tests of that name
    pytest.importorskip("control", minversion="0.9", reason="the extra `control` is not installed")
    linear = actuated.linearize(actuated.home)
    theirs = linear.to_control()
    np.testing.assert_array_equal(theirs.A, linear.state_matrix)
    assert theirs.isctime(strict=True)
    assert actuated.linearize(actuated.home, dt=1e-3).to_control().dt == 1e-3


def test_gains_of_a_regulator_are_those_of_python_control(actuated):
    control = pytest.importorskip("control", minversion="0.9", reason="`control` is not installed")
    from scipy.linalg import solve_discrete_are

    linear = actuated.linearize(actuated.home, dt=5e-3)
    A, B = linear.state_matrix, linear.input_matrix
    nv, n = len(A) // 2, B.shape[1]
    Q, R = np.diag([1e4] * nv + [1.0] * nv), 1e-4 * np.eye(n)
    theirs, _, poles = control.dlqr(linear.to_control(), Q, R)
    X = solve_discrete_are(A, B, Q, R)
    gain = np.linalg.solve(R + B.T @ X @ B, B.T @ X @ A)
    np.testing.assert_allclose(gain, theirs, rtol=0.0, atol=1e-7 * np.abs(gain).max())
    assert np.abs(poles).max() < 1.0
