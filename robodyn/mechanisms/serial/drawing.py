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

"""How a serial arm is drawn: as sticks from joint to joint, with efforts on the joints' axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robodyn.mechanisms.common.effort_arrows import joint_axis_arrows
from robodyn.mechanisms.common.figure import DrawnJoint, Figure, Shape, stick

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.serial.model import SerialModel

TIP_COLOR = (0.2, 0.4, 0.65)


class ArmDrawing:
    """The part of `SerialArm` that drawings ask for; see `presentation.Drawn`.

    Attributes:
        model: the description it is drawn from.
    """

    model: SerialModel
    if TYPE_CHECKING:

        @property
        def size(self) -> float:
            """See `protocol.Mechanism`."""

    acts_along_legs = False

    @property
    def typical_effort(self) -> float:
        """[N m or N] 0.3 of the largest effort limit; 0 where there is none."""
        limits = np.array([joint.effort for joint in self.model.joints], dtype=np.float64)
        finite = limits[np.isfinite(limits)]
        return 0.3 * float(finite.max()) if len(finite) else 0.0

    def leg_ends(self, configuration: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(0, 3) twice: an arm has no legs."""
        return np.empty((0, 3)), np.empty((0, 3))

    def leg_directions(self, configuration: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(0, 3) twice: an arm has no legs."""
        return np.empty((0, 3)), np.empty((0, 3))

    def urdf(self) -> str:
        """Empty: arms are not exported as URDF."""
        return ""

    def figure(self) -> Figure:
        """Every link as a stick to the next joint."""
        model, parent = self.model, self.model.base_link
        joints: list[DrawnJoint] = []
        reach = sum(float(np.linalg.norm(joint.translation)) for joint in model.joints)
        size = max(0.5 * reach, 1e-2)
        for number, joint in enumerate(model.joints, start=1):
            place = np.eye(4)
            place[:3, :3], place[:3, 3] = joint.rotation, joint.translation
            child = joint.link or f"link{number}"
            travel = float(joint.position[1]) if np.isfinite(joint.position[1]) else size
            joints.append(
                DrawnJoint(joint.name, joint.kind, parent, child, place, joint.axis, travel=travel)
            )
            parent = child
        tip = np.eye(4)
        tip[:3, :3], tip[:3, 3] = model.tip_rotation, model.tip_translation
        joints.append(DrawnJoint("tip", "fixed", parent, model.tip_link, tip))
        shapes = stick(parent, tip[:3, 3], 0.02 * size)
        shapes.append(Shape(model.tip_link, "sphere", (0.03 * size,), np.eye(4), TIP_COLOR))
        return Figure(joints, shapes, model.base_link).with_sticks(size)

    def effort_arrows(
        self, figure: Figure, frames: FloatArray, configuration: FloatArray, lengths: FloatArray
    ) -> FloatArray:
        """Arrows (n, 2, 3) [m] on the joints' axes; see `presentation.Drawn.effort_arrows`."""
        names = [joint.name for joint in self.model.joints]
        return joint_axis_arrows(figure, frames, names, lengths, self.size)
