# SPDX-License-Identifier: Apache-2.0

"""Human perception of specific force and rotation: the vestibular organs as linear filters.

Telban and Cardullo (2005), "Motion Cueing Algorithm Development: Human-Centered Linear and
Nonlinear Approaches", NASA/CR-2005-213747; the thresholds are also from there, after Reid and Nahon
(1985).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.signal import cont2discrete, lfilter

from robodyn.arrays import FloatArray


class Organ(NamedTuple):
    """Vestibular organ: linear filter from a stimulus to its perception.

    The filter is the same for each axis of the head; the thresholds differ.

    Attributes:
        numerator, denominator: polynomials in s, highest power first.
        threshold: (3,) of x, y and z below which a stimulus is not perceived.
    """

    numerator: FloatArray
    denominator: FloatArray
    threshold: FloatArray

    def discrete(self, dt: float) -> tuple[FloatArray, FloatArray]:
        """Convert the filter to discrete time, for an input linear between samples.

        `dt` [s] is the sampling period.

        Returns:
            Coefficients b and a of the numerator and denominator in powers of 1/z.
        """
        b, a, _ = cont2discrete((self.numerator, self.denominator), dt, "foh")
        return np.asarray(b, dtype=np.float64).ravel(), np.asarray(a, dtype=np.float64)

    def perceived(self, stimulus: FloatArray, dt: float) -> FloatArray:
        """Compute the perception of a stimulus (K, ...), sampled every `dt` seconds.

        The stimulus starts from rest.

        For a specific force, pass its difference from the value at rest.

        Returns:
            Perceived stimulus (K, ...) in the same unit.
        """
        return np.asarray(lfilter(*self.discrete(dt), stimulus, axis=0))

    def response(self, frequencies: FloatArray) -> FloatArray:
        """Compute the filter's frequency response at frequencies (k,) [rad/s].

        Returns:
            Complex gains (k,) from the stimulus to the perception.
        """
        s = 1j * frequencies
        return np.asarray(np.polyval(self.numerator, s) / np.polyval(self.denominator, s))


# Specific force [m/s^2]: 0.4 (10 s + 1) / ((5 s + 1) (0.016 s + 1)).
OTOLITHS = Organ(
    0.4 * np.array([10.0, 1.0]),
    np.asarray(np.polymul([5.0, 1.0], [0.016, 1.0]), dtype=np.float64),
    np.array([0.17, 0.17, 0.28]),
)
# Angular velocity [rad/s]: 5.73 * 80 s^2 (0.06 s + 1) / ((80 s + 1) (5.73 s + 1) (0.005 s + 1)).
CANALS = Organ(
    5.73 * 80.0 * np.array([0.06, 1.0, 0.0, 0.0]),
    np.asarray(np.polymul(np.polymul([80.0, 1.0], [5.73, 1.0]), [0.005, 1.0])),
    np.asarray(np.radians([3.0, 3.6, 2.6]), dtype=np.float64),
)
