# SPDX-License-Identifier: Apache-2.0

"""Controllers that Numba has compiled run inside the compiled simulation, with equal results."""

import math

import numba
import numpy as np
import pytest

import robodyn as rd
from robodyn.simulation import SimulationTask, is_compiled

pytestmark = [pytest.mark.filterwarnings("ignore::UserWarning"), pytest.mark.slow]


def law_for(m):
    weights = m.gravity(m.home)

    @numba.njit
    def law(time, configuration, velocity, desired):
        efforts = weights.copy()
        for i in range(len(efforts)):
            error = desired.configuration[i] - configuration[i]
            efforts[i] += 20.0 * error - 2.0 * velocity[i] + 0.1 * math.sin(3.0 * time + i)
        return efforts

    def called(time, configuration, velocity, trajectory):
        return law.py_func(time, configuration, velocity, trajectory.sample(time))

    return law, called


@pytest.mark.parametrize("name", ["stewart_symmetric", "puma560", "delta"])
def test_the_same_bits_as_the_controller_called_from_python(name, monkeypatch):
    m = rd.load(name)
    path = rd.load_path("demo", m)
    law, called = law_for(m)
    options = {"control_dt": 4e-3, "duration": 0.2, "wrench": [1.0, 0.0, -2.0, 0.0, 0.0, 0.0]}
    expected = rd.simulate(m, called, path, **options)
    # Python has nothing left to do
    rows = []
    finish = SimulationTask.finish
    monkeypatch.setattr(
        SimulationTask, "finish", lambda run, p: (rows.append(run.row), finish(run, p))
    )
    run = rd.simulate(m, law, path, **options)
    assert rows == [50]
    np.testing.assert_array_equal(run.configuration, expected.configuration)
    np.testing.assert_array_equal(run.velocity, expected.velocity)
    np.testing.assert_array_equal(run.effort, expected.effort)
    # and if it is called at every stage, from Python
    if name == "puma560":
        free = m.without_friction()
        both = [
            rd.simulate(free, each, path, dt=1e-2, control_dt=None, duration=0.1)
            for each in (law, called)
        ]
        np.testing.assert_array_equal(both[0].configuration, both[1].configuration)
        assert is_compiled(m, law)
        loaded = [m, m.with_payload(2.0)]
        many = rd.simulate_many(loaded, law, path, **options)
        np.testing.assert_array_equal(many.configuration[0], run.configuration)
        alone = rd.simulate(loaded[1], called, path, **options)
        np.testing.assert_array_equal(many.configuration[1], alone.configuration)


def test_invalid_efforts_of_a_compiled_controller_are_reported_with_their_time():
    m = rd.load("puma560")

    @numba.njit
    def broken(time, configuration, velocity, desired):
        count = 3 if velocity[0] > 0.0 else 6
        return np.full(count, np.nan if time > 0.0505 and count == 6 else 0.0)

    options = {"control_dt": 1e-2, "duration": 0.1}
    with pytest.raises(rd.InvalidInput, match=r"at 0\.06 s"):
        rd.simulate(m, broken, initial=(m.home, -np.ones(6)), **options)
    with pytest.raises(rd.InvalidInput, match=r"shape \(3,\)"):
        rd.simulate(m, broken, initial=(m.home, np.ones(6)), **options)
