# SPDX-License-Identifier: Apache-2.0

"""Squared speed along a path as a spline, and its distance (slack) from the limits.

A motion is the squared speed y = (dr/dt)^2 over a parameter r; it determines the duration and every
limited quantity. With constant acceleration in each interval, y is piecewise linear. With limits on
rates of change, r is a parameter whose rate is never zero (see `easing`), and y is a quadratic
spline, so the acceleration r'' = y'/2 is continuous. A quantity v has the rate of change dv/dr
sqrt(y), limited by J if

    |dv/dr| <= J / sqrt(y),   dv/dr = a y'' + b y' + c y + d sqrt(y) + e y' / (2 sqrt(y)) + f.

The right side is convex in y, so its tangent lies below it: a motion below the tangent respects the
limit, and a program with tangents at the current motion contains only feasible motions (Debrouwere
et al., 2013).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from robodyn.arrays import FloatArray
from robodyn.planning.kernels.intervals import Intervals
from robodyn.planning.time_optimal.sampled_path import IMPOSED

# Gauss's rule for the duration of an interval of a quadratic spline.
_PLACES, _WEIGHTS = np.polynomial.legendre.leggauss(3)
_PLACES, _WEIGHTS = 0.5 * (_PLACES + 1.0), 0.5 * _WEIGHTS


class SpeedSpline(NamedTuple):
    """Spline of the squared speed over N intervals, with local coefficients.

    In each interval, `width` consecutive coefficients determine the spline.

    Attributes:
        steps: (N,) lengths of the intervals.
        width: 2 for piecewise linear functions, with N + 1 values at the nodes; 3 for quadratic
            splines, with N + 2 coefficients.
    """

    steps: FloatArray
    width: int

    @property
    def end_coupling(self) -> float:
        """Decrease of the first or last coefficient per unit increase of its neighbor.

        With this decrease, the squared speed at that end of the spline does not change.
        """
        return 0.0 if self.width == 2 else 1.0

    def weights(self, places: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Compute the weights of the spline's coefficients in its values and derivatives.

        `places` (M,) are the points of each interval, from 0 to 1. The sum of the weights times the
        interval's `width` coefficients is the value, or the derivative w.r.t. the parameter r.

        Returns:
            Weights (N, M, width) for the values, and weights (N, M, width) for the derivatives.
        """
        h, zero, one = self.steps, np.zeros(len(self.steps)), np.ones(len(self.steps))
        t = places[:, None]
        if self.width == 2:
            value = np.stack([one, zero], axis=-1)
            first = last = np.stack([-one, one], axis=-1) / h[:, None]
        else:
            before, after = np.concatenate([h[:1], h[:-1]]), np.concatenate([h[1:], h[-1:]])
            # value and slope at the start, slope at the end
            value = np.stack([h, before, zero], axis=-1) / (h + before)[:, None]
            first = 2.0 * np.stack([-one, one, zero], axis=-1) / (h + before)[:, None]
            last = 2.0 * np.stack([zero, -one, one], axis=-1) / (h + after)[:, None]
        slope = first[:, None] + (last - first)[:, None] * t
        along = h[:, None, None] * t
        return value[:, None] + along * 0.5 * (first[:, None] + slope), slope

    def local(self, c: FloatArray) -> FloatArray:
        """Return the `width` coefficients (N, width) of each interval, out of all `c`."""
        return np.asarray(sliding_window_view(c, self.width))

    def at(self, c: FloatArray, places: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Evaluate the spline and its derivative at points of every interval.

        `c` are the coefficients of the spline; `places` (M,) are the points, from 0 to 1.

        Returns:
            Squared speeds (N, M), and their derivatives (N, M) with respect to the parameter r.
        """
        local = self.local(c)
        values, slopes = (np.einsum("npi,ni->np", w, local) for w in self.weights(places))
        return values, slopes

    def interpolate(self, nodes: FloatArray) -> FloatArray:
        """Compute coefficients (N + 2,) of a quadratic spline that approximates values.

        `nodes` (N + 1,) are the squared speeds that the spline approximates at the nodes.
        """
        inner = 0.5 * (nodes[1:] + nodes[:-1])
        return np.concatenate([[2.0 * nodes[0] - inner[0]], inner, [2.0 * nodes[-1] - inner[-1]]])

    def time(self, c: FloatArray) -> float:
        """Compute the duration [s] of a motion from the coefficients `c` of its spline."""
        if self.width == 2:
            speed = np.sqrt(c)
            return float((2.0 * self.steps / (speed[1:] + speed[:-1])).sum())
        return float((self.steps * ((1.0 / np.sqrt(self.at(c, _PLACES)[0])) @ _WEIGHTS)).sum())

    def duration_derivatives(self, c: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Compute derivatives of each interval's duration w.r.t. its spline coefficients.

        `c` are the coefficients of the spline, of which `width` determine each interval. The
        derivatives with respect to the squared speed of a node at rest, which stays at rest, are
        zero.

        Returns:
            Gradients (N, width) and Hessians (N, width, width) of the N durations [s].
        """
        if self.width == 2:
            speed = np.sqrt(self.local(c))
            whole = speed.sum(axis=1, keepdims=True)
            inverse = 1.0 / np.where(speed > 0.0, speed, np.inf)
            h = self.steps[:, None]
            bend = (h / whole**3)[..., None] * inverse[:, :, None] * inverse[:, None]
            for i in range(2):
                bend[:, i, i] += 0.5 * (h / whole**2)[:, 0] * inverse[:, i] ** 3
            return -h / whole**2 * inverse, bend
        of_y, _ = self.weights(_PLACES)
        y = np.einsum("npi,ni->np", of_y, self.local(c))
        weight = self.steps[:, None] * _WEIGHTS
        first = -0.5 * weight * y**-1.5
        second = 0.75 * weight * y**-2.5
        return (
            np.einsum("np,npi->ni", first, of_y),
            np.swapaxes(of_y * second[..., None], 1, 2) @ of_y,
        )


class ThirdOrderCoefficients(NamedTuple):
    """Coefficients (N, 3, K) a to f of the derivatives of quantities v w.r.t. r.

    dv/dr = a y'' + b y' + c y + d sqrt(y) + e y' / (2 sqrt(y)) + f, where y = (dr/dt)^2 and ' is
    the derivative with respect to r.
    """

    a: FloatArray
    b: FloatArray
    c: FloatArray
    d: FloatArray
    e: FloatArray
    f: FloatArray


class Program(NamedTuple):
    """Optimization program of a motion: its limits at three points of N intervals.

    Attributes:
        spline: spline of the squared speed.
        limits: limited quantities A y' / 2 + B y + C sqrt(y) + D + S / (1 + G y), with `upper` and
            `lower`, curves over |rate| sqrt(y), and `bounds` of y.
        changes: derivatives with respect to r of K quantities with limited rates of change; None if
            there are no such quantities.
        most: (N, K) limits of these rates of change, with respect to time.
        ends: y at the start and the end; NaN if free.
    """

    spline: SpeedSpline
    limits: Intervals
    changes: ThirdOrderCoefficients | None
    most: FloatArray
    ends: tuple[float, float]


def program_of(
    spline: SpeedSpline,
    limits: Intervals,
    ends: tuple[float, float],
    changes: tuple[ThirdOrderCoefficients | None, FloatArray] = (None, np.empty(0)),
    eased: tuple[FloatArray, FloatArray] = (np.ones((1, 1, 1)), np.zeros((1, 1, 1))),
) -> Program:
    """Create the optimization program from limits along intervals of s.

    Args:
        spline: spline of the squared speed over r.
        limits: limits of quantities along s.
        ends: s'^2 at both ends; NaN if free.
        changes: derivatives as in `Program`, and the limits (K,) of the rates of change with
            respect to time.
        eased: ds/dr and d2s/dr2 (N, 3, 1) at three points of each interval; by default r = s.

    Returns:
        The program.
    """
    g1, g2 = eased
    A, B, C, D, S, G, rate = np.moveaxis(limits.terms, -1, 0)
    terms = np.stack([A * g1, B * g1**2 + A * g2, C * g1, D, S, G * g1**2, rate * g1])
    with np.errstate(divide="ignore"):
        bounds = limits.bounds / g1[..., 0] ** 2
    most = np.tile(changes[1], (len(limits.steps), 1))
    by_r = limits._replace(terms=np.moveaxis(terms, 0, -1), bounds=bounds)
    return Program(spline, by_r, changes[0], most, ends)


def slack(
    p: Program, c: FloatArray, *, slopes: bool, tangent: bool = True
) -> tuple[FloatArray, FloatArray]:
    """Compute the slack of each limit, relative to the limit, and its gradient.

    The slack is positive within the limit. If a squared speed is negative, it is -infinity.

    Args:
        p: optimization program with the limits.
        c: coefficients of the motion's speed spline.
        slopes: whether to compute the gradient.
        tangent: whether to bound rates of change by tangents to J / sqrt(y), which are at least
            as strict as the limits, or by the limits themselves.

    Returns:
        Slack (N, R) of all R limits in the N intervals, and its gradient (N, R, width) with respect
        to the spline coefficients of each interval, which is (N, 0, width) without `slopes`.
    """
    count, width = len(p.spline.steps), p.spline.width
    of_y, of_slope = p.spline.weights(IMPOSED)
    local = p.spline.local(c)
    y, slope = (np.einsum("npi,ni->np", of, local)[..., None] for of in (of_y, of_slope))
    # the spline lies within the hull of its values at nodes and of the coefficients between;
    # only a piecewise linear one may rest at its ends
    least = 0.0 if width == 2 else np.finfo(float).tiny
    if not ((y >= least).all() and (c[1:-1] > 0.0).all()):
        return np.full((count, 1), -np.inf), np.empty((count, 0, width))
    found: list[FloatArray] = []
    sloped = [np.empty((count, 0, width))]

    def add(left: FloatArray, by_y: FloatArray, by_slope: FloatArray, by_bend: Any = 0.0) -> None:
        """Append slacks (N, 3, K) of limits, with their derivatives w.r.t. y, y' and y''."""
        found.append(left.reshape(count, -1))
        if slopes:
            part = by_y[..., None] * of_y[:, :, None] + by_slope[..., None] * of_slope[:, :, None]
            if np.ndim(by_bend):
                part += by_bend[..., None] * of_bend[:, :, None]
            sloped.append(part.reshape(count, -1, width))

    bounds = p.limits.bounds[..., None]
    add(1.0 - y / bounds, -1.0 / bounds, np.zeros(y.shape))
    root = np.sqrt(y)
    # a node at rest stays at rest and needs no gradient
    inverse = 1.0 / np.where(root > 0.0, root, np.inf)
    A, B, C, D, S, G, rates = np.moveaxis(p.limits.terms, -1, 0)
    fraction = 1.0 / (1.0 + G * y)
    dry = S * fraction
    value = 0.5 * A * slope + B * y + C * root + D + dry
    by_y = B + 0.5 * C * inverse - G * dry * fraction
    upper, lower = p.limits.upper[:, None], p.limits.lower[:, None]
    sizes = [np.where(np.isfinite(v), np.abs(v), 0.0) for v in (upper, lower)]
    size = np.maximum(np.maximum(*sizes), 1e-12)
    by_slope = 0.5 * A / size
    add((upper - value) / size, -by_y / size, -by_slope)
    add((value - lower) / size, by_y / size, by_slope)
    for q in np.flatnonzero(p.limits.counts):
        speeds, efforts = (v[q, : p.limits.counts[q]] for v in (p.limits.speeds, p.limits.efforts))
        of, rate = slice(q, q + 1), rates[..., q : q + 1]
        most = np.interp(rate * root, speeds, efforts)
        steep = np.append(np.diff(efforts) / np.diff(speeds), 0.0)
        at = np.searchsorted(speeds, rate * root, side="right") - 1
        falls = 0.5 * steep[at] * rate * inverse
        for sign in (1.0, -1.0):
            left, by = most - sign * value[..., of], falls - sign * by_y[..., of]
            add(left / size[..., of], by / size[..., of], -sign * by_slope[..., of])
    if p.changes is not None:
        of_bend = np.diff(of_slope[:, [0, -1]], axis=1) / p.spline.steps[:, None, None]
        bend = np.einsum("npi,ni->np", of_bend, local)[..., None]
        a, b, level, d, e, f = p.changes
        speed, fraction = root / p.most[:, None], 0.5 * inverse
        used = (a * bend + (b + e * fraction) * slope + level * y + d * root + f) * speed
        by_y = (level + (d - e * fraction * slope * inverse) * fraction) * speed
        by_slope, by_bend = (b + e * fraction) * speed, a * speed
        for sign in (1.0, -1.0):
            falls = 0.5 / y * (1.0 if tangent else sign * used)
            add(1.0 - sign * used, -falls - sign * by_y, -sign * by_slope, -sign * by_bend)
    return np.concatenate(found, axis=1), np.concatenate(sloped, axis=1)
