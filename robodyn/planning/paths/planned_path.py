# SPDX-License-Identifier: Apache-2.0
"""The trajectory that planning a path ends with: a smooth curve, passed in a time."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.checks import as_scalar
from robodyn.errors import InfeasibleTrajectory
from robodyn.mechanism.mechanism import Mechanism
from robodyn.planning.paths.curves import Curve
from robodyn.planning.paths.settings import PathSettings
from robodyn.trajectories.base import Motion, ProfiledTrajectory, retimed
from robodyn.trajectories.profiles import PEAK_SPEED, Profile, check_profile, make_profile

# Without a duration or limits: [rad] of the search's measure in this time [s].
RADIANS, SECONDS = 1.0, 2.0
TIMING_SAMPLES = 2001


@dataclass(frozen=True, repr=False, eq=False)
class PlannedPath(ProfiledTrajectory):
    """Trajectory along a planned curve, with continuous acceleration.

    Attributes:
        curve: its geometry, over s from 0 to 1.
        profile: how s runs in time.
        length: [rad] a translation counts by the mechanism's length; see `planning.paths.spaces`.
        largest_condition: largest condition number found along it.
        samples: configurations that were examined to verify it.
        seconds: [s] that the search took.
        text: all this in a line.
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
        """Description of the path in one line."""
        return (
            f"{self.length:.3g} rad long, condition number up to {self.largest_condition:.4g}, "
            f"verified at {self.samples} configurations, planned in {self.seconds:.2g} s"
        )

    def lasting(self, duration: float) -> PlannedPath:
        """The same path, passed in another time [s] from rest to rest."""
        profile = make_profile(
            "quintic", as_scalar("duration", duration, "s", above=0.0), 0.0, None, "the path"
        )
        return replace(self, profile=profile)

    def _rows(self, t: FloatArray) -> Motion:
        s, rate, acceleration = self.profile.sample(t)
        return retimed(Motion(*self.curve.motion(s)), rate, acceleration)


def timed(mechanism: Mechanism, curve: Curve, length: float, wanted: PathSettings) -> Profile:
    """Time a curve, from rest to rest.

    Args:
        mechanism: mechanism with the curve; the velocities of its driven joints stay within their
            limits if neither a duration nor a limit is given.
        curve: the geometry.
        length: [rad] of it.
        wanted: its duration, limits of speed and profile.

    Raises:
        InvalidInput: the profile is unknown, or a number is out of range.
        InfeasibleTrajectory: the duration is too short for the limits.
    """
    duration, profile = wanted.duration, wanted.profile
    check_profile(profile)
    q, first, _ = curve.motion(np.linspace(0.0, 1.0, TIMING_SAMPLES))
    needed = 0.0
    asked = [("v_max", wanted.v_max, np.abs(first))]
    if mechanism.coordinates.is_pose:
        parts = (("v_max", wanted.v_max, first[:, :3]), ("w_max", wanted.w_max, first[:, 3:]))
        asked = [(name, limit, np.linalg.norm(rates, axis=1)) for name, limit, rates in parts]
    for name, limit, rates in asked:
        if limit is None:
            continue
        speed = as_scalar(name, limit, above=0.0)
        needed = max(needed, PEAK_SPEED[profile] * float(rates.max(initial=0.0)) / speed)
    if duration is None:
        if wanted.v_max is None and wanted.w_max is None:
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
            f"the path takes {needed:.6g} s at the speeds allowed, {duration:.6g} s are given",
            value=duration,
        )
    return make_profile(profile, duration, 0.0, None, "the path")
