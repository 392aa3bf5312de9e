# SPDX-License-Identifier: Apache-2.0

"""Interface of limits along a path, ordered by the highest derivative of s that they constrain.

The solvers access limits only through these three classes. Every limit has a margin at the points
where it is imposed, and a smaller margin between these points, where it is verified.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.errors import InvalidInput
from robodyn.mechanism.mechanism import Mechanism
from robodyn.planning.time_optimal.program import ThirdOrderCoefficients
from robodyn.planning.time_optimal.sampled_path import SampledPath, SmoothPath

# Relative margins of every limit at the points, and between them, where peaks of parabolas are not
# quite exact: along random paths of a five-bar they missed up to 1.5e-5.
MARGIN, MARGIN_BETWEEN = 3e-5, 2e-5
# Margins of rates and the tip's speed, which change less along an interval.
SPEED_MARGIN, SPEED_MARGIN_BETWEEN = 4e-6, 2e-6


class Coefficients(NamedTuple):
    """Coefficients of K limited quantities in N intervals of a path.

    A quantity is A s'' + B s'^2 + C s' + D + S / (1 + G s'^2), with the path parameter s.

    Attributes:
        terms: (N, 3, K, 7) coefficients A, B, C, D, S, G of each quantity, and |dp/ds| of its
            joint's position p, at the start, middle and end of each interval.
        upper, lower: (N, K) limits; infinite for no limit.
        curved: whether a quantity is nonlinear in s'^2 and s''.
    """

    terms: FloatArray
    upper: FloatArray
    lower: FloatArray
    curved: bool


def quantities(terms: FloatArray, square: FloatArray, acceleration: FloatArray) -> FloatArray:
    """Evaluate limited quantities (..., K) from their coefficients (..., K, 7).

    `terms` are the coefficients, `square` is s'^2 and `acceleration` s'' (..., 1); see
    `Coefficients` for the formula.
    """
    A, B, C, D, S, G, _ = np.moveaxis(terms, -1, 0)
    root = np.sqrt(square)
    return np.asarray(A * acceleration + B * square + C * root + D + S / (1.0 + G * square))


class Excess(NamedTuple):
    """Values of limited quantities along a path, and their excess over the limits.

    Attributes:
        values: (N, M, K) values at M points of N intervals.
        above, below: (N, M, K) relative excess over the upper and below the lower limits; negative
            within the limits.
    """

    values: FloatArray
    above: FloatArray
    below: FloatArray


class FirstOrder:
    """Limit on the speed s' along a path with parameter s.

    Attributes:
        names: (K,) names of the limited quantities, for messages.
    """

    names: list[str]

    def bound(self, path: SampledPath) -> FloatArray:
        """Compute the largest path speed s' (N, M) that the limit permits at each sample."""
        raise NotImplementedError

    def fractions(self, path: SampledPath, speed: FloatArray) -> FloatArray:
        """Compute the limited quantities as fractions (N, M, K) of their limits.

        `path` contains samples at M points of N intervals, and `speed` the path speeds s' (N, M, 1)
        at these points.
        """
        raise NotImplementedError


class SecondOrder:
    """Limit on the acceleration s'' and the speed s' along a path with parameter s.

    Attributes:
        names: (K,) names of the limited quantities, for messages.
        sizes: (2, K) magnitudes of the lower and upper limits, by which an excess is divided.
    """

    names: list[str]
    sizes: FloatArray

    def coefficients(self, path: SampledPath, ends: tuple[float, float]) -> Coefficients:
        """Compute the coefficients A to G of the limited quantities along a path.

        `path` contains samples in N intervals, and `ends` the squared path speeds s'^2 at the start
        and the end of the path.

        Returns:
            The coefficients and limits of each quantity in each interval.

        Raises:
            KinematicsError: no efforts exist at a configuration; `index` is its index in (N, 3).
        """
        raise NotImplementedError

    def excess(self, path: SampledPath, square: FloatArray, acceleration: FloatArray) -> Excess:
        """Compute the limited quantities, and how far they exceed their limits.

        `square` is s'^2 and `acceleration` s'' (N, M, 1) at the samples of `path`.

        Returns:
            Values of the quantities, and their relative excess over both limits.
        """
        raise NotImplementedError


class JointQuantity:
    """Symmetric limits (n,) of a quantity of the driven joints; infinite for no limit.

    Attributes:
        quantity: limited quantity, for messages.
        joints: (K,) indices of the joints with a finite limit.
        most: (K,) limits of these joints.
        names: (K,) names of the limited quantities.
    """

    quantity = ""

    def __init__(self, mechanism: Mechanism, limits: FloatArray) -> None:
        self.joints = np.flatnonzero(np.isfinite(limits))
        self.most = limits[self.joints]
        self.names = [f"{self.quantity} of {mechanism.joint_names[i]}" for i in self.joints]


class ThirdOrder(JointQuantity):
    """Limit on the time derivative of joint accelerations or efforts, which involves s'''."""

    def coefficients(self, course: SmoothPath, terms: FloatArray) -> ThirdOrderCoefficients:
        """Compute the coefficients of the limited quantities' derivatives w.r.t. r.

        Args:
            course: samples in N intervals of the smooth path parameter r.
            terms: (N, 3, K, 7) coefficients of the second-order limits, those of efforts first; see
                `Coefficients`.

        Returns:
            The coefficients a to f (N, 3, K) of each derivative, see `ThirdOrderCoefficients`.
        """
        raise NotImplementedError

    def values(
        self, course: SmoothPath, terms: FloatArray, square: FloatArray, acceleration: FloatArray
    ) -> FloatArray:
        """Compute the quantities (N, M, K) whose time derivatives are limited.

        Args:
            course, terms: as for `coefficients`.
            square, acceleration: (N, M, 1) s'^2 and s''.

        Returns:
            Joint accelerations or efforts (N, M, K).
        """
        raise NotImplementedError


def as_numbers(name: str, value: ArrayLike) -> FloatArray:
    """Convert a value to an array of floating-point numbers, of any shape.

    `name` is the name of the value in error messages.

    Raises:
        InvalidInput: the value is not numeric.
    """
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{name} must be numbers: {error}", value=value) from error
    if np.isnan(array).any():
        raise InvalidInput(f"{name} is {array.tolist()}, expected numbers without NaN", value=value)
    return array


def positive_limits(name: str, value: ArrayLike, count: int) -> FloatArray:
    """Convert one positive value, or `count` of them, to limits (count,).

    Infinity means no limit. `name` is the name of the value in error messages.

    Raises:
        InvalidInput: a number is not positive.
    """
    array = as_numbers(name, value)
    if array.shape not in ((), (count,)):
        raise InvalidInput(
            f"{name} has shape {array.shape}, expected a number or ({count},)", value=value
        )
    if not (array > 0.0).all():
        raise InvalidInput(f"{name} is {array.tolist()}, must be above 0", value=value)
    return np.array(np.broadcast_to(array, (count,)))
