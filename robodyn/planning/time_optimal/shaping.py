# SPDX-License-Identifier: Apache-2.0

"""Time profiles that do not excite the natural modes of elastic drives.

The progress s(t) along the path is averaged over two windows of time. An average over a window w
multiplies the spectrum of a motion by sinc(f w), where f is a frequency. The windows are the
shortest that reduce every mode along the path to a given fraction. The motion stays on its path,
its acceleration is continuous, and it takes longer by the sum of the two windows.
"""

from __future__ import annotations

import numpy as np

from robodyn.algorithms import motions
from robodyn.arrays import FloatArray
from robodyn.checks import as_scalar
from robodyn.errors import InfeasibleTrajectory, InvalidInput
from robodyn.planning.time_optimal.constraints.all import Constraints
from robodyn.planning.time_optimal.motion import PathTiming, TimeOptimal
from robodyn.planning.time_optimal.sampled_path import SampledPath
from robodyn.trajectories.base import Motion

# Number of points of a path at which to compute modes.
PLACES = 9
# Windows to choose from, in periods of the slowest mode.
PERIODS = np.linspace(0.05, 3.0, 237)
# Number of samples of a profile, and the least number in the shorter window.
SAMPLES, IN_WINDOW = 2000, 50
# Number of trials of a slower motion, and tolerated excess of a limit.
MOST_TRIALS, TOLERANCE = 30, 1e-6


class AveragedMotion(PathTiming):
    """Motion along a piece of a path, with its progress averaged over two windows.

    Args:
        part: motion to average.
        windows: lengths [s] of both windows.
        slower: factor by which the duration of `part` is multiplied before averaging.
    """

    def __init__(self, part: PathTiming, windows: tuple[float, float], slower: float) -> None:
        first, second = windows
        end = slower * part.duration + first + second
        count = max(SAMPLES, int(np.ceil(IN_WINDOW * end / min(windows))))
        t = np.linspace(0.0, end, count + 1)

        def progress(times: FloatArray) -> FloatArray:
            return part.at(np.clip(times / slower, 0.0, part.duration))[0]

        # second differences over the windows are the acceleration of the averages
        a = progress(t) - progress(t - first) - progress(t - second) + progress(t - first - second)
        h = end / count
        v = np.concatenate([[0.0], np.cumsum(0.5 * h * (a[1:] + a[:-1]))])
        s = np.concatenate([[0.0], np.cumsum(h * (v[:-1] + h / 6.0 * (2.0 * a[:-1] + a[1:])))])
        # exact for many samples: rest at the end of the piece
        fraction = s[-1] - 0.5 * end * v[-1]
        self._a = (a - v[-1] / end) / fraction
        self._v, self._s = (
            (v - v[-1] * t / end) / fraction,
            (s - 0.5 * v[-1] * t**2 / end) / fraction,
        )
        super().__init__(part.piece, t)
        self.switching_times = ()

    def at(self, t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Compute path parameter s, speed s' and acceleration s'' at times (K,) [s].

        The times count from the start of the piece. Each result is (K,).
        """
        times, h = self.times, self.times[1]
        k = np.clip((t / h).astype(np.int64), 0, len(times) - 2)
        a, rise = self._a[k], (self._a[k + 1] - self._a[k]) / h
        dt = np.clip(t - times[k], 0.0, h)
        s = self._s[k] + dt * (self._v[k] + dt * (0.5 * a + dt / 6.0 * rise))
        speed = self._v[k] + dt * (a + 0.5 * dt * rise)
        return np.clip(s, 0.0, 1.0), np.maximum(speed, 0.0), a + dt * rise


def limit_vibration(motion: TimeOptimal, constraints: Constraints, bound: float) -> TimeOptimal:
    """Average the progress of a motion so that it excites natural modes less.

    The residual vibration of each mode is at most `bound`, relative to that after the original
    motion. The averaged motion is slowed down until it is within the limits in `constraints`.

    Returns:
        The averaged motion along the same path; its duration is longer.

    Raises:
        InvalidInput: the bound is not between 0 and 1, a drive is rigid, the motion does not begin
            and end at rest, or jerk or effort rates are limited as well.
        InfeasibleTrajectory: no windows satisfy the bound, or no slower motion satisfies the
            limits.
    """
    if not 0.0 < as_scalar("vibration", bound) < 1.0:
        raise InvalidInput(f"vibration is {bound}, expected a number between 0 and 1", value=bound)
    if constraints.third:
        raise InvalidInput(
            "vibration cannot be combined with jerk_limits or effort_rate_limits; omit one",
            value=bound,
        )
    ends = motion.sample(np.array([0.0, motion.duration])).velocity
    if np.abs(ends).max() > 1e-9:
        raise InvalidInput("vibration requires a path that begins and ends at rest", value=bound)
    windows = _averaging_windows(motion, constraints, bound)
    parts = tuple(_slow_to_limits(part, windows, constraints) for part in motion.segments)
    longer = sum(part.duration for part in parts) / motion.duration
    return TimeOptimal(parts, longer * (1.0 + motion.gap) - 1.0, ())


def _averaging_windows(
    motion: TimeOptimal, constraints: Constraints, bound: float
) -> tuple[float, float]:
    """Return the lengths [s] of the two averaging windows with the least total length.

    Averaging the motion over both windows reduces the residual vibration of each natural mode to
    the fraction `bound` or less.
    """
    m = constraints.mechanism
    places = motion.sample(np.linspace(0.0, motion.duration, PLACES)).configuration
    frequencies = m.modes(places).frequencies.ravel()
    if not (frequencies > 0.0).all():
        raise InfeasibleTrajectory(
            f"{m.name} is unstable along the path: the stiffness of its drives cannot support it"
        )
    lengths = PERIODS / frequencies.min()
    left = np.abs(np.sinc(np.multiply.outer(lengths, frequencies)))
    worst = np.array([(left * row).max(axis=1) for row in left])
    total = np.where(worst <= bound, lengths[:, None] + lengths, np.inf)
    i, j = np.unravel_index(int(total.argmin()), total.shape)
    if not np.isfinite(total[i, j]):
        raise InfeasibleTrajectory(
            f"vibration is {bound:g}, but averaging the motion reduces the vibration of the "
            f"natural modes only to a fraction of {worst.min():.2g}"
        )
    return float(lengths[i]), float(lengths[j])


def _slow_to_limits(
    part: PathTiming, windows: tuple[float, float], constraints: Constraints
) -> PathTiming:
    """Average the motion along a piece, and slow it down until it is within limits."""
    slower = 1.0
    for _ in range(MOST_TRIALS):
        found = AveragedMotion(part, windows, slower)
        excess = _excess(found, constraints)
        if excess <= TOLERANCE:
            return found
        slower *= np.sqrt(1.0 + 1.2 * excess)
    raise InfeasibleTrajectory(
        f"the motion with limited vibration exceeds its limits by {excess:.2g} even at "
        f"{slower:.3g} times the duration"
    )


def _excess(part: PathTiming, constraints: Constraints) -> float:
    """Return a motion's largest relative excess over first- and second-order limits."""
    s, speed, acceleration = part.at(part.times)
    motion = Motion(*(values[:, None] for values in part.piece.curve.sample(s)))
    driven = motions.driven_motion(constraints.mechanism, *motion)
    path = SampledPath(motion, *driven, np.diff(part.times))
    v, a = speed[:, None, None], acceleration[:, None, None]
    found = [part.max() for each in constraints.second for part in each.excess(path, v**2, a)[1:]]
    found += [each.fractions(path, v).max() - 1.0 for each in constraints.first]
    return float(max(found))
