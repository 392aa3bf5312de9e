"""Copies and variants of a mechanism, of every kind: pickled, loaded, frictionless, changed."""

import pickle

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robodyn.errors import ModelError


def efforts_at(m, state):
    return m.inverse_dynamics(*state)


def test_a_pickled_mechanism_is_the_same(mechanism, states):
    again = pickle.loads(pickle.dumps(mechanism))
    assert again == mechanism
    assert again.differences(mechanism) == []
    state = states(mechanism, (3,))
    np.testing.assert_array_equal(efforts_at(again, state), efforts_at(mechanism, state))


def test_unchecked_calls_have_the_bits_of_checked_ones(mechanism, states, rng):
    state, wrench = states(mechanism), rng.normal(size=6)
    fast, out = mechanism.unchecked, np.empty(len(mechanism.joint_names))
    assert fast.inverse_dynamics(*state, out, wrench)
    np.testing.assert_array_equal(out, mechanism.inverse_dynamics(*state, wrench))
    assert fast.inverse_dynamics(*state, out)
    np.testing.assert_array_equal(out, mechanism.inverse_dynamics(*state))
    change = np.empty(mechanism.coordinates.velocity_size)
    assert fast.forward_dynamics(*state[:2], out, change, wrench)
    expected = mechanism.forward_dynamics(*state[:2], out, wrench)
    np.testing.assert_array_equal(change, expected)
    M = np.empty((len(change), len(change)))
    assert fast.mass_matrix(state.configuration, M)
    np.testing.assert_array_equal(M, mechanism.mass_matrix(state.configuration))


def test_a_payload_adds_its_own_energy_and_no_more(mechanism, states):
    mass, com = 0.3, np.array([0.02, -0.01, 0.03])
    heavier = mechanism.with_payload(mass, com)
    assert heavier != mechanism
    q, v, _ = states(mechanism)

    def place(time):
        pose = mechanism.body_pose(mechanism.advance(q, time * v))
        return pose[:3] + Rotation.from_quat(pose[3:]).apply(com)

    velocity = (place(1e-4) - place(-1e-4)) / 2e-4
    more = np.array(heavier.energy(q, v)) - mechanism.energy(q, v)
    kinetic, potential = 0.5 * mass * velocity @ velocity, -mass * heavier.gravity_vector @ place(0)
    np.testing.assert_allclose(more, [kinetic, potential], rtol=1e-5, atol=1e-10)


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_what_is_no_payload_is_refused(mechanism):
    far = [1e155] * 3
    for mass, com in ((np.nan, far), (1.0, [np.inf, 0.0, 0.0]), (1.0, far), (1e300, [1e300] * 3)):
        with pytest.raises(ModelError, match="expected a finite number"):
            mechanism.with_payload(mass, com)


def test_without_friction_has_none_and_is_itself_again(mechanism, states):
    smooth = mechanism.without_friction()
    q, v, a = states(mechanism, (5,))
    faster = 2.0 * v
    # velocity terms of a motion without friction are of second degree
    still, once, twice = (smooth.bias(q, factor * v) for factor in (0.0, 1.0, 2.0))
    scale = np.abs(twice).max()
    np.testing.assert_allclose(twice - still, 4.0 * (once - still), rtol=1e-8, atol=1e-10 * scale)
    np.testing.assert_array_equal(
        smooth.without_friction().inverse_dynamics(q, faster, a),
        smooth.inverse_dynamics(q, faster, a),
    )


def test_parameters_are_taken_back_as_they_are(mechanism, states):
    own = mechanism.parameters
    again = mechanism.with_parameters(own.values)
    state = states(mechanism, (3,))
    expected = efforts_at(mechanism, state)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(efforts_at(again, state), expected, rtol=0.0, atol=1e-11 * scale)


def test_sizes_agree_with_what_is_said_of_them(mechanism):
    nq, nv, n = len(mechanism.home), mechanism.coordinates.velocity_size, len(mechanism.joint_names)
    assert mechanism.coordinates.configuration_size == nq
    assert mechanism.mass_matrix(mechanism.home).shape == (nv, nv)
    assert len(mechanism.effort_limits) == len(mechanism.velocity_limits) == n
    assert len(mechanism.joint_units) == len(mechanism.effort_units) == n
    assert len(mechanism.actuators) == n
    assert mechanism.position_limits.shape == (n, 2)
    assert set(mechanism.all_joint_names) >= {
        *mechanism.joint_names,
        *mechanism.passive_joint_names,
    }
    said = mechanism.joint_states(mechanism.home, np.zeros(nv))
    assert tuple(said.names) == mechanism.all_joint_names
    assert said.positions.shape == said.velocities.shape == (len(said.names),)


def test_home_is_within_the_limits_and_a_fixed_point(mechanism):
    positions = mechanism.joint_positions(mechanism.home)
    low, high = mechanism.position_limits.T
    assert ((positions >= low) & (positions <= high)).all()
    found = mechanism.assemble(positions)
    np.testing.assert_allclose(mechanism.difference(mechanism.home, found), 0.0, atol=1e-8)
