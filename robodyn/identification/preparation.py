# SPDX-License-Identifier: Apache-2.0

"""Recordings as the samples that are fitted: on even instants, filtered, differentiated.

All filters are Butterworth's run forward and back, so that nothing is delayed against anything
else. Positions are filtered at the cutoff `motion`, and rates and accelerations are derivatives of
splines through them. Measured efforts and the regressor's columns later pass the same filter at the
cutoff `effort`: what one filter does to both sides of an equation does not change its solution
(Gautier, 1997).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from robodyn.errors import InvalidInput
from robodyn.identification.plausibility import STILL
from robodyn.identification.standstill import at_rest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from scipy.interpolate import CubicSpline

    from robodyn.arrays import FloatArray
    from robodyn.identification.motors import Motors
    from robodyn.identification.recording import Recording
    from robodyn.mechanisms.mechanism import Mechanism

ORDER = 4
# Instants a second, for one of the cutoffs' hertz: of the motion, and of what is fitted at last.
PER_MOTION, PER_EFFORT, PER_FIT = 5.0, 10.0, 4.0
# Shorter stretches than this many periods of the cutoffs are left out.
SHORTEST = 6.0
# Periods of the cutoff of efforts at both ends of a stretch, where filters know one side only.
MARGIN = 1.0
# Cutoffs for one hertz of the motion's bandwidth, and the noise of accelerations that is accepted
# in parts of these.
MOTION_CUTOFF, EFFORT_CUTOFF, NOISE = 40.0, 10.0, 0.01
# Noise rises by less than this to the next lower octave, of so many frequencies at least.
RISE, FEWEST_OF_OCTAVE = 4.0, 12
# Stamps this far off even ones, in periods, are not taken for even.
UNEVEN = 0.02
# Fewest samples of motion that anything is fitted to, over so long at least [s].
FEWEST, BRIEFEST = 50, 2.0


@dataclass(frozen=True)
class Filters:
    """How recordings are filtered.

    Attributes:
        motion: [Hz] cutoff for positions.
        effort: [Hz] cutoff for efforts and for the regressor.
        dead_rates: (n,) [m/s or rad/s] standard deviation of the rates' noise; within it the sense
            of motion is unsure, and dry friction fades.
    """

    motion: float
    effort: float
    dead_rates: FloatArray


@dataclass(frozen=True)
class Samples:
    """A stretch of a recording on even instants.

    Attributes:
        time: (K,) [s].
        position, velocity, acceleration: (K, n) of the driven joints.
        configuration, rate, change: (K, nq), (K, nv), (K, nv) of the mechanism.
        effort: (K, n) [N or N m] measured, what is too fast for these instants filtered out.
        measured: (K, n) [N or N m] the same as it was recorded.
        usable: (K, n) whether the effort was measured, not cut off.
        frequency: [Hz] of the instants.
        least: (n,) [m or rad] travel below which a joint stands still throughout.
    """

    time: FloatArray
    position: FloatArray
    velocity: FloatArray
    acceleration: FloatArray
    configuration: FloatArray
    rate: FloatArray
    change: FloatArray
    effort: FloatArray
    measured: FloatArray
    usable: NDArray[np.bool_]
    frequency: float
    least: FloatArray

    def moving(self, motors: Motors, filters: Filters) -> NDArray[np.bool_]:
        """(K, n) of motors that are not in the midst of standstill.

        There dry friction holds any effort.
        """
        at = motors.motion(self.position)
        still = at_rest(at, self.frequency, filters.effort)
        return np.asarray(~still & (np.ptp(at, axis=0) >= self.least))

    def smooth(self, values: FloatArray, filters: Filters) -> FloatArray:
        """Values (K, ...) through the filter of efforts."""
        # mirrored at the ends: turned about their first value, all would hang on a sample at which
        # a motor sets out and its friction may be anything
        return low_pass(values, filters.effort, self.frequency, "even")

    def kept(self, filters: Filters) -> slice:
        """Samples that remain when the ends, where filters know one side only, are left out."""
        margin = round(MARGIN * self.frequency / filters.effort)
        return slice(margin, len(self.time) - margin)


def that_move(motors: Motors, stretches: Sequence[Samples], filters: Filters) -> list[bool]:
    """Of each motor (n,) whether it moves in any of the stretches."""
    found = [samples.moving(motors, filters).any(axis=0) for samples in stretches]
    return [bool(moves) for moves in np.any(found, axis=0)]


def low_pass(values: FloatArray, cutoff: float, frequency: float, ends: str = "odd") -> FloatArray:
    """Values (K, ...) at a frequency [Hz] through a filter without delay; ends as `sosfiltfilt`."""
    if cutoff >= 0.45 * frequency:
        return values
    from scipy.signal import butter, sosfiltfilt  # slow to import

    sections = butter(ORDER, cutoff, fs=frequency, output="sos")
    return np.asarray(sosfiltfilt(sections, values, axis=0, padtype=ends))


def choose_filters(
    recordings: Sequence[Recording], cutoff: float | None, effort_cutoff: float | None
) -> Filters:
    """Cutoffs that suit recordings, where they are not given.

    The bandwidth of the motion is where 99 % of its velocity's energy is, noise left out. Positions
    are cut off at 40 times that, or earlier where accelerations would become noisy, but not below 5
    times; efforts at 10 times.
    """
    motion, effort, noise = 0.0, 0.0, []
    for recording in recordings:
        longest = max(recording.segments, key=lambda part: part.stop - part.start)
        frequency, position = _evenly(recording.time[longest], recording.position[longest])
        bandwidth, floor, quickness = _spectrum(position, frequency)
        lowest = min(5.0 * bandwidth, 0.2 * frequency)
        best = lowest
        for factor in np.linspace(5.0, MOTION_CUTOFF, 31):
            trial = min(factor * bandwidth, 0.2 * frequency)
            noisy = np.sqrt(floor * (2.0 * np.pi) ** 4 * trial**5 / 5.0)
            if (noisy < NOISE * quickness).all():
                best = max(best, trial)
        motion = max(motion, best if cutoff is None else cutoff)
        highest = min(EFFORT_CUTOFF * bandwidth, 0.2 * frequency)
        effort = max(effort, highest if effort_cutoff is None else effort_cutoff)
        at = motion
        noise.append(np.sqrt(floor * (2.0 * np.pi) ** 2 * at**3 / 3.0))
    return Filters(motion, min(effort, motion), np.max(noise, axis=0) + 1e-9)


def _spline(times: FloatArray, values: FloatArray) -> CubicSpline:
    from scipy.interpolate import CubicSpline  # slow to import

    return CubicSpline(times, values)


def _evenly(times: FloatArray, position: FloatArray) -> tuple[float, FloatArray]:
    """Frequency [Hz] and positions (N, n) on even instants, of such at times (N,) [s]."""
    frequency = (len(times) - 1) / (times[-1] - times[0])
    even = np.linspace(times[0], times[-1], len(times))
    if np.abs(even - times).max() > UNEVEN / frequency:
        position = _spline(times, position)(even)
    return float(frequency), position


def _spectrum(position: FloatArray, frequency: float) -> tuple[float, FloatArray, FloatArray]:
    """Bandwidth [Hz], noise of positions (n,) [unit^2/Hz], and rms accelerations (n,)."""
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
    shares = energy[:, moves] / energy[-1, moves]
    bandwidth = float(np.median(at[(shares < 0.99).sum(axis=0)]))
    step = at[1] - at[0]
    quick = np.sqrt((signal * (2.0 * np.pi * at[:, None]) ** 4).sum(axis=0) * step)
    quick[~moves] = np.inf
    return max(bandwidth, 4.0 * step), floor, quick


def _noise_floor(density: FloatArray) -> FloatArray:
    """(n,) of densities (F, n) over frequency: the largest of the octaves that are noise alone.

    Noise of stamps, for one, is not white. Going down from the top it rises slowly, and motion,
    which a machine's inertia keeps slow, steeply.
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


def samples_of(
    recording: Recording, m: Mechanism, filters: Filters
) -> tuple[list[Samples], list[str]]:
    """The stretches of a recording that are long enough, and what was left out.

    Raises:
        InvalidInput: of other joints, or nothing is long enough.
    """
    if recording.joint_names != m.joint_names:
        raise InvalidInput(
            f"{recording.source or 'the recording'} is of the joints "
            f"{', '.join(recording.joint_names)}; {m.name} drives {', '.join(m.joint_names)}",
            value=recording.joint_names,
        )
    found, notes = [], []
    near = m.home
    for part in recording.segments:
        times = recording.time[part]
        if len(times) < 30 or times[-1] - times[0] < SHORTEST / filters.effort:
            notes.append(f"a stretch of {len(times)} samples at {times[0]:.2f} s is too short")
            continue
        samples = _stretch(recording, part, m, filters, near)
        near = samples.configuration[-1]
        found.append(samples)
        resting = at_rest(samples.position, samples.frequency, filters.effort).all(axis=1)
        rest = float(resting.sum() / samples.frequency)
        if rest > 0.05:
            notes.append(
                f"{recording.source or 'recording'}: {rest:.2g} s at rest are left out: dry "
                "friction holds any effort there"
            )
    length = sum(samples.time[-1] - samples.time[0] for samples in found)
    if sum(len(samples.time) for samples in found) < FEWEST or length < BRIEFEST:
        raise InvalidInput(
            f"{recording.source or 'the recording'}: too short, {len(recording.time)} samples over "
            f"{recording.time[-1] - recording.time[0]:.3g} s, {length:.3g} s of them without gaps "
            f"for {max(SHORTEST / filters.effort, BRIEFEST):.2g} s and more; record at least 10 s "
            "of motion of all joints, such as `robodyn excite` makes",
            value=len(recording.time),
        )
    constant = [
        name
        for j, name in enumerate(m.joint_names)
        if np.ptp(recording.effort[:, j]) == 0.0
        and any(np.ptp(samples.position[:, j]) >= samples.least[j] for samples in found)
    ]
    if constant:
        raise InvalidInput(
            f"{recording.source or 'the recording'}: efforts of {', '.join(constant)} never change "
            "although they move: they were not measured; record the efforts, or the motors' "
            "currents with effort_gain",
            value=constant,
        )
    return found, notes


def _stretch(
    recording: Recording, part: slice, m: Mechanism, filters: Filters, near: FloatArray
) -> Samples:
    times, position, effort = (
        recording.time[part],
        recording.position[part],
        recording.effort[part],
    )
    count = len(times)
    frequency = (count - 1) / (times[-1] - times[0])
    even = np.linspace(times[0], times[-1], count)
    cut = recording.saturated[part]
    if np.abs(even - times).max() > UNEVEN / frequency:
        position = _spline(times, position)(even)
        effort = np.stack([np.interp(even, times, column) for column in effort.T], axis=-1)
        cut = cut[np.searchsorted(times, even).clip(0, count - 1)]
    smooth = low_pass(position, filters.motion, frequency)
    velocity = _derivative(even, smooth)
    acceleration = _derivative(even, velocity)
    wanted = max(PER_MOTION * filters.motion, PER_EFFORT * filters.effort)
    step = max(1, int(frequency / wanted))
    slower = frequency / step
    measured = effort
    if step > 1:
        effort = low_pass(effort, 0.4 * slower, frequency)
    pick = slice(None, None, step)
    at, rates, changes = (
        np.ascontiguousarray(values[pick]) for values in (smooth, velocity, acceleration)
    )
    motion = m.motion_of_joints(at, rates, changes, m.assemble(smooth[0], near))
    return Samples(
        even[pick],
        smooth[pick],
        velocity[pick],
        acceleration[pick],
        motion.configuration,
        motion.velocity,
        motion.acceleration,
        effort[pick],
        measured[pick],
        ~_spread(cut, round(frequency / filters.effort))[pick],
        slower,
        np.array([STILL[unit] for unit in m.joint_units]),
    )


def _derivative(times: FloatArray, values: FloatArray) -> FloatArray:
    """Of values (K, n), by splines: central differences would shift the instants of turning round.

    Dry friction jumps there, so that being off by one sample is a large error of the effort.
    """
    return np.asarray(_spline(times, values)(times, 1))


def _spread(cut: NDArray[np.bool_], width: int) -> NDArray[np.bool_]:
    """Samples within `width` of one that was cut off: filters carry its error to them."""
    if not cut.any():
        return cut
    window = np.ones(2 * width + 1)
    return np.stack([np.convolve(column, window, mode="same") > 0.5 for column in cut.T], axis=-1)
