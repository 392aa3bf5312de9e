# SPDX-License-Identifier: Apache-2.0
"""Whether a curve keeps to its bounds everywhere, between the samples too.

Each interval is halved until what its margins do within it is small against what is left of them:
with the margins at both ends and in the middle, and the larger of the two changes between them, a
margin that went below zero in between would have to change more than `EXCESS` times as much as it
was seen to. That is an argument, not a proof; it holds for every function that is smooth on the
scale of the last interval, and the sampling becomes as fine as the margins are small.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.planning.paths.bounds import Bounds, BrokenBound

EXCESS = 2.0
# Intervals to begin with, and how often one is halved at most.
INTERVALS, HALVINGS = 256, 24
# Most samples of one verification.
MOST = 400_000


class Verified(NamedTuple):
    """What was found along a curve.

    Attributes:
        samples: how many configurations were examined.
        broken: the bound that the first bad one breaks; None where there is none.
        place: where that is, from 0 to 1.
    """

    samples: int
    broken: BrokenBound | None
    place: float = np.nan


def verified(curve: Callable[[FloatArray], FloatArray], bounds: Bounds) -> Verified:
    """Examine a curve: configurations (N, nq) of s (N,) from 0 to 1."""
    s = np.linspace(0.0, 1.0, INTERVALS + 1)
    margins = bounds.margins(curve(s))
    samples = len(s)
    low, high = s[:-1], s[1:]
    first, last = margins[:-1], margins[1:]
    bad = _first_bad(s, margins)
    for _ in range(HALVINGS):
        if bad is not None or not len(low) or samples > MOST:
            break
        middle = 0.5 * (low + high)
        inner = bounds.margins(curve(middle))
        samples += len(middle)
        bad = _first_bad(middle, inner)
        open_ = _unsettled(first, inner, last)
        low, high = (
            np.concatenate([low[open_], middle[open_]]),
            np.concatenate([middle[open_], high[open_]]),
        )
        first, last = (
            np.concatenate([first[open_], inner[open_]]),
            np.concatenate([inner[open_], last[open_]]),
        )
    if bad is None and len(low) and samples > MOST:
        bad = float(low[0])
    # intervals still open after all halvings are too short to hide anything
    if bad is None:
        return Verified(samples, None)
    configuration = curve(np.array([bad]))[0]
    broken = bounds.broken(configuration) or bounds.nearest(configuration)
    return Verified(samples, broken, bad)


def _first_bad(s: FloatArray, margins: FloatArray) -> float | None:
    bad = np.flatnonzero((margins < 0.0).any(axis=1))
    return float(s[bad].min()) if bad.size else None


def _unsettled(first: FloatArray, inner: FloatArray, last: FloatArray) -> FloatArray:
    """(N,) whether a margin may become negative within an interval."""
    least = np.minimum(np.minimum(first, inner), last)
    with np.errstate(invalid="ignore"):
        change = np.maximum(np.abs(inner - first), np.abs(last - inner))
        change = np.where(np.isfinite(change), change, 0.0)
        return np.asarray((least < EXCESS * change).any(axis=1))
