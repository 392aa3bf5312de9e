# SPDX-License-Identifier: Apache-2.0

"""Interior-point method for the fastest motion within limits, see `program`.

The method is primal-dual (see Verscheure et al. (2009), "Time-optimal path tracking for robots: a
convex optimization approach"). Duration and limits couple only neighboring coefficients of the
motion, so the matrix has three or five diagonals. With limits on rates of change, the program with
tangents at the current motion is convex; each step approaches its solution and takes new tangents.
With these limits, or with friction, the whole problem is not convex, and the result is a local
optimum.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.planning.time_optimal.program import Program, slack

# Largest number of steps of the method, and the relative gap at which it ends.
STEPS, GAP_TOLERANCE = 120, 2e-5
# Largest step, relative to the distance to the nearest limit.
NEAR = 0.99
# Relative margin that a starting motion should have from its limits, and the least it must have.
INSIDE, BARELY = 1e-3, 1e-6
# Smallest factor on a step, smallest factor on the squared speed of a motion slowed down to its
# limits, and a squared speed that exceeds any limit [1/s^2].
SMALLEST, SLOWEST, FAST = 1e-8, 1e-12, 1e8
# Barrier weight, relative to the duration, for a motion far from the fastest.
START_WEIGHT = 0.3
# Weight of the duration beside the excess of limits in the search for a feasible motion.
LIGHT = 1e-4


class NoMotion(Exception):
    """Error raised if no motion within the limits was found."""


def _gather(blocks: FloatArray) -> FloatArray:
    """Sum contributions (N, width) of N spline intervals to each spline coefficient."""
    count, width = blocks.shape
    out = np.zeros(count + width - 1)
    for i in range(width):
        out[i : i + count] += blocks[:, i]
    return out


def _assemble_band(blocks: FloatArray) -> FloatArray:
    """Assemble overlapping blocks (N, width, width) into a symmetric band matrix.

    Returns its lower band (width, N + width - 1), one row for each diagonal.
    """
    count, width = blocks.shape[:2]
    out = np.zeros((width, count + width - 1))
    for j in range(width):
        for i in range(j, width):
            out[i - j, j : j + count] += blocks[:, i, j]
    return out


def _solve_band(band: FloatArray, side: FloatArray) -> FloatArray:
    """Solve a positive definite banded system, even if it is nearly singular."""
    from scipy.linalg import LinAlgError, solveh_banded

    more = 0.0
    while True:
        raised = band.copy()
        raised[0] *= 1.0 + more
        try:
            return np.asarray(solveh_banded(raised, side, lower=True, check_finite=False))
        except LinAlgError:
            more = max(100.0 * more, 1e-12)


def _step_length(values: FloatArray, change: FloatArray) -> float:
    """Return the largest step length, at most 1, that keeps all values positive.

    `values` are slacks or multipliers, and `change` their Newton step.
    """
    falls = change < 0.0
    return float(min(1.0, (NEAR * values[falls] / -change[falls]).min(initial=np.inf)))


def _gap_factor(size: float) -> float:
    """Return the factor by which to reduce the duality gap after a given step length."""
    return 0.1 if size > 0.9 else 0.3 if size > 0.5 else 0.7


class _EndCoefficients:
    """Elimination of the end coefficients of a spline with prescribed end speeds."""

    def __init__(self, p: Program) -> None:
        self.first, self.last = np.isfinite(p.ends)
        self.end_coupling = p.spline.end_coupling

    def eliminate(self, band: FloatArray, *sides: FloatArray) -> None:
        """Eliminate the end coefficients from a banded system, in place."""
        r = self.end_coupling
        if self.first:
            band[0, 1] += r * (r * band[0, 0] - 2.0 * band[1, 0])
            band[1:-1, 1] -= r * band[2:, 0]
            band[0, 0], band[1:, 0] = 1.0, 0.0
            for side in sides:
                side[1] -= r * side[0]
                side[0] = 0.0
        if self.last:
            band[0, -2] += r * (r * band[0, -1] - 2.0 * band[1, -2])
            band[1:-1, -3] -= r * band[2:, -3]
            band[0, -1], band[1, -2], band[2:, -3] = 1.0, 0.0, 0.0
            for side in sides:
                side[-2] -= r * side[-1]
                side[-1] = 0.0

    def substitute(self, step: FloatArray) -> None:
        """Set the steps of the end coefficients, in place, from those of their neighbors."""
        if self.first:
            step[0] = -self.end_coupling * step[1]
        if self.last:
            step[-1] = -self.end_coupling * step[-2]


def minimize_duration(
    p: Program,
    c: FloatArray,
    weight: float = START_WEIGHT,
    report_progress: Callable[[float], None] = lambda _: None,
    centered: float = np.inf,
) -> tuple[FloatArray, float]:
    """Compute the fastest motion, starting from a motion strictly within the limits.

    Args:
        p: optimization program with the limits.
        c: coefficients of the speed spline of a motion strictly within the limits.
        weight: initial weight of the barrier, relative to the duration; the default suits a motion
            far from the fastest.
        report_progress: called with the progress from 0 to 1.
        centered: Newton decrement of a step, relative to the gap, above which the barrier's weight
            stays the same until the motion has converged.

    Returns:
        The coefficients of the fastest motion's speed spline, and the duality gap relative to the
        duration. For a convex program, the gap bounds how much longer than the shortest motion this
        motion is.
    """
    spline, ends = p.spline, _EndCoefficients(p)
    r, G = slack(p, c, slopes=True)
    finite = np.isfinite(r)
    count = int(finite.sum())
    time = spline.time(c)
    gap = weight * time
    mu = gap / count
    z = mu / r
    first_gap = np.log(gap)
    for _ in range(STEPS):
        whole = first_gap - np.log(GAP_TOLERANCE * time)
        report_progress(np.clip((first_gap - np.log(gap)) / whole, 0.0, 1.0))
        w = z / r
        steep, bent = spline.duration_derivatives(c)
        band = _assemble_band(bent + np.swapaxes(G, 1, 2) @ (G * w[..., None]))
        side = _gather(np.einsum("nri,nr->ni", G, mu / r) - steep)
        ends.eliminate(band, side)
        step = _solve_band(band, side)
        decrement = float(side @ step)
        ends.substitute(step)
        change = np.einsum("nri,ni->nr", G, spline.local(step))
        dual = np.where(finite, mu / r - z - w * change, 0.0)
        size, deep = _step_length(r, change), _step_length(z, dual)
        while (new := slack(p, c + size * step, slopes=False)[0]).min() <= 0.0 or (
            new < (1.0 - NEAR) ** 2 * r
        ).any():
            size *= 0.5
            if size < SMALLEST:
                return c, gap / time
        c = c + size * step
        z = z + deep * dual
        r, G = slack(p, c, slopes=True)
        time = spline.time(c)
        gap = float((z[finite] * r[finite]).sum())
        if decrement > centered * gap:
            continue
        if gap < GAP_TOLERANCE * time and size > 0.5 and deep > 0.5:
            break
        mu = _gap_factor(size) * gap / count
    return c, gap / time


def initial_point(p: Program) -> FloatArray:
    """Find a motion strictly within the limits of a program, as a starting point.

    Returns:
        The coefficients (N + 2,) of the motion's speed spline.

    Raises:
        NoMotion: no such motion was found.
    """
    if not np.isfinite(p.ends).any():
        slow = slow_down(p, np.full(len(p.spline.steps) + 2, FAST))
        if slow is not None:
            return slow
    known = [end for end in p.ends if np.isfinite(end)] or [1.0]
    first, last = (end if np.isfinite(end) else known[0] for end in p.ends)
    r = np.concatenate([[0.0], np.cumsum(p.spline.steps)])
    return phase_one(p, p.spline.interpolate(first + (last - first) * r))


def slow_down(p: Program, c: FloatArray) -> FloatArray | None:
    """Slow a motion uniformly until it is within the limits of a program.

    `c` are the coefficients of the motion's speed spline.

    Returns:
        The coefficients of the slower motion's spline; None if no such motion was found.
    """
    less = 1e-4
    while slack(p, (1.0 - less) * c, slopes=False)[0].min() < min(INSIDE, 0.1 * less):
        less = 2.0 * less if less < 0.25 else 0.5 + 0.5 * less
        if less > 1.0 - SLOWEST:
            return None
    return (1.0 - less) * c


def phase_one(p: Program, c: FloatArray) -> FloatArray:
    """Find a motion within limits, starting from one that may exceed them.

    The interior-point method minimizes the largest excess relative to the limits. `c` are the
    coefficients of the first motion's speed spline.

    Returns:
        The coefficients of the speed spline of the motion found.

    Raises:
        NoMotion: no motion within the limits was found.
    """
    spline, ends = p.spline, _EndCoefficients(p)
    r, G = slack(p, c, slopes=True, tangent=False)
    finite = np.isfinite(r)
    count = int(finite.sum())
    excess = max(-1.5 * float(r.min()), 0.0) + 1.0
    z = excess / (count * (r + excess))
    mu = 0.3 * excess / count
    whole = spline.time(c)
    for _ in range(STEPS):
        # a larger margin may not exist: the speed given at an end may be close to its limit
        if r.min() > BARELY:
            return c
        margin = r + excess
        w = z / margin
        steep, bent = spline.duration_derivatives(c)
        fraction = LIGHT * excess / whole
        band = _assemble_band(fraction * bent + np.swapaxes(G, 1, 2) @ (G * w[..., None]))
        side = _gather(np.einsum("nri,nr->ni", G, mu / margin) - fraction * steep)
        row = _gather(np.einsum("nri,nr->ni", G, w))
        ends.eliminate(band, side, row)
        step, other = _solve_band(band, np.stack([side, row], axis=1)).T
        lower = float((mu / margin).sum()) - 1.0 - float(row @ step)
        lower /= float(w.sum()) - float(row @ other)
        step = step - lower * other
        ends.substitute(step)
        change = np.einsum("nri,ni->nr", G, spline.local(step)) + lower
        dual = np.where(finite, mu / margin - z - w * change, 0.0)
        size, deep = _step_length(margin, change), _step_length(z, dual)
        while slack(p, c + size * step, slopes=False)[0].min() + excess + size * lower <= (
            1.0 - NEAR
        ) * 0.1 * float(margin.min()):
            size *= 0.5
            if size < SMALLEST:
                raise NoMotion
        c = c + size * step
        excess += size * lower
        z = z + deep * dual
        r, G = slack(p, c, slopes=True, tangent=False)
        gap = float((z[finite] * (r + excess)[finite]).sum())
        if gap < INSIDE * 0.1 and excess > 0.0 and size > 0.5:
            break
        mu = _gap_factor(size) * gap / count
    raise NoMotion
