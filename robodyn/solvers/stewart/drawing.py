# SPDX-License-Identifier: Apache-2.0

"""URDF of a Stewart platform, with generated shapes if the model has no visuals."""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.model.body import Link
from robodyn.model.fields import GRAVITY, replace_unchecked
from robodyn.model.geometry import ball, bare, beam, ring
from robodyn.model.joint import Joint
from robodyn.model.model import Model
from robodyn.model.placement import Placement
from robodyn.poses import pose_from_rpy, rotation_matrix
from robodyn.solvers.stewart.six_legs import Leg, SixLegs
from robodyn.writing.urdf import tree_urdf


def platform_urdf(platform: Any) -> str:
    """Format a platform as URDF text that loads as an equal one."""
    return tree_urdf(written_model(platform), "stewart")


def written_model(platform: Any) -> Model:
    """Return the model of a platform for files, with visuals."""
    return dressed(platform.six_legs, platform.model)


def stewart_urdf(six: SixLegs) -> str:
    """Format six legs as URDF text that loads as an equal platform."""
    return tree_urdf(dressed(six), "stewart")


def dressed(six: SixLegs, model: Model | None = None) -> Model:
    """Return the model of six legs with visuals: its own, or shapes that resemble the machine.

    A model that was not created from the short form keeps its links, with or without visuals. In
    others, gravity that is not along -z of the base becomes a tilt of the base relative to a root
    link `world`, so that pictures of it are upright.
    """
    made = six.expanded()
    if model is not None:
        named = {link.name for link in model.links} != {link.name for link in made.links}
        if named or any(link.visuals for link in model.links):
            return model
    made = _with_home_as_origin(made)
    lengths = _home_lengths(six)
    size = float(lengths.mean())
    beams = {
        six.base_link: ring([leg.base for leg in six.legs], 0.02 * size, "frame"),
        six.platform_link: ring([leg.platform for leg in six.legs], 0.02 * size, "platform"),
    }
    balls = {
        six.base_link: [ball(leg.base, 0.035 * size, "joint") for leg in six.legs],
        six.platform_link: [ball(leg.platform, 0.035 * size, "joint") for leg in six.legs],
    }
    origin = np.zeros(3)
    for index, (leg, length) in enumerate(zip(six.legs, lengths, strict=True), start=1):
        cross, lower, upper = (f"leg{index}_{part}" for part in ("cross", "lower", "upper"))
        cylinder, rod = _parts(leg, length)
        balls[cross] = [ball(origin, 0.04 * length, "joint")]
        beams[lower] = beam(origin, (cylinder, 0, 0), 0.03 * length, "cylinder")
        beams[upper] = beam((-rod, 0, 0), origin, 0.018 * length, "rod")
        balls[upper] = [ball(origin, 0.03 * length, "joint")]
    links = []
    for link in made.links:
        solid = beams.get(link.name, ())
        visuals = (*solid, *balls.get(link.name, ()))
        links.append(replace_unchecked(link, visuals=visuals, collisions=bare(solid)))
    return _upright(replace_unchecked(made, links=tuple(links)), six)


def _with_home_as_origin(model: Model) -> Model:
    """Return the model with its floating joint at zero at home, as viewers show it."""
    *others, floating = model.joints
    home = np.array(dict(model.home).get(floating.name, (0.0,) * 7))
    if not home[:6].any():
        return model
    at = Placement(rotation_matrix(home), home[:3])
    return replace_unchecked(model, joints=(*others, replace_unchecked(floating, at=at)), home=())


def _upright(model: Model, six: SixLegs) -> Model:
    """Return the model on a level root link, relative to which its base is tilted."""
    if np.array_equal(six.gravity, GRAVITY) or not six.gravity.any():
        return model
    # Ry(pitch) Rx(roll) rotates `up`, a vector of the base, to the z axis of the root.
    up = -six.gravity
    roll = np.arctan2(up[1], up[2])
    pitch = np.arctan2(-up[0], np.hypot(up[1], up[2]))
    root = "world" if six.base_link != "world" else "level"
    turn = rotation_matrix(pose_from_rpy((0.0, 0.0, 0.0), (roll, pitch, 0.0)))
    mount = Joint("base_mount", "fixed", root, six.base_link, at=Placement(turn))
    level = np.array([0.0, 0.0, -np.linalg.norm(up)])
    links, joints = (*model.links, Link(root)), (*model.joints, mount)
    return replace_unchecked(model, links=links, joints=joints, gravity=level)


def _parts(leg: Leg, length: float) -> tuple[float, float]:
    """Return lengths [m] of the drawn cylinder and rod, which overlap if the limits allow."""
    cylinder = 0.55 * length
    longest = min(leg.limits.length[1], 1.3 * length)
    return cylinder, float(np.clip(longest - 0.9 * cylinder, 0.5 * length, 0.9 * length))


def _home_lengths(six: SixLegs) -> FloatArray:
    base = np.array([leg.base for leg in six.legs])
    if six.home is None:
        radius = np.linalg.norm(base - base.mean(axis=0), axis=1).max()
        return np.full(len(base), max(1.2 * float(radius), 1e-3))
    tips = np.array([leg.platform for leg in six.legs]) @ rotation_matrix(six.home).T
    lengths: FloatArray = np.linalg.norm(tips + six.home[:3] - base, axis=1)
    return np.maximum(lengths, 1e-3)
