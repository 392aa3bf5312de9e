# SPDX-License-Identifier: Apache-2.0

"""Terms for messages, labels and tables about a kind of mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import Any, Literal

EffortName = Literal["force", "torque", "effort"]


@dataclass(frozen=True)
class Nouns:
    """Terms that messages, labels and tables use for a kind of mechanism.

    Attributes:
        mechanism: term for the mechanism, such as `platform` or `arm`.
        joint: term for a driven joint, such as `leg` or `joint`.
        body: term for the moving body, such as `platform` or `tip`.
        effort: term for the effort of an actuator, such as `force`.
        effort_label: label of an axis or a column with efforts.
        effort_unit, joint_unit: units of a column with efforts or positions of all driven joints.
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
        """Key of the largest efforts in a summary, such as `peak_force`."""
        return f"peak_{self.effort}"


@singledispatch
def nouns_of(mechanism: Any) -> Nouns:
    """Return the terms that messages, labels and tables use for a mechanism."""
    return Nouns(mechanism="arm", joint="joint", body="tip", effort="torque")
