# SPDX-License-Identifier: Apache-2.0

"""The Stewart platform: public interface to the kinematics and dynamics of a 6-UPS mechanism.

Every method checks its arguments, broadcasts over leading dimensions and passes one flat batch to a
compiled kernel. Vectors are in the base frame, about the platform's reference point. Equations are
of Dasgupta and Mruthyunjaya (1998), corrected as docs/stewart.md says.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from robodyn.actuators import Actuator
from robodyn.checks import as_pose
from robodyn.mechanisms.common.compiled_run import CompiledRun, Kernels
from robodyn.mechanisms.common.figure import frame_of_pose
from robodyn.mechanisms.common.figure_from_urdf import figure_from_urdf
from robodyn.mechanisms.common.joint_table import joint_table
from robodyn.mechanisms.common.kernels.integration import NO_COMMAND
from robodyn.mechanisms.common.linearization import linearize
from robodyn.mechanisms.common.variables import AXES, Role, Variable
from robodyn.mechanisms.stewart.description.urdf_export import stewart_urdf
from robodyn.mechanisms.stewart.kernels.integration import simulate
from robodyn.mechanisms.stewart.model import Damping
from robodyn.mechanisms.stewart.parameters import PlatformParameters
from robodyn.mechanisms.stewart.status import error_for
from robodyn.numerics.array_arguments import VECTOR
from robodyn.poses import pose_from_rpy, rpy_from_pose

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from numpy.typing import ArrayLike

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.common.figure import Figure
    from robodyn.mechanisms.common.linearization import Linearization
    from robodyn.mechanisms.stewart.model import Leg

# of packed lanes
KERNELS = Kernels(simulate, (VECTOR,))
ANGLES = ("roll", "pitch", "yaw")


class StewartPlatform(PlatformParameters):
    """A 6-UPS Stewart platform; the model is frozen, methods are pure functions of it.

    A pose is (..., 7) x y z [m], quaternion x y z w, platform frame in base frame; a twist (..., 6)
    the velocity of the platform's reference point [m/s], then the angular velocity [rad/s]; an
    acceleration (..., 6) its time derivative; a wrench (..., 6) what the surroundings exert on the
    platform, force [N] and moment about the reference point [N m]; all in the base frame. Forces of
    the legs are (..., 6) [N], positive when they push.

    All methods raise InvalidInput for arrays of the wrong shape or not finite. Where the equations
    have no solution they raise a KinematicsError naming the element and the leg: ZeroLegLength,
    UniversalJointSingularity, SingularConfiguration.

    Attributes:
        model: the description it was built from.
        base_joint: of each leg, `universal`, or `spherical` for a 6-SPS leg, whose passive spin is
            neglected; such a leg must be symmetric about its axis.
    """

    acts_along_legs = True
    # Effort limits are far above the forces of normal operation, so they do not scale arrows.
    typical_effort = 0.0

    def __repr__(self) -> str:
        return f"StewartPlatform({self.name!r})"

    def linearize(self, pose: ArrayLike, wrench: ArrayLike | None = None) -> Linearization:
        """Small motions about rest at pose (..., 7), the actuator forces that hold it held.

        The derivatives are central differences of the exact forward dynamics, of order 6. Dry
        friction, which has none at rest, is left out.
        """
        base = self.joint_centres[0]
        radius = float(np.linalg.norm(base - base.mean(axis=0), axis=1).mean())
        return linearize(self.without_dry_friction(), as_pose("pose", pose), wrench, radius)

    def without_friction(self) -> StewartPlatform:
        """The same platform with neither viscous nor dry friction, and lossless screws."""
        return self._with_legs(
            lambda leg: replace(leg, damping=Damping(), actuator=leg.actuator.without_friction())
        )

    def without_dry_friction(self, undamped: Collection[str] = ()) -> StewartPlatform:
        """The same platform without dry friction, and without damping along the legs named."""

        def without(leg: Leg) -> Leg:
            damping = leg.damping
            if leg.joints.actuator.name in undamped:
                damping = replace(damping, prismatic=0.0)
            actuator = replace(
                leg.actuator,
                coulomb=0.0,
                coulomb_backward=None,
                static=None,
                stribeck_velocity=None,
            )
            return replace(leg, damping=damping, actuator=actuator)

        return self._with_legs(without)

    def without_actuators(self) -> StewartPlatform:
        """The same platform with ideal actuators: no rotors, no dry friction, no motor limits."""
        return self._with_legs(lambda leg: replace(leg, actuator=Actuator()))

    def _with_legs(self, changed: Callable[[Leg], Leg]) -> StewartPlatform:
        return self._made(replace(self.model, legs=tuple(map(changed, self.model.legs))))

    def with_model_values(self, values: Mapping[str, float]) -> StewartPlatform:
        """The same platform, its joints' distances from the z axes scaled by two factors.

        Raises:
            ModelError: there is no such platform.
        """
        base, platform = values["base_scale"], values["platform_scale"]
        if base == 1.0 and platform == 1.0:
            return self
        level = np.array([[base, base, 1.0], [platform, platform, 1.0]])
        return self._with_legs(
            lambda leg: replace(leg, base=leg.base * level[0], platform=leg.platform * level[1])
        )

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
        motion = self.leg_motion(configuration)
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
        it when it pulls. Arguments as for `Mechanism.effort_arrows`.
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

    def _run_under(self, model: StewartPlatform) -> CompiledRun:
        return CompiledRun(
            KERNELS,
            (self._lanes,),
            lambda: (self._smooth_lanes,),
            joint_table(self.position_limits, self.actuators),
            self.friction,
            (model._lanes,),
        )

    @cached_property
    def _smooth_lanes(self) -> FloatArray:
        return self.without_dry_friction()._lanes

    def _why_no_step(self, status: int, configuration: FloatArray) -> str:
        if status == NO_COMMAND:
            return "the forces are not finite"
        return str(error_for(status, (), configuration, self._legs))
