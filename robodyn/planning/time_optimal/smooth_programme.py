# SPDX-License-Identifier: Apache-2.0

"""What limits a smooth motion, rates of change among it, as a programme in its coefficients.

The motion is y = (dr/dt)^2 over a parameter r in which it never rests: a quadratic spline, so that
the acceleration r'' = y'/2 is continuous. A quantity v changes by dv/dr sqrt(y) a second, and
that is limited by J where

    |dv/dr| <= J / sqrt(y),   dv/dr = a y'' + b y' + c y + d sqrt(y) + e y' / (2 sqrt(y)) + f.

The right side is convex in y, so its tangent is below it: what keeps to the tangent keeps to the
limit, and a programme with tangents at the present motion has none but allowed ones (Debrouwere et
al., 2013).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from robodyn.arrays import FloatArray


class QuadraticSpline(NamedTuple):
    """Quadratic splines over N intervals, of N + 2 coefficients c.

    In interval k the spline is that of c[k : k + 3].

    Attributes:
        steps: (N,) lengths of the intervals.
    """

    steps: FloatArray

    def weights(self, places: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Weights (N, M, 3) of the values and of the derivatives at places (M,) from 0 to 1."""
        h = self.steps
        before, after = np.concatenate([h[:1], h[:-1]]), np.concatenate([h[1:], h[-1:]])
        zero = np.zeros(h.shape)
        # value and slope at the beginning, slope at the end
        value = np.stack([h, before, zero], axis=-1) / (h + before)[:, None]
        first = 2.0 * np.stack([-(zero + 1.0), zero + 1.0, zero], axis=-1) / (h + before)[:, None]
        last = 2.0 * np.stack([zero, -(zero + 1.0), zero + 1.0], axis=-1) / (h + after)[:, None]
        t = places[:, None]
        slope = first[:, None] + (last - first)[:, None] * t
        along = h[:, None, None] * t
        return value[:, None] + along * 0.5 * (first[:, None] + slope), slope

    def at(self, c: FloatArray, places: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Values and derivatives (N, M) at places (M,) of every interval."""
        local = triples(c)
        values, slopes = (np.einsum("npi,ni->np", w, local) for w in self.weights(places))
        return values, slopes

    def through(self, nodes: FloatArray) -> FloatArray:
        """Coefficients of a spline that is close to values (N + 1,) at the nodes."""
        inner = 0.5 * (nodes[1:] + nodes[:-1])
        return np.concatenate([[2.0 * nodes[0] - inner[0]], inner, [2.0 * nodes[-1] - inner[-1]]])


def triples(c: FloatArray) -> FloatArray:
    """(N, 3) of (N + 2,)."""
    return np.stack([c[:-2], c[1:-1], c[2:]], axis=-1)


class Quantities(NamedTuple):
    """Terms (N, 3, Q) of a y' + B y + C sqrt(y) + D + S / (1 + G y) at ends and in the middle."""

    a: FloatArray
    B: FloatArray
    C: FloatArray
    D: FloatArray
    S: FloatArray
    G: FloatArray


class Changes(NamedTuple):
    """Terms (N, 3, K) of a y'' + b y' + c y + d sqrt(y) + e y' / (2 sqrt(y)) + f there."""

    a: FloatArray
    b: FloatArray
    c: FloatArray
    d: FloatArray
    e: FloatArray
    f: FloatArray


class Programme(NamedTuple):
    """What limits a motion in N intervals, at three places in each.

    Attributes:
        spline: the form of the motion.
        places: (3,) in an interval.
        values: quantities that are limited, with `upper` and `lower` (N, Q); infinite for none.
        rates, speeds, efforts, counts: (N, 3, Q) by which curves (Q, P) of `counts` (Q,) points
            limit them besides, at |rate| sqrt(y).
        bounds: (N, 3) of y.
        changes: derivatives by r of K quantities whose changes are limited.
        most: (N, K) by how much they may change a second.
        ends: y at the ends; NaN where it is free.
    """

    spline: QuadraticSpline
    places: FloatArray
    values: Quantities
    upper: FloatArray
    lower: FloatArray
    rates: FloatArray
    speeds: FloatArray
    efforts: FloatArray
    counts: NDArray[np.int64]
    bounds: FloatArray
    changes: Changes
    most: FloatArray
    ends: tuple[float, float]


class Rows(NamedTuple):
    """What is left of limits, as shares of them: (N, R), and its slopes (N, R, 3) by c.

    Of slopes that were not asked for there are none, (N, 0, 3).
    """

    slack: FloatArray
    slopes: FloatArray


def valued(terms: Quantities, y: FloatArray, slope: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Values (N, 3, Q), and their derivatives by y."""
    y, slope = y[..., None], slope[..., None]
    root = np.sqrt(y)
    share = 1.0 / (1.0 + terms.G * y)
    dry = terms.S * share
    value = terms.a * slope + terms.B * y + terms.C * root + terms.D + dry
    return value, terms.B + 0.5 * terms.C / root - terms.G * dry * share


def slack(p: Programme, c: FloatArray, *, slopes: bool, tangent: bool = True) -> Rows:
    """What is left of the limits by a motion.

    Args:
        p: the limits.
        c: (N + 2,) the motion.
        slopes: whether these are asked for, too.
        tangent: whether of changes these are those of tangents to J / sqrt(y), which ask for no
            less than the limits; else those of what is left.
    """
    count = len(p.spline.steps)
    of_y, of_slope = p.spline.weights(p.places)
    local = triples(c)
    y = np.einsum("npi,ni->np", of_y, local)
    # the spline lies within the hull of its values at nodes and of what is between these in c
    if not ((y > 0.0).all() and (c[1:-1] > 0.0).all()):
        return Rows(np.full((count, 1), -np.inf), np.empty((count, 0, 3)))
    slope = np.einsum("npi,ni->np", of_slope, local)
    found: list[FloatArray] = [1.0 - y / p.bounds]
    sloped: list[FloatArray] = [-of_y / p.bounds[..., None]]
    value, by_y = valued(p.values, y, slope)

    def gradient(terms: Quantities, by_y: FloatArray) -> FloatArray:
        return np.asarray(
            by_y[..., None] * of_y[:, :, None] + terms.a[..., None] * of_slope[:, :, None]
        )

    size = scale(p.upper, p.lower)
    found += [
        ((p.upper - value.swapaxes(0, 1)) / size).swapaxes(0, 1).reshape(count, -1),
        ((value.swapaxes(0, 1) - p.lower) / size).swapaxes(0, 1).reshape(count, -1),
    ]
    if slopes:
        part = (gradient(p.values, by_y) / size[:, None, :, None]).reshape(count, -1, 3)
        sloped += [-part, part]
    for q in np.flatnonzero(p.counts):
        n = p.counts[q]
        root = np.sqrt(y)
        rate = p.rates[..., q] * root
        most = np.interp(rate, p.speeds[q, :n], p.efforts[q, :n])
        found += [
            (most - value[..., q]) / size[:, q, None],
            (most + value[..., q]) / size[:, q, None],
        ]
        if slopes:
            steep = np.append(np.diff(p.efforts[q, :n]) / np.diff(p.speeds[q, :n]), 0.0)
            at = np.searchsorted(p.speeds[q, :n], rate, side="right") - 1
            falls = (0.5 * steep[at] * p.rates[..., q] / root)[..., None] * of_y
            part = gradient(p.values, by_y)[:, :, q]
            sloped += [
                (falls - part) / size[:, q, None, None],
                (falls + part) / size[:, q, None, None],
            ]
    if p.most.shape[1]:
        of_bend = (of_slope[:, -1:] - of_slope[:, :1]) / (
            p.spline.steps * (p.places[-1] - p.places[0])
        )[:, None, None]
        bend = np.einsum("npi,ni->np", of_bend, local)[..., None]
        a, b, level, d, e, f = p.changes
        root, rise = np.sqrt(y)[..., None], slope[..., None]
        speed = root / p.most[:, None]
        share = 0.5 / root
        change = a * bend + (b + e * share) * rise + level * root**2 + d * root + f
        used = change * speed
        found += [(1.0 - used).reshape(count, -1), (1.0 + used).reshape(count, -1)]
        if slopes:
            by_y = level + (d - e * share * rise / root) * share
            steep = (
                a[..., None] * of_bend[:, :, None]
                + (b + e * share)[..., None] * of_slope[:, :, None]
                + by_y[..., None] * of_y[:, :, None]
            ) * speed[..., None]
            half = 0.5 * of_y[:, :, None] / y[..., None, None]
            for sign in (1.0, -1.0):
                share = half if tangent else half * sign * used[..., None]
                sloped.append((-share - sign * steep).reshape(count, -1, 3))
    steep = np.concatenate(sloped, axis=1) if slopes else np.empty((count, 0, 3))
    return Rows(np.concatenate(found, axis=1), steep)


def scale(upper: FloatArray, lower: FloatArray) -> FloatArray:
    """The size (N, Q) of limits."""
    sizes = [np.where(np.isfinite(v), np.abs(v), 0.0) for v in (upper, lower)]
    return np.maximum(np.maximum(*sizes), 1e-12)
