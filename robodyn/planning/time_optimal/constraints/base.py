# SPDX-License-Identifier: Apache-2.0

"""What a limit says of itself along a path, by the highest derivative of s that it is about.

The solvers know limits only through these three classes. Every limit leaves a margin at the
points where it is imposed, and a smaller one between them, where it is verified.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.errors import InvalidInput
from robodyn.mechanism.mechanism import Mechanism
from robodyn.planning.time_optimal.along import Along, Course
from robodyn.planning.time_optimal.program import Changes

# Of every limit: what is not used at the points, and what between them, where peaks are found by
# parabolas that are not quite exact: along random paths of a five-bar they missed up to 1.5e-5.
MARGIN, MARGIN_BETWEEN = 3e-5, 2e-5
# The same of limits of rates and of the tip's speed, which change less along an interval.
SPEED_MARGIN, SPEED_MARGIN_BETWEEN = 4e-6, 2e-6


class Coefficients(NamedTuple):
    """K quantities A s'' + B s'^2 + C s' + D + S / (1 + G s'^2) in N intervals of a path.

    Attributes:
        terms: (N, 3, K, 7) A, B, C, D, S, G and the rate |dp/ds| of the joint, at both ends and in
            the middle.
        upper, lower: (N, K) limits, infinite where there is none.
        curved: whether anything is not linear in s'^2 and s''.
    """

    terms: FloatArray
    upper: FloatArray
    lower: FloatArray
    curved: bool


def quantities(terms: FloatArray, square: FloatArray, acceleration: FloatArray) -> FloatArray:
    """Values (..., K) of quantities by their terms (..., K, 7), s'^2 and s'' (..., 1)."""
    A, B, C, D, S, G, _ = np.moveaxis(terms, -1, 0)
    root = np.sqrt(square)
    return np.asarray(A * acceleration + B * square + C * root + D + S / (1.0 + G * square))


class Excess(NamedTuple):
    """Values (N, M, K) at places of a path, and by which shares they are above and below limits."""

    values: FloatArray
    above: FloatArray
    below: FloatArray


class FirstOrder:
    """A limit of s'.

    Attributes:
        names: (K,) of what is limited, for people.
    """

    names: list[str]

    def bound(self, path: Along) -> FloatArray:
        """(N, M) the largest s'."""
        raise NotImplementedError

    def used(self, path: Along, speed: FloatArray) -> FloatArray:
        """(N, M, K) shares of the limits that speeds s' (N, M, 1) use."""
        raise NotImplementedError


class SecondOrder:
    """A limit of s'' and s'.

    Attributes:
        names: (K,) of what is limited, for people.
        sizes: (2, K) of the least and the largest value, of which an excess is a share.
    """

    names: list[str]
    sizes: FloatArray

    def coefficients(self, path: Along, ends: tuple[float, float]) -> Coefficients:
        """The limit along a path, from and to s'^2 at its ends.

        Raises:
            KinematicsError: a configuration in which no efforts exist; `index` says where.
        """
        raise NotImplementedError

    def excess(self, path: Along, square: FloatArray, acceleration: FloatArray) -> Excess:
        """What s'^2 and s'' (N, M, 1) make of the quantities."""
        raise NotImplementedError


class OfJoints:
    """Limits (n,) either way of a quantity of the driven joints; infinite for none.

    Attributes:
        quantity: what is limited, for people.
        joints: (K,) those that have a limit.
        most: (K,) the limits.
        names: (K,) of what is limited.
    """

    quantity = ""

    def __init__(self, mechanism: Mechanism, limits: FloatArray) -> None:
        self.joints = np.flatnonzero(np.isfinite(limits))
        self.most = limits[self.joints]
        self.names = [f"{self.quantity} of {mechanism.joint_names[i]}" for i in self.joints]


class ThirdOrder(OfJoints):
    """A limit of the third derivative of s as well."""

    def coefficients(self, course: Course, terms: FloatArray) -> Changes:
        """What the derivatives by time follow from.

        Args:
            course: in N intervals.
            terms: (N, 3, K, 7) of the limits of the second order, those of efforts first.
        """
        raise NotImplementedError

    def values(
        self, course: Course, terms: FloatArray, square: FloatArray, acceleration: FloatArray
    ) -> FloatArray:
        """(N, M, K) the quantities whose derivatives by time are limited.

        Args:
            course, terms: as for `coefficients`.
            square, acceleration: (N, M, 1) s'^2 and s''.
        """
        raise NotImplementedError


def as_numbers(name: str, value: ArrayLike) -> FloatArray:
    """An array of any shape.

    Raises:
        InvalidInput: it is not of numbers.
    """
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{name} must be numbers: {error}", value=value) from error
    if np.isnan(array).any():
        raise InvalidInput(f"{name} is {array.tolist()}, expected numbers", value=value)
    return array


def positive(name: str, value: ArrayLike, count: int) -> FloatArray:
    """(count,) of one number or so many, infinite for no limit.

    Raises:
        InvalidInput: they are not above 0.
    """
    array = as_numbers(name, value)
    if array.shape not in ((), (count,)):
        raise InvalidInput(
            f"{name} has shape {array.shape}, expected a number or ({count},)", value=value
        )
    if not (array > 0.0).all():
        raise InvalidInput(f"{name} is {array.tolist()}, must be above 0", value=value)
    return np.array(np.broadcast_to(array, (count,)))
