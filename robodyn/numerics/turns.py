# SPDX-License-Identifier: Apache-2.0

"""Full turns of an angle, which leave a joint where it is."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.numerics.compiler import inner

HALF: Final = math.pi
TURN: Final = 2.0 * math.pi
# Angles beyond have no digits left of a turn [rad].
MOST: Final = 1e9


@inner
def shortest_turn(angle: Any) -> Any:
    """Return an angle [rad] less the full turns in it; one of at most half a turn as it is."""
    if abs(angle) <= HALF or not abs(angle) < MOST:
        return angle
    if angle > 0.0:
        return angle - TURN * float(int(angle / TURN + 0.5))
    return angle + TURN * float(int(-angle / TURN + 0.5))


def unwrapped(angles: FloatArray, expected: FloatArray | float = 0.0) -> FloatArray:
    """Return angles (K, n) along a motion without the jumps by full turns between them.

    Args:
        angles: (K, n) [rad].
        expected: (K - 1, n) [rad] steps from each row to the next, where they are about known; each
            step of the result is within half a turn of it.
    """
    turns = full_turns(np.diff(angles, axis=0) - expected)
    if not turns.any():
        return angles
    out = np.array(angles)
    out[1:] -= np.cumsum(turns, axis=0)
    return out


def full_turns(angles: FloatArray) -> FloatArray:
    """Return the full turns [rad] in angles (...), which `shortest_turn` takes off."""
    within = (np.abs(angles) <= HALF) | ~(np.abs(angles) < MOST)
    known = np.where(within, 0.0, angles)
    return np.asarray(np.copysign(TURN * np.trunc(np.abs(known) / TURN + 0.5), known))
