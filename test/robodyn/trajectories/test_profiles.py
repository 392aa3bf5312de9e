# SPDX-License-Identifier: Apache-2.0

"""Time scalings: from rest to rest, each the integral of its derivative, within its limits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robodyn.errors import InfeasibleTrajectory, InvalidInput
from robodyn.trajectories import (
    PEAK_SPEED,
    Cycloidal,
    ParabolicBlend,
    check_profile,
    cubic,
    make_profile,
    quintic,
    shortest_duration,
)

PROFILES = {
    "blend": ParabolicBlend(2.0, 0.5),
    "triangle": ParabolicBlend(2.0, 1.0),
    "constant speed": ParabolicBlend(2.0, 0.0),
    "cubic": cubic(2.0),
    "quintic": quintic(2.0),
    "cycloidal": Cycloidal(2.0),
}
every_profile = pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)


@every_profile
def test_profiles_begin_at_zero_and_end_at_one_exactly(profile):
    s, _, _ = profile.sample(np.array([0.0, 1.0, 2.0]))
    assert s[0] == 0.0
    assert s[1] == pytest.approx(0.5, abs=1e-15)
    assert s[2] == 1.0


@every_profile
def test_rest_before_and_after(profile):
    s, ds, dds = profile.sample(np.array([-1e300, -1.0, -1e-300, 2.0 + 1e-12, 3.0, 1e300]))
    np.testing.assert_array_equal(s, [0, 0, 0, 1, 1, 1])
    np.testing.assert_array_equal(ds, 0.0)
    np.testing.assert_array_equal(dds, 0.0)


@every_profile
def test_every_profile_is_symmetric(profile):
    t = np.linspace(0.0, 2.0, 101)
    there, back = profile.sample(t), profile.sample(2.0 - t)
    np.testing.assert_allclose(there[0], 1.0 - back[0], atol=1e-15)
    np.testing.assert_allclose(there[1], back[1], atol=1e-14)


@every_profile
def test_rates_are_derivatives(profile):
    h = 1e-4
    t = np.linspace(0.01, 1.99, 57)
    t = t[np.all([np.abs(t - jump) > 3 * h for jump in profile.switching_times], axis=0)
          if profile.switching_times else slice(None)]  # fmt: skip
    s, ds, dds = profile.sample(np.stack([t - h, t, t + h]))
    np.testing.assert_allclose(ds[1], (s[2] - s[0]) / (2 * h), atol=1e-7)
    np.testing.assert_allclose(dds[1], (ds[2] - ds[0]) / (2 * h), atol=1e-6)


@pytest.mark.parametrize("name", PEAK_SPEED)
def test_speed_is_continuous_and_peaks_where_the_table_says(name):
    profile = make_profile(name, 2.0, 1.0, None, "x")
    t = np.linspace(-0.5, 2.5, 30001)
    _, ds, dds = profile.sample(t)
    assert np.abs(np.diff(ds)).max() <= 1.001 * np.abs(dds).max() * (t[1] - t[0])
    assert ds.max() == pytest.approx(PEAK_SPEED[name] / 2.0, rel=1e-6)


def test_blend_times_of_equation_39():
    # tt = tf - |d|/V: 6 - 0.4/0.08
    profile = make_profile("lspb", 6.0, 0.4, 0.08, "angles")
    assert profile.switching_times == (pytest.approx(1.0), pytest.approx(5.0))
    _, ds, _ = profile.sample(np.array([3.0]))
    assert 0.4 * ds[0] == pytest.approx(0.08)


def test_just_enough_speed_is_constant_speed_without_an_endless_jolt():
    for distance in (0.5, 0.3, 0.7, 1.1):
        for excess in (-1e-12, 0.0, 1e-12):
            speed = distance / 6.0 * (1.0 + excess)
            profile = make_profile("lspb", 6.0, distance, speed, "x")
            assert profile.sample(np.array([0.0, 6.0]))[2] == pytest.approx(0.0)


def test_more_speed_than_any_blend_can_use_gives_the_triangle():
    assert make_profile("lspb", 6.0, 1.0, 1e9, "x") == ParabolicBlend(6.0, 3.0)


@pytest.mark.parametrize(("name", "least"), [("lspb", 1.0), ("quintic", 1.875)])
def test_infeasible_limits_say_the_least_speed_and_duration(name, least):
    with pytest.raises(
        InfeasibleTrajectory,
        match=rf"position \[m\]: a distance of 3 cannot be covered in 2 s at 1 per second; "
        rf"it requires more than "
        rf"{3 * least / 2:g} per second, or more than {3 * least:g} s",
    ) as caught:
        make_profile(name, 2.0, 3.0, 1.0, "position [m]")
    assert caught.value.value == 1.0


def test_an_endless_motion_is_refused():
    with pytest.raises(InfeasibleTrajectory, match="infinitely long"):
        make_profile("cubic", shortest_duration(1.0, 1e-310, "cubic"), 1.0, None, "x")


def test_unknown_profiles_are_refused_with_the_known_ones():
    with pytest.raises(InvalidInput, match="'bangbang', expected one of lspb, cubic"):
        check_profile("bangbang")


positive = st.floats(1e-3, 1e3)


@pytest.mark.slow
@given(name=st.sampled_from(list(PEAK_SPEED)), duration=positive, distance=positive, speed=positive)
@settings(max_examples=200, deadline=None)
def test_a_profile_keeps_to_its_limit_or_is_refused(name, duration, distance, speed):
    try:
        profile = make_profile(name, duration, distance, speed, "x")
    except InfeasibleTrajectory:
        assert speed * duration <= PEAK_SPEED[name] * distance
        return
    t = np.linspace(-0.1 * duration, 1.1 * duration, 501)
    s, ds, dds = profile.sample(t)
    assert np.isfinite([s, ds, dds]).all()
    assert (np.diff(s) >= 0.0).all()
    assert (s[0], s[-1]) == (0.0, 1.0)
    assert (ds >= 0.0).all()
    assert distance * ds.max() <= speed * (1.0 + 1e-8)


@given(name=st.sampled_from(list(PEAK_SPEED)), distance=positive, speed=positive)
@settings(max_examples=100, deadline=None)
def test_the_shortest_duration_is_feasible_and_uses_the_whole_speed(name, distance, speed):
    duration = shortest_duration(distance, speed, name)
    profile = make_profile(name, duration, distance, None, "x")
    _, ds, _ = profile.sample(np.array([0.5 * duration]))
    assert distance * ds[0] == pytest.approx(speed, rel=1e-9)
    make_profile(name, duration, distance, speed, "x")
