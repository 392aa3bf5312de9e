# SPDX-License-Identifier: Apache-2.0

"""Encoder readings of the legs as lengths and rates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robodyn.checks import as_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.stewart.platform import StewartPlatform


def leg_readings(
    platform: StewartPlatform, positions: ArrayLike, velocities: ArrayLike | None = None
) -> tuple[FloatArray, FloatArray | None]:
    """Leg lengths (..., 6) [m] and rates (..., 6) [m/s] of the driven joints' URDF values.

    A URDF may measure a leg from another zero, or in the opposite direction; see
    `LegJoints.to_urdf`, whose inverse this is. Without velocities there are no rates.

    Raises:
        InvalidInput: wrong shape or not finite.
    """
    sign, offset = platform.leg_joints.actuator_sign, platform.leg_joints.actuator_offset
    lengths = sign * as_array("positions", positions, (6,), "m") + offset
    if velocities is None:
        return lengths, None
    return lengths, sign * as_array("velocities", velocities, (6,), "m/s")
