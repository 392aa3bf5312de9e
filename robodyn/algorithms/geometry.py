# SPDX-License-Identifier: Apache-2.0

"""Dimensions of a mechanism that a calibration may change, and their effect on poses."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import Any, Literal, NamedTuple, Protocol

from robodyn.arrays import FloatArray
from robodyn.errors import InvalidInput


@dataclass(frozen=True)
class GeometricParameter:
    """Dimension of a mechanism, as a parameter of a calibration.

    Attributes:
        name: such as `leg1.base.x` or `link2.alpha`.
        unit: `m` or `rad`.
        value: of the nominal mechanism.
        passive_only: whether only readings of passive joints depend on it.
    """

    name: str
    unit: Literal["m", "rad"]
    value: float
    passive_only: bool = False


class BodyPoses(NamedTuple):
    """Poses of the body for given readings of the driven joints, and their derivatives.

    Displacements are those of `robodyn.poses.pose_difference`: translation [m] of the body's
    reference point and rotation vector [rad], base frame.

    Attributes:
        poses: (N, 7) of the body.
        by_parameter: (N, 6, P) displacement per unit of each parameter, at constant readings.
        by_joint: (N, 6, n) displacement per unit of each driven joint's reading.
        passive: (N, k) [rad or m] readings of the passive joints, as the URDF measures them.
        passive_by_parameter: (N, k, P) derivatives of `passive` with respect to the parameters.
        passive_by_joint: (N, k, n) derivatives of `passive` with respect to the driven joints'
            readings.
    """

    poses: FloatArray
    by_parameter: FloatArray
    by_joint: FloatArray
    passive: FloatArray
    passive_by_parameter: FloatArray
    passive_by_joint: FloatArray


class Geometry(Protocol):
    """Dimensions of one mechanism that a calibration may change."""

    @property
    def parameters(self) -> tuple[GeometricParameter, ...]:
        """The P geometric parameters, with names, units and nominal values."""

    @property
    def passive_joints(self) -> tuple[str, ...]:
        """Names (k,) of the passive joints whose readings depend on the dimensions."""

    def with_geometry(self, values: FloatArray) -> Any:
        """Return the mechanism with other parameter values (P,); inertias stay with their bodies.

        Raises:
            RobodynError: the mechanism is invalid.
        """

    def place(self, values: FloatArray, driven: FloatArray, guess: FloatArray) -> BodyPoses:
        """Compute poses and their derivatives with respect to parameters and readings.

        Args:
            values: (P,) of the parameters.
            driven: (N, n) positions of the driven joints, as the nominal mechanism measures them.
            guess: (N, 7) nearby poses.

        Returns:
            Poses of the body and readings of the passive joints, with their derivatives.

        Raises:
            KinematicsError: a sample has no pose.
        """


@singledispatch
def geometry_of(mechanism: Any) -> Geometry:
    """Return the `Geometry` of a mechanism: dimensions that a calibration may change.

    Raises:
        InvalidInput: the kind of mechanism has no such dimensions.
    """
    raise InvalidInput(
        f"{mechanism.name}: mechanisms of the kind {mechanism.kind!r} have no dimensions to "
        "calibrate",
        value=mechanism.kind,
    )
