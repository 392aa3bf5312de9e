# SPDX-License-Identifier: Apache-2.0

"""The pose and twist of a Stewart platform from its leg lengths, one reading after another.

Up to 40 poses have the same leg lengths; see `common.estimation` for how they are told apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from robodyn.checks import as_exact, as_pose, as_scalar, refuse_beyond
from robodyn.errors import InvalidInput, NoSolution
from robodyn.mechanisms.common.estimation import (
    Encoders,
    Estimate,
    Estimator,
    quantisation_deviation,
)
from robodyn.mechanisms.stewart.estimation.covariance import (
    motion_covariance,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.stewart.platform import StewartPlatform


class PlatformEstimator(Estimator):
    """Forward kinematics of a platform with a memory.

    Args:
        platform: the mechanism.
        home: (7,) start of the search at first and after a jump; by default the
            model's home pose.
        length_resolution: step of the encoders of the legs [m].
        rate_resolution: step of the leg rates [m/s], used for readings that have rates.
        jump: a leg whose length differs by this much from the expected one has jumped [m].

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
        super().__init__(
            6,
            self._length_deviation,
            quantisation_deviation(rate_resolution),
            as_scalar("jump", jump, "m", above=0.0),
        )

    def _checked(
        self, positions: ArrayLike, rates: ArrayLike | None
    ) -> tuple[FloatArray, FloatArray | None]:
        length = as_exact("lengths", positions, (6,), "m")
        if (length <= 0.0).any():
            raise InvalidInput(
                f"lengths has {length.min()}, expected positive [m]", value=positions
            )
        rate = None if rates is None else as_exact("rates", rates, (6,), "m/s")
        refuse_beyond("lengths", length)
        if rate is not None:
            refuse_beyond("rates", rate)
        return length, rate

    def _predicted(self, last: Estimate, ahead: float) -> FloatArray:
        return self._unchecked.advance(last.pose, ahead * last.twist)

    def _solve(self, stamp: int, guess: FloatArray | None, deviation: float) -> Estimate:
        forward = self._platform.forward_kinematics
        motion = None
        if guess is not None:
            try:
                motion = forward(self._positions, guess, rates=self._rates)
            except NoSolution:
                guess = None  # fall back to a search from home
        if motion is None:
            motion = forward(self._positions, self._home, rates=self._rates)
        pose, twist = motion.pose, motion.twist
        of_pose, of_twist = motion_covariance(
            self._platform, pose, twist, self._length_deviation, deviation
        )
        return Estimate(stamp, pose, twist, of_pose, of_twist, guess is None, pose, twist)


def platform_estimator(
    platform: StewartPlatform, initial_pose: ArrayLike | None, encoders: Encoders
) -> PlatformEstimator:
    """The estimator of a platform whose legs have encoders; adapter `state_estimator`.

    Raises:
        InvalidInput: as for `PlatformEstimator`.
    """
    return PlatformEstimator(
        platform,
        initial_pose,
        length_resolution=encoders.length,
        rate_resolution=encoders.rate,
        jump=encoders.jump,
    )
