# SPDX-License-Identifier: Apache-2.0

"""Legs and bodies of a platform's model: names, limits, friction, actuators.

The joint between a leg and the base is universal in a 6-UPS, spherical in a 6-SPS. A leg between
two spherical joints can spin freely about its own axis. As in Dasgupta and Mruthyunjaya (1998,
section 1), this passive spin is neglected, which requires a leg that is symmetric about its axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np

from robodyn.algorithms.description import DrivenJoint, driven_joint
from robodyn.algorithms.motors import Drives
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_pose
from robodyn.errors import InvalidInput, ModelError
from robodyn.model.body import Body, Link
from robodyn.model.model import Model
from robodyn.poses import rotation_matrix
from robodyn.solvers.stewart.recognition import FREE, LEGS, PlatformStructure, named_bodies

BaseJoint = Literal["universal", "spherical"]
BASE_JOINTS: tuple[str, ...] = get_args(BaseJoint)
# Asymmetry of a leg part, relative to its size, below which it counts as symmetric.
SYMMETRY = 1e-9


def options(platform: Any) -> tuple[object, ...]:
    """Return the platform's constructor argument besides the model: base joint types."""
    return (platform.base_joint,)


def gravity_vector(platform: Any) -> FloatArray:
    """Return gravity (3,) [m/s^2], base frame."""
    return np.array(platform.structure.gravity(platform.model))


def driven_joints(platform: Any) -> tuple[DrivenJoint, ...]:
    """Return the six legs as driven joints, whose positions are the leg lengths [m]."""
    pairs = zip(
        map(driven_joint, platform.model.driven_joints), platform.structure.legs, strict=True
    )
    return tuple(joint._replace(position=leg.shape.length) for joint, leg in pairs)


def frames(platform: Any) -> tuple[str, str]:
    """Return the names of the platform's base frame and moving frame."""
    return platform.structure.base_link, platform.structure.platform_link


def bodies(platform: Any) -> tuple[Link, ...]:
    """Return the rigid bodies: platform, lower parts and upper parts of the legs."""
    named = named_bodies(platform.model)
    return tuple(Link(name, body.mass, body.com, body.inertia) for name, body in named)


def joint_friction(platform: Any) -> tuple[dict[str, Any], ...]:
    """Return the friction of the legs' joints, one dictionary for each leg.

    Its keys `universal`, `prismatic` and `spherical` give the viscous damping of the leg's joints.
    If any leg has dry friction, all dictionaries also have `coulomb` (2,) [N], the Coulomb friction
    of the actuator forward and backward.
    """
    names, model = ("universal", "prismatic", "spherical"), platform.model
    rows: list[dict[str, Any]] = [
        dict(zip(names, leg.damping(model), strict=True)) for leg in platform.structure.legs
    ]
    if any(any(actuator.coulomb_pair) for actuator in platform.actuators):
        for row, actuator in zip(rows, platform.actuators, strict=True):
            row["coulomb"] = np.array(actuator.coulomb_pair)
    return tuple(rows)


def home(platform: Any) -> FloatArray:
    """Return the model's home pose (7,).

    Raises:
        InvalidInput: the model has no home configuration.
    """
    if platform.structure.home is None:
        raise InvalidInput(
            f"{platform.name}: the model has no home pose; add `home: {{xyz: [...], rpy: [...]}}`"
        )
    return np.array(platform.structure.home)


def characteristic_length(platform: Any) -> float:
    """Return the mean radius [m] of the joints on the platform about their center."""
    joints = platform.structure.joint_centers[1]
    radius = float(np.linalg.norm(joints - joints.mean(axis=0), axis=1).mean())
    return radius if radius > 0.0 else 1.0


def passive_limits(platform: Any) -> dict[str, FloatArray]:
    """Return a mapping from universal joint names to position limits (2,) [rad].

    The positions are those of the URDF. Joints without limits are left out.
    """
    found = {}
    for leg, joint in zip(platform.structure.legs, platform.base_joint, strict=True):
        limits = leg.universal_limits(platform.model)
        for reading, ends in zip(leg.shape.readings, limits, strict=False):
            if joint == "universal" and ends != FREE:
                found[reading.name] = np.sort(reading.sign * (np.array(ends) - reading.offset))
    return found


def leg_names(platform: Any) -> tuple[str, ...]:
    """Return the names of the six legs, which are those of their actuators."""
    return platform.joint_names


def leg_axes(platform: Any, configuration: ArrayLike) -> FloatArray:
    """Return the directions (..., 2, 6, 3) of the legs at poses (..., 7).

    The unit vectors [..., 0, :, :] are in the base frame, the vectors [..., 1, :, :] in the
    platform frame; both lead from base to platform.
    """
    poses = as_pose("configuration", configuration)
    turn = rotation_matrix(poses)
    feet, tips = platform.structure.joint_centers
    along = np.einsum("...ij,kj->...ki", turn, tips) + poses[..., None, :3] - feet
    along = along / np.linalg.norm(along, axis=-1, keepdims=True)
    return np.stack([along, along @ turn], axis=-3)


def drives(platform: Any) -> Drives:
    """Return the platform's drives, with the conversion of URDF positions to leg lengths.

    A leg's length is sign * (position of its actuator's URDF joint) + offset [m].
    """
    return Drives(
        platform,
        platform.solver.leg_joints.actuator_sign,
        platform.solver.leg_joints.actuator_offset,
    )


def all_joint_names(platform: Any) -> tuple[str, ...]:
    """Return the 18 joint names: for each leg both universal axes, then the actuator."""
    return platform.solver.leg_joints.names


def base_joints(
    model: Model, structure: PlatformStructure, given: str | Sequence[str]
) -> tuple[str, ...]:
    """Return the type of each leg's base joint, `universal` or `spherical`.

    Raises:
        InvalidInput: a name is unknown, or there is not one for each leg.
        ModelError: a leg with a spherical joint is not symmetric about its axis.
    """
    joints = (given,) * LEGS if isinstance(given, str) else tuple(given)
    if len(joints) != LEGS or not set(joints) <= set(BASE_JOINTS):
        raise InvalidInput(
            f"base_joint is {given!r}, expected one of {', '.join(BASE_JOINTS)}, or six of them",
            value=given,
        )
    if "spherical" not in joints:
        return joints
    parts = structure.bodies(model)[1:]
    for number, leg in enumerate(structure.legs):
        if joints[number] != "spherical":
            continue
        actuator = leg.actuator(model)
        if actuator.spin_inertia != 0.0:
            raise ModelError(
                f"{model.name}: leg {number + 1} cannot have a spherical base joint, which "
                "does not resist the torque of the leg's rotor; use a universal joint, or remove "
                "the actuator's rotor_inertia",
                value=actuator.rotor_inertia,
            )
        for part, body in (("lower", parts[number]), ("upper", parts[number + LEGS])):
            if not _is_symmetric(body):
                raise ModelError(
                    f"{model.name}: leg {number + 1} cannot have a spherical base joint: its "
                    f"{part} part is not symmetric about the leg's axis (com on x, inertia "
                    "diagonal with yy = zz), so its forces would depend on a spin that nothing "
                    "determines",
                    value=body,
                )
    return joints


def _is_symmetric(body: Body) -> bool:
    inertia = body.inertia
    off_diagonal = np.abs(inertia - np.diag(np.diag(inertia))).max()
    unequal = abs(inertia[1, 1] - inertia[2, 2])
    off_axis = np.abs(body.com[1:]).max()
    return bool(
        max(off_diagonal, unequal) <= SYMMETRY * np.abs(inertia).max()
        and off_axis <= SYMMETRY * np.abs(body.com).max()
    )
