# SPDX-License-Identifier: Apache-2.0

"""Path parameter r whose rate dr/dt is positive even when the motion is at rest.

In a motion with limited jerk, s grows with the cube of the time after a rest. The planner's
unknown, the square of the speed, then has an infinite second derivative with respect to s. So the
planner uses r with s = g(r) instead. If g grows with the cube of r at a rest, dr/dt and all of its
derivatives are finite there, although speed and acceleration are zero.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robodyn.arrays import FloatArray

# Range of r over which a motion starts from rest.
FRACTION = 0.15
# Mean of dg/dr over that range, relative to dg/dr elsewhere.
AREA = 0.6
# Least distance of the geometry's knots, relative to the mean step: differences between neighbors
# that are a millionth of it apart are rounding.
NEAREST = 0.3
BISECTIONS = 60


class Easing(NamedTuple):
    """Map s = g(r) from the smooth parameter r to the path parameter s, both 0 to 1.

    Attributes:
        start, end: whether the motion rests at that end.
    """

    start: bool
    end: bool

    @property
    def _speed(self) -> float:
        """Derivative dg/dr of the map s = g(r) away from the ends, where it is constant."""
        return 1.0 / (1.0 - (1.0 - AREA) * FRACTION * (self.start + self.end))

    def at(self, r: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Compute s = g(r) and its first three derivatives w.r.t. r, at r (...)."""
        speed = self._speed
        begun = (1.0 - AREA) * FRACTION if self.start else 0.0
        g, first = speed * (r - begun), np.full(r.shape, speed)
        second, third = np.zeros(r.shape), np.zeros(r.shape)
        for rests, left, sign in ((self.start, r, 1.0), (self.end, 1.0 - r, -1.0)):
            if not rests:
                continue
            u = np.clip(left / FRACTION, 0.0, 1.0)
            near = u < 1.0
            gone = speed * FRACTION * u**3 * (2.0 - u * (2.0 - AREA * u))
            g = np.where(near, gone if sign > 0.0 else 1.0 - gone, g)
            first = np.where(near, speed * u**2 * (6.0 - u * (8.0 - 3.0 * u)), first)
            second = np.where(near, sign * speed / FRACTION * 12.0 * u * (1.0 - u) ** 2, second)
            bend = speed / FRACTION**2 * 12.0 * (1.0 - u) * (1.0 - 3.0 * u)
            third = np.where(near, bend, third)
        return g, first, second, third

    def inverse(self, s: FloatArray) -> FloatArray:
        """Compute the parameters r (K,) at which g(r) equals path parameters s (K,)."""
        low, high = np.zeros(s.shape), np.ones(s.shape)
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            before = self.at(middle)[0] < s
            low, high = np.where(before, middle, low), np.where(before, high, middle)
        return 0.5 * (low + high)

    def nodes(self, count: int) -> FloatArray:
        """Compute the knots s (K,) of a path for `count` equal steps of the parameter r.

        Knots that would be too close to an end of the path are left out.
        """
        places = self.at(np.linspace(0.0, 1.0, count + 1))[0]
        inner = places[(places > NEAREST / count) & (places < 1.0 - NEAREST / count)]
        return np.concatenate([[0.0], inner, [1.0]])

    def steps(self, knots: FloatArray) -> FloatArray:
        """Compute the nodes r (N + 1,) of a motion along a path with given knots.

        `knots` (K,) are values of the path parameter s. The nodes are the values of r at these
        knots, and further values near the ends.
        """
        r = self.inverse(knots)
        r[0], r[-1] = 0.0, 1.0
        mean = float(np.diff(r[1:-1]).mean())
        first, last = (max(round(gap / mean), 1) for gap in (r[1], 1.0 - r[-2]))
        return np.concatenate(
            [
                np.linspace(0.0, r[1], first + 1),
                r[2:-2],
                np.linspace(r[-2], 1.0, last + 1),
            ]
        )
