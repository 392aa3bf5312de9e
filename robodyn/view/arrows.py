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

"""Where the arrows of the actuators' efforts stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.view.figure import frame_of_pose
from robodyn.view.figures import size_of

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.protocol import Mechanism
    from robodyn.view.figure import Figure


# An effort as large as the reference is drawn this long, in sizes of the mechanism; none longer
# than the second, however near a singularity.
LENGTH, LONGEST = 0.35, 0.9


class EffortArrows:
    """Arrows (n, 2, 3) from start to end [m], in the frame of the figure's root.

    A leg's arrow is the force on the platform, along the leg, beside the tip it acts on: away from
    the base when the leg pushes, towards it when it pulls. An arm's lies on the joint's axis, in
    the sense of the torque.
    """

    def __init__(self, mechanism: Mechanism, figure: Figure) -> None:
        self._mechanism = mechanism
        self._figure = figure
        self.size = size_of(mechanism)
        self.reference = _reference(mechanism)
        self._joints = {joint.name: joint for joint in figure.joints}

    def __call__(
        self, frames: FloatArray, configuration: FloatArray, effort: FloatArray
    ) -> FloatArray:
        """The arrows for link frames (L, 4, 4), a configuration and efforts (n,) [N or N m]."""
        length = np.clip(LENGTH * effort / self.reference, -LONGEST, LONGEST) * self.size
        if self._mechanism.kind == "stewart":
            return self._of_legs(frames, configuration, length)
        return self._of_joints(frames, length)

    def _of_legs(self, frames: FloatArray, pose: FloatArray, length: FloatArray) -> FloatArray:
        feet, tips = leg_ends(self._mechanism, pose)
        directions = (tips - feet) / np.linalg.norm(tips - feet, axis=1, keepdims=True)
        # inside the leg nothing would be seen of it: it ends at the tip when it pulls
        near = tips + 0.05 * self.size * directions
        far = near + np.abs(length)[:, None] * directions
        pushes = (length >= 0.0)[:, None]
        arrows = np.stack([np.where(pushes, near, far), np.where(pushes, far, near)], axis=1)
        base = frames[self._figure.index(self._mechanism.frames[0])]
        return np.asarray(arrows @ base[:3, :3].T + base[:3, 3])

    def _of_joints(self, frames: FloatArray, length: FloatArray) -> FloatArray:
        arrows = np.empty((len(length), 2, 3))
        for i, name in enumerate(self._mechanism.joint_names):
            joint = self._joints[name]
            frame = frames[self._figure.index(joint.parent)] @ joint.place
            axis = frame[:3, :3] @ joint.axis
            # clear of the joint's own body, on the side that the torque points to
            start = frame[:3, 3] + np.copysign(0.2 * self.size, length[i]) * axis
            arrows[i] = start, start + length[i] * axis
        return arrows


def leg_ends(mechanism: Mechanism, pose: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Ends (6, 3) of a platform's legs at the base and at the platform [m], base frame."""
    model: Any = getattr(mechanism, "model", None)
    platform = frame_of_pose(pose)
    tips = np.array([leg.platform for leg in model.legs]) @ platform[:3, :3].T + platform[:3, 3]
    return np.array([leg.base for leg in model.legs]), tips


def _reference(mechanism: Mechanism) -> float:
    """An effort [N or N m] that is neither small nor large: the largest that holds it at home."""
    home = mechanism.home
    rest = mechanism.difference(home, home)
    largest = float(np.abs(mechanism.inverse_dynamics(home, rest, rest)).max())
    limits = mechanism.effort_limits
    finite = limits[np.isfinite(limits)]
    if mechanism.kind == "serial" and len(finite):
        largest = max(largest, 0.3 * float(finite.max()))
    return max(largest, 1e-6)
