# SPDX-License-Identifier: Apache-2.0

"""Filters for recordings, chosen by the bandwidth of the motion and the noise level.

All filters are Butterworth filters run forward and backward, so nothing is delayed relative to
anything else. Positions are filtered at the cutoff `motion`; rates and accelerations are
derivatives of splines through them. Measured efforts and the regressor's columns later pass the
same filter at the cutoff `effort`: filtering both sides of an equation does not change its solution
(Gautier, 1997).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.identification.recording import Recording

if TYPE_CHECKING:
    from scipy.interpolate import CubicSpline

ORDER = 4
# Cutoffs relative to the motion's bandwidth, and the accepted relative noise of accelerations.
MOTION_CUTOFF, EFFORT_CUTOFF, NOISE = 40.0, 10.0, 0.01
# Noise rises by less than this factor to the next lower octave, which has at least this number of
# lines.
RISE, FEWEST_OF_OCTAVE = 4.0, 12
# Largest deviation of stamps from a uniform grid, relative to the period.
UNEVEN = 0.02


@dataclass(frozen=True)
class Filters:
    """Cutoffs and delay with which recordings are filtered.

    Attributes:
        motion: cutoff [Hz] for positions.
        effort: cutoff [Hz] for efforts and for the regressor.
        dead_rates: (n,) [m/s or rad/s] standard deviation of the velocities' noise; within it the
            direction of motion is uncertain, and dry friction fades.
        effort_delay: [s] by which measured efforts lag the positions, found by the fit.
    """

    motion: float
    effort: float
    dead_rates: FloatArray
    effort_delay: float = 0.0


def low_pass(values: FloatArray, cutoff: float, frequency: float, ends: str = "odd") -> FloatArray:
    """Filter values (K, ...) along the first axis forward and backward, without delay.

    The filter is a Butterworth low-pass filter. `cutoff` [Hz] is its cutoff frequency, `frequency`
    [Hz] the sampling rate, and `ends` the padding type of SciPy's `sosfiltfilt`.

    Returns:
        Filtered values (K, ...); the values themselves if the cutoff is near half the sampling
        rate.
    """
    if cutoff >= 0.45 * frequency:
        return values
    from scipy.signal import butter, sosfiltfilt  # slow to import

    sections = butter(ORDER, cutoff, fs=frequency, output="sos")
    return np.asarray(sosfiltfilt(sections, values, axis=0, padtype=ends))


def choose_filters(
    recordings: Sequence[Recording],
    cutoff: float | None = None,
    effort_cutoff: float | None = None,
) -> Filters:
    """Choose cutoff frequencies for the filters of recordings, unless they are given.

    The bandwidth of the motion contains 99 % of the energy of its velocity, noise excluded. The
    cutoff for positions is 40 times the bandwidth, or less if accelerations would be noisy, but at
    least 5 times; the cutoff for efforts is 10 times the bandwidth.

    Args:
        recordings: recordings of one mechanism.
        cutoff, effort_cutoff: [Hz] cutoffs for positions and for efforts; None to choose them.

    Returns:
        Filters with the cutoff frequencies, and with the standard deviations of the velocities'
        noise.
    """
    motion, effort, noise = 0.0, 0.0, []
    for recording in recordings:
        longest = max(recording.segments, key=lambda part: part.stop - part.start)
        times, position = recording.time[longest], recording.position[longest]
        even, frequency, is_even = even_instants(times)
        if not is_even:
            position = spline(times, position)(even)
        bandwidth, floor, quickness = _spectrum(position, frequency)
        trials = np.minimum(np.linspace(5.0, MOTION_CUTOFF, 31) * bandwidth, 0.2 * frequency)
        noisy = np.sqrt(floor * (2.0 * np.pi) ** 4 * trials[:, None] ** 5 / 5.0)
        quiet = (noisy < NOISE * quickness).all(axis=1)
        best = float(max(trials[0], trials[quiet].max(initial=0.0)))
        motion = max(motion, best if cutoff is None else cutoff)
        highest = min(EFFORT_CUTOFF * bandwidth, 0.2 * frequency)
        effort = max(effort, highest if effort_cutoff is None else effort_cutoff)
        noise.append(np.sqrt(floor * (2.0 * np.pi) ** 2 * motion**3 / 3.0))
    return Filters(motion, min(effort, motion), np.max(noise, axis=0) + 1e-9)


def spline(times: FloatArray, values: FloatArray) -> CubicSpline:
    """Return the cubic spline that interpolates values (N, n) at times (N,) [s]."""
    from scipy.interpolate import CubicSpline  # slow to import

    return CubicSpline(times, values)


def even_instants(times: FloatArray) -> tuple[FloatArray, float, bool]:
    """Return as many equally spaced times as given times (N,) [s], over the same span.

    Returns:
        The equally spaced times (N,) [s], their frequency [Hz], and whether the given times were
        uniform already.
    """
    frequency = float((len(times) - 1) / (times[-1] - times[0]))
    even = np.linspace(times[0], times[-1], len(times))
    return even, frequency, bool(np.abs(even - times).max() <= UNEVEN / frequency)


def _spectrum(position: FloatArray, frequency: float) -> tuple[float, FloatArray, FloatArray]:
    """Estimate bandwidth, noise and accelerations of recordings from their spectra.

    Returns:
        Bandwidth [Hz] of the motion, noise density (n,) of the positions [unit^2/Hz], and rms
        accelerations (n,).
    """
    window = np.hanning(len(position))[:, None]
    slope = np.linspace(0.0, 1.0, len(position))[:, None]
    level = position - position[0] - slope * (position[-1] - position[0])
    power = np.abs(np.fft.rfft(level * window, axis=0)) ** 2
    density = 2.0 * power / (frequency * (window**2).sum())
    at = np.fft.rfftfreq(len(position), 1.0 / frequency)
    floor = _noise_floor(density)
    signal = np.maximum(density - 10.0 * floor, 0.0)
    energy = np.cumsum(signal * at[:, None] ** 2, axis=0)
    moves = energy[-1] > 0.0
    if not moves.any():
        return 1.0, floor, np.ones(len(floor))
    fractions = energy[:, moves] / energy[-1, moves]
    bandwidth = float(np.median(at[(fractions < 0.99).sum(axis=0)]))
    step = at[1] - at[0]
    quick = np.sqrt((signal * (2.0 * np.pi * at[:, None]) ** 4).sum(axis=0) * step)
    quick[~moves] = np.inf
    return max(bandwidth, 4.0 * step), floor, quick


def _noise_floor(density: FloatArray) -> FloatArray:
    """Estimate noise levels (n,) from spectral densities (F, n), octave by octave.

    The level is the largest among the highest octaves, which contain noise alone. Noise, such as
    that of stamps, is not white. Towards low frequencies it rises slowly, while motion, limited
    by a machine's inertia, rises steeply.
    """
    top = len(density) * 2 // 3
    floor = np.median(density[top:], axis=0)
    noise = np.ones(len(floor), dtype=bool)
    while top >= FEWEST_OF_OCTAVE:
        level = np.median(density[top // 2 : top], axis=0)
        noise &= level < RISE * floor
        floor = np.where(noise, np.maximum(floor, level), floor)
        top //= 2
    return np.asarray(floor)
