# SPDX-License-Identifier: Apache-2.0
"""Verification that a curve stays within its bounds, also between the samples.

Each interval is halved until the variation of its margins is small compared with the margins
themselves. With margins at both ends and in the middle, a margin that is negative in between would
have to change more than `EXCESS` times as much as the larger of the two observed changes. This is
an argument, not a proof. It holds for every function that is smooth on the scale of the last
interval, and the sampling becomes finer as margins become smaller.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.planning.paths.bounds import Bounds, BoundViolation

EXCESS = 2.0
# Initial number of intervals, and largest number of halvings of one.
INTERVALS, HALVINGS = 256, 24
# Largest number of samples of one verification.
MOST = 400_000


class VerifiedCurve(NamedTuple):
    """Result of the verification of a curve.

    Attributes:
        samples: number of examined configurations.
        violation: bound that the first bad configuration violates; None if all configurations are
            within the bounds.
        place: parameter s of that configuration on the curve, from 0 to 1; NaN without a violation.
    """

    samples: int
    violation: BoundViolation | None
    place: float = np.nan


def verify_curve(curve: Callable[[FloatArray], FloatArray], bounds: Bounds) -> VerifiedCurve:
    """Verify that a curve of configurations stays within its bounds.

    Args:
        curve: function that returns configurations (N, nq) at s (N,) from 0 to 1.
        bounds: bounds to respect.

    Returns:
        The number of examined configurations, and the bound that is violated, if any.
    """
    s = np.linspace(0.0, 1.0, INTERVALS + 1)
    margins = bounds.margins(curve(s))
    samples = len(s)
    low, high = s[:-1], s[1:]
    first, last = margins[:-1], margins[1:]
    bad = _first_violation(s, margins)
    for _ in range(HALVINGS):
        if bad is not None or not len(low) or samples > MOST:
            break
        middle = 0.5 * (low + high)
        inner = bounds.margins(curve(middle))
        samples += len(middle)
        bad = _first_violation(middle, inner)
        open_ = _may_be_negative(first, inner, last)
        low = np.concatenate([low[open_], middle[open_]])
        high = np.concatenate([middle[open_], high[open_]])
        first = np.concatenate([first[open_], inner[open_]])
        last = np.concatenate([inner[open_], last[open_]])
    if bad is None and len(low) and samples > MOST:
        bad = float(low[0])
    # intervals still open after all halvings are too short to hide anything
    if bad is None:
        return VerifiedCurve(samples, None)
    configuration = curve(np.array([bad]))[0]
    violation = bounds.find_violation(configuration) or bounds.nearest(configuration)
    return VerifiedCurve(samples, violation, bad)


def _first_violation(s: FloatArray, margins: FloatArray) -> float | None:
    bad = np.flatnonzero((margins < 0.0).any(axis=1))
    return float(s[bad].min()) if bad.size else None


def _may_be_negative(first: FloatArray, inner: FloatArray, last: FloatArray) -> FloatArray:
    """Return whether any margin might become negative inside each of N intervals."""
    least = np.minimum(np.minimum(first, inner), last)
    with np.errstate(invalid="ignore"):
        change = np.maximum(np.abs(inner - first), np.abs(last - inner))
        change = np.where(np.isfinite(change), change, 0.0)
        return np.asarray((least < EXCESS * change).any(axis=1))
