# SPDX-License-Identifier: Apache-2.0

"""The paths that a mechanism can follow in the viewer."""

from __future__ import annotations

from collections.abc import Callable

from robodyn.mechanism.mechanism import Mechanism
from robodyn.trajectories import ARM_PATHS, PAPER_PATHS, Trajectory, demonstration, load_path
from robodyn.trajectories.demonstration import DEMO
from robodyn.trajectories.waypoints import default_path, is_reachable


def paths_of(
    mechanism: Mechanism,
    wanted: str = "",
    progress: Callable[[float], None] | None = None,
) -> dict[str, Trajectory]:
    """Paths by name, the initial one first: its default, paths of the papers that fit, a demo.

    Args:
        mechanism: what is to follow them.
        wanted: name of a path or a waypoint file to begin with, within the limits or not.
        progress: called with the share done, 0 to 1, of the demonstration.

    Raises:
        PathError: `wanted` is unknown, or not a path for this mechanism.
    """
    found: dict[str, Trajectory] = {}
    first = wanted or default_path(mechanism)
    found[first] = load_path(first, mechanism, progress=progress)
    for name in (*PAPER_PATHS, *ARM_PATHS):
        if name not in found and is_reachable(name, mechanism):
            found[name] = load_path(name, mechanism)
    if DEMO not in found:
        found[DEMO] = demonstration(mechanism, progress=progress)
    return found
