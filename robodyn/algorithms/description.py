# SPDX-License-Identifier: Apache-2.0

"""Words and tables that describe a kind of mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from robodyn.actuators import Actuator
from robodyn.arrays import ArrayLike
from robodyn.dynamics.coordinates import Unit

EffortUnit = Literal["N", "N m"]
EffortName = Literal["force", "torque", "effort"]


@dataclass(frozen=True)
class Nouns:
    """The terms that messages, labels and tables use for this kind.

    Attributes:
        mechanism: `platform`, `arm`.
        joint: a driven joint: `leg`, `joint`.
        body: moving body: `platform`, `tip`.
        effort: effort of its actuators; a summary's key `peak_<effort>` is named after it.
        effort_label: the same as the label of an axis or a column.
        effort_unit, joint_unit: units of a column with the values of all driven joints.
    """

    mechanism: str
    joint: str
    body: str
    effort: EffortName
    effort_label: str = "effort"
    effort_unit: str = "N m, N"
    joint_unit: str = "rad, m"

    @property
    def peak_effort(self) -> str:
        """Key of the largest efforts in a summary."""
        return f"peak_{self.effort}"


class DrivenJoint(NamedTuple):
    """Data of a driven joint.

    Attributes:
        name: name of the joint.
        unit: `m` or `rad` of its positions.
        position: (2,) lower and upper limit of its position, as the mechanism measures it.
        velocity, effort: limits [m/s or rad/s, N or N m], infinite if there are none.
        actuator: its drive, with armature and dry friction.
    """

    name: str
    unit: Unit
    position: ArrayLike
    velocity: float
    effort: float
    actuator: Actuator


def driven_joint(joint: Any) -> DrivenJoint:
    """Return the data of a driven joint of an arm or of a tree."""
    unit: Unit = "m" if joint.kind == "prismatic" else "rad"
    limits = joint.position, joint.velocity, joint.effort
    return DrivenJoint(joint.name, unit, *limits, joint.actuator)
