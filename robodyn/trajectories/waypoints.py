"""Paths by name, and from files: waypoints joined by lines, each from rest to rest.

```yaml
name: up_and_over          # optional
profile: lspb              # optional; lspb, cubic, quintic or cycloidal
v_max: 0.08                # m/s, optional, of every segment that names none
w_max: 0.08                # rad/s, likewise
waypoints:
  - {xyz: [0.1, 0.0, 0.4], rpy: [0.0, 0.0, -0.2]}
  - {xyz: [0.3, 0.0, 0.6], rpy: [0.0, 0.0, 0.2], duration: 6.0}
```

A waypoint's `duration`, `v_max`, `w_max` and `profile` are of the segment that leads to it.
Angles are interpolated as they are written, so a turn of more than half a circle can be asked for.
An arm's waypoints are `{joints: [...]}` [rad or m] in the order of its chain, and `v_max` is of
its joints.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from robodyn.errors import PathError, RobodynError
from robodyn.loading.documents import Fields, read_yaml
from robodyn.trajectories.joints import JointLine, plan_joints
from robodyn.trajectories.line import Line, plan_line_rpy
from robodyn.trajectories.paper import ARM_PATHS, PAPER_PATHS, arm_path, paper_path
from robodyn.trajectories.profiles import PEAK_SPEED
from robodyn.trajectories.sequence import Sequence

if TYPE_CHECKING:
    from robodyn.mechanism import Mechanism
    from robodyn.trajectories.base import Trajectory

_SEGMENT_FIELDS = ("duration", "v_max", "w_max", "profile")
_UNITS = {"duration": "s", "v_max": "m/s", "w_max": "rad/s"}


def load_path(source: str | Path, mechanism: Mechanism | None = None) -> Trajectory:
    """A path of the papers by its name, or waypoints from a YAML file.

    Args:
        source: name or file.
        mechanism: what is to follow the path; if given, the path must suit its kind and size.

    Raises:
        PathError: neither a known name nor a readable file; a field that cannot be taken or a
            segment that its limits do not allow, each with the file and the field; a path that
            does not suit the mechanism.
    """
    name = str(source)
    if name in PAPER_PATHS:
        path: Trajectory = paper_path(name)
    elif name in ARM_PATHS:
        path = arm_path(name)
    else:
        path = _from_file(_waypoint_file(source))
    if mechanism is not None:
        _check_suits(path, name, mechanism)
    return path


def _check_suits(path: Trajectory, name: str, mechanism: Mechanism) -> None:
    start = path.sample(0.0)
    # a pose has one number more than its velocity, also where an arm has seven joints
    is_pose = start.configuration.shape != start.velocity.shape
    of = "poses of a platform" if is_pose else f"{len(start.velocity)} joint positions"
    joints = len(mechanism.joint_names)
    wants = "poses of a platform" if mechanism.kind == "stewart" else f"{joints} joint positions"
    if of != wants:
        raise PathError(
            f"path {name!r} is of {of}, {mechanism.name} takes {wants}",
            value=name,
        )


def _from_file(file: Path) -> Trajectory:
    fields = Fields(read_yaml(file, PathError), str(file), error=PathError)
    fields.only("name", "waypoints", *_SEGMENT_FIELDS)
    fields.text("name", "unnamed")
    waypoints = fields.children("waypoints")
    if len(waypoints) < 2:
        raise fields.refuse("waypoints", fields.data["waypoints"], "two waypoints or more")
    of_joints = "joints" in waypoints[0]
    for waypoint in waypoints:
        waypoint.only(*(("joints",) if of_joints else ("xyz", "rpy")), *_SEGMENT_FIELDS)
    for name in _SEGMENT_FIELDS:
        if name in waypoints[0]:
            raise waypoints[0].refuse(
                name, waypoints[0].data[name], "none: no segment leads to the first waypoint"
            )
    segment = _joint_segment if of_joints else _segment
    segments = tuple(
        segment(fields, start, goal)
        for start, goal in zip(waypoints[:-1], waypoints[1:], strict=True)
    )
    return segments[0] if len(segments) == 1 else Sequence(segments)


def _waypoint_file(source: str | Path) -> Path:
    try:
        file = Path(source).expanduser()
        if file.suffix.lower() in {".yaml", ".yml"} and file.exists():
            return file
    except (OSError, ValueError, TypeError, RuntimeError):
        pass  # a name too long, with a null in it, no name at all, or of an unknown user's home
    text = str(source)
    shown = text if len(text) <= 100 else text[:97] + "..."
    raise PathError(
        f"no path {shown!r}: not one of {', '.join((*PAPER_PATHS, *ARM_PATHS))}, nor a waypoint "
        "file (.yaml) that exists",
        value=source,
    )


def _segment(common: Fields, start: Fields, goal: Fields) -> Line:
    ends = [(f.array("xyz", (3,), "m"), f.array("rpy", (3,), "rad")) for f in (start, goal)]
    xyz, rpy = zip(*ends, strict=True)
    duration, v_max, w_max = (_limit(common, goal, name) for name in _UNITS)
    try:
        return plan_line_rpy(xyz, rpy, duration, v_max, w_max, _profile(common, goal))
    except RobodynError as error:
        raise PathError(f"{goal.source}: {goal.path}: {error}", value=error.value) from error


def _joint_segment(common: Fields, start: Fields, goal: Fields) -> JointLine:
    expected = "a list of joint positions [rad or m]"
    joints = start.get("joints", expected)
    if not isinstance(joints, list) or not joints:
        raise start.refuse("joints", joints, expected)
    size = len(joints)
    q0, q1 = (f.array("joints", (size,), "rad or m") for f in (start, goal))
    duration, v_max = (_limit(common, goal, name) for name in ("duration", "v_max"))
    try:
        return plan_joints(q0, q1, duration, v_max, _profile(common, goal))
    except RobodynError as error:
        raise PathError(f"{goal.source}: {goal.path}: {error}", value=error.value) from error


def _limit(common: Fields, goal: Fields, name: str) -> float | None:
    fields = goal if name in goal else common
    return fields.number(name, _UNITS[name], above=0.0) if name in fields else None


def _profile(common: Fields, goal: Fields) -> str:
    return (goal if "profile" in goal else common).text("profile", "lspb", tuple(PEAK_SPEED))
