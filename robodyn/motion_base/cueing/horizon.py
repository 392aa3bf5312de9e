# SPDX-License-Identifier: Apache-2.0

"""The horizon of a plan: where it is looked at, and the splines by which it is changed."""

from __future__ import annotations

import numpy as np
from scipy.interpolate import BSpline

from robodyn.arrays import FloatArray, IntArray
from robodyn.motion_base.cueing.perception import CANALS, OTOLITHS

# Intervals of the splines, each longer than the one before by a factor, and parts of each at most.
INTERVALS, GROWTH = 12, 1.35
PARTS = 4


class Horizon:
    """Splines of velocity, quadratic, that begin and end at rest: what they do along the horizon.

    Args:
        duration: [s] of it.
        dt: [s] between samples.

    Attributes:
        count: M, samples of it.
        nodes: (k,) samples at which errors and limits are looked at, closer together at first.
        widths: (k,) [s] of the time that each stands for.
        accelerations: (M + 1, n) [1] of each spline, 1 at most.
        basis: position, velocity and acceleration (k, n) at the nodes.
        sensed: (k, n) what the otoliths perceive of the acceleration and of the position, and the
            canals of the velocity.
    """

    def __init__(self, duration: float, dt: float) -> None:
        self.count = max(round(duration / dt), INTERVALS * PARTS)
        grown = GROWTH ** np.arange(INTERVALS + 1) - 1.0
        knots = np.maximum(np.round(self.count * grown / grown[-1]), np.arange(INTERVALS + 1))
        self.nodes = _parted(knots.astype(np.int64))
        width = np.diff(np.r_[0, self.nodes]) * dt
        self.widths: FloatArray = 0.5 * (width + np.r_[width[1:], 0.0])
        ends = np.repeat(knots[[0, -1]], 2) * dt
        spline = BSpline(np.r_[ends[:2], knots * dt, ends[2:]], np.eye(INTERVALS + 2), 2)
        times = np.arange(self.count + 1) * dt
        # without the first two and the last two they begin and end at rest
        parts = [
            each(times)[:, 2:-2] for each in (spline.antiderivative(), spline, spline.derivative())
        ]
        size = np.abs(parts[2]).max(axis=0)
        position, velocity, self.accelerations = (each / size for each in parts)
        self.basis = [each[self.nodes] for each in (position, velocity, self.accelerations)]
        felt = ((OTOLITHS, self.accelerations), (OTOLITHS, position), (CANALS, velocity))
        self.sensed = [organ.perceived(values, dt)[self.nodes] for organ, values in felt]


def _parted(knots: IntArray) -> IntArray:
    """The knots after the first, where accelerations have their corners, and samples between."""
    parts = [
        np.round(np.linspace(a, b, 1 + min(b - a, PARTS)))[1:]
        for a, b in zip(knots[:-1], knots[1:], strict=True)
    ]
    return np.concatenate(parts).astype(np.int64)
