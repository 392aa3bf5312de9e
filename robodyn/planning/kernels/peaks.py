# SPDX-License-Identifier: Apache-2.0

"""Largest values of sampled quantities in every interval of a path."""

from __future__ import annotations

from typing import Any

from robodyn.numerics.compiler import batch_kernel


@batch_kernel
def peaks(values: Any, places: Any, out: Any) -> None:
    """Compute the maximum of each of k quantities in each of N intervals.

    The input `values` (N, M, k) contains samples at the increasing points `places` (M,) of each
    interval. The maxima are those of the samples and of the parabolas through three neighboring
    samples; they are written to `out` (N, k).
    """
    count = len(places)
    for n in range(values.shape[0]):
        for j in range(values.shape[2]):
            most = max(values[n, 0, j], values[n, count - 1, j])
            for i in range(1, count - 1):
                middle = values[n, i, j]
                most = max(most, middle)
                a, b = places[i] - places[i - 1], places[i + 1] - places[i]
                left = (middle - values[n, i - 1, j]) / a
                right = (values[n, i + 1, j] - middle) / b
                bend = (right - left) / (a + b)
                if bend < 0.0:
                    slope = (left * b + right * a) / (a + b)
                    at = -0.5 * slope / bend
                    if -a < at < b:
                        most = max(most, middle + 0.5 * slope * at)
            out[n, j] = most
