# SPDX-License-Identifier: Apache-2.0

"""A flight of JSBSim's aeroplane, in the axes and units of a vehicle's motion."""

import numpy as np
import pytest

from robodyn.motion_base.cueing import Flight


@pytest.fixture(scope="module")
def flown(tmp_path_factory):
    pytest.importorskip("jsbsim")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("flight"))
        flight = Flight(0.02)
        rows = np.array([np.concatenate(flight.step()) for _ in range(3500)])
        assert not list((tmp_path_factory.getbasetemp() / "flight0").iterdir())  # no log beside it
    return rows


def mean(rows, start, end):
    return rows[round(start / 0.02) : round(end / 0.02)].mean(axis=0)


@pytest.mark.slow
def test_flight_has_the_axes_and_units_of_vehicle_imu(flown):
    at_rest, run, right, left = (
        mean(flown, *part) for part in ((0.0, 2.0), (8.0, 16.0), (45.0, 58.0), (64.0, 69.0))
    )
    np.testing.assert_allclose(at_rest[:3], [0.0, 0.0, 9.81], atol=0.4)
    assert run[0] > 1.0  # forward, on the runway
    assert right[5] < -0.05 < 0.02 < left[5]  # yaw rate, z up: a turn to the right is negative
    assert np.abs(flown[:, :2]).max() < 6.0
    assert flown[2000:, 2].std() > 0.2  # turbulence


def test_flight_is_the_same_every_time(flown):
    again = Flight(0.02)
    np.testing.assert_array_equal(flown[:50], [np.concatenate(again.step()) for _ in range(50)])
