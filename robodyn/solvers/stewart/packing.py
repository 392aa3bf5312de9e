# SPDX-License-Identifier: Apache-2.0

"""Packing of a platform's model into the flat arrays that the compiled code reads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.model.body import Body
from robodyn.model.model import Model
from robodyn.solvers.stewart.kernels import layout as at
from robodyn.solvers.stewart.recognition import LEGS, PlatformStructure

_UPPER_TRIANGLE = np.triu_indices(3)
_BASE_JOINTS = {"universal": at.UNIVERSAL, "spherical": at.SPHERICAL}
_DAMPING = [at.UNIVERSAL_DAMPING, at.PRISMATIC_DAMPING, at.SPHERICAL_DAMPING]


def pack(
    model: Model, structure: PlatformStructure, base_joints: Sequence[str]
) -> tuple[FloatArray, FloatArray]:
    """Return the packed legs (6, LEG_SIZE) and the packed platform with its springs.

    The entries of both arrays are listed in `kernels.layout`; the platform's PLATFORM_SIZE entries
    are followed by those of each spring.
    """
    body, *parts = structure.bodies(model)
    legs = np.zeros((LEGS, at.LEG_SIZE))
    for row, leg, lower, upper in zip(legs, structure.legs, parts, parts[LEGS:], strict=False):
        row[at.BASE : at.BASE + 3] = leg.shape.base
        row[at.TIP : at.TIP + 3] = leg.platform
        row[at.AXIS : at.AXIS + 3] = leg.shape.universal_axis
        row[at.LOWER_MASS] = lower.mass
        row[at.LOWER_COM : at.LOWER_COM + 3] = lower.com
        row[at.UPPER_MASS] = upper.mass
        row[at.UPPER_COM : at.UPPER_COM + 3] = upper.com
        upper_inertia = upper.inertia[_UPPER_TRIANGLE]
        row[at.LEG_INERTIA : at.LEG_INERTIA + 6] = lower.inertia[_UPPER_TRIANGLE] + upper_inertia
        row[at.UPPER_INERTIA : at.UPPER_INERTIA + 6] = upper_inertia
        row[_DAMPING] = leg.damping(model)
        actuator, spring = leg.actuator(model), leg.spring(model)
        row[at.REFLECTED] = leg.joints_in(model)[2].armature + actuator.reflected_inertia
        row[at.SPIN_INERTIA] = actuator.spin_inertia
        row[at.STIFFNESS], row[at.AT_ZERO] = spring.stiffness, spring.at_zero
        row[at.DRY_FRICTION : at.LEG_SIZE] = actuator.friction_numbers
    legs[:, at.BASE_JOINT] = [_BASE_JOINTS[joint] for joint in base_joints]
    platform, springs = np.zeros(at.PLATFORM_SIZE), structure.springs(model)
    put_platform(platform, body)
    platform[at.GRAVITY : at.GRAVITY + 3] = structure.gravity(model)
    platform[at.SPRINGS] = len(springs)
    laws = [part for spring in springs for part in (spring.at, spring.child_at, spring.law)]
    return legs, np.concatenate([platform, *laws])


def put_platform(row: FloatArray, body: Body) -> None:
    """Write the mass properties of the platform's body to its packed parameters `row`."""
    row[at.MASS] = body.mass
    row[at.COM : at.COM + 3] = body.com
    row[at.INERTIA : at.INERTIA + 6] = body.inertia[_UPPER_TRIANGLE]


def pack_lanes(legs: FloatArray, platform: FloatArray) -> FloatArray:
    """Pack legs and platform into one array, with the legs side by side in SIMD lanes.

    Each of the LEG_SIZE parameters of a leg has eight entries, one per SIMD lane; the parameters of
    the platform follow. The seventh and eighth lanes repeat the first two legs, so that they never
    divide by zero.
    """
    lanes = legs[[0, 1, 2, 3, 4, 5, 0, 1]].T
    return np.concatenate([lanes.ravel(), platform])
