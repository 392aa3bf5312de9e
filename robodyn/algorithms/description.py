# SPDX-License-Identifier: Apache-2.0

"""Driven joints and gravity of a mechanism."""

from __future__ import annotations

from functools import singledispatch
from typing import Any, Literal, NamedTuple

import numpy as np

from robodyn.actuators import Actuator
from robodyn.actuators.actuator import IDEAL
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.dynamics.coordinates import Unit

EffortUnit = Literal["N", "N m"]


class DrivenJoint(NamedTuple):
    """Name, limits and actuator of a driven joint.

    Attributes:
        name: name of the joint.
        unit: `m` or `rad` of its positions.
        position: (2,) lower and upper limit of its position, as the mechanism measures it.
        velocity, effort: limits [m/s or rad/s, N or N m]; infinite without a limit.
        actuator: its drive, with armature and dry friction; ideal by default.
    """

    name: str
    unit: Unit
    position: ArrayLike
    velocity: float
    effort: float
    actuator: Actuator = IDEAL


@singledispatch
def driven_joints(mechanism: Any) -> tuple[DrivenJoint, ...]:
    """Return the n driven joints of a mechanism with their limits and actuators."""
    return tuple(map(driven_joint, mechanism.model.driven_joints))


@singledispatch
def gravity_vector(mechanism: Any) -> FloatArray:
    """Return the gravitational acceleration (3,) [m/s^2] of a mechanism, base frame."""
    return np.array(mechanism.model.gravity)


def driven_joint(joint: Any) -> DrivenJoint:
    """Return name, limits and actuator of a driven joint of a model."""
    unit: Unit = "m" if joint.kind == "prismatic" else "rad"
    limits = joint.position, joint.velocity, joint.effort
    return DrivenJoint(joint.name, unit, *limits, joint.actuator)
