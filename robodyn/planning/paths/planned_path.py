# SPDX-License-Identifier: Apache-2.0
"""Trajectory along a planned path: a smooth curve with a time profile."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from robodyn.algorithms.conditioning import condition_text
from robodyn.arrays import FloatArray
from robodyn.checks import as_scalar
from robodyn.errors import InfeasibleTrajectory
from robodyn.mechanism.mechanism import Mechanism
from robodyn.planning.paths.curves import Curve
from robodyn.planning.paths.settings import PathSettings
from robodyn.trajectories.base import Motion, ProfiledTrajectory, convert_to_time
from robodyn.trajectories.profiles import PEAK_SPEED, Profile, check_profile, make_profile

# Default speed without duration or limits: a radian of path length in this time [s].
RADIANS, SECONDS = 1.0, 2.0
TIMING_SAMPLES = 2001


@dataclass(frozen=True, repr=False, eq=False)
class PlannedPath(ProfiledTrajectory):
    """Trajectory along a planned curve, with continuous acceleration.

    Attributes:
        curve: configurations over the curve parameter s from 0 to 1.
        profile: s as a function of time.
        length: [rad] length of the path, with translations divided by a characteristic length; see
            `planning.paths.spaces`.
        largest_condition: largest condition number of the Jacobian found along the path.
        samples: number of configurations that were verified.
        seconds: [s] duration of the search.
        text: description in one line.
    """

    curve: Curve
    profile: Profile
    length: float
    largest_condition: float
    samples: int
    seconds: float

    def __repr__(self) -> str:
        return f"PlannedPath({self.text})"

    @property
    def text(self) -> str:
        """Length, largest condition number and verification of the path, in one line."""
        condition = condition_text(self.largest_condition)
        return (
            f"{self.length:.3g} rad long, condition number up to {condition}, "
            f"verified at {self.samples} configurations, planned in {self.seconds:.2g} s"
        )

    def with_duration(self, duration: float) -> PlannedPath:
        """Create a trajectory along the same path with another duration.

        Its time profile is a quintic polynomial.

        Args:
            duration: [s] duration of the motion, from rest to rest.

        Returns:
            The trajectory.
        """
        profile = make_profile(
            "quintic", as_scalar("duration", duration, "s", above=0.0), 0.0, None, "the path"
        )
        return replace(self, profile=profile)

    def _rows(self, t: FloatArray) -> Motion:
        s, rate, acceleration = self.profile.sample(t)
        return convert_to_time(Motion(*self.curve.motion(s)), rate, acceleration)


def time_curve(
    mechanism: Mechanism, curve: Curve, length: float, settings: PathSettings
) -> Profile:
    """Compute the time profile of a curve, from rest to rest.

    Args:
        mechanism: mechanism that follows the curve; without a duration or limit, the velocity
            limits of its driven joints are respected.
        curve: curve over s from 0 to 1.
        length: [rad] length of the curve.
        settings: duration, velocity limits and profile.

    Returns:
        The profile: s as a function of time.

    Raises:
        InvalidInput: the profile is unknown, or a number is out of range.
        InfeasibleTrajectory: the duration is too short for the limits.
    """
    duration, profile = settings.duration, settings.profile
    check_profile(profile)
    q, first, _ = curve.motion(np.linspace(0.0, 1.0, TIMING_SAMPLES))
    needed = 0.0
    checks = [("v_max", settings.v_max, np.abs(first))]
    if mechanism.coordinates.is_pose:
        parts = (("v_max", settings.v_max, first[:, :3]), ("w_max", settings.w_max, first[:, 3:]))
        checks = [(name, limit, np.linalg.norm(rates, axis=1)) for name, limit, rates in parts]
    for name, limit, rates in checks:
        if limit is None:
            continue
        speed = as_scalar(name, limit, above=0.0)
        needed = max(needed, PEAK_SPEED[profile] * float(rates.max(initial=0.0)) / speed)
    if duration is None:
        if settings.v_max is None and settings.w_max is None:
            needed = max(needed, SECONDS * length / RADIANS)
            limits = mechanism.velocity_limits
            rates = np.abs(mechanism.joint_velocities(q, first))
            needed = max(needed, PEAK_SPEED[profile] * float((rates / limits).max()))
        duration = needed
        if duration == 0.0:
            raise InfeasibleTrajectory(
                "start and goal are the same: give a duration to rest there", value=0.0
            )
    duration = as_scalar("duration", duration, "s", above=0.0)
    if needed > duration * (1.0 + 1e-9):
        raise InfeasibleTrajectory(
            f"the path takes {needed:.6g} s at the speed limits, but duration is {duration:.6g} s",
            value=duration,
        )
    return make_profile(profile, duration, 0.0, None, "the path")
