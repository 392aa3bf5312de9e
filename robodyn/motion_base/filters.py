# SPDX-License-Identifier: Apache-2.0

"""Linear filters in discrete time, exact for inputs that are linear between samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.linalg

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray


class LinearFilter:
    """A filter 1 / (s^n + c_{n-1} s^{n-1} + ... + c_0) of each of several axes.

    Its state is the output and its derivatives but the highest. Between samples the input runs in a
    straight line (first-order hold): of a sine the phase is exact, and the amplitude to the square
    of the angle between two samples over twelve. A held input would be half a sample late.

    Args:
        coefficients: (axes, n) c_0 to c_{n-1}.
        dt: [s] between samples.
    """

    def __init__(self, coefficients: FloatArray, dt: float) -> None:
        self._dt = dt
        self._state, self._held = np.zeros(coefficients.shape), np.zeros(len(coefficients))
        self.change(coefficients)

    def change(self, coefficients: FloatArray) -> None:
        """Go on with other coefficients from the same state."""
        axes, n = coefficients.shape
        self._coefficients = coefficients
        self._step = np.empty((axes, n, n + 2))
        for axis in range(axes):
            # the input and its slope are states of their own
            whole = np.zeros((n + 2, n + 2))
            whole[: n - 1, 1:n] = np.eye(n - 1)
            whole[n - 1, :n], whole[n - 1, n] = -coefficients[axis], 1.0
            whole[n, n + 1] = 1.0
            self._step[axis] = scipy.linalg.expm(whole * self._dt)[:n]
        self._step[:, :, n + 1] /= self._dt

    def __call__(self, values: FloatArray) -> FloatArray:
        """Output and its derivatives (axes, n + 1) one sample later, when the input is `values`."""
        known = np.column_stack([self._state, self._held, values - self._held])
        self._state = np.einsum("aij,aj->ai", self._step, known)
        self._held = values.copy()
        return self._with_highest(values)

    def _with_highest(self, values: FloatArray) -> FloatArray:
        highest = values - (self._coefficients * self._state).sum(axis=1)
        return np.column_stack([self._state, highest])

    def cut_rate(self, before: FloatArray, limit: FloatArray, dt: float) -> FloatArray:
        """Redo the step from outputs and rates `before` (axes, 2), rates within `limit` (axes,).

        Only of a filter of second order.
        """
        rate = np.clip(self._state[:, 1], -limit, limit)
        moved = np.clip(self._state[:, 0] - before[:, 0], -limit * dt, limit * dt)
        cut = (rate != self._state[:, 1]) | (moved != self._state[:, 0] - before[:, 0])
        self._state = np.column_stack([before[:, 0] + moved, rate])
        out = self._with_highest(self._held)
        out[cut, 2] = (rate[cut] - before[cut, 1]) / dt
        return out
