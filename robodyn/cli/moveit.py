# SPDX-License-Identifier: Apache-2.0

"""`robodyn moveit MODEL FOLDER`: what MoveIt needs to plan for a closed loop's tip."""

from __future__ import annotations

from typing import Any

from robodyn.cli.commands import Answer, passed
from robodyn.cli.session import load_quietly


def moveit_command(
    model: str,
    folder: str,
    /,
    *,
    how: dict[str, Any] = passed("planning.moveit.moveit", "condition_limit", "force"),
) -> Answer:
    """Write a MoveIt configuration package for a mechanism's tip: URDF, SRDF, limits, launch file.

    Its joints are those of the tip's pose, three or six; the node inverse_dynamics takes their
    trajectories.

    Args:
        folder: Where to; made if it does not exist.
    """
    from robodyn.planning.moveit import moveit

    files = [str(file) for file in moveit(load_quietly(model), folder, **how)]
    return Answer({"files": files}, "\n".join(files))
