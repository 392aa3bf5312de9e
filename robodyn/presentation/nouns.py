# SPDX-License-Identifier: Apache-2.0

"""Words for messages, labels and tables about a kind of mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import Any, Literal

EffortName = Literal["force", "torque", "effort"]


@dataclass(frozen=True)
class Nouns:
    """Terms that messages, labels and tables use for a kind of mechanism.

    Attributes:
        mechanism: `platform`, `arm`.
        joint: a driven joint: `leg`, `joint`.
        body: moving body: `platform`, `tip`.
        effort: effort of its actuators; a summary's key `peak_<effort>` is named after it.
        effort_label: the effort as the label of an axis or a column.
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
        """Key of the largest efforts in a summary, such as `peak_force`."""
        return f"peak_{self.effort}"


@singledispatch
def nouns_of(mechanism: Any) -> Nouns:
    """Return the terms for messages, labels and tables about a mechanism."""
    return Nouns(mechanism="arm", joint="joint", body="tip", effort="torque")
