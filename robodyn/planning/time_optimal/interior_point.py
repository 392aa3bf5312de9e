# SPDX-License-Identifier: Apache-2.0

"""The shortest time in which a smooth motion keeps to its limits, see `smooth_programme`.

The programme with tangents at the present motion is convex. Its solution is approached, and the
tangents are taken anew, in every step of a primal-dual interior-point method, whose matrix has five
diagonals. The whole is not convex: what is found is the shortest of the motions nearby.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from robodyn.planning.time_optimal.smooth_programme import (
    Programme,
    QuadraticSpline,
    slack,
    triples,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from robodyn.arrays import FloatArray

# Gauss's rule for the time of an interval.
_PLACES, _WEIGHTS = np.polynomial.legendre.leggauss(3)
_PLACES, _WEIGHTS = 0.5 * (_PLACES + 1.0), 0.5 * _WEIGHTS
# Steps of the method, and the share of the time that is left to be gained when it ends.
STEPS, GAP_TOLERANCE = 120, 2e-5
# Of the way to the nearest limit: how far a step goes at most.
NEAR = 0.99
# Of a limit: by how much a motion should keep to it to be begun with, and by how much it must.
INSIDE, BARELY = 1e-3, 1e-6
# Shares of a step that are tried, of a motion's square of speed by which it is slowed to keep to
# limits, and a square of speed that is too fast for any [1/s^2].
SMALLEST, SLOWEST, FAST = 1e-8, 1e-12, 1e8
# Of the time, beside what limits are exceeded by, in the search for a motion that keeps to them.
LIGHT = 1e-4


class NoMotion(Exception):
    """None that keeps to the limits was found."""


def time_of(spline: QuadraticSpline, c: FloatArray) -> FloatArray:
    """Times (N,) [s] of the intervals."""
    y, _ = spline.at(c, _PLACES)
    return np.asarray(spline.steps * ((1.0 / np.sqrt(y)) @ _WEIGHTS))


def _time_parts(
    spline: QuadraticSpline, of_y: FloatArray, c: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Gradient (N, 3) and Hessian (N, 3, 3) of the intervals' times."""
    y = np.einsum("npi,ni->np", of_y, triples(c))
    weight = spline.steps[:, None] * _WEIGHTS
    first = -0.5 * weight * y**-1.5
    second = 0.75 * weight * y**-2.5
    return (
        np.einsum("np,npi->ni", first, of_y),
        np.swapaxes(of_y * second[..., None], 1, 2) @ of_y,
    )


def _gathered(blocks: FloatArray) -> FloatArray:
    """(N + 2,) of the intervals' (N, 3)."""
    out = np.zeros(len(blocks) + 2)
    for i in range(3):
        out[i : i + len(blocks)] += blocks[:, i]
    return out


def _banded(blocks: FloatArray) -> FloatArray:
    """The lower diagonals (3, N + 2) of the intervals' (N, 3, 3)."""
    count = len(blocks)
    out = np.zeros((3, count + 2))
    for j in range(3):
        for i in range(j, 3):
            out[i - j, j : j + count] += blocks[:, i, j]
    return out


def _solved(band: FloatArray, side: FloatArray) -> FloatArray:
    """The solution (N + 2,) for a positive matrix, nearly singular as it may be."""
    from scipy.linalg import LinAlgError, solveh_banded

    more = 0.0
    while True:
        raised = band.copy()
        raised[0] *= 1.0 + more
        try:
            return np.asarray(solveh_banded(raised, side, lower=True, check_finite=False))
        except LinAlgError:
            more = max(100.0 * more, 1e-12)


class _Ends(NamedTuple):
    """Speeds given at the ends: the outer coefficients follow the next ones there."""

    first: bool
    last: bool

    def hold(self, band: FloatArray, *sides: FloatArray) -> None:
        """Eliminate the outer coefficients from a matrix and right sides, in place."""
        if self.first:
            # c0 changes as -ratio c1, with equal steps beside the end: ratio 1
            band[0, 1] += band[0, 0] - 2.0 * band[1, 0]
            band[1, 1] -= band[2, 0]
            band[:, 0] = 1.0, 0.0, 0.0
            for side in sides:
                side[1] -= side[0]
                side[0] = 0.0
        if self.last:
            band[0, -2] += band[0, -1] - 2.0 * band[1, -2]
            band[1, -3] -= band[2, -3]
            band[0, -1] = 1.0
            band[1, -2] = band[2, -3] = 0.0
            for side in sides:
                side[-2] -= side[-1]
                side[-1] = 0.0

    def follow(self, step: FloatArray) -> None:
        """The changes of the outer coefficients."""
        if self.first:
            step[0] = -step[1]
        if self.last:
            step[-1] = -step[-2]


def shortest(
    p: Programme,
    c: FloatArray,
    weight: float | None = None,
    tell: Callable[[float], None] | None = None,
) -> FloatArray:
    """The coefficients of the fastest motion near one strictly within the limits.

    Args:
        p: the limits.
        c: (N + 2,) within them.
        weight: of the barrier to begin with, as a share of the time; by default for a motion far
            from the fastest.
        tell: hears of progress, from 0 to 1.
    """
    spline, ends = p.spline, _Ends(*(bool(np.isfinite(end)) for end in p.ends))
    of_y, _ = spline.weights(_PLACES)
    rows = slack(p, c, slopes=True)
    r, G = rows
    finite = np.isfinite(r)
    count = int(finite.sum())
    mu = (0.3 if weight is None else weight) * float(time_of(spline, c).sum()) / count
    z = mu / r
    first_gap = np.log(mu * count)
    for _ in range(STEPS):
        time = float(time_of(spline, c).sum())
        gap = float((z[finite] * r[finite]).sum())
        if tell is not None:
            tell(
                np.clip(
                    (first_gap - np.log(gap)) / (first_gap - np.log(GAP_TOLERANCE * time)), 0.0, 1.0
                )
            )
        w = z / r
        steep, bent = _time_parts(spline, of_y, c)
        band = _banded(bent + np.swapaxes(G, 1, 2) @ (G * w[..., None]))
        side = _gathered(np.einsum("nri,nr->ni", G, mu / r) - steep)
        ends.hold(band, side)
        step = _solved(band, side)
        ends.follow(step)
        change = np.einsum("nri,ni->nr", G, triples(step))
        dual = np.where(finite, mu / r - z - w * change, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            far = np.where(change < 0.0, -NEAR * r / change, np.inf).min()
            deep = np.where(dual < 0.0, -NEAR * z / dual, np.inf).min()
        size = min(1.0, float(far))
        while (new := slack(p, c + size * step, slopes=False).slack).min() <= 0.0 or (
            new < (1.0 - NEAR) ** 2 * r
        ).any():
            size *= 0.5
            if size < SMALLEST:
                return c
        c = c + size * step
        z = z + min(1.0, float(deep)) * dual
        r, G = slack(p, c, slopes=True)
        gap = float((z[finite] * r[finite]).sum())
        if gap < GAP_TOLERANCE * time and size > 0.5 and deep > 0.5:
            break
        share = 0.1 if size > 0.9 else 0.3 if size > 0.5 else 0.7
        mu = share * gap / count
    return c


def initial_point(p: Programme) -> FloatArray:
    """The coefficients of some motion within the limits.

    Raises:
        NoMotion: none was found.
    """
    if not np.isfinite(p.ends).any():
        slow = slow_down(p, np.full(len(p.spline.steps) + 2, FAST))
        if slow is not None:
            return slow
    known = [end for end in p.ends if np.isfinite(end)] or [1.0]
    first, last = (end if np.isfinite(end) else known[0] for end in p.ends)
    r = np.concatenate([[0.0], np.cumsum(p.spline.steps)])
    return phase_one(p, p.spline.through(first + (last - first) * r))


def slow_down(p: Programme, c: FloatArray) -> FloatArray | None:
    """A motion slowed uniformly until it keeps to the limits; None if it does not then."""
    less = 1e-4
    while slack(p, (1.0 - less) * c, slopes=False).slack.min() < min(INSIDE, 0.1 * less):
        less = 2.0 * less if less < 0.25 else 0.5 + 0.5 * less
        if less > 1.0 - SLOWEST:
            return None
    return (1.0 - less) * c


def phase_one(p: Programme, c: FloatArray) -> FloatArray:
    """The coefficients of a motion within the limits, from one that need not be.

    By the same method, what limits are exceeded by, as a share of them, is made small.

    Raises:
        NoMotion: none was found.
    """
    spline, ends = p.spline, _Ends(*(bool(np.isfinite(end)) for end in p.ends))
    of_y, _ = spline.weights(_PLACES)
    r, G = slack(p, c, slopes=True, tangent=False)
    finite = np.isfinite(r)
    count = int(finite.sum())
    beyond = max(-1.5 * float(r.min()), 0.0) + 1.0
    z = beyond / (count * (r + beyond))
    mu = 0.3 * beyond / count
    whole = float(time_of(spline, c).sum())
    for _ in range(STEPS):
        # no more can be asked for: the speed given at an end may be close to its limit
        if r.min() > BARELY:
            return c
        margin = r + beyond
        w = z / margin
        steep, bent = _time_parts(spline, of_y, c)
        share = LIGHT * beyond / whole
        band = _banded(share * bent + np.swapaxes(G, 1, 2) @ (G * w[..., None]))
        side = _gathered(np.einsum("nri,nr->ni", G, mu / margin) - share * steep)
        row = _gathered(np.einsum("nri,nr->ni", G, w))
        ends.hold(band, side, row)
        step, other = _solved(band, np.stack([side, row], axis=1)).T
        lower = float((mu / margin).sum()) - 1.0 - float(row @ step)
        lower /= float(w.sum()) - float(row @ other)
        step = step - lower * other
        ends.follow(step)
        change = np.einsum("nri,ni->nr", G, triples(step)) + lower
        dual = np.where(finite, mu / margin - z - w * change, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            far = np.where(change < 0.0, -NEAR * margin / change, np.inf).min()
            deep = np.where(dual < 0.0, -NEAR * z / dual, np.inf).min()
        size = min(1.0, float(far))
        while slack(p, c + size * step, slopes=False).slack.min() + beyond + size * lower <= (
            1.0 - NEAR
        ) * 0.1 * float(margin.min()):
            size *= 0.5
            if size < SMALLEST:
                raise NoMotion
        c = c + size * step
        beyond += size * lower
        z = z + min(1.0, float(deep)) * dual
        r, G = slack(p, c, slopes=True, tangent=False)
        gap = float((z[finite] * (r + beyond)[finite]).sum())
        if gap < INSIDE * 0.1 and beyond > 0.0 and size > 0.5:
            break
        mu = (0.1 if size > 0.9 else 0.3 if size > 0.5 else 0.7) * gap / count
    raise NoMotion
