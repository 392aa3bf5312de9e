"""Paths from files: waypoints joined by lines, each from rest to rest.

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
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from robodyn.errors import PathError, RobodynError
from robodyn.loading.documents import Fields, read_yaml
from robodyn.trajectories.line import Line, plan_line_rpy
from robodyn.trajectories.paper import PAPER_PATHS, paper_path
from robodyn.trajectories.sequence import Sequence

if TYPE_CHECKING:
    from robodyn.trajectories.base import Trajectory

_SEGMENT_FIELDS = ("duration", "v_max", "w_max", "profile")
_UNITS = {"duration": "s", "v_max": "m/s", "w_max": "rad/s"}


def load_path(source: str | Path) -> Trajectory:
    """A path of the papers by its name, or waypoints from a YAML file.

    Raises:
        PathError: neither a known name nor a readable file; a field that cannot be taken or a
            segment that its limits do not allow, each with the file and the field.
    """
    text = str(source)
    if text in PAPER_PATHS:
        return paper_path(text)
    file = Path(source).expanduser()
    if file.suffix not in {".yaml", ".yml"} or not file.exists():
        raise PathError(
            f"no path {text!r}: not one of {', '.join(PAPER_PATHS)}, nor a waypoint file "
            "(.yaml) that exists",
            value=text,
        )
    fields = Fields(read_yaml(file, PathError), str(file), error=PathError)
    fields.only("name", "waypoints", *_SEGMENT_FIELDS)
    waypoints = fields.children("waypoints")
    if len(waypoints) < 2:
        raise fields.refuse("waypoints", fields.data["waypoints"], "two waypoints or more")
    for waypoint in waypoints:
        waypoint.only("xyz", "rpy", *_SEGMENT_FIELDS)
    segments = tuple(
        _segment(fields, start, goal)
        for start, goal in zip(waypoints[:-1], waypoints[1:], strict=True)
    )
    return segments[0] if len(segments) == 1 else Sequence(segments)


def _segment(common: Fields, start: Fields, goal: Fields) -> Line:
    ends = [(f.array("xyz", (3,), "m"), f.array("rpy", (3,), "rad")) for f in (start, goal)]
    numbers: dict[str, float | None] = {}
    for name, unit in _UNITS.items():
        fields = goal if name in goal else common
        numbers[name] = fields.number(name, unit, above=0.0) if name in fields else None
    profile = (goal if "profile" in goal else common).text("profile", "lspb")
    xyz, rpy = zip(*ends, strict=True)
    try:
        return plan_line_rpy(
            xyz, rpy, numbers["duration"], numbers["v_max"], numbers["w_max"], profile
        )
    except RobodynError as error:
        raise PathError(f"{goal.source}: {goal.path}: {error}", value=error.value) from error
