# SPDX-License-Identifier: Apache-2.0

"""Presentation of a platform: variables, figure, outline, tables of its parameters."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.model.body import Link
from robodyn.poses import matrix_from_pose, pose_from_rpy, rpy_from_pose
from robodyn.presentation.figure import Figure
from robodyn.presentation.figure_of_links import figure_of_links
from robodyn.presentation.report_answers import (
    OutlinePart,
    ParameterTable,
    actuator_tables,
    body_table,
)
from robodyn.presentation.variables import AXES, Role, Variable
from robodyn.solvers.stewart.drawing import model_with_shapes
from robodyn.solvers.stewart.formulations import PUBLISHED_MODELS
from robodyn.solvers.stewart.geometry import with_leg_geometry
from robodyn.solvers.stewart.recognition import LEGS

ANGLES = ("roll", "pitch", "yaw")


def variables(platform: Any) -> dict[str, Variable]:
    """Return the variables of a platform that a sweep can change, by name.

    They are the components of pose, twist and acceleration, and a scale factor for each of the two
    hexagons of joints.
    """
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
        text = f"scale factor of the distance of the {part}'s joints from its z axis"
        known[f"{part}_scale"] = Variable("model", i, "1", text, 1e-6, 1.0)
    return known


def values_of(platform: Any, configuration: ArrayLike) -> FloatArray:
    """Convert poses (..., 7) to x, y, z [m], roll, pitch, yaw [rad] (..., 6)."""
    return np.concatenate(rpy_from_pose(configuration), axis=-1)


def configuration_of(platform: Any, values: ArrayLike) -> FloatArray:
    """Convert x, y, z [m], roll, pitch, yaw [rad] (..., 6) to poses (..., 7)."""
    given = np.asarray(values, dtype=np.float64)
    return pose_from_rpy(given[..., :3], given[..., 3:])


def leg_ends(platform: Any, configuration: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the legs' ends at base and platform, (6, 3) [m] each, for a pose (7,).

    Both are in the base frame.
    """
    feet, tips = platform.solver.joint_centers
    frame = matrix_from_pose(configuration)
    return feet, tips @ frame[:3, :3].T + frame[:3, 3]


def leg_directions(platform: Any, configuration: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the legs' tips (6, 3) [m] and directions (6, 3) at a pose (7,), base frame.

    Raises:
        ZeroLegLength: a leg has no direction.
    """
    motion = platform.leg_motion(configuration)
    feet, _ = platform.solver.joint_centers
    return feet + motion.length[:, None] * motion.direction, motion.direction


def floating_poses(platform: Any, configuration: FloatArray) -> dict[tuple[str, str], FloatArray]:
    """Return a mapping from (base frame, platform frame) to the platform's pose (7,)."""
    return {platform.frames: configuration}


def figure(platform: Any) -> Figure:
    """Return a figure of the platform for drawing: links, joints and generated shapes."""
    model = model_with_shapes(platform)
    return figure_of_links(model.links, model.joints, platform.name)


def effort_arrows(
    platform: Any,
    figure: Figure,
    frames: FloatArray,
    configuration: FloatArray,
    lengths: FloatArray,
) -> FloatArray:
    """Return arrows (6, 2, 3) [m] that show the legs' forces on the platform.

    Start and end of each arrow are in the root link's frame. An arrow is along the leg, beyond its
    tip: away from the base if the leg pushes, towards it if it pulls. The arguments are those of
    `robodyn.presentation.presentation.effort_arrows`.
    """
    feet, tips = leg_ends(platform, configuration)
    directions = (tips - feet) / np.linalg.norm(tips - feet, axis=1, keepdims=True)
    # beyond the tip, where the leg does not hide the arrow
    near = tips + 0.05 * platform.size * directions
    far = near + np.abs(lengths)[:, None] * directions
    pushes = (lengths >= 0.0)[:, None]
    arrows = np.stack([np.where(pushes, near, far), np.where(pushes, far, near)], axis=1)
    base = frames[figure.index(platform.frames[0])]
    return np.asarray(arrows @ base[:3, :3].T + base[:3, 3])


def outline(platform: Any, configuration: FloatArray) -> list[OutlinePart]:
    """Return line segments [m], base frame, of base, platform and legs at a pose (7,)."""
    base, tips = leg_ends(platform, configuration)
    _, local = platform.solver.joint_centers
    return [
        OutlinePart("base", base[_around(base)], moves=False),
        OutlinePart("platform", tips[_around(local)]),
        *(OutlinePart("legs", np.array(ends), thin=True) for ends in zip(base, tips, strict=True)),
    ]


def parameter_tables(platform: Any) -> list[ParameterTable]:
    """Return tables of the bodies, the legs and the actuators of a platform.

    Equal legs are listed only once.
    """
    actuators = actuator_tables(platform.joint_names, platform.actuators)
    return [_bodies(platform), _legs(platform), *actuators]


def moving_mass(platform: Any) -> float:
    """Return the mass [kg] of the platform, without the legs."""
    return float(platform.bodies[0].mass)


def largest_payload(platform: Any) -> float:
    """Return the largest payload [kg] offered to a user: twice the platform's mass."""
    return 2.0 * float(platform.bodies[0].mass)


def has_legs(platform: Any) -> bool:
    """Return True: the actuators push on the platform along the legs."""
    return True


def published_models(platform: Any) -> Collection[str]:
    """Return the names of the bundled platforms that the papers describe."""
    return PUBLISHED_MODELS


def typical_effort(platform: Any) -> float:
    """Return 0: arrows of forces are not scaled by effort limits, which are far higher."""
    return 0.0


def _around(points: FloatArray) -> list[int]:
    """Return the order of indices in which points (n, 3) form a closed polygon.

    The points are sorted by their polar angle about the centroid, in the x-y plane. The first index
    is repeated at the end.
    """
    off = points - points.mean(axis=0)
    order = np.argsort(np.arctan2(off[:, 1], off[:, 0])).tolist()
    return [*order, order[0]]


def _bodies(platform: Any) -> ParameterTable:
    first, *parts = platform.bodies
    tabled = [first]
    for part, each in (("lower", parts[:LEGS]), ("upper", parts[LEGS:])):
        if all(_same(each[0], other) for other in each[1:]):
            tabled.append(replace(each[0], name=f"{part} part of every leg"))
        else:
            tabled += [
                replace(body, name=f"{part} part of leg {i}")
                for i, body in enumerate(each, start=1)
            ]
    return body_table(
        tabled,
        "the platform in its own frame; parts of a leg in axes along it (x from base to platform, "
        "y along universal axis × x), the lower part from its universal joint, the upper part "
        "from its spherical joint",
    )


def _same(a: Link, b: Link) -> bool:
    return bool(a.mass == b.mass and (a.com == b.com).all() and (a.inertia == b.inertia).all())


def _legs(platform: Any) -> ParameterTable:
    model, rows = platform.model, []
    for i, leg in enumerate(platform.structure.legs, start=1):
        joint, shape = leg.joints_in(model)[2], leg.shape
        rows.append((str(i), shape.base, leg.platform, shape.universal_axis,
                     np.array(leg.damping(model)), np.asarray(shape.length), joint.velocity,
                     joint.effort))  # fmt: skip
    head = ("leg", "base joint [m]", "platform joint [m]", "universal axis",
            "friction u, p, s [N m s, N s/m]", "length [m]", "speed [m/s]",
            "force [N]")  # fmt: skip
    return ParameterTable(
        "Legs",
        head,
        rows,
        "base joint and universal axis in the base frame, platform joint in the platform's frame; "
        "length between a leg's two joints; a positive force pushes them apart",
    )


def default_path(platform: Any) -> str:
    """Return the name of the platform's example path; empty for most platforms.

    For the manipulator of Dasgupta, it is path I of the paper.
    """
    return "I" if platform.name == "stewart_dasgupta" else ""


def jacobian_unit(platform: Any) -> str:
    """Return the Jacobian's unit: `1`, because moments are divided by a length."""
    return "1"


def with_model_values(platform: Any, values: Mapping[str, float]) -> Any:
    """Return the platform with scaled distances of the leg joints from the z axes.

    The joints at the base are scaled about z of the base frame, those at the platform about z of
    the platform frame.

    Args:
        platform: the mechanism.
        values: the factors `base_scale` and `platform_scale`, one for each hexagon of joints.

    Raises:
        ModelError: the scaled platform is invalid.
    """
    base, body = values["base_scale"], values["platform_scale"]
    if base == 1.0 and body == 1.0:
        return platform
    feet, tips = platform.solver.joint_centers
    return with_leg_geometry(
        platform,
        feet * [base, base, 1.0],
        tips * [body, body, 1.0],
        platform.structure.universal_axes,
        np.zeros(LEGS),
    )
