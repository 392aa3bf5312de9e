# SPDX-License-Identifier: Apache-2.0
"""Words and units for labels and headings of charts and tables."""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.mechanism.mechanism import Mechanism
from robodyn.presentation.nouns import nouns_of

_EFFORTS = {"N": "force", "N m": "torque"}


def joint_titles(mechanism: Mechanism) -> list[str]:
    """Return titles of the driven joints: their names, or `leg 1` ... for legs."""
    names, noun = mechanism.joint_names, nouns_of(mechanism).joint
    if noun == "joint":
        return list(names)
    return [f"{noun} {i}" for i in range(1, len(names) + 1)]


def effort_name(mechanism: Mechanism) -> str:
    """Return `force` or `torque` if it fits all driven joints, otherwise `effort`."""
    units = set(mechanism.drives.effort_units)
    return _EFFORTS[units.pop()] if len(units) == 1 else "effort"


def effort_labels(mechanism: Mechanism) -> list[str]:
    """Return an axis label for each driven joint: `force [N]` or `torque [N m]`."""
    return [f"{_EFFORTS[unit]} [{unit}]" for unit in mechanism.drives.effort_units]


def position_name(mechanism: Mechanism) -> str:
    """Return the term for positions of driven joints: `length` or `position`."""
    return "length" if nouns_of(mechanism).joint == "leg" else "position"


def units_in_one(units: Sequence[str], per: str = "") -> str:
    """Join the distinct units by commas, each with suffix `per`, as in `m/s, rad/s`."""
    return ", ".join(unit + per for unit in dict.fromkeys(units))
