# SPDX-License-Identifier: Apache-2.0

"""What a machine is wished to do: follow a trajectory, a stream of poses, or stay at a goal."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_exact, as_pose, as_scalar, refuse_beyond
from robodyn.errors import InvalidInput
from robodyn.mechanisms import motions
from robodyn.mechanisms.common.motion import Motion
from robodyn.mechanisms.mechanism import Mechanism
from robodyn.motion_base.workspace import twist_weights
from robodyn.poses import pose_difference
from robodyn.trajectories.base import AtRest, Trajectory

# [m] A pose is reached if it is missed by less, turns times the characteristic length.
CLOSE = 1e-6
# [s] after a pose that came in time, in which others that are old are late, not of another clock.
PATIENCE = 10.0


class Wish(Protocol):
    """A motion over time [ns], of the mechanism's configuration."""

    def at(self, time: int) -> Motion | None:
        """The motion wished for at `time` [ns]; None where there is no wish, or none any more."""


class TrajectoryWish(NamedTuple):
    """A trajectory that begins at `start` [ns]."""

    trajectory: Trajectory
    start: int

    def at(self, time: int) -> Motion:
        """See `Wish`."""
        return self.trajectory.sample(1e-9 * (time - self.start))


def goal(mechanism: Mechanism, positions: ArrayLike, guess: ArrayLike) -> TrajectoryWish:
    """To stay where the driven joints have positions (n,), in the assembly near the guess.

    Raises:
        InvalidInput: not n finite numbers.
        NoSolution: the loops cannot be closed there.
    """
    return TrajectoryWish(AtRest(mechanism, mechanism.assemble(positions, guess)), 0)


class BodyMotion:
    """A mechanism's motion of that of its body, in a time that a control loop can give.

    Args:
        mechanism: whose body moves.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        self._mechanism, self._weights = mechanism, twist_weights(mechanism)

    def reached(self, pose: FloatArray, twist: FloatArray, here: FloatArray) -> tuple[Motion, str]:
        """The motion at a pose, or at the nearest one on the way to which Newton's method led."""
        mechanism = self._mechanism
        here = motions.configuration_near(mechanism, pose, here)
        error = self._weights * pose_difference(mechanism.body_pose(here), pose)
        rest = np.zeros(mechanism.coordinates.velocity_size)
        if np.abs(error).max() < CLOSE:
            return Motion(here, self.solve(here, self._weights * twist), rest), ""
        return Motion(here, rest, rest), (
            f"the pose cannot be reached, by {np.abs(error[:3]).max():.2g} m and "
            f"{np.abs(error[3:]).max() / self._weights[3]:.2g} rad"
        )

    def solve(self, configuration: FloatArray, displacement: FloatArray) -> FloatArray:
        """The velocity (nv,) with which the body moves by a weighted twist (6,)."""
        jacobian = self._weights[:, None] * self._mechanism.twist_jacobian(configuration)
        return np.asarray(np.linalg.lstsq(jacobian, displacement, rcond=1e-9)[0])


class LateSetPoint(InvalidInput):
    """A set-point that came too late, from a sender whose others come in time."""


class PoseStream(BodyMotion):
    """Poses of the body that come again and again, continued until the next one comes.

    The acceleration of what comes is taken from the last two twists. A pose counts for a timeout
    before and after its time; when the clock is set back, poses of before no longer count.

    Args:
        mechanism: whose body moves.
        timeout: [s] of silence after which there is no wish any more.

    Attributes:
        refused: how many poses were refused.
    """

    def __init__(self, mechanism: Mechanism, timeout: float) -> None:
        super().__init__(mechanism)
        self._timeout = round(as_scalar("timeout", timeout, "s", above=0.0) * 1e9)
        self._stamp: int | None = None
        self._heard = -(2**62)
        self._motion: Motion
        self.refused = 0

    def take(
        self, stamp: int, now: int, pose: ArrayLike, twist: ArrayLike, here: FloatArray
    ) -> str:
        """Take the pose (7,) and twist (6,) of `stamp` [ns], heard at `now`.

        `here` is a configuration near it. A pose out of reach counts as the nearest one that is
        within.

        Returns: what was wrong with it, or nothing.

        Raises:
            LateSetPoint: too old, while others came in time.
            InvalidInput: not finite, no pose, stale, from the future, or older than the last.
        """
        wanted = as_pose("pose", pose)
        moving = as_exact("twist", twist, (6,), "m/s, rad/s")
        refuse_beyond("pose", wanted)
        refuse_beyond("twist", moving)
        if abs(now - stamp) > self._timeout:
            raise self._objection(stamp, now)
        if now < self._heard:  # the clock was set back
            self._stamp = None
        since = None if self._stamp is None else stamp - self._stamp
        if since is not None and since <= 0:
            raise InvalidInput(
                f"setpoint is {-since * 1e-9:.3g} s older than the last one", value=stamp
            )
        with np.errstate(all="ignore"):
            motion, problem = self.reached(wanted, moving, here)
        if since is not None and since <= self._timeout:
            seconds, last = 1e-9 * since, self._motion
            if problem:  # nobody has said how fast the nearest pose moves
                moved = self._mechanism.difference(last.configuration, motion.configuration)
                motion = motion._replace(velocity=moved / seconds)
            else:
                change = (motion.velocity - last.velocity) / seconds
                motion = motion._replace(acceleration=change)
        self._stamp, self._heard, self._motion = stamp, now, motion
        return problem

    def _objection(self, stamp: int, now: int) -> InvalidInput:
        """Why a set-point is too old or too early: a busy computer, or clocks that differ."""
        age, most = (now - stamp) * 1e-9, f"at most {self._timeout * 1e-9:g} s are allowed"
        if age < 0.0:
            return InvalidInput(
                f"setpoint is {-age:.3g} s in the future, {most}: set the clocks of both computers",
                value=stamp,
            )
        if 0 <= now - self._heard <= round(PATIENCE * 1e9):
            return LateSetPoint(
                f"setpoint is {age:.3g} s old, {most}; others came in time: the sender, the "
                "network or this computer is busy",
                value=stamp,
            )
        return InvalidInput(
            f"setpoint is {age:.3g} s old, {most}, and none came in time for {PATIENCE:g} s: do "
            "both clocks agree?",
            value=stamp,
        )

    def at(self, time: int) -> Motion | None:
        """See `Wish`."""
        if self._stamp is None or abs(time - self._stamp) > self._timeout:
            return None
        t = 1e-9 * (time - self._stamp)
        at, v, a = self._motion
        return Motion(
            motions.advance_near(self._mechanism, at, t * (v + 0.5 * t * a)), v + t * a, a
        )
