# SPDX-License-Identifier: Apache-2.0

"""Brakes: closed until efforts come, and when commands fail to come."""

from __future__ import annotations

import numpy as np
import pytest

import robodyn as rd
from robodyn.simulation import Brakes, Plant

ZERO, PUSH = np.zeros(6), np.full(6, 1e-3)
SECOND = 1_000_000_000


def test_efforts_open_them_and_zero_does_not():
    brakes = Brakes(0.2)
    assert brakes.closed
    brakes.command(0, ZERO)
    assert brakes.closed
    brakes.command(1, PUSH)
    assert not brakes.closed
    # a controller that lets go when they are open lets the mechanism go
    brakes.command(2, ZERO)
    assert not brakes.closed


def test_silence_closes_them_once_until_efforts_come():
    brakes = Brakes(0.2)
    brakes.command(SECOND, PUSH)
    assert not brakes.close_if_silent(SECOND + SECOND // 5)
    assert brakes.close_if_silent(SECOND + SECOND // 5 + 1)
    assert brakes.closed
    assert not brakes.close_if_silent(2 * SECOND)
    brakes.command(2 * SECOND, ZERO)
    assert brakes.closed
    brakes.command(2 * SECOND, PUSH)
    assert not brakes.closed


def test_brakes_stay_open_as_long_as_commands_arrive_and_count_from_the_last():
    """Any command counts, also efforts of zero."""
    brakes = Brakes(0.2)
    for k, effort in enumerate([PUSH, ZERO] * 20):
        now = k * SECOND // 10
        brakes.command(now, effort)
        assert not brakes.close_if_silent(now + SECOND // 5)
        assert not brakes.closed
    assert brakes.close_if_silent(now + SECOND // 5 + 1)


def test_without_a_timeout_they_never_close():
    brakes = Brakes(0.0, closed=False)
    assert not brakes.close_if_silent(10**6 * SECOND)
    assert not brakes.closed


def test_a_reset_is_the_beginning():
    brakes = Brakes(0.2, closed=False)
    brakes.command(SECOND, PUSH)
    assert brakes.close_if_silent(2 * SECOND)
    brakes.reset()
    assert not brakes.closed
    assert not brakes.close_if_silent(SECOND // 5)


@pytest.mark.parametrize("timeout", [-1.0, np.nan, np.inf])
def test_a_timeout_that_is_none_is_refused(timeout):
    with pytest.raises(rd.InvalidInput, match="timeout"):
        Brakes(timeout)


def test_a_stopped_plant_stands_where_it_is():
    plant = Plant(rd.load("stewart_symmetric"))
    plant.hold(np.full(6, 100.0), 50)
    where = plant.configuration.copy()
    assert np.abs(plant.velocity).max() > 0.1
    plant.stop()
    assert (plant.configuration == where).all()
    assert not plant.velocity.any()
    assert not plant.effort.any()
