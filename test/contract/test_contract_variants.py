"""Copies and variants of a mechanism, of every kind: pickled, loaded, frictionless, changed."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import robodyn as rd
from robodyn.algorithms import comparison, gravity_vector
from robodyn.errors import InvalidInput, ModelError, OutputError


def forces_at(m, state):
    """Generalized forces (..., nv) of a motion, friction included."""
    q, v, a = state
    return np.einsum("...ij,...j->...i", m.mass_matrix(q), a) + m.bias(q, v)


def test_a_pickled_mechanism_is_the_same(mechanism, states):
    again = pickle.loads(pickle.dumps(mechanism))
    assert again == mechanism
    assert comparison.differences(again, mechanism) == []
    state = states(mechanism, (3,))
    np.testing.assert_array_equal(forces_at(again, state), forces_at(mechanism, state))


def test_unchecked_calls_have_the_bits_of_checked_ones(actuated, states, rng):
    state, wrench = states(actuated), rng.normal(size=6)
    fast, out = actuated.solver.unchecked, np.empty(len(actuated.joint_names))
    assert fast.inverse_dynamics(*state, out, wrench)
    np.testing.assert_array_equal(out, actuated.inverse_dynamics(*state, wrench))
    assert fast.inverse_dynamics(*state, out)
    np.testing.assert_array_equal(out, actuated.inverse_dynamics(*state))
    change = np.empty(actuated.coordinates.velocity_size)
    assert fast.forward_dynamics(*state[:2], out, change, wrench)
    expected = actuated.forward_dynamics(*state[:2], out, wrench)
    np.testing.assert_array_equal(change, expected)
    M = np.empty((len(change), len(change)))
    assert fast.mass_matrix(state.configuration, M)
    np.testing.assert_array_equal(M, actuated.mass_matrix(state.configuration))


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
    kinetic, potential = (
        0.5 * mass * velocity @ velocity,
        -mass * gravity_vector(heavier) @ place(0),
    )
    np.testing.assert_allclose(more, [kinetic, potential], rtol=1e-5, atol=1e-10)


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_an_invalid_payload_is_refused(mechanism):
    far = [1e155] * 3
    for mass, com in ((np.nan, far), (1.0, [np.inf, 0.0, 0.0]), (1.0, far), (1e300, [1e300] * 3)):
        with pytest.raises(
            ModelError, match=r"payload: (mass|com)\S* (is|contains) .*, expected"
        ) as caught:
            mechanism.with_payload(mass, com)
        assert caught.value.value in (mass, com)


def test_without_friction_has_none_and_is_itself_again(mechanism, states):
    smooth = mechanism.without_friction()
    q, v, _ = states(mechanism, (5,))
    # velocity terms of a motion without friction are of second degree
    still, once, twice = (smooth.bias(q, factor * v) for factor in (0.0, 1.0, 2.0))
    scale = np.abs(twice).max()
    np.testing.assert_allclose(twice - still, 4.0 * (once - still), rtol=1e-8, atol=1e-10 * scale)
    np.testing.assert_array_equal(smooth.without_friction().bias(q, 2.0 * v), twice)


def test_parameters_are_taken_back_as_they_are(mechanism, states):
    own = mechanism.parameters
    again = rd.with_parameters(mechanism, own.values)
    state = states(mechanism, (3,))
    expected = forces_at(mechanism, state)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(forces_at(again, state), expected, rtol=0.0, atol=1e-11 * scale)


def test_sizes_agree_with_what_is_said_of_them(mechanism):
    nq, nv, n = len(mechanism.home), mechanism.coordinates.velocity_size, len(mechanism.joint_names)
    assert mechanism.coordinates.configuration_size == nq
    assert mechanism.mass_matrix(mechanism.home).shape == (nv, nv)
    assert len(mechanism.effort_limits) == len(mechanism.velocity_limits) == n
    assert len(mechanism.drives.units) == len(mechanism.drives.effort_units) == n
    assert len(mechanism.actuators) == n
    assert mechanism.position_limits.shape == (n, 2)
    assert set(mechanism.all_joint_names) >= {
        *mechanism.joint_names,
        *mechanism.passive_joint_names,
    }
    reported = mechanism.joint_states(mechanism.home, np.zeros(nv))
    assert tuple(reported.names) == mechanism.all_joint_names
    assert reported.positions.shape == reported.velocities.shape == (len(reported.names),)


def test_home_is_within_the_limits_and_a_fixed_point(mechanism):
    positions = mechanism.joint_positions(mechanism.home)
    low, high = mechanism.position_limits.T
    assert ((positions >= low) & (positions <= high)).all()
    found = mechanism.assemble(positions)
    np.testing.assert_allclose(mechanism.difference(mechanism.home, found), 0.0, atol=1e-8)


ENDINGS = (".yaml", ".urdf")


def written_variants(m):
    rng = np.random.default_rng(5)
    yield "itself", m
    yield "loaded", m.with_payload(0.7, [0.02, -0.03, 0.05], np.diag([0.02, 0.03, 0.04]))
    yield "smooth", m.without_friction()
    yield "ideal", m.without_actuators()
    factors = rng.uniform(1.0, 1.1, len(m.parameters.values))
    yield "identified", rd.with_parameters(m, m.parameters.values * factors)
    yield "hung", type(m)(replace(m.model, gravity=np.array([0.3, -0.2, 1.62])))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_saved_mechanism_loads_as_an_equal_one(described, ending, tmp_path):
    for name, m in written_variants(described):
        path = tmp_path / "deep" / f"{name}{ending}"
        written = rd.save(m, path)
        assert written[0] == path
        assert all(file.is_file() for file in written)
        again = rd.load(path)
        assert again == m, name
        assert again.kind == m.kind
        assert again.name == m.name
        assert again.joint_names == m.joint_names
        assert again.actuators == m.actuators
        np.testing.assert_allclose(gravity_vector(again), gravity_vector(m), rtol=0.0, atol=1e-14)
        for of in ("position_limits", "velocity_limits", "effort_limits"):
            np.testing.assert_array_equal(getattr(again, of), getattr(m, of), err_msg=of)
        np.testing.assert_allclose(again.home, m.home, rtol=0.0, atol=1e-12)
        own, found = m.parameters.values, again.parameters.values
        if ending == ".urdf" and m.kind == "stewart":
            np.testing.assert_allclose(found, own, rtol=1e-13, atol=1e-14)
        else:
            np.testing.assert_array_equal(found, own)


def test_saving_to_an_invalid_file_is_refused(described, tmp_path):
    with pytest.raises(InvalidInput, match=r"m\.stl: unknown file type, expected \.urdf, \.sdf"):
        rd.save(described, tmp_path / "m.stl")
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"m\.urdf: cannot be written"):
        rd.save(described, tmp_path / "file" / "m.urdf")
