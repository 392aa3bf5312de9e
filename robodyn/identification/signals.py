# SPDX-License-Identifier: Apache-2.0

"""Time series of single joints, interpolated at common times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from robodyn.arrays import BoolArray, FloatArray, IntArray
from robodyn.identification.joint_tables import JointTable

# Interval, in periods, above which it is a gap: single lost messages can be bridged, several in a
# row cannot.
GAP = 4.5
# Gaps shorter than this [s] are bridged at any rate: no robot changes much in one.
BRIDGED_GAP = 0.02
# A series faster than the common instants by this factor is averaged over their period.
AVERAGING_RATIO = 1.5
# Step back in time [s] above which a clock was reset.
SET_BACK = 0.5
# Fraction of repeated stamps above which their resolution is too coarse.
COARSE = 0.3


class Series(NamedTuple):
    """Time series of one quantity of one joint.

    Attributes:
        times: (N,) [s] time stamps, strictly increasing.
        values: (N,) readings at these times, finite.
    """

    times: FloatArray
    values: FloatArray

    @property
    def period(self) -> float:
        """Median sampling interval [s]."""
        return float(np.median(np.diff(self.times))) if len(self.times) > 1 else np.inf


def select_stamps(table: JointTable) -> tuple[IntArray, str]:
    """Choose between the message headers' time stamps and the times of receipt.

    Returns:
        Times (N,) [ns] of the N messages, and a remark that explains why the times of receipt were
        chosen; the remark is empty if the headers' time stamps were chosen.
    """
    stamps = table.stamps
    # simulated time starts at zero, and a simulator may send its first state several times
    zero = int(np.count_nonzero(stamps == 0))
    if 2 * zero > len(stamps) > 1:
        which = "all" if zero == len(stamps) else str(zero)
        return (
            table.received,
            f"{table.name}: {which} stamps are zero: the times of receipt are used",
        )
    # separate messages of single joints may share a stamp: count the repetitions of each joint
    repeated = max(
        (_repeated_fraction(stamps[np.isfinite(column)]) for column in table.values["position"].T),
        default=0.0,
    )
    if repeated > COARSE and len(np.unique(table.received)) > len(np.unique(stamps)):
        return table.received, (
            f"{table.name}: {repeated:.0%} of the stamps are repeated: the times of receipt are "
            "used"
        )
    return stamps, ""


def _repeated_fraction(stamps: IntArray) -> float:
    return 1.0 - len(np.unique(stamps)) / len(stamps) if len(stamps) else 0.0


def longest_run(stamps: IntArray) -> tuple[slice, int]:
    """Find the longest sequence of messages without a reset of the clock.

    `stamps` (N,) [ns] are the messages' time stamps.

    Returns:
        Slice of the messages in this sequence, and the number of resets.
    """
    back = np.flatnonzero(np.diff(stamps) < -SET_BACK * 1e9) + 1
    # a late message is followed by one of the current time, a reset by one of the new time
    back = np.array([row for row in back.tolist() if _is_clock_reset(stamps, row)], dtype=np.int64)
    edges = [0, *back.tolist(), len(stamps)]
    pairs = list(zip(edges[:-1], edges[1:], strict=True))
    first, last = max(pairs, key=lambda pair: pair[1] - pair[0])
    return slice(first, last), len(back)


def _is_clock_reset(stamps: IntArray, row: int) -> bool:
    after = stamps[row + 1 : row + 4]
    return bool(after.size) and bool(np.median(after) < stamps[row - 1])


def series_of(times: FloatArray, values: FloatArray) -> tuple[Series, int, int]:
    """Create a time series from readings in order of receipt.

    Args:
        times: (N,) [s] time stamps.
        values: (N,) readings; NaN values are left out.

    Returns:
        The series, sorted by time and without repeated times; the number of readings with an
        earlier time than the preceding one; and the number of readings with a repeated time.
    """
    known = np.isfinite(values)
    times, values = times[known], values[known]
    late = int(np.count_nonzero(np.diff(times) < 0.0))
    order = np.argsort(times, kind="stable")
    times, values = times[order], values[order]
    new = np.diff(times, prepend=-np.inf) > 0.0
    return Series(times[new], values[new]), late, int(np.count_nonzero(~new))


def common_instants(series: Sequence[Series]) -> tuple[FloatArray, bool]:
    """Choose the instants at which to interpolate several time series.

    Returns:
        Times (N,) [s] of the series with the longest sampling interval, within the span that all
        series cover; and whether all series have the same times.
    """
    first = max(each.times[0] for each in series)
    last = min(each.times[-1] for each in series)
    alike = all(np.array_equal(each.times, series[0].times) for each in series[1:])
    slowest = max(series, key=lambda each: each.period)
    times = slowest.times
    return times[(times >= first) & (times <= last)], alike


def at_instants(series: Series, times: FloatArray, smooth: bool) -> tuple[FloatArray, BoolArray]:
    """Interpolate a time series at instants (N,) [s] within it.

    To avoid aliasing, a series that is sampled much faster than the instants is averaged over their
    period; others are interpolated, by cubic splines if `smooth`, otherwise linearly.

    Returns:
        Values (N,), and whether each instant is in a gap of the series.
    """
    exact = np.isin(times, series.times)
    after = np.clip(np.searchsorted(series.times, times), 1, len(series.times) - 1)
    width = series.times[after] - series.times[after - 1]
    period = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    missing = ~exact & (width > widest_step(max(series.period, period)))
    if period > AVERAGING_RATIO * series.period:
        return _average(series, times, period), missing
    if exact.all():
        return series.values[np.searchsorted(series.times, times)], missing
    if smooth and len(series.times) > 3:
        from scipy.interpolate import CubicSpline

        return np.asarray(CubicSpline(series.times, series.values)(times)), missing
    return np.interp(times, series.times, series.values), missing


def _average(series: Series, times: FloatArray, period: float) -> FloatArray:
    """Compute the mean (N,) of a time series over a period centered at each instant."""
    low = np.maximum(times - 0.5 * period, series.times[0])
    high = np.minimum(times + 0.5 * period, series.times[-1])
    from scipy.interpolate import make_interp_spline  # slow to import

    # near an end the period is cut on both sides, so the mean stays that of the instant
    half = np.minimum(times - low, high - times)
    narrow = half <= 0.0
    half = np.where(narrow, 1.0, half)
    integral = make_interp_spline(series.times, series.values, k=1).antiderivative()
    mean = (integral(times + half) - integral(times - half)) / (2.0 * half)
    return np.where(narrow, np.interp(times, series.times, series.values), mean)


def widest_step(period: float) -> float:
    """Return the largest interval [s] between samples that does not count as a gap.

    `period` [s] is the median interval.
    """
    return max(GAP * period, BRIDGED_GAP)


def segments_of(times: FloatArray) -> list[slice]:
    """Divide instants (N,) [s] into slices without gaps."""
    steps = np.diff(times)
    interval = widest_step(float(np.median(steps))) if len(steps) else np.inf
    edges = np.flatnonzero(steps > interval) + 1
    bounds = [0, *edges.tolist(), len(times)]
    return [slice(a, b) for a, b in zip(bounds[:-1], bounds[1:], strict=True)]
