# SPDX-License-Identifier: Apache-2.0

"""Packing of six legs into the flat arrays of the kernels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.model.body import Body
from robodyn.solvers.stewart.kernels import layout as at
from robodyn.solvers.stewart.six_legs import SixLegs

_UPPER_TRIANGLE = np.triu_indices(3)
_BASE_JOINTS = {"universal": at.UNIVERSAL, "spherical": at.SPHERICAL}


def pack_legs(six: SixLegs, base_joints: Sequence[str]) -> FloatArray:
    """Pack legs (6, LEG_SIZE), see `robodyn.solvers.stewart.kernels.layout`."""
    legs = np.zeros((len(six.legs), at.LEG_SIZE))
    for row, leg, base_joint in zip(legs, six.legs, base_joints, strict=True):
        row[at.BASE : at.BASE + 3] = leg.base
        row[at.TIP : at.TIP + 3] = leg.platform
        row[at.AXIS : at.AXIS + 3] = leg.universal_axis
        row[at.LOWER_MASS] = leg.lower.mass
        row[at.LOWER_COM : at.LOWER_COM + 3] = leg.lower.com
        row[at.UPPER_MASS] = leg.upper.mass
        row[at.UPPER_COM : at.UPPER_COM + 3] = leg.upper.com
        upper = leg.upper.inertia[_UPPER_TRIANGLE]
        row[at.LEG_INERTIA : at.LEG_INERTIA + 6] = leg.lower.inertia[_UPPER_TRIANGLE] + upper
        row[at.UPPER_INERTIA : at.UPPER_INERTIA + 6] = upper
        row[at.UNIVERSAL_DAMPING] = leg.damping.universal
        row[at.PRISMATIC_DAMPING] = leg.damping.prismatic
        row[at.SPHERICAL_DAMPING] = leg.damping.spherical
        row[at.BASE_JOINT] = _BASE_JOINTS[base_joint]
        actuator = leg.actuator
        row[at.REFLECTED] = leg.armature + actuator.reflected_inertia
        row[at.SPIN_INERTIA] = actuator.spin_inertia
        row[at.STIFFNESS], row[at.AT_ZERO] = leg.spring.stiffness, leg.spring.at_zero
        row[at.DRY_FRICTION : at.LEG_SIZE] = actuator.friction_numbers
    return legs


def pack_platform(six: SixLegs) -> FloatArray:
    """Pack the platform (PLATFORM_SIZE + ...,), see `robodyn.solvers.stewart.kernels.layout`."""
    platform = np.zeros(at.PLATFORM_SIZE)
    put_platform(platform, six.platform)
    platform[at.GRAVITY : at.GRAVITY + 3] = six.gravity
    platform[at.SPRINGS] = len(six.springs)
    springs = [part for s in six.springs for part in (s.at, s.child_at, s.law)]
    return np.concatenate([platform, *springs])


def put_platform(row: FloatArray, body: Body) -> None:
    """Write the platform's body into its row (PLATFORM_SIZE,)."""
    row[at.MASS] = body.mass
    row[at.COM : at.COM + 3] = body.com
    row[at.INERTIA : at.INERTIA + 6] = body.inertia[_UPPER_TRIANGLE]


def pack_lanes(legs: FloatArray, platform: FloatArray) -> FloatArray:
    """Pack legs for lanes: a row of eight for each of their numbers, then the platform.

    The lanes beyond the sixth repeat legs, so they never divide by zero.
    """
    lanes = legs[[0, 1, 2, 3, 4, 5, 0, 1]].T
    return np.concatenate([lanes.ravel(), platform])
