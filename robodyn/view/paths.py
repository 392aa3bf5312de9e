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

"""The paths on which a mechanism can be shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robodyn.errors import RobodynError
from robodyn.trajectories import ARM_PATHS, PAPER_PATHS, demonstration, load_path
from robodyn.trajectories.demonstration import DEMO, within_limits

if TYPE_CHECKING:
    from robodyn.mechanisms.protocol import Mechanism
    from robodyn.trajectories import Trajectory


def paths_of(mechanism: Mechanism, wanted: str = "") -> dict[str, Trajectory]:
    """Paths by name, the one to begin with first: those of the papers that fit, and a demo.

    Args:
        mechanism: what is to follow them.
        wanted: a path's name or a waypoint file to begin with; it is taken as it is.

    Raises:
        PathError: `wanted` is unknown, or does not suit the mechanism.
    """
    found: dict[str, Trajectory] = {}
    if wanted and wanted != DEMO:
        found[wanted] = load_path(wanted, mechanism)
    elif wanted:
        found[DEMO] = demonstration(mechanism)
    for name in (*PAPER_PATHS, *ARM_PATHS):
        if name not in found and _fits(name, mechanism):
            found[name] = load_path(name, mechanism)
    found.setdefault(DEMO, demonstration(mechanism))
    return found


def _fits(name: str, mechanism: Mechanism) -> bool:
    try:
        path = load_path(name, mechanism)
        places = path.sample(np.linspace(0.0, path.duration, 50)).configuration
        return within_limits(mechanism, places)
    except RobodynError:
        return False
