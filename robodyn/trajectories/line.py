# SPDX-License-Identifier: Apache-2.0

"""Straight motions: of a body, with linear roll-pitch-yaw angles, and of joints.

Position and angles of a body each follow a profile of their own over the same time (Dasgupta and
Mruthyunjaya, 1998, section 4.3). All joints follow one profile, so they start and stop together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_array, as_exact, as_pose, as_scalar
from robodyn.errors import InvalidInput
from robodyn.numerics.rotations_batch import angular_motions
from robodyn.poses import pose_from_rpy, rpy_from_pose
from robodyn.trajectories.base import Motion, ProfiledTrajectory, RowTrajectory
from robodyn.trajectories.profiles import Profile, ProfileName, check_profile, make_profiles

Triple = tuple[FloatArray, FloatArray, FloatArray]


@dataclass(frozen=True)
class Line(RowTrajectory):
    """Trajectory of a pose along a straight line, created by `plan_line`.

    Attributes:
        xyz, rpy: (2, 3) [m], [rad] positions and roll, pitch, yaw of start and goal.
        position, rotation: time profiles of translation and angles.
    """

    xyz: FloatArray
    rpy: FloatArray
    position: Profile
    rotation: Profile

    @property
    def duration(self) -> float:
        """Duration [s] of the motion."""
        return self.position.duration

    @property
    def switching_times(self) -> tuple[float, ...]:
        """Times [s] at which the acceleration of position or rotation jumps."""
        times: set[float] = set()
        for ends, profile in ((self.xyz, self.position), (self.rpy, self.rotation)):
            if np.any(ends[0] != ends[1]):
                times.update(t for t in profile.switching_times if 0.0 < t < self.duration)
        return tuple(sorted(times))

    def _rows(self, t: FloatArray) -> Motion:
        place = _interpolate(self.xyz, self.position, t)
        return pose_motion(place, _interpolate(self.rpy, self.rotation, t))


def plan_line(
    start: ArrayLike,
    goal: ArrayLike,
    duration: float | None = None,
    v_max: float | None = None,
    w_max: float | None = None,
    profile: ProfileName = "lspb",
) -> Line:
    """Plan a straight line from pose to pose; angles take the shorter way.

    Of the two sets of roll, pitch and yaw that describe the goal's rotation, the one nearer to the
    start is used.

    Give the duration, the speed limits, or both. With both, an `lspb` profile cruises at the limit,
    with the blend time tt = duration - distance/speed (eq. 39). Without a duration, the slower of
    position and rotation determines it; each blend then takes a third of the time.

    Args:
        start, goal: poses (7,), position [m] and quaternion x y z w.
        duration: [s] duration of the motion.
        v_max: largest speed [m/s] of the reference point.
        w_max: largest magnitude [rad/s] of the rates of roll, pitch and yaw.
        profile: `lspb`, `cubic`, `quintic` or `cycloidal`.

    Returns:
        The motion, from rest to rest.

    Raises:
        InvalidInput: poses, duration or limits are invalid, or neither duration nor limits are
            given.
        InfeasibleTrajectory: the limits do not permit the duration.
    """
    (first, angles), (last, end_angles) = (
        rpy_from_pose(_single_pose("start", start)),
        rpy_from_pose(_single_pose("goal", goal)),
    )
    # R is the same at (roll + pi, pi - pitch, yaw + pi)
    flipped = end_angles * (1.0, -1.0, 1.0) + np.pi
    turns = np.remainder(np.stack([end_angles, flipped]) - angles + np.pi, 2.0 * np.pi) - np.pi
    turn = turns[np.linalg.norm(turns, axis=-1).argmin()]
    return plan_line_rpy(
        np.stack([first, last]), np.stack([angles, angles + turn]), duration, v_max, w_max, profile
    )


def plan_line_rpy(
    xyz: ArrayLike,
    rpy: ArrayLike,
    duration: float | None = None,
    v_max: float | None = None,
    w_max: float | None = None,
    profile: ProfileName = "lspb",
) -> Line:
    """Plan a straight line between two positions with roll, pitch and yaw angles.

    The angles are interpolated as given, so they may change by more than half a turn.

    Args:
        xyz: (2, 3) [m] positions of start and goal.
        rpy: (2, 3) [rad] roll, pitch and yaw of start and goal.
        duration, v_max, w_max, profile: as for `plan_line`.

    Returns:
        The motion, from rest to rest.

    Raises:
        InvalidInput, InfeasibleTrajectory: as for `plan_line`.
    """
    positions, angles = as_exact("xyz", xyz, (2, 3), "m"), as_exact("rpy", rpy, (2, 3), "rad")
    check_profile(profile)
    v_max, w_max, duration = (
        None if value is None else as_scalar(name, value, unit, above=0.0)
        for name, value, unit in (
            ("v_max", v_max, "m/s"),
            ("w_max", w_max, "rad/s"),
            ("duration", duration, "s"),
        )
    )
    distance = float(np.linalg.norm(positions[1] - positions[0]))
    turn = float(np.linalg.norm(angles[1] - angles[0]))
    ways = [(distance, v_max, "position [m]"), (turn, w_max, "angles [rad]")]
    profiles = make_profiles(profile, duration, ways, "v_max and w_max", "the same pose")
    return Line(positions, angles, *profiles)


def pose_motion(place: Triple, angles: Triple) -> Motion:
    """Convert motions of position and of roll, pitch and yaw to motions of a pose.

    Args:
        place: positions (N, 3) [m], and their first and second time derivatives.
        angles: roll, pitch and yaw (N, 3) [rad], and their first and second time derivatives.

    Returns:
        Poses (N, 7), and twists and their time derivatives (N, 6), base frame.
    """
    omega, alpha = np.empty((2, *angles[0].shape))
    angular_motions(*angles, omega, alpha)
    return Motion(
        pose_from_rpy(place[0], angles[0]),
        np.concatenate([place[1], omega], axis=1),
        np.concatenate([place[2], alpha], axis=1),
    )


def _single_pose(name: str, value: ArrayLike) -> FloatArray:
    return as_pose(name, as_exact(name, value, (7,), "m, unit quaternion x y z w"))


def _interpolate(ends: FloatArray, profile: Profile, t: FloatArray) -> Triple:
    s, ds, dds = profile.sample(t)
    step = ends[1] - ends[0]
    return ends[0] + s[:, None] * step, ds[:, None] * step, dds[:, None] * step


@dataclass(frozen=True)
class JointLine(ProfiledTrajectory):
    """Trajectory along a straight line in joint space, created by `plan_joints`.

    Attributes:
        q: (2, n) [rad or m] start and goal.
        profile: profile of all joints.
    """

    q: FloatArray
    profile: Profile

    def _rows(self, t: FloatArray) -> Motion:
        return Motion(*_interpolate(self.q, self.profile, t))


def plan_joints(
    q0: ArrayLike,
    q1: ArrayLike,
    duration: float | None = None,
    v_max: ArrayLike | None = None,
    profile: ProfileName = "lspb",
) -> JointLine:
    """Plan a straight motion of n joints from `q0` to `q1` in joint space.

    All joints start and stop together. For a mechanism whose configuration contains more than its
    driven joints, such as a closed loop, use `plan_straight`.

    Args:
        q0, q1: (n,) [rad or m] start and goal.
        duration: [s]; computed from `v_max` if None.
        v_max: largest velocity [rad/s or m/s], one number or (n,).
        profile: `lspb`, `cubic`, `quintic` or `cycloidal`.

    Returns:
        The motion, from rest to rest.

    Raises:
        InvalidInput: arrays are invalid, or neither duration nor limits are given.
        InfeasibleTrajectory: the limits do not permit the duration.
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
    if duration is not None:
        duration = as_scalar("duration", duration, "s", above=0.0)
    way = float(step[slowest]), speed, f"joint {slowest + 1} [rad or m]"
    return JointLine(
        np.stack([start, goal]), *make_profiles(profile, duration, [way], "v_max", "the same")
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
