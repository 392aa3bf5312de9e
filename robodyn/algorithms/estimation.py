# SPDX-License-Identifier: Apache-2.0

"""Estimation of a mechanism's state from readings of its driven joints.

The search for a configuration starts from the last estimate, extrapolated with its velocity:
several configurations have the same readings, and only continuity distinguishes them. After a
discontinuity (a jump of the readings, no convergence) the search starts from home again.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_exact, as_scalar, refuse_beyond
from robodyn.errors import KinematicsError, ModelError, RobodynError
from robodyn.poses import twist_covariance_in_body
from robodyn.presentation.nouns import nouns_of

NANOSECONDS = 1_000_000_000
# Time [s] after which the last velocity no longer predicts the configuration.
HORIZON = 0.2
# Age [s] of a reading, relative to the last estimate, that shows that the clock was set back. This
# is also assumed after this number of old readings in a row.
SET_BACK = 1.0
MOST_STALE = 100


class Estimate(NamedTuple):
    """State of a mechanism estimated from a reading of its driven joints.

    Attributes:
        stamp: time of the reading [ns].
        pose: (7,) of platform or tip in the base frame.
        twist: (6,) of platform or tip, linear over angular [m/s, rad/s], in the base frame.
        pose_covariance: (6, 6) of the displacement [translation; rotation vector], base frame.
        twist_covariance: (6, 6) base frame.
        acquired: whether the search started from the estimator's `start` instead of from the
            previous estimate.
        configuration: (nq,) of the mechanism.
        velocity: (nv,) of the mechanism.
    """

    stamp: int
    pose: FloatArray
    twist: FloatArray
    pose_covariance: FloatArray
    twist_covariance: FloatArray
    acquired: bool
    configuration: FloatArray
    velocity: FloatArray


@dataclass
class Counts:
    """Numbers of readings that a state estimator processed, by outcome."""

    accepted: int = 0
    stale: int = 0
    jumps: int = 0
    acquisitions: int = 0
    failures: int = 0
    set_backs: int = 0


@dataclass(frozen=True)
class Encoders:
    """Encoder resolutions and jump thresholds for prismatic and revolute joints.

    Attributes:
        length, angle: resolution of positions [m], [rad].
        rate, angular_rate: resolution of velocities, for readings with velocities [m/s], [rad/s].
        jump, angular_jump: deviation from the expected position that counts as a jump [m], [rad].

    Raises:
        InvalidInput: a value is not a positive number.
    """

    length: float = 1e-5
    rate: float = 1e-4
    jump: float = 0.05
    angle: float = 1e-5
    angular_rate: float = 1e-3
    angular_jump: float = 0.2

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            as_scalar(f"{name} of the encoders", value, above=0.0)

    def of_joints(self, units: Sequence[str]) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return position resolution, rate resolution and jump threshold of n joints.

        Args:
            units: `m` or `rad` of each joint's position.

        Returns:
            Three arrays (n,): position resolution [m or rad], velocity resolution [m/s or rad/s]
            and jump threshold [m or rad].
        """
        slides = np.array([unit == "m" for unit in units])
        return (
            np.where(slides, self.length, self.angle),
            np.where(slides, self.rate, self.angular_rate),
            np.where(slides, self.jump, self.angular_jump),
        )


def quantization_deviation(steps: FloatArray) -> FloatArray:
    """Compute standard deviations (n,) of rounding errors for encoder resolutions (n,)."""
    return np.asarray(steps / np.sqrt(12.0))


@singledispatch
def needs_estimator(mechanism: Any) -> bool:
    """Return whether the state must be estimated from the driven joints' readings.

    If not, the joint states that a real mechanism reports determine its state.
    """
    return False


@singledispatch
def state_estimator(
    mechanism: Any, initial_pose: ArrayLike | None, encoders: Encoders
) -> Estimator:
    """Return an estimator of the state from readings of the driven joints.

    Args:
        mechanism: mechanism of any kind.
        initial_pose: (7,) pose of the body at which the search starts, base frame; home by default.
        encoders: encoders of the driven joints.

    Raises:
        ModelError: this kind needs no estimator.
        RobodynError: the joints do not determine the state, or encoders or the pose are invalid.
    """
    raise ModelError(
        f"{mechanism.name} needs no estimator: the joint_states of a real "
        f"{nouns_of(mechanism).mechanism} determine its state"
    )


class Estimator:
    """State estimator: forward kinematics that starts from the last estimate.

    Args:
        mechanism: mechanism with the driven joints.
        start: (nq,) configuration for the first search and after a jump; by default home.
        encoders: encoders of the driven joints.

    Raises:
        InvalidInput: the start is not a configuration, or there is no home.

    Attributes:
        last: last estimate, None before the first and after a failure.
        counts: readings by outcome.
    """

    def __init__(
        self,
        mechanism: Any,
        start: ArrayLike | None = None,
        encoders: Encoders | None = None,
    ) -> None:
        self._mechanism, self._count = mechanism, len(mechanism.joint_names)
        begin = mechanism.home if start is None else start
        self._start: FloatArray = mechanism.coordinates.single("start", begin)
        steps, rate_steps, self._jump = (encoders or Encoders()).of_joints(mechanism.drives.units)
        self._position_deviation = quantization_deviation(steps)
        self._rate_deviation = quantization_deviation(rate_steps)
        self.counts = Counts()
        self.reset()

    def reset(self) -> None:
        """Discard the history; the next search begins at the `start` configuration."""
        self.last: Estimate | None = None
        self._stamp: int | None = None
        self._positions = np.zeros(self._count)
        self._rates = np.zeros(self._count)
        self._stale_in_a_row = 0

    def warm_up(self) -> None:
        """Estimate once near home, so that all required functions are compiled or loaded."""
        own = self._mechanism
        # the first use of an unsuitable home reports it
        with suppress(RobodynError):
            estimate = self.update(0, own.joint_positions(own.home), np.full(self._count, 1e-3))
            if estimate is not None:
                self.twist_covariance_in_body(estimate)
                own.joint_states(estimate.configuration, estimate.velocity)
        self.counts = Counts()
        self.reset()

    def update(
        self, stamp: int, positions: ArrayLike, rates: ArrayLike | None = None
    ) -> Estimate | None:
        """Estimate the state from a reading; None if its stamp is not newer than the last.

        Args:
            stamp: time of the reading [ns].
            positions: (n,) [m or rad] as the mechanism measures its driven joints.
            rates: (n,) [m/s or rad/s]; by default computed from the change since the last reading.

        Returns:
            The new estimate; None for a reading that is out of date.

        Raises:
            InvalidInput: the shape is wrong, or a value is not finite or implausible; the state is
                unchanged.
            KinematicsError: no configuration has these readings, or they do not determine the
                motion. The search for the next reading then begins at `start`.
        """
        position, rate = self._check(positions, rates)
        if self._is_stale(stamp):
            return None
        step = HORIZON if self._stamp is None else (stamp - self._stamp) / NANOSECONDS
        deviation = self._rate_deviation
        if rate is None:
            rate = np.zeros(self._count)
            if self.last is not None:
                rate = (position - self._positions) / step
            # rate from the difference between two readings, each rounded
            deviation = np.sqrt(2.0) * self._position_deviation / step
        guess = self._predict(position, step)
        self._stamp, self._positions, self._rates = stamp, position.copy(), rate.copy()
        try:
            self.last = self._solve(stamp, guess, deviation)
        except KinematicsError:
            self.counts.failures += 1
            self.last = None
            raise
        self.counts.accepted += 1
        self.counts.acquisitions += self.last.acquired
        return self.last

    def twist_covariance_in_body(self, estimate: Estimate) -> FloatArray:
        """Return the twist covariance (6, 6) of an estimate, in the frame of the body."""
        return twist_covariance_in_body(estimate.pose, estimate.twist_covariance)

    def _check(
        self, positions: ArrayLike, rates: ArrayLike | None
    ) -> tuple[FloatArray, FloatArray | None]:
        """Check positions and rates of a reading; return them as arrays (n,)."""
        position = as_exact("positions", positions, (self._count,), "m or rad")
        rate = None if rates is None else as_exact("rates", rates, (self._count,), "m/s, rad/s")
        refuse_beyond("positions", position)
        if rate is not None:
            refuse_beyond("rates", rate)
        return position, rate

    def _solve(self, stamp: int, guess: FloatArray | None, deviation: Any) -> Estimate:
        """Estimate the state from the stored readings.

        The search for the configuration starts at `guess`, or at home if `guess` is None.
        """
        raise NotImplementedError

    def _is_stale(self, stamp: int) -> bool:
        """Return whether a stamp is outdated.

        If the clock was set back, reset the estimator and return False.
        """
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

    def _predict(self, positions: FloatArray, step: float) -> FloatArray | None:
        """Extrapolate the last configuration by `step` [s].

        The result is None if there is no last estimate, or if the driven positions have jumped.
        """
        if self.last is None:
            return None
        ahead = step if step <= HORIZON else 0.0
        if (np.abs(positions - self._positions - ahead * self._rates) > self._jump).any():
            self.counts.jumps += 1
            return None
        here, way = self.last.configuration, ahead * self.last.velocity
        moved: FloatArray | None = self._mechanism.solver.unchecked.try_advance(here, way)
        return here if moved is None else moved
