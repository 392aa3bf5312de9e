# SPDX-License-Identifier: Apache-2.0

"""How a platform is shown: its variables, its picture, its outline, tables of its parameters."""

from __future__ import annotations

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.mechanisms.common.figure import Figure
from robodyn.mechanisms.common.figure_of_links import figure_of_links
from robodyn.mechanisms.common.report_answers import (
    OutlinePart,
    ParameterTable,
    actuator_tables,
    body_table,
)
from robodyn.mechanisms.common.variables import AXES, Role, Variable
from robodyn.mechanisms.stewart.drawing import dressed
from robodyn.mechanisms.stewart.formulations import PUBLISHED_MODELS
from robodyn.mechanisms.stewart.parameters import PlatformParameters
from robodyn.mechanisms.stewart.six_legs import SixLegs
from robodyn.model.body import Body, Link
from robodyn.poses import matrix_from_pose, pose_from_rpy, rpy_from_pose

ANGLES = ("roll", "pitch", "yaw")


class PlatformPresentation(PlatformParameters):
    """The part of `StewartPlatform` that shows it."""

    acts_along_legs = True
    # Effort limits are far above the forces of normal operation, so they do not scale arrows.
    typical_effort = 0.0
    published_models = PUBLISHED_MODELS

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
        legs = self.six_legs.legs
        platform = matrix_from_pose(configuration)
        tips = np.array([leg.platform for leg in legs]) @ platform[:3, :3].T + platform[:3, 3]
        return np.array([leg.base for leg in legs]), tips

    def leg_directions(self, configuration: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Tips (6, 3) [m] and unit vectors (6, 3) of the legs of pose (7,), base frame.

        Raises:
            ZeroLegLength: a leg without a direction.
        """
        motion = self.leg_motion(configuration)
        feet = np.array([leg.base for leg in self.six_legs.legs])
        return feet + motion.length[:, None] * motion.direction, motion.direction

    def floating_poses(self, configuration: FloatArray) -> dict[tuple[str, str], FloatArray]:
        """The platform's pose (7,) by the names of base and platform."""
        return {(self.six_legs.base_link, self.six_legs.platform_link): configuration}

    def figure(self) -> Figure:
        """Shapes that resemble the machine."""
        model = dressed(self.six_legs)
        return figure_of_links(model.links, model.joints, self.name)

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
        base = frames[figure.index(self.six_legs.base_link)]
        return np.asarray(arrows @ base[:3, :3].T + base[:3, 3])

    def outline(self, configuration: FloatArray) -> list[OutlinePart]:
        """The base, the platform and the legs at a pose (7,)."""
        base, tips = self.leg_ends(configuration)
        local = np.array([leg.platform for leg in self.six_legs.legs])
        return [
            OutlinePart("base", base[_around(base)], moves=False),
            OutlinePart("platform", tips[_around(local)]),
            *(
                OutlinePart("legs", np.array(ends), thin=True)
                for ends in zip(base, tips, strict=True)
            ),
        ]

    def parameter_tables(self) -> list[ParameterTable]:
        """The bodies, equal legs once; geometry, friction, limits and actuator of each leg."""
        actuators = actuator_tables(self.joint_names, self.actuators)
        return [_bodies(self.six_legs), _legs(self.six_legs), *actuators]


def _around(points: FloatArray) -> list[int]:
    """Indices of points (n, 3) in the order of their angle about the middle, closed."""
    off = points - points.mean(axis=0)
    order = np.argsort(np.arctan2(off[:, 1], off[:, 0])).tolist()
    return [*order, order[0]]


def _bodies(six: SixLegs) -> ParameterTable:
    bodies = [("platform", six.platform)]
    for part in ("lower", "upper"):
        each = [getattr(leg, part) for leg in six.legs]
        if all(_same(each[0], other) for other in each[1:]):
            bodies.append((f"{part} part of every leg", each[0]))
        else:
            bodies += [(f"{part} part of leg {i}", body) for i, body in enumerate(each, start=1)]
    return body_table(
        (Link(name, body.mass, body.com, body.inertia) for name, body in bodies),
        "the platform in its own frame; parts of a leg in axes along it (x from base to platform, "
        "y along universal axis × x), the lower part from its universal joint, the upper part "
        "from its spherical joint",
    )


def _same(a: Body, b: Body) -> bool:
    return bool(a.mass == b.mass and (a.com == b.com).all() and (a.inertia == b.inertia).all())


def _legs(six: SixLegs) -> ParameterTable:
    rows = []
    for i, leg in enumerate(six.legs, start=1):
        damping, limits = leg.damping, leg.limits
        friction = np.array([damping.universal, damping.prismatic, damping.spherical])
        rows.append((str(i), leg.base, leg.platform, leg.universal_axis, friction,
                     np.asarray(limits.length), limits.velocity, limits.effort))  # fmt: skip
    head = ("leg", "base joint [m]", "platform joint [m]", "universal axis",
            "friction u, p, s [N m s, N s/m]", "length [m]", "speed [m/s]",
            "force [N]")  # fmt: skip
    return ParameterTable(
        "Legs",
        head,
        rows,
        "base joint and universal axis in the base frame, platform joint in the platform's frame; "
        "length between a leg's two joints, force positive where it pushes them apart",
    )
