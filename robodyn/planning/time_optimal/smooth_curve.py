# SPDX-License-Identifier: Apache-2.0

"""Geometry of a path with continuous curvature, which limits of jerk require.

If the curvature jumps, accelerations jump at any speed. Between two knots the curve is the quintic
through their configurations, tangents and curvatures, in the coordinates of the earlier knot's
tangent space. Curvatures follow from configurations and tangents alone: each one is the curvature
of the quintic through a knot and its neighbors. Its error falls with the fourth power of the step.
"""

from __future__ import annotations

import numpy as np

from robodyn.arrays import FloatArray, Indices
from robodyn.mechanism.mechanism import Mechanism
from robodyn.numerics.rotations_batch import rotation_vector_motions, rotation_vector_rates
from robodyn.trajectories.base import Motion, RowTrajectory
from robodyn.trajectories.displacements import add_displacements, hermite_quintic


class SmoothCurve(RowTrajectory):
    """Curve with continuous curvature through knots, over a parameter s.

    Args:
        mechanism: mechanism that follows the curve.
        places: (K,) increasing parameters s of the knots, at least three.
        configuration: (K, nq) configurations at the knots.
        tangent: (K, nv) derivatives dq/ds at the knots.
    """

    duration = 1.0
    switching_times: tuple[float, ...] = ()  # its accelerations do not jump

    _unit = ""

    def __init__(
        self,
        mechanism: Mechanism,
        places: FloatArray,
        configuration: FloatArray,
        tangent: FloatArray,
    ) -> None:
        self._mechanism = mechanism
        self._places = places
        self._rotations = mechanism.coordinates.rotations
        curvature = self._curvature(places, configuration, tangent)
        self._starts = configuration
        h = np.diff(places)[:, None]
        first = np.arange(len(places) - 1)
        whole, rate = self._displacements_from_centers(configuration, tangent, first, first + 1)
        change = self._chart_change(whole, rate, curvature[1:])
        # coefficients of the displacement d in powers of (s - s0)/h, with d = 0 at s0
        begun = np.zeros(whole.shape), h * tangent[:-1], h**2 * curvature[:-1]
        self._coefficients = hermite_quintic(begun, (whole, h * rate, h**2 * change))

    def _displacements_from_centers(
        self,
        configuration: FloatArray,
        tangent: FloatArray,
        center: Indices,
        other: Indices,
    ) -> tuple[FloatArray, FloatArray]:
        """Compute displacements from center knots to other knots, and their derivatives.

        Returns the displacements (K, nv), and their derivatives (K, nv) with respect to s at the
        other knots.
        """
        whole = self._mechanism.difference(configuration[center], configuration[other])
        rate = tangent[other].copy()
        for own in self._rotations:
            rotation_vector_rates(whole[:, own], tangent[other][:, own], rate[:, own])
        return whole, rate

    def _chart_change(
        self, whole: FloatArray, rate: FloatArray, curvature: FloatArray
    ) -> FloatArray:
        """Convert curvatures to second derivatives (K, nv) of displacements w.r.t. s.

        `whole` (K, nv) are displacements from center knots, and `rate` their first derivatives.
        """
        change = np.array(curvature)
        for own in self._rotations:
            turn = np.ascontiguousarray(whole[:, own])
            omega, own_part = np.ascontiguousarray(rate[:, own]), np.zeros(turn.shape)
            # angular acceleration of a rotation vector with zero second derivative
            rotation_vector_motions(turn, omega, own_part)
            part = np.empty(turn.shape)
            rotation_vector_rates(turn, np.ascontiguousarray(change[:, own] - own_part), part)
            change[:, own] = part
        return change

    def _curvature(
        self, places: FloatArray, configuration: FloatArray, tangent: FloatArray
    ) -> FloatArray:
        """Compute the curvature (K, nv) at each knot from a quintic through three knots."""
        count = len(places)
        here = np.arange(count)
        first = np.clip(here, 1, count - 2)
        beside = np.stack([first - 1, first + 1])
        # at an end of the curve, both neighbors are on one side
        beside[0, 0], beside[1, 0] = 1, 2
        beside[0, -1], beside[1, -1] = count - 2, count - 3
        matrix, values = [], []
        scale = np.abs(places[beside] - places).max(axis=0)
        power = np.arange(2, 6)
        for other in beside:
            whole, rate = self._displacements_from_centers(configuration, tangent, here, other)
            step = ((places[other] - places) / scale)[:, None]
            own = scale[:, None] * tangent
            matrix += [step**power, power * step ** (power - 1)]
            values += [whole - step * own, scale[:, None] * rate - own]
        found = np.linalg.solve(np.stack(matrix, axis=1), np.stack(values, axis=1))
        return np.asarray(2.0 * found[:, 0] / scale[:, None] ** 2)

    def _rows(self, t: FloatArray) -> Motion:
        k = np.clip(np.searchsorted(self._places, t, side="right") - 1, 0, len(self._places) - 2)
        h = (self._places[k + 1] - self._places[k])[:, None]
        x = (t - self._places[k]) / h[:, 0]
        rest = np.zeros((len(t), self._coefficients.shape[-1]))
        inner = Motion(np.ascontiguousarray(self._starts[k]), rest, rest)
        return add_displacements(self._mechanism, inner, self._coefficients[:, k], x, h)
