# SPDX-License-Identifier: Apache-2.0

"""The watchdog: holds, lets go gently, comes back with a message and with nothing else."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robodyn.control import EffortRampDown, Watchdog
from robodyn.errors import InvalidInput


@pytest.fixture
def watchdog():
    watchdog = Watchdog(timeout=0.1, hold=1.0, ramp=2.0)
    watchdog.record_message(10.0)
    return watchdog


@pytest.mark.parametrize(
    ("silence", "level", "scale"),
    [
        (0.0, "ok", 1.0),
        (0.09, "ok", 1.0),
        (0.11, "hold", 1.0),
        (1.09, "hold", 1.0),
        (1.6, "ramp", 0.75),
        (3.0, "ramp", 0.05),
        (3.2, "released", 0.0),
        (1e9, "released", 0.0),
    ],
)
def test_watchdog_holds_then_releases(watchdog, silence, level, scale):
    assert watchdog.state(10.0 + silence) == (level, pytest.approx(scale))


def test_a_message_brings_it_back(watchdog):
    assert watchdog.state(20.0).level == "released"
    watchdog.record_message(20.0)
    assert watchdog.state(20.05) == ("ok", 1.0)


def test_watchdog_waits_for_the_first_message():
    assert Watchdog(0.1, 0.0, 0.0).state(1e6) == ("ok", 1.0)


def test_without_a_timeout_silence_does_not_matter():
    watchdog = Watchdog(0.0, 1.0, 1.0)
    watchdog.record_message(0.0)
    assert watchdog.state(1e9) == ("ok", 1.0)


def test_without_hold_and_ramp_it_lets_go_at_once():
    watchdog = Watchdog(0.1, 0.0, 0.0)
    watchdog.record_message(0.0)
    assert watchdog.state(0.1) == ("ok", 1.0)
    assert watchdog.state(0.1001) == ("released", 0.0)


@pytest.mark.parametrize(("later", "fraction"), [(0.0, 1.0), (1.0, 1.0), (2.0, 0.5), (3.1, 0.0)])
def test_effort_ramp_down_releases_after_hold_and_ramp(later, fraction):
    letting_go = EffortRampDown(hold=1.0, ramp=2.0, now=7.0)
    assert letting_go.fraction(7.0 + later) == pytest.approx(fraction)
    # a clock that goes back gives nothing back
    assert letting_go.fraction(0.0) == pytest.approx(fraction)
    assert EffortRampDown(0.0, 0.0, 7.0).fraction(7.001) == 0.0


def test_a_clock_set_back_does_not_bring_it_back(watchdog):
    assert watchdog.state(20.0).level == "released"
    assert watchdog.state(0.0).level == "released"
    watchdog.record_message(0.0)
    assert watchdog.state(0.05).level == "ok"


def test_a_clock_set_back_does_not_deafen_it(watchdog):
    assert watchdog.state(0.0).level == "ok"
    assert watchdog.state(0.5).level == "hold"
    assert watchdog.state(4.0).level == "released"


times = st.floats(-1e12, 1e12)


@given(
    limits=st.tuples(*[st.floats(0.0, 1e3)] * 3),
    events=st.lists(st.tuples(times, st.booleans()), max_size=30),
)
def test_watchdog_scale_is_always_between_one_and_zero_and_never_rises_by_itself(limits, events):
    watchdog, before = Watchdog(*limits), 1.0
    for now, message in events:
        if message:
            watchdog.record_message(now)
            assert watchdog.state(now) == ("ok", 1.0)
            before = 1.0
        else:
            level, scale = watchdog.state(now)
            assert 0.0 <= scale <= before
            assert (scale == 1.0) or level in {"ramp", "released"}
            before = scale


@given(silence=st.lists(st.floats(0.0, 0.3), min_size=2, max_size=40))
def test_no_step_in_scale_is_larger_than_time_allows(silence):
    watchdog, now, before = Watchdog(0.1, 0.2, 2.0), 5.0, 1.0
    watchdog.record_message(now)
    for step in silence:
        now += step
        scale = watchdog.state(now).scale
        assert before - scale <= step / 2.0 + 1e-12
        before = scale


@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf, "soon"])
@pytest.mark.parametrize("name", ["timeout", "hold", "ramp"])
def test_times_are_finite_and_not_negative(name, bad):
    with pytest.raises(InvalidInput, match=name):
        Watchdog(**({"timeout": 1.0, "hold": 1.0, "ramp": 1.0} | {name: bad}))


@pytest.mark.parametrize("call", ["record_message", "state"])
def test_now_is_a_time(watchdog, call):
    with pytest.raises(InvalidInput, match="now is nan"):
        getattr(watchdog, call)(math.nan)
