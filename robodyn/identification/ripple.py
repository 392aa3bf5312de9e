# SPDX-License-Identifier: Apache-2.0

"""Efforts that repeat with a motor's position: teeth, poles, and eccentric gears.

Their periods are unknown and searched in the residual of the other terms: a period is found in four
of five parts of the recordings and has to predict the fifth, for each of the five.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn.arrays import FloatArray, IntArray
from robodyn.identification.filters import low_pass
from robodyn.identification.friction import RIPPLE, RUBBING, Term
from robodyn.identification.regression import FOLDS, Regression
from robodyn.identification.samples import Samples

# Smallest and largest number of periods over a motor's travel that are tried, and the step.
FEWEST, MOST, STEP = 6.0, 200.0, 0.25
# Number of first samples that are searched, and of columns computed at a time.
SEARCHED, AT_A_TIME = 12_000, 64
# Largest number of ripples of a motor, the least fraction of the squared residual that each
# predicts, and in how many parts of the data.
AT_MOST, WORTHWHILE, PARTS = 2, 0.05, 4
PAIRS = (RIPPLE, RUBBING)


def find_ripples(system: Regression, residual: FloatArray) -> list[list[Term]]:
    """Find the friction terms of each motor that repeat with its position.

    They come in pairs of a cosine and a sine.

    Args:
        system: linear equations for the recorded efforts.
        residual: (M, n) [N or N m] residual of a fit with the other terms.

    Returns:
        For each motor, its periodic terms, two for each period found; may be empty.
    """
    used: list[Samples] = []
    for samples in system.stretches:
        if sum(len(each.time) // each.stride for each in used) < SEARCHED:
            used.append(samples)
    rows = sum(len(samples.time[samples.rows]) for samples in used)
    found: list[list[Term]] = []
    for i in range(residual.shape[1]):
        here = system.weight[:rows, i] > 0.0
        left = np.where(here, residual[:rows, i], 0.0)
        turns = system.motors.turns[i]
        travel = max(float(np.ptp(samples.joints.positions @ turns)) for samples in used)
        own: list[Term] = []
        if travel > 0.0 and here.sum() > 10 * FOLDS:
            waves = 2.0 * np.pi * np.arange(FEWEST, MOST, STEP) / travel
            tables = [_columns(turns, used, waves, kind) * here[:, None] for kind in PAIRS]
            fold = np.arange(rows) * FOLDS // rows
            for _ in range(AT_MOST):
                best = max(range(2), key=lambda k: _predict(tables[k], left, fold)[0])
                fraction, parts = _predict(tables[best], left, fold)
                if fraction < WORTHWHILE or parts < PARTS:
                    break
                gains, factors = _fit_sinusoids(_product_sums(tables[best], left))
                at = int(np.argmax(gains))
                pair = tables[best][:, at]
                left = left - (factors[at, 0] * pair.real + factors[at, 1] * pair.imag)
                own += [Term(kind, float(waves[at])) for kind in PAIRS[best]]
        found.append(own)
    return found


def _columns(
    turns: FloatArray, stretches: Sequence[Samples], waves: FloatArray, kinds: tuple[str, str]
) -> FloatArray:
    """Compute k filtered sinusoids (rows, k) of a motor's angle, as cosine + i sine."""
    parts = []
    for samples in stretches:
        # the search needs no more instants than smooth signals
        pick = slice(samples.rows.start % samples.stride, None, samples.stride)
        at, rate = (part[pick] @ turns for part in samples.joints[:2])
        rows = np.arange(len(samples.time))[samples.rows] // samples.stride
        frequency = samples.frequency / samples.stride
        factor = np.ones_like(rate)
        if kinds == RUBBING:
            factor = np.tanh(rate / float(np.linalg.norm(samples.filters.dead_rates * turns)))
        blocks = []
        for first in range(0, len(waves), AT_A_TIME):
            angle = at[:, None] * waves[first : first + AT_A_TIME]
            both = np.concatenate([np.cos(angle), np.sin(angle)], axis=1) * factor[:, None]
            smooth = low_pass(both, samples.filters.effort, frequency, "even")[rows]
            half = smooth.shape[1] // 2
            blocks.append(smooth[:, :half] + 1j * smooth[:, half:])
        parts.append(np.concatenate(blocks, axis=1))
    return np.concatenate(parts)


def _product_sums(table: FloatArray, left: FloatArray) -> FloatArray:
    """Compute the sums of products for fitting each of k sinusoids to a residual.

    Returns:
        Sums (k, 5) of cosine^2, sine^2, cosine * sine, cosine * residual and sine * residual.
    """
    c, s = table.real, table.imag
    return np.stack([(c * c).sum(0), (s * s).sum(0), (c * s).sum(0), left @ c, left @ s], axis=1)


def _fit_sinusoids(sums: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Fit each of k sinusoids separately to a residual.

    Returns:
        Reduction (k,) of the sum of squared residuals by each sinusoid, and the factors (k, 2) of
        its cosine and sine.
    """
    a, b, m, x, y = sums.T
    # for a motor at rest both are zero; the determinant must not be
    a, b = a * (1.0 + 1e-9) + 1e-150, b * (1.0 + 1e-9) + 1e-150
    det = a * b - m * m
    factors = np.stack([b * x - m * y, a * y - m * x], axis=1) / det[:, None]
    return factors[:, 0] * x + factors[:, 1] * y, factors


def _predict(table: FloatArray, left: FloatArray, fold: IntArray) -> tuple[float, int]:
    """Cross-validate the best sinusoid: predict each fold from the other folds.

    Returns:
        Fraction of the squared residual that is predicted, and the number of folds in which the
        prediction reduces the residual.
    """
    sums = [_product_sums(table[fold == f], left[fold == f]) for f in range(FOLDS)]
    whole = np.sum(sums, axis=0)
    gained, parts = 0.0, 0
    for own in sums:
        gains, factors = _fit_sinusoids(whole - own)
        at = int(np.argmax(gains))
        a, b, m, x, y = own[at]
        p, q = factors[at]
        gain = 2.0 * (p * x + q * y) - (p * p * a + q * q * b + 2.0 * p * q * m)
        gained += gain
        parts += gain > 0.0
    return float(gained / max(float(left @ left), 1e-300)), int(parts)
