# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""How a kind of mechanism is described in words and tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.common.coordinates import Unit

EffortUnit = Literal["N", "N m"]
EffortName = Literal["force", "torque", "effort"]


@dataclass(frozen=True)
class Nouns:
    """Words for messages, labels and tables.

    Attributes:
        mechanism: `platform`, `arm`.
        joint: a driven joint: `leg`, `joint`.
        body: what the mechanism moves: `platform`, `tip`.
        effort: what its actuators exert. It names the key `peak_<effort>` of a summary.
    """

    mechanism: str
    joint: str
    body: str
    effort: EffortName

    @property
    def peak_effort(self) -> str:
        """Key of the largest efforts in a summary."""
        return f"peak_{self.effort}"


class MovingBody(NamedTuple):
    """A rigid body of a mechanism.

    Attributes:
        name: of the body or its link.
        mass: [kg].
        com: (3,) [m] centre of mass in the body's frame.
        inertia: (3, 3) [kg m^2] about the centre of mass, axes of the body's frame.
    """

    name: str
    mass: float
    com: FloatArray
    inertia: FloatArray


def effort_units(joint_units: tuple[Unit, ...]) -> tuple[EffortUnit, ...]:
    """`N` for a joint that slides, `N m` for one that turns."""
    return tuple("N" if unit == "m" else "N m" for unit in joint_units)
