# SPDX-License-Identifier: Apache-2.0

"""URDF of a Stewart platform, with generated shapes if the model has no visuals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.model.body import Link
from robodyn.model.fields import GRAVITY, replace_unchecked
from robodyn.model.geometry import Geometry, ball, bare, beam, ring
from robodyn.model.joint import Joint
from robodyn.model.model import Model
from robodyn.model.placement import Placement
from robodyn.poses import pose_from_rpy, rotation_matrix
from robodyn.solvers.stewart.description.yaml_form import BASE, PLATFORM
from robodyn.solvers.stewart.leg_shape import LegPart, LegShape
from robodyn.solvers.stewart.recognition import LEGS, PlatformStructure
from robodyn.writing.urdf import tree_urdf


def platform_urdf(platform: Any) -> str:
    """Return a URDF document (XML) from which an equal platform can be loaded."""
    return tree_urdf(written_model(platform), "stewart")


def written_model(platform: Any) -> Model:
    """Return a platform's model with visual shapes, for export to a file.

    A model with its own links or visuals is returned unchanged.
    """
    model = platform.model
    parts = {f"leg{n}_{part}" for n in range(1, 1 + LEGS) for part in ("cross", "lower", "upper")}
    if {link.name for link in model.links} != {BASE, PLATFORM, *parts}:
        return model
    return model if any(link.visuals for link in model.links) else model_with_shapes(platform)


def model_with_shapes(platform: Any) -> Model:
    """Return the model of a platform with shapes that resemble the machine.

    If gravity is not along -z of the root, the base is tilted relative to an additional root link
    `world`, so that pictures are upright.
    """
    model, structure = platform.model, platform.structure
    feet, tips = structure.joint_centers
    lengths = _home_lengths(structure)
    size = float(lengths.mean())
    solids = {
        structure.base_link: ring(feet, 0.02 * size, "frame"),
        structure.platform_link: ring(tips, 0.02 * size, "platform"),
    }
    balls = {
        structure.base_link: [ball(foot, 0.035 * size, "joint") for foot in feet],
        structure.platform_link: [ball(tip, 0.035 * size, "joint") for tip in tips],
    }
    origin = np.zeros(3)
    for leg, length in zip(structure.legs, lengths, strict=True):
        cylinder, rod = _parts(leg.shape, length)
        drawn = beam(origin, (cylinder, 0, 0), 0.03 * length, "cylinder")
        for part, solid, joint in (
            (leg.shape.lower[0], drawn, 0.04 * length),
            (leg.shape.upper[0], beam((-rod, 0, 0), origin, 0.018 * length, "rod"), 0.03 * length),
        ):
            solids[part.link] = _on_link(part, solid)
            balls[part.link] = list(_on_link(part, [ball(origin, joint, "joint")]))
    links = []
    for link in model.links:
        solid = solids.get(link.name, ())
        visuals = (*solid, *balls.get(link.name, ()))
        links.append(replace_unchecked(link, visuals=visuals, collisions=bare(solid)))
    made = replace_unchecked(model, links=tuple(links))
    return _upright(_with_home_as_origin(made, structure))


def _on_link(part: LegPart, shapes: Sequence[Geometry]) -> tuple[Geometry, ...]:
    """Transform shapes from the body frame of a leg part to the frame of its link."""
    if part.axes is None:
        return tuple(shapes)
    frame = np.eye(4)
    frame[:3, :3], frame[:3, 3] = part.axes, part.origin
    return tuple(shape.seen_from(frame) for shape in shapes)


def _with_home_as_origin(model: Model, structure: PlatformStructure) -> Model:
    """Return a platform's model whose floating joint is at zero in the home pose.

    Viewers draw a URDF with all joints at zero.
    """
    home = structure.home
    if home is None or not model.home or not home[:6].any():
        return model
    at = Placement(rotation_matrix(home), home[:3])
    joints = (
        replace_unchecked(joint, at=at) if joint.kind == "floating" else joint
        for joint in model.joints
    )
    return replace_unchecked(model, joints=tuple(joints), home=())


def _upright(model: Model) -> Model:
    """Return the model with a level root link, so that viewers show a tilted base."""
    if np.array_equal(model.gravity, GRAVITY) or not model.gravity.any():
        return model
    # Ry(pitch) Rx(roll) rotates `up`, a vector of the base, to the z axis of the root.
    up = -model.gravity
    roll = np.arctan2(up[1], up[2])
    pitch = np.arctan2(-up[0], np.hypot(up[1], up[2]))
    root = "world" if all(link.name != "world" for link in model.links) else "level"
    turn = rotation_matrix(pose_from_rpy((0.0, 0.0, 0.0), (roll, pitch, 0.0)))
    mount = Joint("base_mount", "fixed", root, model.base_link, at=Placement(turn))
    level = np.array([0.0, 0.0, -np.linalg.norm(up)])
    links, joints = (*model.links, Link(root)), (*model.joints, mount)
    return replace_unchecked(model, links=links, joints=joints, gravity=level)


def _parts(shape: LegShape, length: float) -> tuple[float, float]:
    """Return the drawn lengths [m] of a leg's cylinder and its rod; these may overlap."""
    cylinder = 0.55 * length
    longest = min(shape.length[1], 1.3 * length)
    return cylinder, float(np.clip(longest - 0.9 * cylinder, 0.5 * length, 0.9 * length))


def _home_lengths(structure: PlatformStructure) -> FloatArray:
    base, tips = structure.joint_centers
    if structure.home is None:
        radius = np.linalg.norm(base - base.mean(axis=0), axis=1).max()
        return np.full(len(base), max(1.2 * float(radius), 1e-3))
    tips = tips @ rotation_matrix(structure.home).T
    lengths: FloatArray = np.linalg.norm(tips + structure.home[:3] - base, axis=1)
    return np.maximum(lengths, 1e-3)
