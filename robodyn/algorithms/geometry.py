# SPDX-License-Identifier: Apache-2.0

"""The dimensions of a mechanism that a calibration may change, and how it moves with them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import Any, Literal, NamedTuple, Protocol

from robodyn.arrays import FloatArray
from robodyn.errors import InvalidInput


@dataclass(frozen=True)
class GeometricParameter:
    """One dimension of a mechanism.

    Attributes:
        name: such as `leg1.base.x` or `link2.alpha`.
        unit: `m` or `rad`.
        value: of the mechanism as it was described.
        passive_only: whether only readings of passive joints depend on it.
    """

    name: str
    unit: Literal["m", "rad"]
    value: float
    passive_only: bool = False


class Placed(NamedTuple):
    """Where the body is for given readings of the driven joints, and how that changes.

    Displacements are those of `robodyn.poses.pose_difference`: translation [m] of the body's
    reference point and rotation vector [rad], base frame.

    Attributes:
        poses: (N, 7) of the body.
        by_parameter: (N, 6, P) displacement per unit of each parameter, readings held.
        by_joint: (N, 6, n) displacement per unit of each driven joint's reading.
        passive: (N, k) [rad or m] readings of the passive joints, as the URDF measures them.
        passive_by_parameter: (N, k, P).
        passive_by_joint: (N, k, n).
    """

    poses: FloatArray
    by_parameter: FloatArray
    by_joint: FloatArray
    passive: FloatArray
    passive_by_parameter: FloatArray
    passive_by_joint: FloatArray


class Geometry(Protocol):
    """The dimensions of one mechanism."""

    @property
    def parameters(self) -> tuple[GeometricParameter, ...]:
        """P of them."""

    @property
    def passive_joints(self) -> tuple[str, ...]:
        """(k,) names of the passive joints whose readings depend on the dimensions."""

    def with_geometry(self, values: FloatArray) -> Any:
        """The mechanism with other values (P,) of its parameters; inertias stay with their bodies.

        Raises:
            RobodynError: there is no such mechanism.
        """

    def place(self, values: FloatArray, driven: FloatArray, guess: FloatArray) -> Placed:
        """Poses and their dependence on parameters and readings.

        Args:
            values: (P,) of the parameters.
            driven: (N, n) positions of the driven joints by the mechanism as it was described.
            guess: (N, 7) poses near the ones that are sought.

        Raises:
            KinematicsError: a sample that has no pose.
        """


@singledispatch
def geometry_of(mechanism: Any) -> Geometry:
    """The dimensions of a mechanism; a kind that has some registers how it finds them.

    Raises:
        InvalidInput: a kind that has none.
    """
    raise InvalidInput(
        f"{mechanism.name}: mechanisms of the kind {mechanism.kind!r} have no dimensions to "
        "calibrate",
        value=mechanism.kind,
    )
