# SPDX-License-Identifier: Apache-2.0

"""Sensors: exact without noise, with the given distribution, whole periods of delay, repeatable."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.errors import InvalidInput


def states(mechanism, rng, count):
    steps = 0.1 * rng.normal(size=(count, 6))
    return [(mechanism.advance(mechanism.home, step), rng.normal(size=6)) for step in steps]


@pytest.fixture(params=["platform", "arm"])
def mechanism(request, dasgupta, puma):
    return {"platform": dasgupta, "arm": puma}[request.param]


def test_without_noise_and_latency_a_sensor_is_exact(mechanism, rng):
    sensor = rd.Sensor(mechanism)
    for state in states(mechanism, rng, 5):
        for found, true in zip(sensor.measure(*state), state, strict=True):
            np.testing.assert_array_equal(found, true)


def test_noise_has_the_deviation_asked_for(mechanism, rng):
    deviation = np.array([1e-3, 2e-3, 3e-3, 0.0, 0.1, 0.2])
    sensor = rd.Sensor(mechanism, deviation, 10.0 * deviation, seed=int(rng.integers(2**32)))
    q, v = mechanism.home, rng.normal(size=6)
    found, velocities = zip(*(sensor.measure(q, v) for _ in range(4000)), strict=True)
    errors, rates = mechanism.difference(q, np.array(found)), np.array(velocities) - v
    for sample, expected in ((errors, deviation), (rates, 10.0 * deviation)):
        np.testing.assert_allclose(sample.std(axis=0), expected, rtol=0.08, atol=1e-15)
        assert (np.abs(sample.mean(axis=0)) <= 6.0 * expected / np.sqrt(4000) + 1e-15).all()
    correlation = np.corrcoef(errors[:, 0], rates[:, 0])[0, 1]
    assert abs(correlation) < 0.1


def test_a_noisy_pose_is_a_pose(dasgupta):
    sensor = rd.Sensor(dasgupta, 1.0)
    for _ in range(20):
        pose, _ = sensor.measure(dasgupta.home, np.zeros(6))
        assert np.linalg.norm(pose[3:]) == pytest.approx(1.0, abs=1e-14)


def test_sensor_measures_in_whole_steps(mechanism, rng):
    steps = np.array([1e-3, 2e-3, 0.0, 1e-3, 1e-2, 1e-2])
    sensor = rd.Sensor(mechanism, position_step=steps, velocity_step=0.1)
    for true in states(mechanism, rng, 20):
        q, v = sensor.measure(*true)
        away = mechanism.difference(mechanism.home, q)
        exact = mechanism.difference(mechanism.home, true[0])
        np.testing.assert_allclose(away[2], exact[2], rtol=0.0, atol=1e-14)
        whole = steps > 0.0
        parts = away[whole] / steps[whole]
        np.testing.assert_allclose(parts, np.round(parts), rtol=0.0, atol=1e-9)
        assert (np.abs(away - exact) <= 0.5 * steps + 1e-12).all()
        np.testing.assert_allclose(10.0 * v, np.round(10.0 * v), rtol=0.0, atol=1e-9)


def test_a_slow_sensor_repeats_its_reading_in_between(mechanism, rng):
    sensor, true = rd.Sensor(mechanism, every=3, latency=1), states(mechanism, rng, 8)
    found = [sensor.measure(*state) for state in true]
    for k, (q, _) in enumerate(found):
        np.testing.assert_array_equal(q, true[max(k - 1, 0) // 3 * 3][0])
    with pytest.raises(InvalidInput, match="every"):
        rd.Sensor(mechanism, every=0)


@pytest.mark.parametrize("latency", [0, 1, 3])
def test_sensor_is_late_by_whole_periods(mechanism, rng, latency):
    sensor, true = rd.Sensor(mechanism, latency=latency), states(mechanism, rng, 8)
    for k, state in enumerate(true):
        for found, old in zip(sensor.measure(*state), true[max(k - latency, 0)], strict=True):
            np.testing.assert_array_equal(found, old)


def test_sensor_copies_the_states_it_measures(dasgupta):
    sensor, velocity = rd.Sensor(dasgupta, latency=1), np.zeros(6)
    sensor.measure(dasgupta.home, velocity)
    velocity[:] = 1.0  # reused by its owner
    np.testing.assert_array_equal(sensor.measure(dasgupta.home, velocity)[1], 0.0)


def test_the_seed_decides_and_reset_begins_anew(mechanism, rng):
    true = states(mechanism, rng, 6)

    def measured(sensor):
        return np.concatenate([np.concatenate(sensor.measure(*state)) for state in true])

    options = {"position_noise": 1e-3, "velocity_noise": 1e-2, "latency": 2}
    sensor = rd.Sensor(mechanism, **options, seed=7)
    first = measured(sensor)
    sensor.reset()
    np.testing.assert_array_equal(measured(sensor), first)
    np.testing.assert_array_equal(measured(rd.Sensor(mechanism, **options, seed=7)), first)
    assert not np.array_equal(measured(rd.Sensor(mechanism, **options, seed=8)), first)


def test_control_through_a_noisy_and_late_sensor_still_tracks(dasgupta):
    path, control = rd.paper_path("I"), rd.ComputedTorque(dasgupta)
    sensor = rd.Sensor(dasgupta, 1e-5, 1e-4, latency=1)

    def controller(time, configuration, velocity, trajectory):
        return control(time, *sensor.measure(configuration, velocity), trajectory)

    result = rd.simulate(dasgupta, controller, path, control_dt=1e-2, duration=1.0)
    assert np.abs(result.error).max() < 0.01


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"position_noise": -1.0}, "position_noise is -1.0, must be at least 0"),
        ({"velocity_noise": [1.0, 2.0]}, r"velocity_noise has shape \(2,\), expected one number"),
        ({"velocity_noise": np.nan}, "velocity_noise is nan"),
        ({"latency": -1}, "latency is -1,"),
        ({"latency": 1.5}, "latency is 1.5, expected a whole number"),
        ({"seed": -3}, "seed is -3,"),
    ],
)
def test_sensor_rejects_invalid_settings(dasgupta, options, text):
    with pytest.raises(InvalidInput, match=text):
        rd.Sensor(dasgupta, **options)


def test_sensor_rejects_invalid_states(dasgupta):
    with pytest.raises(InvalidInput, match="velocity has shape"):
        rd.Sensor(dasgupta).measure(dasgupta.home, np.zeros(5))
