# SPDX-License-Identifier: Apache-2.0

"""The PUMA under computed torque, Lee, Chung, Mudge and Turney: 100 Hz, Kp = 100, Kv = 20.

With an exact model the error is the delay of the zero-order hold, about Ts/2 times jerk over Kp.
"""

import numpy as np
import pytest

import robodyn as rd
from robodyn.analysis import execute

BOUND = 4.26e-4


@pytest.fixture(scope="module")
def exact(puma):
    return puma.without_friction()


def peak_error(plant, path, control):
    result = rd.simulate(plant, control, path, dt=1e-3, control_dt=1e-2)
    return np.abs(result.error).max()


@pytest.mark.parametrize(
    ("name", "expected"),
    [("puma", 3.3e-4), ("puma_cycloidal", 5.9e-4), ("puma_fast", 1.3e-3)],
)
def test_the_error_is_that_of_the_hold(exact, name, expected):
    path = rd.load_path(name, exact)
    assert peak_error(exact, path, rd.ComputedTorque(exact)) == pytest.approx(expected, rel=0.05)


def test_half_a_sample_ahead_meets_the_papers_bound_in_a_second(exact):
    path = rd.load_path("puma_fast", exact)
    assert peak_error(exact, path, rd.ComputedTorque(exact, preview=0.005)) < BOUND


def test_a_slow_move_meets_the_bound_without_it(exact):
    ends = rd.load_path("puma", exact).q
    path = rd.plan_joints(*ends, duration=2.4, profile="cycloidal")
    assert peak_error(exact, path, rd.ComputedTorque(exact)) < BOUND


def test_a_payload_the_controller_does_not_know_shows_as_droop(exact):
    path = rd.load_path("puma", exact)
    loaded = execute(exact.with_payload(2.0), path, "puma", control_dt=0.01, model=exact)
    known = execute(exact.with_payload(2.0), path, "puma", control_dt=0.01)
    assert np.abs(known.error).max() < 5e-4
    assert np.abs(loaded.error).max() > 20 * np.abs(known.error).max()
