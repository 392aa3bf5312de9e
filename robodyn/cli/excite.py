# SPDX-License-Identifier: Apache-2.0

"""`robodyn excite MODEL`: a motion from which parameters are identified well."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import robodyn as rd
from robodyn.cli.commands import Answer, passed
from robodyn.cli.session import progress_bar


def excite(
    model: str,
    /,
    *,
    output: Path = Path("exciting.yaml"),
    settings: dict[str, Any] = passed(
        "exciting_trajectory", "duration", "seed", "harmonics", "trials", "condition_limit"
    ),
) -> Answer:
    """Find a motion that shows a mechanism's parameters: record it, then `robodyn identify`.

    It starts and ends at rest at home and keeps to the limits of position, rate, effort and
    conditioning. Fly it by `robodyn simulate MODEL --path FILE`, or path:=FILE in a launch.

    Args:
        output: File to write, which --path and the planner take.
    """
    mechanism = rd.load(model)
    if output.suffix.lower() not in (".yaml", ".yml"):
        # said before the search, not after it
        raise rd.InvalidInput(f"{output}: paths are written as .yaml files", value=str(output))
    with progress_bar("searching") as tell:
        found = rd.exciting_trajectory(mechanism, **settings, progress=tell)
    found.save(output)
    facts = {
        "model": mechanism.name,
        "file": str(output),
        "duration": found.duration,
        "joints": list(found.joint_names),
    }
    return Answer(facts, f"{output}: {found.duration:g} s of {mechanism.name}")
