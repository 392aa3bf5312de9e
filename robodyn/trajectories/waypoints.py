# SPDX-License-Identifier: Apache-2.0

"""Paths by name, and from files: waypoints connected by lines, from rest to rest or blended.

```yaml
name: up_and_over          # optional
profile: lspb              # optional; lspb, cubic, quintic or cycloidal
v_max: 0.08                # m/s, optional, of every segment that names none
w_max: 0.08                # rad/s, likewise
blend: 0.5                 # s, optional, of every waypoint that names none
waypoints:
  - {xyz: [0.1, 0.0, 0.4], rpy: [0.0, 0.0, -0.2]}
  - {xyz: [0.3, 0.0, 0.6], rpy: [0.0, 0.0, 0.2], duration: 6.0}
```

A waypoint's `duration`, `v_max`, `w_max` and `profile` apply to the segment that leads to it.
Angles are interpolated as they are written, so a waypoint may be more than half a turn away. An
arm's waypoints are `{joints: [...]}` [rad or m] in the order of its chain, and `v_max` applies to
its joints; or poses of its tip in its base frame, as above, which inverse kinematics converts; the
tip then moves along lines.

A waypoint with a `blend` is passed without stopping: the motion changes from one line to the next
during that time, near the waypoint; see `robodyn.trajectories.parabolic_blends`. At its ends, the
path starts and stops within their blends. With `blend: 0` or none the motion rests at a waypoint,
and starts from it within the time of the neighboring blend.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import cast

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.dynamics.coordinates import POSE
from robodyn.errors import PathError, RobodynError
from robodyn.formats.documents import Fields, read_yaml
from robodyn.mechanism.mechanism import Mechanism
from robodyn.presentation import presentation
from robodyn.trajectories import parabolic_blends
from robodyn.trajectories.base import Trajectory
from robodyn.trajectories.demonstration import DEMO, demonstration, within_limits
from robodyn.trajectories.fourier import FourierTrajectory, fourier_from_fields
from robodyn.trajectories.line import JointLine, Line, plan_joints, plan_line_rpy
from robodyn.trajectories.paper_paths import ARM_PATHS, PAPER_PATHS, arm_path, paper_path
from robodyn.trajectories.profiles import PEAK_SPEED, ProfileName
from robodyn.trajectories.sequence import Sequence
from robodyn.trajectories.tip_line import follow_body_path, is_body_motion

_SEGMENT_FIELDS = ("duration", "v_max", "w_max", "profile")
_UNITS = {"duration": "s", "v_max": "m/s", "w_max": "rad/s"}


def load_path(
    source: str | Path,
    mechanism: Mechanism | None = None,
    start: ArrayLike | None = None,
    progress: Callable[[float], None] | None = None,
) -> Trajectory:
    """Load a path by name, `demo` for any mechanism, or from a YAML file of waypoints.

    Valid names are the names of the papers' paths and the result of `bundled_paths()`.

    Args:
        source: name of a known path, or of a YAML file.
        mechanism: mechanism that follows the path; if given, the path must suit its kind and size,
            and a path of poses of an arm's tip is converted into a path of its joints.
        start: (nq,) configuration [rad or m] near which the solution for the first pose is
            searched; home by default.
        progress: called with the completed fraction, 0 to 1, of a demonstration, which may take a
            while.

    Returns:
        The trajectory.

    Raises:
        PathError: the source is neither a known name nor a readable file, a field is invalid, the
            limits do not permit a segment (with file and field), or the mechanism cannot follow the
            path.
    """
    name = str(source)
    if name in PAPER_PATHS:
        path: Trajectory = paper_path(name)
    elif name in ARM_PATHS:
        path = arm_path(name)
    elif name == DEMO and mechanism is not None:
        path = demonstration(mechanism, progress=progress)
    else:
        path = _from_file(_waypoint_file(source), mechanism)
        if mechanism is not None and _has_poses(path):
            path = _convert_body_path(mechanism, path, name, start)
    if mechanism is not None and name != DEMO and not isinstance(path, FourierTrajectory):
        _check_coordinates(path, name, mechanism)
    return path


def _check_coordinates(path: Trajectory, name: str, mechanism: Mechanism) -> None:
    start = path.sample(0.0)
    if is_body_motion(mechanism, path) and not mechanism.coordinates.is_pose:
        return
    of = POSE.text if _has_poses(path) else f"{len(start.velocity)} joint positions"
    expected = mechanism.coordinates.text
    if of != expected:
        raise PathError(
            f"path {name!r} consists of {of}, but {mechanism.name} requires {expected}",
            value=name,
        )


def _has_poses(path: Trajectory) -> bool:
    """Return whether the points of a path are poses, not joint positions."""
    start = path.sample(0.0)
    return start.configuration.shape == (7,) and start.velocity.shape == (6,)


def _convert_body_path(
    mechanism: Mechanism, path: Trajectory, name: str, start: ArrayLike | None
) -> Trajectory:
    """Convert a path of body poses to a motion of the mechanism."""
    try:
        first = mechanism.configuration_at(path.sample(0.0).configuration, start)
        return follow_body_path(mechanism, path, first)
    except RobodynError as error:
        raise PathError(f"{name}: {error}", value=error.value) from error


def _from_file(file: Path, mechanism: Mechanism | None) -> Trajectory:
    fields = Fields(read_yaml(file, PathError), str(file), error=PathError)
    if fields.data.get("type") == "fourier":
        if mechanism is None:
            raise PathError(
                f"{file}: a Fourier series of joint positions requires a mechanism", value=str(file)
            )
        return fourier_from_fields(fields, mechanism)
    fields.only("name", "waypoints", "blend", *_SEGMENT_FIELDS)
    fields.text("name", "unnamed")
    waypoints = fields.children("waypoints")
    if len(waypoints) < 2:
        raise fields.refuse("waypoints", fields.data["waypoints"], "two waypoints or more")
    joints = _joint_count(waypoints[0]) if "joints" in waypoints[0] else 0
    for waypoint in waypoints:
        place = ("joints",) if joints else ("xyz", "rpy")
        waypoint.only(*place, "blend", *_SEGMENT_FIELDS)
    for name in _SEGMENT_FIELDS:
        if name in waypoints[0]:
            raise waypoints[0].refuse(
                name, waypoints[0].data[name], "none: no segment leads to the first waypoint"
            )
    blends = np.array([_blend(fields, waypoint) for waypoint in waypoints])
    stops = [0, *(np.flatnonzero(blends[1:-1] == 0.0) + 1).tolist(), len(waypoints) - 1]
    points = [_point(waypoint, joints) for waypoint in waypoints]
    if mechanism is not None and joints == mechanism.coordinates.configuration_size:
        points = list(mechanism.coordinates.unwrapped(np.array(points)))
    segments: list[Trajectory] = []
    for i, j in zip(stops[:-1], stops[1:], strict=True):
        ends = waypoints[i : j + 1], points[i : j + 1]
        if blends[i : j + 1].any():
            segments.append(_plan_blends(fields, *ends, blends[i : j + 1].copy(), joints))
        else:
            segments.append(_segment(fields, *ends, joints))
    return segments[0] if len(segments) == 1 else Sequence(tuple(segments))


def bundled_paths() -> tuple[str, ...]:
    """Return the names of the bundled paths, which `load_path` accepts."""
    names = (item.name for item in _folder().iterdir())
    return tuple(sorted(name[:-5] for name in names if name.endswith(".yaml")))


def _folder() -> Path:
    return Path(str(resources.files("robodyn"))) / "bundled" / "paths"


def _waypoint_file(source: str | Path) -> Path:
    if str(source) in bundled_paths():
        return _folder() / f"{source}.yaml"
    try:
        file = Path(source).expanduser()
        if file.suffix.lower() in {".yaml", ".yml"} and file.exists():
            return file
    except (OSError, ValueError, TypeError, RuntimeError):
        pass  # a name that is too long, empty or has a null, or an unknown user's home
    text = str(source)
    shown = text if len(text) <= 100 else text[:97] + "..."
    known = ", ".join((*PAPER_PATHS, *ARM_PATHS, *bundled_paths()))
    raise PathError(
        f"no path {shown!r}: expected one of {known}, or an existing waypoint file (.yaml)",
        value=source,
    )


def _segment(
    common: Fields, waypoints: list[Fields], points: list[FloatArray], joints: int
) -> Line | JointLine:
    goal = waypoints[-1]
    duration, v_max = _limit(common, goal, "duration"), _limit(common, goal, "v_max")
    w_max = None if joints else _limit(common, goal, "w_max")
    try:
        profile = _profile(common, goal)
        if joints:
            return plan_joints(points[0], points[-1], duration, v_max, profile)
        xyz, rpy = np.split(np.array(points), 2, axis=1)
        return plan_line_rpy(xyz, rpy, duration, v_max, w_max, profile)
    except RobodynError as error:
        raise PathError(f"{goal.source}: {goal.path}: {error}", value=error.value) from error


def _joint_count(waypoint: Fields) -> int:
    expected = "a list of joint positions [rad or m]"
    joints = waypoint.get("joints", expected)
    if not isinstance(joints, list) or not joints:
        raise waypoint.refuse("joints", joints, expected)
    return len(joints)


def _limit(common: Fields, goal: Fields, name: str) -> float | None:
    fields = goal if name in goal else common
    return fields.number(name, _UNITS[name], above=0.0) if name in fields else None


def _profile(common: Fields, goal: Fields) -> ProfileName:
    name = (goal if "profile" in goal else common).text("profile", "lspb", tuple(PEAK_SPEED))
    return cast(ProfileName, name)


def _blend(common: Fields, waypoint: Fields) -> float:
    fields = waypoint if "blend" in waypoint else common
    return fields.number("blend", "s", default=0.0, at_least=0.0)


def _plan_blends(
    common: Fields,
    waypoints: list[Fields],
    ends: list[FloatArray],
    blends: FloatArray,
    joints: int,
) -> parabolic_blends.ViaPoints:
    """Plan a motion from the first to the last waypoint, with blends at the others."""
    points = np.array(ends)
    # an end without a blend of its own uses the duration of the blend next to it
    blends[0] = blends[0] or blends[1]
    blends[-1] = blends[-1] or blends[-2]
    # extra time of the ramps at the ends relative to the constant rate
    slower = -parabolic_blends.cruise_durations(np.zeros(len(points) - 1), blends)
    steps = np.diff(points, axis=0)
    rows = zip(waypoints[1:], steps, slower.tolist(), strict=True)
    durations = np.array([_blended_duration(common, *row, of_joints=joints > 0) for row in rows])
    crowded = parabolic_blends.find_overlong_blends(durations, blends)
    if crowded is not None:
        pair = (crowded, crowded + 1)
        longer = max(pair, key=lambda k: (bool(_blend(common, waypoints[k])), blends[k]))
        fields = waypoints[longer] if "blend" in waypoints[longer] else common
        needed = parabolic_blends.blend_times(blends)[crowded]
        raise fields.refuse(
            "blend",
            float(blends[longer]),
            f"a shorter one: the blends take {needed:.6g} s, but only {durations[crowded]:.6g} s "
            f"lie between {waypoints[crowded].path} and {waypoints[crowded + 1].path}",
        )
    return parabolic_blends.ViaPoints(points, durations, blends, poses=not joints)


def _point(waypoint: Fields, joints: int) -> FloatArray:
    if joints:
        return waypoint.array("joints", (joints,), "rad or m")
    return np.concatenate([waypoint.array("xyz", (3,), "m"), waypoint.array("rpy", (3,), "rad")])


def _blended_duration(
    common: Fields, goal: Fields, step: FloatArray, extra: float, *, of_joints: bool
) -> float:
    """Return a segment's given or, without one, shortest possible duration [s]."""
    if _profile(common, goal) != "lspb":
        fields = goal if "profile" in goal else common
        raise fields.refuse("profile", fields.data["profile"], "lspb if waypoints are blended")
    parts = (
        {"v_max": np.abs(step).max()}
        if of_joints
        else {"v_max": np.linalg.norm(step[:3]), "w_max": np.linalg.norm(step[3:])}
    )
    duration = _limit(common, goal, "duration")
    shortest = extra
    for name, way in parts.items():
        limit = _limit(common, goal, name)
        if limit is not None:
            shortest = max(shortest, extra + float(way) / limit)
        elif duration is None and way > 0.0:
            goal.get("duration", f"a number above 0 [s], or {name}")
    if duration is None:
        if not step.any():
            goal.get("duration", "a number above 0 [s], because the motion rests in one place")
        if not np.isfinite(shortest):
            raise goal.refuse("duration", shortest, "a finite duration: the speed limit is too low")
        return shortest
    if shortest > duration * (1.0 + parabolic_blends.BLEND_TOLERANCE):
        raise goal.refuse(
            "duration", duration, f"at least {shortest:.6g} s with these blends and speed limits"
        )
    return duration


def default_path(mechanism: Mechanism) -> str:
    """Return the name of a mechanism's default path: its paper's path, or `demo`.

    A mechanism that only shares the name of a paper's mechanism, and cannot reach its path, also
    gets the demonstration.
    """
    name = presentation.default_path(mechanism)
    return name if name and is_reachable(name, mechanism) else DEMO


def is_reachable(name: str, mechanism: Mechanism) -> bool:
    """Return whether a named path suits a mechanism and stays within its joint limits."""
    try:
        path = load_path(name, mechanism)
        places = path.sample(np.linspace(0.0, path.duration, 50)).configuration
        return within_limits(mechanism, places)
    except RobodynError:
        return False
