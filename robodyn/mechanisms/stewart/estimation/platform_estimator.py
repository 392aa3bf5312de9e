# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""The pose and twist of a Stewart platform from its leg lengths, one reading after another.

Newton's method starts from the last estimate, extrapolated with its twist: up to 40 poses have the
same leg lengths, and only continuity tells them apart. Where continuity is lost (a jump of the
lengths, no convergence) the search starts from home again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from robodyn.checks import as_exact, as_pose, as_scalar, refuse_beyond
from robodyn.errors import InvalidInput, KinematicsError, NoSolution
from robodyn.mechanisms.stewart.estimation.covariance import (
    motion_covariance,
    quantisation_deviation,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.stewart.platform import StewartPlatform


NANOSECONDS = 1_000_000_000
# Beyond this time the last twist is no guide to where the platform is now [s].
HORIZON = 0.2
# Readings older than the last estimate by more than this are not late: the clock was set back [s].
# The same is assumed when so many old readings arrive in a row.
SET_BACK = 1.0
MOST_STALE = 100


class Estimate(NamedTuple):
    """The state estimated from a reading.

    Attributes:
        stamp: of the reading [ns].
        pose: (7,) platform in base frame.
        twist: (6,) base frame.
        pose_covariance: (6, 6) of the displacement [translation; rotation vector], base frame.
        twist_covariance: (6, 6) base frame.
        acquired: whether it was found from home instead of from the previous estimate.
    """

    stamp: int
    pose: FloatArray
    twist: FloatArray
    pose_covariance: FloatArray
    twist_covariance: FloatArray
    acquired: bool


@dataclass
class Counts:
    """Counts of readings by outcome."""

    accepted: int = 0
    stale: int = 0
    jumps: int = 0
    acquisitions: int = 0
    failures: int = 0
    set_backs: int = 0


class PlatformEstimator:
    """Forward kinematics with a memory.

    Args:
        platform: the mechanism.
        home: (7,) start of the search at first and after a jump; by default the
            model's home pose.
        length_resolution: step of the encoders of the legs [m].
        rate_resolution: step of the leg rates [m/s], used for readings that have rates.
        jump: a leg whose length differs by this much from the expected one has jumped [m].

    Attributes:
        last: the last estimate, None before the first and after a failure.
        counts: readings by outcome.

    Raises:
        InvalidInput: a parameter out of range, or no home.
    """

    def __init__(
        self,
        platform: StewartPlatform,
        home: ArrayLike | None = None,
        *,
        length_resolution: float = 1e-5,
        rate_resolution: float = 1e-4,
        jump: float = 0.05,
    ) -> None:
        self._platform = platform
        self._unchecked = platform.unchecked
        self._home = as_pose("home", platform.home if home is None else home)
        if self._home.shape != (7,):
            raise InvalidInput(f"home has shape {self._home.shape}, expected (7,)", value=home)
        self._length_deviation = quantisation_deviation(length_resolution)
        self._rate_deviation = quantisation_deviation(rate_resolution)
        self._jump = as_scalar("jump", jump, "m", above=0.0)
        self.counts = Counts()
        self.reset()

    def reset(self) -> None:
        """Discard the history; the search for the next reading starts from home."""
        self.last: Estimate | None = None
        self._stamp: int | None = None
        self._lengths = np.zeros(6)
        self._rates = np.zeros(6)
        self._stale_in_a_row = 0

    def update(
        self, stamp: int, lengths: ArrayLike, rates: ArrayLike | None = None
    ) -> Estimate | None:
        """Process a reading; None if it is not newer than the last one.

        Args:
            stamp: time of the reading [ns].
            lengths: (6,) [m].
            rates: (6,) [m/s]; without them the change since the last reading.

        Raises:
            InvalidInput: wrong shape, not finite, a length not positive or implausibly large; the
                state is unchanged.
            KinematicsError: no pose has these lengths, or they do not determine the motion. The
                search for the next reading then starts from home.
        """
        length = as_exact("lengths", lengths, (6,), "m")
        if (length <= 0.0).any():
            raise InvalidInput(f"lengths has {length.min()}, expected positive [m]", value=lengths)
        rate = None if rates is None else as_exact("rates", rates, (6,), "m/s")
        refuse_beyond("lengths", length)
        if rate is not None:
            refuse_beyond("rates", rate)
        if self._is_stale(stamp):
            return None
        step = HORIZON if self._stamp is None else (stamp - self._stamp) / NANOSECONDS
        deviation = self._rate_deviation
        if rate is None:
            rate = np.zeros(6) if self.last is None else (length - self._lengths) / step
            # rate from the difference of two readings, each rounded
            deviation = np.sqrt(2.0) * self._length_deviation / step
        guess = self._expected(length, step)
        self._stamp, self._lengths, self._rates = stamp, length.copy(), rate.copy()
        try:
            self.last = self._solve(stamp, guess, deviation)
        except KinematicsError:
            self.counts.failures += 1
            self.last = None
            raise
        self.counts.accepted += 1
        self.counts.acquisitions += self.last.acquired
        return self.last

    def _is_stale(self, stamp: int) -> bool:
        """Whether a stamp is out of date, and not the first of a clock that was set back."""
        if self._stamp is None or stamp > self._stamp:
            self._stale_in_a_row = 0
            return False
        self._stale_in_a_row += 1
        set_back = stamp < self._stamp - SET_BACK * NANOSECONDS
        if set_back or self._stale_in_a_row > MOST_STALE:
            self.counts.set_backs += 1
            self.reset()
            return False
        self.counts.stale += 1
        return True

    def _expected(self, lengths: FloatArray, step: float) -> FloatArray | None:
        """Where the platform should be after `step` [s]; None if that cannot be predicted."""
        if self.last is None:
            return None
        ahead = step if step <= HORIZON else 0.0
        if np.abs(lengths - self._lengths - ahead * self._rates).max() > self._jump:
            self.counts.jumps += 1
            return None
        return self._unchecked.advance(self.last.pose, ahead * self.last.twist)

    def _solve(self, stamp: int, guess: FloatArray | None, deviation: float) -> Estimate:
        forward = self._platform.forward_kinematics
        motion = None
        if guess is not None:
            try:
                motion = forward(self._lengths, guess, rates=self._rates)
            except NoSolution:
                guess = None  # fall back to a search from home
        if motion is None:
            motion = forward(self._lengths, self._home, rates=self._rates)
        of_pose, of_twist = motion_covariance(
            self._platform, motion.pose, motion.twist, self._length_deviation, deviation
        )
        return Estimate(stamp, motion.pose, motion.twist, of_pose, of_twist, guess is None)
