# SPDX-License-Identifier: Apache-2.0

"""A payload is found from what efforts with it exceed those of the machine alone."""

from __future__ import annotations

import numpy as np
import pytest

import robodyn as rd
from robodyn.algorithms import motions
from robodyn.dynamics.body_parameters import body_parameters, pseudo_inertias
from robodyn.errors import InvalidInput

pytestmark = [pytest.mark.filterwarnings("ignore::UserWarning"), pytest.mark.slow]

MASS, COM = 2.0, np.array([0.03, -0.02, 0.05])
INERTIA = np.array([[0.008, 0.001, 0.0], [0.001, 0.01, 0.0004], [0.0, 0.0004, 0.012]])


def recorded(m, rng, reach, noise=0.01):
    """Ten seconds of several harmonics with noise of the efforts."""
    times = np.arange(0.0, 10.0, 0.01)
    width = m.coordinates.velocity_size
    rates = 2.0 * np.pi * 0.1 * np.arange(1, 6)
    sine, cosine = rng.uniform(-1.0, 1.0, (2, 5, len(m.joint_names))) * reach / 2.0
    angle = np.outer(times, rates)
    center = motions.independent_motion(m, m.home, np.zeros(width), np.zeros(width)).positions
    at = center + np.sin(angle) @ sine + np.cos(angle) @ cosine
    rate = (np.cos(angle) * rates) @ sine - (np.sin(angle) * rates) @ cosine
    change = -(np.sin(angle) * rates**2) @ sine - (np.cos(angle) * rates**2) @ cosine
    motion = motions.motion_of_independent(m, at, rate, change, m.home)
    efforts = m.inverse_dynamics(*motion)
    measured = efforts + noise * efforts.std(axis=0) * rng.normal(size=efforts.shape)
    return rd.Recording.from_arrays(m, times, m.joint_positions(motion.configuration), measured)


def test_an_arm_feels_mass_centre_and_inertia(rng):
    arm = rd.load("puma560")
    loaded = recorded(arm.with_payload(MASS, COM, INERTIA), rng, 0.6)
    found = rd.identify_payload(arm, loaded)
    truth = body_parameters(MASS, COM, INERTIA)
    assert (np.abs(found.parameters - truth) < 5.0 * found.deviations).all()
    assert abs(found.mass - MASS) < 5.0 * found.mass_deviation < 0.1
    assert (np.abs(found.com - COM) < 5.0 * found.com_deviation).all()
    assert (found.com_deviation < 0.01).all()
    # friction and rotors hide the payload at no joint that it loads
    assert found.before.max() > 10.0 * found.after.max()
    carried = pseudo_inertias(body_parameters(found.mass, found.com, found.inertia))
    assert (np.linalg.eigvalsh(carried) > 0.0).all()
    rest = np.zeros(6)
    q = np.array([0.3, -0.4, 0.8, 0.2, 0.5, -0.3])
    np.testing.assert_allclose(
        found.mechanism.inverse_dynamics(q, rest, rest),
        arm.with_payload(MASS, COM, INERTIA).inverse_dynamics(q, rest, rest),
        atol=0.1,
    )


def test_payload_that_never_turns_has_only_an_identifiable_mass(rng):
    """A delta's platform moves without turning: where on it a payload sits makes no difference."""
    delta = rd.load("delta")
    found = rd.identify_payload(delta, recorded(delta.with_payload(MASS, COM), rng, 0.15))
    assert abs(found.mass - MASS) < 5.0 * found.mass_deviation < 0.1
    assert np.isinf(found.com_deviation).all()
    assert np.isinf(found.inertia_deviation).all()
    assert np.isfinite([*found.com, *found.inertia.ravel()]).all()


def test_without_the_payload_the_machine_is_identified_first(rng):
    """A model whose weights are wrong finds a wrong payload; a recording without it mends that."""
    arm = rd.load("puma560")
    own = arm.parameters
    factors = np.ones(len(own.values))
    factors[: 10 * len(own.bodies)] = 1.15
    wrong = rd.with_parameters(arm, own.values * factors)
    full = arm.with_payload(MASS, COM, INERTIA)
    loaded, empty = recorded(full, rng, 0.6), recorded(arm, rng, 0.6)
    alone = rd.identify(wrong, [empty], friction="offset")
    first, second = rd.identify_payload(wrong, loaded), rd.identify_payload(wrong, [loaded], alone)
    assert abs(first.mass - MASS) > 0.1
    assert abs(second.mass - MASS) < 0.05
    assert np.abs(second.com - COM).max() < 0.01


def test_a_recording_with_the_payload_is_needed():
    with pytest.raises(InvalidInput, match="loaded is empty"):
        rd.identify_payload(rd.load("puma560"), [])


# Moments of a body of some extent and of one that is nearly a point, both far from the flange.
@pytest.mark.parametrize("side", [0.1, 0.001])
@pytest.mark.parametrize("name", ["puma560", "stanford_arm"])
def test_small_bodies_far_from_the_flange_are_found_as_least_squares_finds_them(name, side):
    """Their pseudo-inertias are nearly singular, where the projection may stop on its way."""
    arm, rng = rd.load(name), np.random.default_rng(5)
    away = []
    for _ in range(6):
        mass = rng.uniform(0.3, 3.0)
        com = np.array([*rng.uniform(-0.05, 0.05, 2), rng.uniform(0.03, 0.25)])
        inertia = np.eye(3) * mass * side**2 / 6.0
        found = rd.identify_payload(arm, recorded(arm.with_payload(mass, com, inertia), rng, 0.6))
        away.append((found.mass - mass) / found.mass_deviation)
        assert abs(found.mass - found.parameters[0]) < found.mass_deviation
        assert (np.abs(found.com - com) < 5.0 * found.com_deviation).all()
        carried = pseudo_inertias(body_parameters(found.mass, found.com, found.inertia))
        assert (np.linalg.eigvalsh(carried) > 0.0).all()
    assert np.abs(away).max() < 4.0


def test_a_projection_that_does_not_converge_is_no_result(rng, monkeypatch):
    monkeypatch.setattr("robodyn.identification.projection.STEPS", 1)
    arm = rd.load("puma560")
    with pytest.raises(rd.NoSolution, match="did not converge") as caught:
        rd.identify_payload(arm, recorded(arm.with_payload(MASS, COM, INERTIA), rng, 0.6))
    assert caught.value.residual > 0.0


@pytest.mark.parametrize(
    ("name", "largest", "reach"), [("puma560", 3.0, 0.1), ("delta", 1.0, 0.03)]
)
def test_deviations_of_payloads_are_honest(name, largest, reach, random_numbers):
    """Random payloads in a safe motion of 20 s, noise of one percent of the efforts."""
    m, rng = rd.load(name), random_numbers("payloads")
    path = rd.exciting_trajectory(m, 20.0, trials=3)
    times = np.arange(0.0, 20.0, 0.02)
    motion = path.sample(times)
    limits = m.position_limits
    positions = m.joint_positions(motion.configuration)
    assert (positions > limits[:, 0]).all()
    assert (positions < limits[:, 1]).all()
    errors = []
    for _ in range(8):
        mass, com = rng.uniform(0.3, 1.0) * largest, rng.uniform(-reach, reach, 3)
        spread = 0.3 * reach * rng.normal(size=(3, 3))
        spread = mass * spread @ spread.T
        inertia = np.trace(spread) * np.eye(3) - spread
        efforts = m.with_payload(mass, com, inertia).inverse_dynamics(*motion)
        measured = efforts + 0.01 * efforts.std(axis=0) * rng.normal(size=efforts.shape)
        recording = rd.Recording.from_arrays(m, times, positions, measured)
        found = rd.identify_payload(m, recording)
        seen = np.isfinite(found.deviations)
        error = found.parameters - body_parameters(mass, com, inertia)
        errors += (error[seen] / found.deviations[seen]).tolist()
    assert np.abs(errors).max() < 4.0
    # 0.68 on average; five standard deviations of the smaller number, that of the delta's masses
    assert np.mean(np.abs(errors) < 1.0) > 0.68 - 5.0 * np.sqrt(0.22 / len(errors))
