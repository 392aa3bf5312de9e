# SPDX-License-Identifier: Apache-2.0

"""Where along a path a time-optimal motion needs its points.

In an interval the acceleration is constant and no limit is exceeded anywhere, so where an effort at
its limit would change along the interval, a part of the limit is left unused. Shorter intervals
there leave less.
"""

from __future__ import annotations

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.planning.kernels.intervals import PLACES, Intervals
from robodyn.planning.time_optimal.constraints.base import quantities
from robodyn.planning.time_optimal.path import Placing, graded

# Share of the points that goes to where limits are left unused; the rest stays as it is.
MOVED = 0.8
# Of a limit: what every interval is taken to leave unused, besides what was found.
UNUSED = 1e-4
# Of a limit: what is used up by less does not limit.
USED = 0.98


def spacing(problem: Intervals, x: FloatArray) -> Placing | None:
    """How to spread the points of a piece, by a motion on coarse intervals; None for as they are.

    An interval of length h that takes the time t and leaves w of its limiting quantity's range
    costs the time w t. With w in proportion to h, the sum is least where the points' density is
    in proportion to the square root of w t / h^2. Where little is left unused anywhere, the points
    stay where they are.

    Args:
        problem: the coarse intervals.
        x: (N + 1,) squares of the speed at their ends.
    """
    h, share = problem.steps, 0.5 * np.arange(PLACES)
    square = x[:-1, None] + np.diff(x)[:, None] * share
    acceleration = (0.5 * np.diff(x) / h)[:, None, None]
    value = quantities(problem.terms, square[..., None], acceleration)
    whole = problem.upper - problem.lower
    limited = np.isfinite(whole) & (whole > 0.0)
    with np.errstate(invalid="ignore"):  # of what has no limits
        middle = np.where(limited, 0.5 * (problem.upper + problem.lower), 0.0)[:, None]
    half = np.where(limited, 0.5 * whole, np.inf)[:, None]
    # from -1 at the least to 1 at the most
    used = (value - middle) / half
    most = np.abs(used).max(axis=1)
    rows = np.arange(len(h))
    limiting = most.argmax(axis=1)
    changes = np.ptp(used, axis=1)[rows, limiting]
    changes[most[rows, limiting] < USED] = 0.0
    speed = np.sqrt(x)
    with np.errstate(divide="ignore"):
        times = 2.0 * h / (speed[1:] + speed[:-1])
    wanted = np.sqrt(changes * times + UNUSED * times.mean())
    if not (np.isfinite(wanted).all() and changes.any()):
        return None
    # what moves on the finer intervals stays within reach
    density = wanted / h
    density[1:] = np.maximum(density[1:], wanted[:-1] / h[:-1])
    density[:-1] = np.maximum(density[:-1], wanted[1:] / h[1:])
    wanted = density * h
    points = (1.0 - MOVED) / len(h) + MOVED * wanted / wanted.sum()
    shares = np.concatenate([[0.0], np.cumsum(points)])
    shares /= shares[-1]
    own = np.linspace(0.0, 1.0, len(shares))

    def nodes(count: int) -> FloatArray:
        return graded(np.interp(np.linspace(0.0, 1.0, count + 1), shares, own))

    return nodes
