# SPDX-License-Identifier: Apache-2.0

"""Series of readings on one clock: their order, gaps and common instants."""

import numpy as np
import pytest

from robodyn.identification import (
    Series,
    at_instants,
    common_instants,
    longest_run,
    segments_of,
    series_of,
    widest_step,
)


def test_readings_are_sorted_and_repeated_stamps_count_once(rng):
    times = np.arange(50) * 0.01
    values = np.sin(times)
    order = np.arange(50)
    order[[10, 11]] = 11, 10  # one arrives late
    given, seen = np.append(times[order], times[-1]), np.append(values[order], 9.0)
    seen[20] = np.nan
    series, late, repeated = series_of(given, seen)
    assert (late, repeated) == (1, 1)
    np.testing.assert_array_equal(series.times, np.delete(times, 20))
    np.testing.assert_array_equal(series.values, np.delete(values, 20))
    assert series.period == pytest.approx(0.01)


def test_the_longest_run_lies_between_two_resets_of_the_clock():
    second = 10**9
    stamps = np.concatenate([np.arange(5), np.arange(40), np.arange(12)]) * second
    assert longest_run(stamps) == (slice(5, 45), 2)
    late = np.arange(30) * second
    late[12] = 3 * second  # a late message is no reset
    assert longest_run(late) == (slice(0, 30), 0)


@pytest.mark.parametrize("period", [0.001, 0.02])
def test_segments_end_where_several_samples_are_lost(period):
    times = np.arange(60) * period
    lost = np.delete(times, slice(20, 50))
    assert segments_of(times) == [slice(0, 60)]
    assert segments_of(lost) == [slice(0, 20), slice(20, 30)]
    assert segments_of(np.delete(times, 30)) == [slice(0, 59)]
    assert widest_step(period) >= 4.0 * period


def test_common_instants_are_those_of_the_slowest_within_all():
    fast = Series(np.arange(0, 100) * 0.01, np.zeros(100))
    slow = Series(0.205 + np.arange(0, 40) * 0.05, np.zeros(40))
    times, alike = common_instants([fast, slow])
    assert not alike
    np.testing.assert_allclose(times, slow.times[slow.times <= 0.99])
    assert common_instants([fast, fast])[1]


def test_smooth_series_are_interpolated_and_gaps_are_marked():
    own = np.arange(0.0, 2.0, 0.02)
    own = np.delete(own, slice(40, 60))
    series = Series(own, np.sin(3.0 * own))
    asked = np.arange(0.11, 1.9, 0.02)
    values, missing = at_instants(series, asked, smooth=True)
    np.testing.assert_array_equal(missing, (asked > 0.78) & (asked < 1.2))
    np.testing.assert_allclose(values[~missing], np.sin(3.0 * asked[~missing]), atol=1e-4)
    exact, missing = at_instants(series, own[3:9], smooth=False)
    np.testing.assert_array_equal(exact, series.values[3:9])
    assert not missing.any()


def test_a_fast_series_is_averaged_so_that_noise_does_not_fold_back(rng):
    """The mean of a straight line is its middle; noise falls with the root of the samples."""
    own = np.arange(0.0, 4.0, 0.001)
    asked = np.arange(0.1, 3.9, 0.05)
    line, _ = at_instants(Series(own, 2.0 * own - 1.0), asked, smooth=False)
    np.testing.assert_allclose(line, 2.0 * asked - 1.0, atol=1e-12)
    noise, _ = at_instants(Series(own, rng.normal(size=own.size)), asked, smooth=False)
    assert noise.std() == pytest.approx(1.0 / np.sqrt(50.0), rel=0.4)
