# SPDX-License-Identifier: Apache-2.0

"""Prediction horizon of a plan: its nodes, and the splines that change it."""

from __future__ import annotations

import numpy as np
from scipy.interpolate import BSpline

from robodyn.arrays import FloatArray, IntArray
from robodyn.motion_base.cueing.perception import CANALS, OTOLITHS

# Number of spline intervals, growth factor of their lengths, and largest number of nodes in each.
INTERVALS, GROWTH = 12, 1.35
PARTS = 4


class Horizon:
    """Prediction horizon of predictive cueing: its nodes, and splines that change a plan.

    The velocity of each spline is piecewise quadratic in time, and zero at both ends of the
    horizon.

    Args:
        duration: [s] of the horizon.
        dt: [s] between samples.

    Attributes:
        count: number M of samples.
        nodes: (k,) indices of the samples at which errors and limits are evaluated, denser at
            first.
        widths: (k,) [s] duration that each node represents.
        accelerations: (M + 1, n) acceleration at each sample of each of the n splines; its largest
            magnitude is 1.
        basis: position, velocity and acceleration of the splines at the nodes, (k, n) each.
        sensed: perception of the splines at the nodes, (k, n) each: by the otoliths of the
            acceleration and of the position, and by the canals of the velocity.
    """

    def __init__(self, duration: float, dt: float) -> None:
        self.count = max(round(duration / dt), INTERVALS * PARTS)
        grown = GROWTH ** np.arange(INTERVALS + 1) - 1.0
        knots = np.maximum(np.round(self.count * grown / grown[-1]), np.arange(INTERVALS + 1))
        self.nodes = _interval_indices(knots.astype(np.int64))
        width = np.diff(np.r_[0, self.nodes]) * dt
        self.widths: FloatArray = 0.5 * (width + np.r_[width[1:], 0.0])
        ends = np.repeat(knots[[0, -1]], 2) * dt
        spline = BSpline(np.r_[ends[:2], knots * dt, ends[2:]], np.eye(INTERVALS + 2), 2)
        times = np.arange(self.count + 1) * dt
        # without the first two and the last two they start and end at rest
        parts = [
            each(times)[:, 2:-2] for each in (spline.antiderivative(), spline, spline.derivative())
        ]
        size = np.abs(parts[2]).max(axis=0)
        position, velocity, self.accelerations = (each / size for each in parts)
        self.basis = [each[self.nodes] for each in (position, velocity, self.accelerations)]
        felt = ((OTOLITHS, self.accelerations), (OTOLITHS, position), (CANALS, velocity))
        self.sensed = [organ.perceived(values, dt)[self.nodes] for organ, values in felt]


def _interval_indices(knots: IntArray) -> IntArray:
    """Return indices of samples between the knots and at each knot except the first."""
    parts = [
        np.round(np.linspace(a, b, 1 + min(b - a, PARTS)))[1:]
        for a, b in zip(knots[:-1], knots[1:], strict=True)
    ]
    return np.concatenate(parts).astype(np.int64)
