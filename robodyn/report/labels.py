# SPDX-License-Identifier: Apache-2.0
"""Words and units for labels and headings, from what a mechanism says of itself."""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.mechanisms.mechanism import Mechanism

_EFFORTS = {"N": "force", "N m": "torque"}


def joint_titles(mechanism: Mechanism) -> list[str]:
    """Titles of the driven joints: `leg 1` where they are legs, else the names of the joints."""
    names, noun = mechanism.joint_names, mechanism.nouns.joint
    if noun == "joint":
        return list(names)
    return [f"{noun} {i}" for i in range(1, len(names) + 1)]


def effort_name(mechanism: Mechanism) -> str:
    """`force` or `torque` where all joints exert the same, else `effort`."""
    units = set(mechanism.effort_units)
    return _EFFORTS[units.pop()] if len(units) == 1 else "effort"


def effort_labels(mechanism: Mechanism) -> list[str]:
    """Label of an axis for each driven joint: `force [N]` or `torque [N m]`."""
    return [f"{_EFFORTS[unit]} [{unit}]" for unit in mechanism.effort_units]


def position_name(mechanism: Mechanism) -> str:
    """`length` of legs, `position` of other joints."""
    return "length" if mechanism.nouns.joint == "leg" else "position"


def units_in_one(units: Sequence[str], per: str = "") -> str:
    """The units of one column or axis, separated by commas; `per` follows each of them."""
    return ", ".join(unit + per for unit in dict.fromkeys(units))
