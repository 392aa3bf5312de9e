# SPDX-License-Identifier: Apache-2.0
"""Which of the spaces a mechanism's configurations are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robodyn.planning.sheets import SheetSpace
from robodyn.planning.spaces import OpenSpace

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.mechanism import Mechanism
    from robodyn.planning.spaces import Space


def space_of(mechanism: Mechanism, start: FloatArray, goal: FloatArray) -> Space:
    """The space in which to search between two configurations (nq,)."""
    if mechanism.coordinates.is_constrained:
        return SheetSpace(mechanism, start, goal)
    return OpenSpace(mechanism, start, goal)
