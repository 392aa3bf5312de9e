# SPDX-License-Identifier: Apache-2.0

"""Paths that a mechanism can follow in the viewer."""

from __future__ import annotations

from collections.abc import Callable

from robodyn.mechanism.mechanism import Mechanism
from robodyn.trajectories import ARM_PATHS, PAPER_PATHS, Trajectory, demonstration, load_path
from robodyn.trajectories.demonstration import DEMO
from robodyn.trajectories.waypoints import default_path, is_reachable


def paths_of(
    mechanism: Mechanism,
    requested: str = "",
    progress: Callable[[float], None] | None = None,
) -> dict[str, Trajectory]:
    """Return the trajectories that a mechanism can follow in the viewer.

    These are its default path, suitable paths of the papers, and a demonstration.

    Args:
        mechanism: mechanism that follows them.
        requested: name of the initial path, or a waypoint file; it may exceed limits.
        progress: called with the completed fraction, 0 to 1, of the demonstration.

    Returns:
        Trajectories by name, the initial one first.

    Raises:
        PathError: `requested` is unknown, or not a path for this mechanism.
    """
    found: dict[str, Trajectory] = {}
    first = requested or default_path(mechanism)
    found[first] = load_path(first, mechanism, progress=progress)
    for name in (*PAPER_PATHS, *ARM_PATHS):
        if name not in found and is_reachable(name, mechanism):
            found[name] = load_path(name, mechanism)
    if DEMO not in found:
        found[DEMO] = demonstration(mechanism, progress=progress)
    return found
