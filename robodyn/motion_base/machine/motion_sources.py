# SPDX-License-Identifier: Apache-2.0

"""Targets of a machine: a trajectory, a stream of poses, or a fixed goal."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from robodyn.algorithms import motions
from robodyn.algorithms.motion import Motion
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_exact, as_pose, as_scalar, refuse_beyond
from robodyn.errors import InvalidInput
from robodyn.mechanism.mechanism import Mechanism
from robodyn.motion_base.machine.workspace import twist_weights
from robodyn.poses import pose_difference
from robodyn.trajectories import StreamedPoint
from robodyn.trajectories.base import AtRest, Trajectory
from robodyn.trajectories.sag_compensation import motion_of_motors

# Tolerance [m] of a reached pose, with rotations times the characteristic length.
CLOSE = 1e-6
# Time [s] after a timely pose in which an old one counts as late, not as stamped by another clock.
PATIENCE = 10.0


class MotionSource(Protocol):
    """Source of target motions: the mechanism's motion as a function of time [ns]."""

    def at(self, time: int) -> Motion | None:
        """Return the mechanism's target motion at `time` [ns]; None without a target."""


class TrajectorySource(NamedTuple):
    """Motion source that follows a trajectory, which begins at `start` [ns]."""

    trajectory: Trajectory
    start: int

    def at(self, time: int) -> Motion:
        """Return the target motion at `time` [ns]."""
        return self.trajectory.sample(1e-9 * (time - self.start))


class PointSource(NamedTuple):
    """Motion source for a streamed point that arrived at `start` [ns].

    A moving point is extrapolated for its duration; then there is no target.
    """

    point: StreamedPoint
    start: int

    def at(self, time: int) -> Motion | None:
        """Return the target motion at `time` [ns]; None if the stream has ended by then."""
        since = 1e-9 * (time - self.start)
        ended = self.point.moves and since > self.point.duration
        return None if ended else self.point.sample(since)


class MotorSource(NamedTuple):
    """Motion source for motors that compensate the deflection of elastic drives.

    Attributes:
        mechanism: mechanism with elastic drives.
        source: motion source for the joints.
    """

    mechanism: Mechanism
    source: MotionSource

    def at(self, time: int) -> Motion | None:
        """Return the motors' target motion at `time` [ns]; None without a target."""
        motion = self.source.at(time)
        return None if motion is None else motion_of_motors(self.mechanism, motion)


def goal(mechanism: Mechanism, positions: ArrayLike, guess: ArrayLike) -> TrajectorySource:
    """Create a motion source that rests at positions (n,) of the driven joints.

    The assembly mode is that of `guess` (nq,). With redundant drives, the nearest positions that
    close the loops are used.

    Returns:
        The motion source.

    Raises:
        InvalidInput: `positions` are not n finite numbers.
        NoSolution: the loops cannot be closed with these positions.
    """
    if len(mechanism.independent_joints) < len(mechanism.joint_names):
        guess = motions.assemble_near(mechanism, np.asarray(positions), np.asarray(guess))
        positions = mechanism.joint_positions(guess)
    return TrajectorySource(AtRest(mechanism, mechanism.assemble(positions, guess)), 0)


class BodyMotion:
    """Conversion of body motions into mechanism motions, in bounded time.

    Args:
        mechanism: mechanism with the body.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        self._mechanism, self._weights = mechanism, twist_weights(mechanism)
        home = mechanism.home  # so that later calls are fast
        motions.configuration_near(mechanism, mechanism.body_pose(home), home)

    def nearest_motion(
        self, pose: FloatArray, twist: FloatArray, here: FloatArray
    ) -> tuple[Motion, str]:
        """Convert a pose and a twist of the body to a motion of the mechanism.

        Args:
            pose: (7,) pose of the body, base frame.
            twist: (6,) twist of the body, base frame.
            here: (nq,) configuration near the pose, from which the search starts.

        Returns:
            The motion, with zero acceleration, and an empty string. If the pose is out of reach:
            rest at the nearest pose that was found, and a description of the problem.
        """
        mechanism = self._mechanism
        here = motions.configuration_near(mechanism, pose, here)
        error = self._weights * pose_difference(mechanism.body_pose(here), pose)
        rest = np.zeros(mechanism.coordinates.velocity_size)
        if np.abs(error).max() < CLOSE:
            return Motion(here, self.solve(here, self._weights * twist), rest), ""
        return Motion(here, rest, rest), (
            f"the pose is out of reach by {np.abs(error[:3]).max():.2g} m and "
            f"{np.abs(error[3:]).max() / self._weights[3]:.2g} rad"
        )

    def solve(self, configuration: FloatArray, displacement: FloatArray) -> FloatArray:
        """Compute the mechanism's velocity for a twist of its body, by least squares.

        Args:
            configuration: (nq,) configuration of the mechanism.
            displacement: (6,) twist of the body in the base frame, multiplied by `twist_weights`.

        Returns:
            Velocity (nv,) of the mechanism.
        """
        jacobian = self._weights[:, None] * self._mechanism.twist_jacobian(configuration)
        return np.asarray(np.linalg.lstsq(jacobian, displacement, rcond=1e-9)[0])


class LateSetPoint(InvalidInput):
    """Error raised if a set-point is late while others of its sender are in time."""


class PoseStream(BodyMotion):
    """Stream of poses of the body, extrapolated until the next one arrives.

    The acceleration comes from the last two twists. A pose is valid for a timeout before and after
    its time. If the clock is set back, earlier poses are no longer valid.

    Args:
        mechanism: mechanism with the body.
        timeout: time [s] without a pose after which there is no target.

    Attributes:
        refused: number of rejected poses.
    """

    def __init__(self, mechanism: Mechanism, timeout: float) -> None:
        super().__init__(mechanism)
        self._timeout = round(as_scalar("timeout", timeout, "s", above=0.0) * 1e9)
        self._stamp: int | None = None
        self._received = -(2**62)
        self._motion: Motion
        self.refused = 0

    def take(
        self, stamp: int, now: int, pose: ArrayLike, twist: ArrayLike, here: FloatArray
    ) -> str:
        """Add a pose to the stream; a pose out of reach is replaced by the nearest one.

        `pose` (7,) and `twist` (6,) are those of the body at the time `stamp` [ns], base frame;
        they were received at `now` [ns]. `here` (nq,) is a configuration near the pose.

        Returns:
            A message if the pose is out of reach, otherwise an empty string.

        Raises:
            LateSetPoint: the pose is too old, while others arrived in time.
            InvalidInput: the pose is not finite, stale, from the future, older than the last one,
                or has a quaternion that is not normalized.
        """
        requested = as_pose("pose", pose)
        moving = as_exact("twist", twist, (6,), "m/s, rad/s")
        refuse_beyond("pose", requested)
        refuse_beyond("twist", moving)
        if abs(now - stamp) > self._timeout:
            raise self._stamp_error(stamp, now)
        if now < self._received:  # the clock was set back
            self._stamp = None
        since = None if self._stamp is None else stamp - self._stamp
        if since is not None and since <= 0:
            raise InvalidInput(
                f"setpoint is {-since * 1e-9:.3g} s older than the previous one", value=stamp
            )
        with np.errstate(all="ignore"):
            motion, problem = self.nearest_motion(requested, moving, here)
        if since is not None and since <= self._timeout:
            seconds, last = 1e-9 * since, self._motion
            if problem:  # the velocity of the nearest pose is unknown
                moved = self._mechanism.difference(last.configuration, motion.configuration)
                motion = motion._replace(velocity=moved / seconds)
            else:
                change = (motion.velocity - last.velocity) / seconds
                motion = motion._replace(acceleration=change)
        self._stamp, self._received, self._motion = stamp, now, motion
        return problem

    def _stamp_error(self, stamp: int, now: int) -> InvalidInput:
        """Create the error for a pose whose stamp is too old or in the future."""
        age, most = (now - stamp) * 1e-9, f"at most {self._timeout * 1e-9:g} s are allowed"
        if age < 0.0:
            return InvalidInput(
                f"setpoint is {-age:.3g} s in the future, {most}: synchronize the clocks of both "
                "computers",
                value=stamp,
            )
        if 0 <= now - self._received <= round(PATIENCE * 1e9):
            return LateSetPoint(
                f"setpoint is {age:.3g} s old, {most}; others arrived in time: the sender, the "
                "network or this computer is busy",
                value=stamp,
            )
        return InvalidInput(
            f"setpoint is {age:.3g} s old, {most}, and none arrived in time for {PATIENCE:g} s: "
            "check the clocks of both computers",
            value=stamp,
        )

    def at(self, time: int) -> Motion | None:
        """Return the target motion of the mechanism at `time` [ns].

        It is None if the stream has no valid pose at this time.
        """
        if self._stamp is None or abs(time - self._stamp) > self._timeout:
            return None
        t = 1e-9 * (time - self._stamp)
        at, v, a = self._motion
        return Motion(
            motions.advance_near(self._mechanism, at, t * (v + 0.5 * t * a)), v + t * a, a
        )
