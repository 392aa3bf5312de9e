# SPDX-License-Identifier: Apache-2.0

"""Removal of full turns from angles."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.numerics.compiler import inner

HALF: Final = math.pi
TURN: Final = 2.0 * math.pi
# Angle [rad] beyond which no digits of a turn are left.
MOST: Final = 1e9


@inner
def shortest_turn(angle: Any) -> Any:
    """Return an angle [rad] without full turns, at most half a turn in magnitude."""
    if abs(angle) <= HALF or not abs(angle) < MOST:
        return angle
    if angle > 0.0:
        return angle - TURN * float(int(angle / TURN + 0.5))
    return angle + TURN * float(int(-angle / TURN + 0.5))


def unwrap(angles: FloatArray, expected: FloatArray | float = 0.0) -> FloatArray:
    """Remove jumps by full turns from angles (K, n) along a motion.

    Args:
        angles: (K, n) [rad].
        expected: (K - 1, n) [rad] expected steps from each sample to the next; each step of the
            result is within half a turn of the expected one.

    Returns:
        The angles (K, n) [rad] without jumps.
    """
    turns = full_turns(np.diff(angles, axis=0) - expected)
    if not turns.any():
        return angles
    out = np.array(angles)
    out[1:] -= np.cumsum(turns, axis=0)
    return out


def full_turns(angles: FloatArray) -> FloatArray:
    """Return the full turns [rad] in angles (...) that `shortest_turn` would remove."""
    within = (np.abs(angles) <= HALF) | ~(np.abs(angles) < MOST)
    known = np.where(within, 0.0, angles)
    return np.asarray(np.copysign(TURN * np.trunc(np.abs(known) / TURN + 0.5), known))
