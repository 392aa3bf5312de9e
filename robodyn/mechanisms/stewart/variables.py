# SPDX-License-Identifier: Apache-2.0

"""The variables of a Stewart platform: its pose, with roll, pitch and yaw, and its geometry."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from robodyn.mechanisms.common.variables import AXES, Role, Variable
from robodyn.poses import pose_from_rpy, rpy_from_pose

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.stewart.model import StewartModel

ANGLES = ("roll", "pitch", "yaw")


class PlatformVariables:
    """The part of `StewartPlatform` that sweeps and sliders use; see `presentation.Varied`.

    Attributes:
        model: the description it was built from.
        base_joint: of each leg.
    """

    model: StewartModel
    base_joint: tuple[str, ...]

    # Moment rows of H are divided by a length, so its entries are pure numbers.
    jacobian_unit = "1"

    @property
    def largest_payload(self) -> float:
        """[kg] twice the mass of the platform."""
        return 2.0 * float(self.model.platform.mass)

    @property
    def description(self) -> tuple[object, object]:
        """The model, and the legs' base joints."""
        return self.model, self.base_joint

    @property
    def variables(self) -> dict[str, Variable]:
        """Pose, twist and acceleration of the platform, and the size of its two hexagons."""
        known: dict[str, Variable] = {}
        for i, axis in enumerate(AXES):
            known[axis] = Variable("position", i, "m", f"platform in base frame, {axis}")
        for i, angle in enumerate(ANGLES):
            known[angle] = Variable("position", i + 3, "rad", f"{angle} of the platform")
        rates: tuple[tuple[Role, str, str], ...]
        rates = (("velocity", "velocity", "s"), ("acceleration", "accel", "s^2"))
        for role, short, unit in rates:
            for i, axis in enumerate(AXES):
                text = f"{role} of the platform, base frame, {axis}"
                known[f"{short}_{axis}"] = Variable(role, i, f"m/{unit}", text)
            for i, axis in enumerate(AXES):
                text = f"angular {role} of the platform, base frame, {axis}"
                known[f"angular_{short}_{axis}"] = Variable(role, i + 3, f"rad/{unit}", text)
        for i, part in enumerate(("base", "platform")):
            text = f"factor on the distance of the {part}'s joints from its z axis"
            known[f"{part}_scale"] = Variable("model", i, "1", text, 1e-6, 1.0)
        return known

    def values_of(self, configuration: ArrayLike) -> FloatArray:
        """(..., 6) [m, rad] x, y, z, roll, pitch, yaw of pose (..., 7)."""
        return np.concatenate(rpy_from_pose(configuration), axis=-1)

    def configuration_of(self, values: ArrayLike) -> FloatArray:
        """Pose (..., 7) of (..., 6) [m, rad] x, y, z, roll, pitch, yaw."""
        given = np.asarray(values, dtype=np.float64)
        return pose_from_rpy(given[..., :3], given[..., 3:])

    def scaled(self, values: Mapping[str, float]) -> StewartModel:
        """The model with its joints' distances from the z axes scaled by two factors.

        Raises:
            ModelError: there is no such platform.
        """
        base, platform = values["base_scale"], values["platform_scale"]
        if base == 1.0 and platform == 1.0:
            return self.model
        level = np.array([[base, base, 1.0], [platform, platform, 1.0]])
        legs = tuple(
            replace(leg, base=leg.base * level[0], platform=leg.platform * level[1])
            for leg in self.model.legs
        )
        return replace(self.model, legs=legs)
