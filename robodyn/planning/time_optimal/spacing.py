# SPDX-License-Identifier: Apache-2.0

"""Distribution of the points of a time-optimal motion along its path.

The acceleration is constant in an interval, and no limit is exceeded anywhere in it. So if an
effort at its limit varies along the interval, part of the limit is unused. With shorter intervals
there, less is unused.
"""

from __future__ import annotations

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.planning.kernels.intervals import PLACES, Intervals
from robodyn.planning.time_optimal.constraints.base import quantities
from robodyn.planning.time_optimal.path import Placing, grade

# Fraction of the points that moves to intervals with unused limits.
MOVED = 0.8
# Unused fraction of a limit that is added to that of every interval.
UNUSED = 1e-4
# Fraction of a limit above which it counts as reached.
USED = 0.98


def spacing(problem: Intervals, x: FloatArray) -> Placing | None:
    """Create a function that places the nodes of a piece, from a coarse motion.

    An interval of length h that takes the time t and leaves a fraction w of its limiting
    quantity's range unused costs the time w t. With w in proportion to h, the sum is least for a
    density of points in proportion to the square root of w t / h^2. If the limits are well used
    everywhere, the points are not changed.

    Args:
        problem: limits in the N coarse intervals.
        x: (N + 1,) squared path speeds at the nodes of these intervals.

    Returns:
        A function that returns the nodes (values of s) for a given number of intervals; None if
        the limits are well used everywhere, so that the points need no change.
    """
    h, fraction = problem.steps, 0.5 * np.arange(PLACES)
    square = x[:-1, None] + np.diff(x)[:, None] * fraction
    acceleration = (0.5 * np.diff(x) / h)[:, None, None]
    value = quantities(problem.terms, square[..., None], acceleration)
    whole = problem.upper - problem.lower
    limited = np.isfinite(whole) & (whole > 0.0)
    with np.errstate(invalid="ignore"):  # infinite limits
        middle = np.where(limited, 0.5 * (problem.upper + problem.lower), 0.0)[:, None]
    half = np.where(limited, 0.5 * whole, np.inf)[:, None]
    # from -1 at the lower limit to 1 at the upper
    used = (value - middle) / half
    most = np.abs(used).max(axis=1)
    rows = np.arange(len(h))
    limiting = most.argmax(axis=1)
    changes = np.ptp(used, axis=1)[rows, limiting]
    changes[most[rows, limiting] < USED] = 0.0
    speed = np.sqrt(x)
    with np.errstate(divide="ignore"):
        times = 2.0 * h / (speed[1:] + speed[:-1])
    weights = np.sqrt(changes * times + UNUSED * times.mean())
    if not (np.isfinite(weights).all() and changes.any()):
        return None
    # the motion on the finer intervals stays near this one
    density = weights / h
    density[1:] = np.maximum(density[1:], weights[:-1] / h[:-1])
    density[:-1] = np.maximum(density[:-1], weights[1:] / h[1:])
    weights = density * h
    points = (1.0 - MOVED) / len(h) + MOVED * weights / weights.sum()
    fractions = np.concatenate([[0.0], np.cumsum(points)])
    fractions /= fractions[-1]
    own = np.linspace(0.0, 1.0, len(fractions))

    def nodes(count: int) -> FloatArray:
        return grade(np.interp(np.linspace(0.0, 1.0, count + 1), fractions, own))

    return nodes
