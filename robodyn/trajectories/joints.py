# SPDX-License-Identifier: Apache-2.0

"""Straight-line motion of joints: all follow one profile, so they start and stop together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_array, as_scalar
from robodyn.errors import InfeasibleTrajectory, InvalidInput
from robodyn.trajectories.base import Motion, ProfiledTrajectory
from robodyn.trajectories.profiles import (
    Profile,
    check_profile,
    make_profile,
    shortest_duration,
)


@dataclass(frozen=True)
class JointLine(ProfiledTrajectory):
    """One segment in joint space: see `plan_joints`.

    Attributes:
        q: (2, n) [rad or m] start and goal.
        profile: of all joints.
    """

    q: FloatArray
    profile: Profile

    def _rows(self, t: FloatArray) -> Motion:
        s, ds, dds = (value[:, None] for value in self.profile.sample(t))
        step = self.q[1] - self.q[0]
        return Motion(self.q[0] + s * step, ds * step, dds * step)


def plan_joints(
    q0: ArrayLike,
    q1: ArrayLike,
    duration: float | None = None,
    v_max: ArrayLike | None = None,
    profile: str = "lspb",
) -> JointLine:
    """Plan a synchronous motion of n joints from q0 (n,) to q1 (n,).

    Args:
        q0, q1: [rad or m].
        duration: [s]; computed from `v_max` where it is None.
        v_max: [rad/s or m/s], one number or (n,).
        profile: `lspb`, `cubic`, `quintic` or `cycloidal`.

    Raises:
        InvalidInput: bad arrays, or neither duration nor limits given.
        InfeasibleTrajectory: the limits do not allow the duration.
    """
    start, goal = as_array("q0", q0, ()), as_array("q1", q1, ())
    if start.ndim != 1 or start.shape != goal.shape or not start.size:
        raise InvalidInput(
            f"q0 and q1 have shapes {start.shape} and {goal.shape}, expected the same (n,)",
            value=q1,
        )
    check_profile(profile)
    step = np.abs(goal - start)
    slowest, speed = int(step.argmax()), None
    if v_max is not None:
        limits = _limits(v_max, start)
        slowest = int((step / limits).argmax())
        speed = float(limits[slowest])
    distance = float(step[slowest])
    if duration is None:
        if speed is None:
            raise InvalidInput("give a duration, or v_max from which to compute it", value=None)
        duration = shortest_duration(distance, speed, profile)
        speed = None
        if duration == 0.0:
            raise InfeasibleTrajectory(
                "start and goal are the same: give a duration to rest there", value=goal
            )
    duration = as_scalar("duration", duration, "s", above=0.0)
    what = f"joint {slowest + 1} [rad or m]"
    return JointLine(
        np.stack([start, goal]), make_profile(profile, duration, distance, speed, what)
    )


def _limits(v_max: ArrayLike, start: FloatArray) -> FloatArray:
    limits = as_array("v_max", v_max, (), "rad/s or m/s")
    if limits.shape not in {(), start.shape}:
        raise InvalidInput(
            f"v_max has shape {limits.shape}, expected one number or {start.shape}", value=v_max
        )
    if not (limits > 0.0).all():
        raise InvalidInput(f"v_max is {limits.tolist()}, must be positive", value=v_max)
    return np.broadcast_to(limits, start.shape)
