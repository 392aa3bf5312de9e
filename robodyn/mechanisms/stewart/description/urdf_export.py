# SPDX-License-Identifier: Apache-2.0

"""A Stewart platform as URDF: the tree, its closures, and shapes that resemble the machine.

Links and zeros follow `universal_zero_frame`: at zero the universal joint's frame has its fixed
axis along z, the second along y, the leg along x; the actuator's value is the leg length. So
`leg<i>_lower` is the leg frame at the universal joint, `leg<i>_upper` the one at the spherical
joint.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

import numpy as np

from robodyn.actuators.description import params_of
from robodyn.formats import urdf_shapes as draw
from robodyn.formats.urdf_shapes import element, number, numbers, origin
from robodyn.mechanisms.common import urdf_writer as write
from robodyn.mechanisms.stewart.model import universal_zero_frame
from robodyn.model.fields import GRAVITY
from robodyn.poses import rotation_matrix, rpy_from_pose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.stewart.model import Leg, StewartModel


# No actuator drives the passive joints, but URDF requires the numbers.
PASSIVE_VELOCITY = 10.0


def stewart_urdf(model: StewartModel) -> str:
    """URDF text of a model; loading it gives an equal one.

    Gravity that is not along -z of the base is written as a tilt of the base against a root link
    `world`, too, so that pictures of it are upright.
    """
    robot = element(None, "robot", name=model.name)
    draw.materials(robot)
    _world(robot, model)
    lengths = _home_lengths(model)
    size = float(lengths.mean())
    base = element(robot, "link", name=model.base_link)
    _frame(base, [leg.base for leg in model.legs], size, "frame")
    for index, (leg, length) in enumerate(zip(model.legs, lengths, strict=True), start=1):
        _leg(robot, model, index, leg, float(length))
    platform = element(robot, "link", name=model.platform_link)
    draw.inertial(platform, model.platform)
    _frame(platform, [leg.platform for leg in model.legs], size, "platform")
    joint = write.write_joint(
        robot, "platform_joint", "floating", model.base_link, model.platform_link
    )
    if model.home is not None:
        origin(joint, *rpy_from_pose(model.home))
    for index, leg in enumerate(model.legs, start=1):
        _closure(robot, model, index, leg)
    write.write_actuators(robot, {leg.joints.names[2]: _params(leg) for leg in model.legs})
    if not np.array_equal(model.gravity, GRAVITY):
        write.write_settings(robot, gravity=model.gravity, base_link=model.base_link)
    return write.text_of(robot)


def _world(robot: ElementTree.Element, model: StewartModel) -> None:
    if np.array_equal(model.gravity, GRAVITY) or not model.gravity.any():
        return
    # Ry(pitch) Rx(roll) turns `up`, a vector of the base, into the z axis of the root.
    up = -model.gravity
    roll = np.arctan2(up[1], up[2])
    pitch = np.arctan2(-up[0], np.hypot(up[1], up[2]))
    root = "world" if model.base_link != "world" else "level"
    element(robot, "link", name=root)
    origin(
        write.write_joint(robot, "base_mount", "fixed", root, model.base_link),
        rpy=(roll, pitch, 0.0),
    )


def _leg(
    robot: ElementTree.Element, model: StewartModel, index: int, leg: Leg, length: float
) -> None:
    cross, lower, upper = (f"leg{index}_{part}" for part in ("cross", "lower", "upper"))
    zero = universal_zero_frame(leg.universal_axis)
    yaw = np.arctan2(zero[1, 0], zero[0, 0])
    roll = np.arctan2(zero[2, 1], zero[2, 2])
    damping = leg.damping
    first, second, actuator = leg.joints.names

    joint = write.write_joint(robot, first, "revolute", model.base_link, cross)
    origin(joint, leg.base, (roll, 0.0, yaw))
    _motion(joint, (0, 0, 1), (-np.pi, np.pi), 0.0, PASSIVE_VELOCITY, damping.universal)
    link = element(robot, "link", name=cross)
    draw.ball(link, (0, 0, 0), 0.04 * length, "joint")

    joint = write.write_joint(robot, second, "revolute", cross, lower)
    origin(joint)
    _motion(joint, (0, 1, 0), (-np.pi / 2, np.pi / 2), 0.0, PASSIVE_VELOCITY, damping.universal)
    link = element(robot, "link", name=lower)
    draw.inertial(link, leg.lower)
    cylinder, rod = _parts(leg, length)
    draw.beam(link, (0, 0, 0), (cylinder, 0, 0), 0.03 * length, "cylinder")

    joint = write.write_joint(robot, actuator, "prismatic", lower, upper)
    reading, limits = leg.joints.actuator, leg.limits
    origin(joint, (reading.offset, 0, 0))
    ends = sorted(reading.sign * (end - reading.offset) for end in limits.length)
    axis = (int(reading.sign), 0, 0)
    _motion(joint, axis, ends, limits.effort, limits.velocity, damping.prismatic)
    joint[-1].set("friction", number(leg.actuator.coulomb))
    link = element(robot, "link", name=upper)
    draw.inertial(link, leg.upper)
    draw.beam(link, (-rod, 0, 0), (0, 0, 0), 0.018 * length, "rod")
    draw.ball(link, (0, 0, 0), 0.03 * length, "joint")


def _params(leg: Leg) -> dict[str, str]:
    """What drives a leg, but what `<dynamics friction>` says."""
    params = params_of(leg.actuator)
    params.pop("coulomb", None)
    return params


def _closure(robot: ElementTree.Element, model: StewartModel, index: int, leg: Leg) -> None:
    closure = element(robot, "constraint", name=f"leg{index}_tip", type="spherical")
    closure.set("damping", number(leg.damping.spherical))
    element(closure, "parent", link=f"leg{index}_upper")
    origin(closure, tag="parent_origin")
    element(closure, "child", link=model.platform_link)
    origin(closure, leg.platform, tag="child_origin")


def _motion(
    joint: ElementTree.Element,
    axis: tuple[int, int, int],
    bounds: Sequence[float],
    effort: float,
    velocity: float,
    damping: float,
) -> None:
    element(joint, "axis", xyz=numbers(axis))
    write.write_limits(joint, bounds, velocity, effort)
    element(joint, "dynamics", damping=number(damping), friction="0")


def _frame(link: ElementTree.Element, points: list[FloatArray], size: float, material: str) -> None:
    draw.ring(link, points, 0.02 * size, material)
    for point in points:
        draw.ball(link, point, 0.035 * size, "joint")


def _parts(leg: Leg, length: float) -> tuple[float, float]:
    """Lengths [m] of the drawn cylinder and rod; they overlap if the limits allow."""
    cylinder = 0.55 * length
    longest = min(leg.limits.length[1], 1.3 * length)
    return cylinder, float(np.clip(longest - 0.9 * cylinder, 0.5 * length, 0.9 * length))


def _home_lengths(model: StewartModel) -> FloatArray:
    base = np.array([leg.base for leg in model.legs])
    if model.home is None:
        spread = np.linalg.norm(base - base.mean(axis=0), axis=1).max()
        return np.full(len(base), max(1.2 * float(spread), 1e-3))
    tips = np.array([leg.platform for leg in model.legs]) @ rotation_matrix(model.home).T
    lengths: FloatArray = np.linalg.norm(tips + model.home[:3] - base, axis=1)
    return np.maximum(lengths, 1e-3)
