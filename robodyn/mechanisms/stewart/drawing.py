# SPDX-License-Identifier: Apache-2.0

"""How a Stewart platform is drawn: from its URDF, with the legs' forces beside their tips."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robodyn.mechanisms.common.figure import frame_of_pose
from robodyn.mechanisms.common.figure_from_urdf import figure_from_urdf
from robodyn.mechanisms.stewart import kinematics
from robodyn.mechanisms.stewart.description.urdf_export import stewart_urdf

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.common.figure import Figure
    from robodyn.mechanisms.stewart.model import StewartModel


class PlatformDrawing:
    """The drawing part of `StewartPlatform`; see `presentation.Drawn`.

    Attributes:
        model: the description it is drawn from.
    """

    model: StewartModel
    _legs: FloatArray
    if TYPE_CHECKING:

        @property
        def size(self) -> float:
            """See `protocol.Mechanism`."""

    acts_along_legs = True
    # Effort limits are far above the forces of normal operation, so they do not scale arrows.
    typical_effort = 0.0

    def leg_ends(self, configuration: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Ends (6, 3) [m] of the legs at the base and at the platform of pose (7,), base frame."""
        legs = self.model.legs
        platform = frame_of_pose(configuration)
        tips = np.array([leg.platform for leg in legs]) @ platform[:3, :3].T + platform[:3, 3]
        return np.array([leg.base for leg in legs]), tips

    def leg_directions(self, configuration: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Tips (6, 3) [m] and unit vectors (6, 3) of the legs of pose (7,), base frame.

        Raises:
            ZeroLegLength: a leg without a direction.
        """
        motion = kinematics.leg_motion(self._legs, configuration, None, None)
        feet = np.array([leg.base for leg in self.model.legs])
        return feet + motion.length[:, None] * motion.direction, motion.direction

    def floating_poses(self, configuration: FloatArray) -> dict[tuple[str, str], FloatArray]:
        """The platform's pose (7,) by the names of base and platform."""
        return {(self.model.base_link, self.model.platform_link): configuration}

    def figure(self) -> Figure:
        """As drawn by its URDF."""
        return figure_from_urdf(stewart_urdf(self.model), f"URDF of {self.model.name}")

    def effort_arrows(
        self, figure: Figure, frames: FloatArray, configuration: FloatArray, lengths: FloatArray
    ) -> FloatArray:
        """Arrows (6, 2, 3) [m] of the legs' forces on the platform, in the frame of the root.

        Along the leg, beyond the tip it acts on: away from the base when the leg pushes, towards
        it when it pulls. Arguments as for `presentation.Drawn.effort_arrows`.
        """
        feet, tips = self.leg_ends(configuration)
        directions = (tips - feet) / np.linalg.norm(tips - feet, axis=1, keepdims=True)
        # beyond the tip, where the leg does not hide the arrow
        near = tips + 0.05 * self.size * directions
        far = near + np.abs(lengths)[:, None] * directions
        pushes = (lengths >= 0.0)[:, None]
        arrows = np.stack([np.where(pushes, near, far), np.where(pushes, far, near)], axis=1)
        base = frames[figure.index(self.model.base_link)]
        return np.asarray(arrows @ base[:3, :3].T + base[:3, 3])
