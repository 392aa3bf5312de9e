# SPDX-License-Identifier: Apache-2.0

"""The path to follow where none is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robodyn.errors import RobodynError
from robodyn.trajectories.demonstration import DEMO, within_limits
from robodyn.trajectories.waypoints import load_path

if TYPE_CHECKING:
    from robodyn.mechanisms.mechanism import Mechanism


def default_path(mechanism: Mechanism) -> str:
    """Name of the path of a paper for the mechanism of that paper, of a demonstration for others.

    A mechanism that only has the name of a paper's, and cannot reach its path, gets the
    demonstration too.
    """
    name = mechanism.default_path
    return name if name and is_reachable(name, mechanism) else DEMO


def is_reachable(name: str, mechanism: Mechanism) -> bool:
    """Whether a path suits a mechanism and keeps to the position limits of its joints."""
    try:
        path = load_path(name, mechanism)
        places = path.sample(np.linspace(0.0, path.duration, 50)).configuration
        return within_limits(mechanism, places)
    except RobodynError:
        return False
