# SPDX-License-Identifier: Apache-2.0

"""A Stewart platform as URDF, with shapes that resemble the machine where none are known."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.formats import urdf_shapes as draw
from robodyn.formats.urdf_shapes import element, origin, write_joint
from robodyn.mechanisms.common import urdf_writer as write
from robodyn.mechanisms.stewart.six_legs import Leg, SixLegs
from robodyn.model.fields import GRAVITY, varied
from robodyn.model.model import Model
from robodyn.model.placement import Placement
from robodyn.poses import rotation_matrix


def platform_urdf(platform: Any) -> str:
    """URDF text of a platform; loading it gives an equal one."""
    return stewart_urdf(platform.six_legs, platform.model)


def stewart_urdf(six: SixLegs, model: Model | None = None) -> str:
    """URDF text of six legs, or of the model that they are; loading it gives an equal one.

    A model that was read from a URDF keeps its pictures. Of another one, gravity that is not along
    -z of the base is written as a tilt of the base against a root link `world`, too, so that
    pictures of it are upright.
    """
    if model is not None and model.urdf:
        return write.tree_urdf(model, "stewart")
    model = _with_home_as_origin(six.expanded())
    robot = write.tree_of(model, "stewart")
    draw.materials(robot)
    links = {link.get("name"): link for link in robot.iterfind("link")}
    lengths = _home_lengths(six)
    size = float(lengths.mean())
    _frame(links[six.base_link], [leg.base for leg in six.legs], size, "frame")
    _frame(links[six.platform_link], [leg.platform for leg in six.legs], size, "platform")
    for index, (leg, length) in enumerate(zip(six.legs, lengths, strict=True), start=1):
        cross, lower, upper = (links[f"leg{index}_{part}"] for part in ("cross", "lower", "upper"))
        cylinder, rod = _parts(leg, length)
        draw.ball(cross, (0, 0, 0), 0.04 * length, "joint")
        draw.beam(lower, (0, 0, 0), (cylinder, 0, 0), 0.03 * length, "cylinder")
        draw.beam(upper, (-rod, 0, 0), (0, 0, 0), 0.018 * length, "rod")
        draw.ball(upper, (0, 0, 0), 0.03 * length, "joint")
    _stand_upright(robot, six)
    return draw.document_text(robot)


def _with_home_as_origin(model: Model) -> Model:
    """The model whose floating joint is at zero where it is at home, as viewers show it."""
    *others, floating = model.joints
    home = np.array(dict(model.home).get(floating.name, (0.0,) * 7))
    if not home[:6].any():
        return model
    at = Placement(rotation_matrix(home), home[:3])
    return varied(model, joints=(*others, varied(floating, at=at)), home=())


def _stand_upright(robot: ElementTree.Element, six: SixLegs) -> None:
    if np.array_equal(six.gravity, GRAVITY) or not six.gravity.any():
        return
    # Ry(pitch) Rx(roll) turns `up`, a vector of the base, into the z axis of the root.
    up = -six.gravity
    roll = np.arctan2(up[1], up[2])
    pitch = np.arctan2(-up[0], np.hypot(up[1], up[2]))
    root = "world" if six.base_link != "world" else "level"
    element(robot, "link", name=root)
    mount = write_joint(robot, "base_mount", "fixed", root, six.base_link)
    origin(mount, rpy=(roll, pitch, 0.0))


def _frame(link: ElementTree.Element, points: list[FloatArray], size: float, material: str) -> None:
    draw.ring(link, points, 0.02 * size, material)
    for point in points:
        draw.ball(link, point, 0.035 * size, "joint")


def _parts(leg: Leg, length: float) -> tuple[float, float]:
    """Lengths [m] of the drawn cylinder and rod; they overlap if the limits allow."""
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
