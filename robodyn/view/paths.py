# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""The paths that a mechanism can follow in the viewer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robodyn.errors import KinematicsError, RobodynError
from robodyn.trajectories import (
    ARM_PATHS,
    PAPER_PATHS,
    Sequence,
    load_path,
)
from robodyn.trajectories.straight import plan_straight

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.protocol import Mechanism
    from robodyn.trajectories import Trajectory


DEMO = "demo"


def paths_of(mechanism: Mechanism, wanted: str = "") -> dict[str, Trajectory]:
    """Paths by name, the initial one first: paths of the papers within the limits, and a demo.

    Args:
        mechanism: what is to follow them.
        wanted: name of a path or a waypoint file to begin with, within the limits or not.

    Raises:
        PathError: `wanted` is unknown, or not a path for this mechanism.
    """
    found: dict[str, Trajectory] = {}
    if wanted and wanted != DEMO:
        found[wanted] = load_path(wanted, mechanism)
    elif wanted:
        found[DEMO] = demo_path(mechanism)
    for name in (*PAPER_PATHS, *ARM_PATHS):
        if name not in found and _fits(name, mechanism):
            found[name] = load_path(name, mechanism)
    found.setdefault(DEMO, demo_path(mechanism))
    return found


def demo_path(mechanism: Mechanism) -> Trajectory:
    """A small motion in each coordinate about home and back, without those beyond the limits."""
    home = mechanism.home
    ways = np.diag(_amplitudes(mechanism))
    limits = mechanism.position_limits
    legs: list[Trajectory] = []
    for way in (*ways, *-ways):
        goal = mechanism.advance(home, way)
        if not _within(mechanism, goal, limits):
            continue
        legs += [
            plan_straight(mechanism, begin, end, duration=1.0, profile="quintic")
            for begin, end in ((home, goal), (goal, home))
        ]
    if not legs:
        legs = [plan_straight(mechanism, home, home, duration=1.0)]
    return legs[0] if len(legs) == 1 else Sequence(tuple(legs))


def _amplitudes(mechanism: Mechanism) -> FloatArray:
    """How far a demo moves in each velocity coordinate [m, rad]."""
    if mechanism.coordinates.is_pose:
        units = np.array(mechanism.coordinates.units)
        return np.where(units == "rad", 0.15, 0.12 * mechanism.size)
    rows = [mechanism.joint_names.index(name) for name in mechanism.independent_joints]
    span = np.minimum(np.diff(mechanism.position_limits[rows], axis=1)[:, 0], 6.0)
    return np.asarray(0.1 * span)


def _fits(name: str, mechanism: Mechanism) -> bool:
    try:
        path = load_path(name, mechanism)
        places = path.sample(np.linspace(0.0, path.duration, 50)).configuration
        return _within(mechanism, places, mechanism.position_limits)
    except RobodynError:
        return False


def _within(mechanism: Mechanism, configurations: FloatArray, limits: FloatArray) -> bool:
    try:
        positions = mechanism.joint_positions(configurations)
    except KinematicsError:
        return False
    return bool(((positions >= limits[:, 0]) & (positions <= limits[:, 1])).all())
