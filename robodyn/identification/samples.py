# SPDX-License-Identifier: Apache-2.0

"""Samples of recordings for the fit: at uniform instants, filtered and differentiated.

At standstill dry friction can support any effort, so efforts there do not determine parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from robodyn.algorithms import motions
from robodyn.algorithms.motion import DrivenMotion, Motion
from robodyn.arrays import BoolArray, FloatArray, IntArray
from robodyn.errors import InvalidInput
from robodyn.identification.filters import Filters, even_instants, low_pass, spline
from robodyn.identification.motors import Motors
from robodyn.identification.plausibility import REST_RANGE
from robodyn.identification.recording import Recording
from robodyn.mechanism.mechanism import Mechanism

# Sampling rates relative to the cutoffs: for smooth signals of the motion and of efforts, and for
# the fitted rows.
PER_MOTION, PER_EFFORT, PER_FIT = 5.0, 10.0, 4.0
# Number of instants computed at a time, and the memory of the efforts' filter in periods of its
# cutoff.
AT_A_TIME, FORGOTTEN = 4000, 10.0
# Shortest stretch in periods of the cutoffs.
SHORTEST = 6.0
# Margin at both ends of a stretch, where filters have one-sided data, in periods of the efforts'
# cutoff.
MARGIN = 1.0
# Smallest number of samples of motion for a fit, and their shortest duration [s].
FEWEST, BRIEFEST = 50, 2.0
# A joint that travels less than this fraction of its range within this number of periods of the
# efforts' filter, and within this time [s], is at rest. A reversal travels much further.
RESTING, PERIODS, BRIEF = 1e-3, 2.0, 0.1


@dataclass(frozen=True)
class Samples:
    """Segment of a recording, sampled at K uniform instants.

    Attributes:
        filters: filters of the segment, which also apply to the fitted equations.
        time: (K,) [s] instants.
        joints: positions, velocities and accelerations (K, n) of the driven joints, shifted by the
            delay of the efforts.
        motion: configurations (K, nq), and generalized velocities and accelerations (K, nv) of the
            mechanism.
        effort: (K, n) [N or N m] measured efforts of the joints.
        usable: (K, n) whether the effort was measured, not saturated.
        frequency: [Hz] of the instants: that of the recording, because dry friction would reverse
            between coarser ones.
        least: (n,) [m or rad] range of motion below which a joint counts as at rest in the whole
            segment.
    """

    filters: Filters
    time: FloatArray
    joints: DrivenMotion
    motion: Motion
    effort: FloatArray
    usable: BoolArray
    frequency: float
    least: FloatArray

    def motion_at(self, rows: slice | IntArray) -> Motion:
        """Return the mechanism's motion at the instants with the indices `rows`.

        Returns:
            Configurations, and generalized velocities and accelerations.
        """
        return Motion(*(part[rows] for part in self.motion))

    def rest_mask(self, position: FloatArray) -> BoolArray:
        """Find the instants at which joints or motors are at rest.

        `position` (K, n) are the positions of the joints, or of the motors.

        Returns:
            Whether each joint or motor is at rest at each instant (K, n).
        """
        from scipy.ndimage import maximum_filter1d, minimum_filter1d  # slow to import

        # half width of the window
        half = max(1, round(0.5 * max(PERIODS / self.filters.effort, BRIEF) * self.frequency))
        width = 2 * half + 1
        if len(position) < width:
            return np.zeros(position.shape, dtype=bool)
        ends = [part(position, width, axis=0) for part in (maximum_filter1d, minimum_filter1d)]
        still = ends[0] - ends[1] < RESTING * np.ptp(position, axis=0)
        still[:half] = still[-half:] = False
        return np.asarray(maximum_filter1d(still.view(np.uint8), width, axis=0) > 0)

    def motion_mask(self, motors: Motors) -> BoolArray:
        """Find the instants at which motors are not at rest.

        Motors whose range of motion is below `least` count as at rest throughout.

        Returns:
            Whether each motor moves at each instant (K, n).
        """
        at = motors.motion(self.joints.positions)
        return np.asarray(~self.rest_mask(at) & (np.ptp(at, axis=0) >= self.least))

    def smooth(self, values: FloatArray) -> FloatArray:
        """Filter values (K, ...) at all instants with the low-pass filter of efforts.

        Returns:
            Filtered values (K, ...), without delay.
        """
        # mirrored at the ends: reflected about their first value, all would depend on a sample at
        # which a motor starts and its friction may be anything
        return low_pass(values, self.filters.effort, self.frequency, "even")

    @property
    def kept(self) -> slice:
        """Slice of the samples without both ends, at which the filters lack neighbors."""
        margin = round(MARGIN * self.frequency / self.filters.effort)
        return slice(margin, len(self.time) - margin)

    @property
    def rows(self) -> slice:
        """Slice of the samples used in the fit, as dense as the filtered efforts require."""
        step = max(1, int(self.frequency / self.stride / (PER_FIT * self.filters.effort)))
        return slice(self.kept.start, self.kept.stop, self.stride * step)

    @property
    def stride(self) -> int:
        """Interval, in samples, at which smooth signals are sampled densely enough.

        The step of the slice `rows` is a multiple of it.
        """
        filters = self.filters
        bandwidth = max(PER_MOTION * filters.motion, PER_EFFORT * filters.effort)
        return max(1, int(self.frequency / bandwidth))

    def evaluate_in_blocks(self, values_of: Callable[[slice], FloatArray]) -> FloatArray:
        """Evaluate a function at all instants in blocks, to limit the memory.

        Args:
            values_of: function that computes the values (k, ...) at a slice of k instants.

        Returns:
            Values (K, ...) at all instants.
        """
        starts = range(0, len(self.time), AT_A_TIME)
        return np.concatenate([values_of(slice(at, at + AT_A_TIME)) for at in starts])

    def subsample(self, values_of: Callable[[slice], FloatArray]) -> FloatArray:
        """Evaluate a function, filter its values, and select those at the fit's samples.

        The values are computed in blocks: the filter has a finite memory, so each block needs only
        its neighborhood.

        Args:
            values_of: function that computes the values (k, ...) at a slice of k instants.

        Returns:
            Values (rows, ...) at the samples of the slice `rows`.
        """
        far = round(FORGOTTEN * self.frequency / self.filters.effort)
        rows, found = np.arange(len(self.time))[self.rows], []
        each = max(1, max(AT_A_TIME, 2 * far) // int(self.rows.step))
        for own in np.split(rows, range(each, len(rows), each)):
            first = max(0, int(own[0]) - far)
            values = self.smooth(values_of(slice(first, int(own[-1]) + far + 1)))
            found.append(values[own - first])
        return np.concatenate(found)

    def direction_variance(self, motors: Motors) -> FloatArray:
        """Compute the variance of each motor's filtered direction of motion due to noise.

        The direction is -1 to 1. Near a reversal the sign of a motor's measured rate is random.

        Returns:
            Variances (rows, n) at the samples of the slice `rows`.
        """
        from scipy.signal import fftconvolve  # slow to import

        dead = np.sqrt(motors.turns**2 @ self.filters.dead_rates**2)
        sense = np.tanh(motors.motion(self.joints.velocities) / dead)
        power = self._pulse_response[:, None] ** 2
        spread = fftconvolve(1.0 - sense**2, power, mode="same", axes=0)
        weights: FloatArray = np.maximum(spread[self.rows], 0.0)
        return weights

    @property
    def _pulse_response(self) -> FloatArray:
        """Pulse response (k,) of the effort filter, with the pulse in the middle."""
        width = max(int(self.rows.step), round(10.0 * self.frequency / self.filters.effort))
        pulse = np.zeros(4 * width + 1)
        pulse[2 * width] = 1.0
        return self.smooth(pulse)

    @property
    def autocorrelation_time_of_white(self) -> float:
        """Autocorrelation time of filtered white noise, in samples used in the fit."""
        step, response = int(self.rows.step), self._pulse_response
        # from the filtered noise's variance, and its spectrum at low frequencies, those of motion
        independent = float(response.sum()) ** 2 / float(response @ response)
        return max(independent / step, 1.0)


def moving_motors(motors: Motors, stretches: Sequence[Samples]) -> list[bool]:
    """Return whether each motor moves in at least one segment of the recordings.

    Returns:
        Booleans (n,), one for each motor.
    """
    found = [samples.motion_mask(motors).any(axis=0) for samples in stretches]
    return [bool(moves) for moves in np.any(found, axis=0)]


def samples_of(
    recording: Recording, m: Mechanism, filters: Filters
) -> tuple[list[Samples], list[str]]:
    """Sample and filter the segments of a recording that are long enough for a fit.

    Returns:
        The sampled and filtered segments, and remarks on segments and samples left out.

    Raises:
        InvalidInput: the recording has other joints than `m`, or no segment is long enough.
    """
    recording.refuse_other_joints(m)
    found, notes = [], []
    near = m.home
    for part in recording.segments:
        times = recording.time[part]
        if len(times) < 30 or times[-1] - times[0] < SHORTEST / filters.effort:
            notes.append(
                f"a stretch of {len(times)} samples at {times[0]:.2f} s is left out: too short"
            )
            continue
        samples = _segment_samples(recording, part, m, filters, near)
        near = samples.motion.configuration[-1]
        found.append(samples)
        resting = samples.rest_mask(samples.joints.positions).all(axis=1)
        rest = float(resting.sum() / samples.frequency)
        if rest > 0.05:
            notes.append(
                f"{recording.where}: {rest:.2g} s at rest are left out: dry "
                "friction can balance any effort there"
            )
    length = sum(samples.time[-1] - samples.time[0] for samples in found)
    if sum(len(samples.time) for samples in found) < FEWEST or length < BRIEFEST:
        raise InvalidInput(
            f"{recording.where}: too short, {len(recording.time)} samples over "
            f"{recording.time[-1] - recording.time[0]:.3g} s, of which {length:.3g} s are in "
            f"stretches of at least {max(SHORTEST / filters.effort, BRIEFEST):.2g} s without "
            "gaps; record at least 10 s of motion of all joints, such as one from `robodyn excite`",
            value=len(recording.time),
        )
    constant = [
        name
        for j, name in enumerate(m.joint_names)
        if np.ptp(recording.effort[:, j]) == 0.0
        and any(np.ptp(samples.joints.positions[:, j]) >= samples.least[j] for samples in found)
    ]
    if constant:
        raise InvalidInput(
            f"{recording.where}: efforts of {', '.join(constant)} never change although these "
            "joints move, so they were not measured; record the efforts, or the motors' currents "
            "with effort_gain",
            value=constant,
        )
    return found, notes


def _segment_samples(
    recording: Recording, part: slice, m: Mechanism, filters: Filters, near: FloatArray
) -> Samples:
    times, position = recording.time[part], recording.position[part]
    effort, cut = recording.effort[part], recording.saturated[part]
    even, frequency, is_even = even_instants(times)
    if not is_even:
        position = spline(times, position)(even)
        effort = np.stack([np.interp(even, times, column) for column in effort.T], axis=-1)
        cut = cut[np.searchsorted(times, even).clip(0, len(times) - 1)]
    smooth = low_pass(position, filters.motion, frequency)
    if filters.effort_delay:
        # positions are smooth between instants, efforts jump with a controller and dry friction
        smooth = spline(even, smooth)(even - filters.effort_delay)
    velocity = _derivative(even, smooth)
    acceleration = _derivative(even, velocity)
    joints = DrivenMotion(*map(np.ascontiguousarray, (smooth, velocity, acceleration)))
    return Samples(
        filters,
        even,
        joints,
        motions.motion_of_joints(m, *joints, m.assemble(smooth[0], near)),
        effort,
        ~_widen_mask(cut, round(frequency / filters.effort)),
        frequency,
        np.array([REST_RANGE[unit] for unit in m.drives.units]),
    )


def _derivative(times: FloatArray, values: FloatArray) -> FloatArray:
    """Compute time derivatives (K, n) with splines, which do not shift reversals.

    Central differences would shift them. Dry friction jumps at reversals, so a shift by one
    sample causes a large error of the effort.
    """
    return np.asarray(spline(times, values)(times, 1))


def _widen_mask(cut: BoolArray, width: int) -> BoolArray:
    """Mark samples within the filter width of a saturated sample, which affects them."""
    if not cut.any():
        return cut
    window = np.ones(2 * width + 1)
    return np.stack([np.convolve(column, window, mode="same") > 0.5 for column in cut.T], axis=-1)
