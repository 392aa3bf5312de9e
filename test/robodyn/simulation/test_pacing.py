# SPDX-License-Identifier: Apache-2.0

"""Simulated time beside a clock that the test turns by hand."""

import pytest

from robodyn.errors import InvalidInput
from robodyn.simulation import Pacer


def taken(pacer, times, **options):
    return sum(pacer.due(t, **options) for t in times)


@pytest.mark.parametrize("factor", [0.5, 1.0, 3.0])
def test_simulated_time_follows_the_clock_by_the_factor(factor):
    pacer = Pacer(0.005, factor)
    steps = taken(pacer, [0.0005 * i for i in range(20001)])
    assert steps * 0.005 == pytest.approx(10.0 * factor, abs=0.006)
    assert pacer.lost == 0.0


def test_a_long_pause_is_given_up_not_made_up_for():
    pacer = Pacer(0.005, slack=4)
    pacer.due(0.0)
    steps = taken(pacer, [1.0] * 100)
    assert steps == 5
    assert pacer.lost + steps * 0.005 == pytest.approx(1.0)


def test_time_that_passes_while_paused_does_not_count():
    pacer = Pacer(0.01)
    pacer.due(0.0)
    assert not pacer.due(5.0, running=False)
    assert not pacer.due(5.005)
    assert pacer.due(5.011)
    assert pacer.lost == 0.0


def test_a_clock_that_goes_back_takes_nothing():
    pacer = Pacer(0.01)
    pacer.due(10.0)
    assert not pacer.due(3.0)
    assert pacer.due(3.02)


def test_a_period_must_be_positive():
    with pytest.raises(InvalidInput, match="period"):
        Pacer(0.0)
