# SPDX-License-Identifier: Apache-2.0

"""A serial arm from the chain between two links of a URDF."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.actuators.description import actuator_of_joint, describes
from robodyn.errors import ModelError
from robodyn.formats.inertia import check_inertias, check_massless
from robodyn.formats.urdf_motors import Motor
from robodyn.formats.urdf_text import UrdfDocument
from robodyn.formats.urdf_tree import MergedBody, UrdfTree
from robodyn.mechanisms.option_names import in_python
from robodyn.mechanisms.serial.description.chain import find_chain
from robodyn.mechanisms.serial.description.left_out import warn_of_left_out
from robodyn.mechanisms.serial.model import SerialJoint, SerialModel

if TYPE_CHECKING:
    from collections.abc import Mapping

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.kind import ReadOptions
    from robodyn.mechanisms.option_names import Spelling


def serial_model_from_urdf(
    robot: Any,
    source: str,
    strict: bool = False,
    base_link: str | None = None,
    tip_link: str | None = None,
    *,
    motors: Mapping[str, Motor] | None = None,
    control_params: Mapping[str, Mapping[str, str]] | None = None,
    hold_branches: bool = False,
    spelling: Spelling = in_python,
) -> SerialModel:
    """The model of the chain from one link of a URDF to another.

    Rigidly joined links count as one body, wherever they are attached to the chain.

    Args:
        robot: a checked `urdf_parser_py` robot, a tree with a single root.
        source: file name, for messages.
        strict: reject unphysical inertias instead of warning.
        base_link: where the chain begins, by default the root; it is assumed fixed.
        tip_link: where it ends, by default the leaf behind the largest number of moving joints.
        motors: by joint name, as `read_motors` returns them.
        control_params: of the joints in `<ros2_control>`, as `read_control_params` returns them.
        hold_branches: hold movable joints outside the chain at 0, instead of refusing them.
        spelling: how messages write an option that would help.

    Raises:
        ModelError: an unknown link, no chain or several equally long ones, a mimic, floating or
            planar joint in it, a movable joint outside it, what looks like a gripper's finger or
            like a loop cut open, and with `strict=True` a moving link without `<inertial>`, which
            is otherwise massless.
        UnphysicalInertia: with `strict=True`.
    """
    tree = UrdfTree(UrdfDocument(robot, (), source))
    chain = find_chain(tree, source, base_link, tip_link, hold_branches, spelling)
    start = tree.frames[chain.base]
    joints = []
    for joint in chain.joints:
        try:
            described = _joint(tree, joint, start, motors or {})
            params = (control_params or {}).get(joint.name, {})
            joints.append(_driven(described, params, joint.name in (motors or {})))
        except ModelError as error:
            raise ModelError(f"{source}: {error}", value=error.value) from error
        start = tree.frames[joint.child]
    bare = [joint.child for joint in chain.joints if tree.merged(joint.child) is None]
    check_massless(source, bare, strict=strict)
    check_inertias(
        source, ((f"link {joint.link!r}", joint.inertia) for joint in joints), strict=strict
    )
    tip = np.linalg.inv(start) @ tree.frames[chain.tip]
    return SerialModel(
        name=robot.name,
        joints=tuple(joints),
        tip_rotation=start[:3, :3].T @ tree.frames[chain.tip][:3, :3],
        tip_translation=tip[:3, 3],
        gravity=tree.frames[chain.base][:3, :3].T @ np.array([0.0, 0.0, -9.81]),
        base_link=chain.base,
        tip_link=chain.tip,
        source=source,
    )


def serial_model_of_document(document: UrdfDocument, options: ReadOptions) -> SerialModel:
    """The model of a URDF's chain, with a home where `<ros2_control>` starts its joints.

    What of the URDF is not in the model is named in a warning.

    Raises:
        ModelError, UnphysicalInertia: as `serial_model_from_urdf`.
    """
    model = serial_model_from_urdf(
        document.robot,
        document.source,
        options.strict,
        options.base_link,
        options.tip_link,
        motors=document.motors,
        control_params=document.control_params,
        hold_branches=options.hold_branches,
        spelling=options.spelling,
    )
    warn_of_left_out(document, model, options.hold_branches)
    start = document.drives.initial
    if not any(joint.name in start for joint in model.joints):
        return model
    home = [np.clip(start.get(joint.name, 0.0), *joint.position) for joint in model.joints]
    return replace(model, home=np.array(home))


def _joint(
    tree: UrdfTree, joint: Any, before: FloatArray, motors: Mapping[str, Motor]
) -> SerialJoint:
    frame = tree.frames[joint.child]
    R = before[:3, :3].T
    body = tree.merged(joint.child)
    if body is None:
        body = MergedBody((), 0.0, frame[:3, 3], np.zeros((3, 3)))
    com, inertia = body.seen_from(frame[:3, :3], frame[:3, 3])
    motor = motors.get(joint.name, Motor())
    friction = float((joint.dynamics and joint.dynamics.friction) or 0.0)
    backward = friction if motor.friction_backward is None else motor.friction_backward
    return SerialJoint(
        name=joint.name,
        kind=joint.type,
        rotation=R @ frame[:3, :3],
        translation=R @ (frame[:3, 3] - before[:3, 3]),
        axis=np.array(joint.axis or (1.0, 0.0, 0.0), dtype=np.float64),
        mass=body.mass,
        com=com,
        inertia=inertia,
        armature=motor.armature,
        damping=float((joint.dynamics and joint.dynamics.damping) or 0.0),
        friction=np.array([friction, backward]),
        position=_position_limits(joint),
        velocity=_limit(joint, "velocity"),
        effort=_limit(joint, "effort"),
        link=joint.child,
    )


def _driven(joint: SerialJoint, params: Mapping[str, str], has_motor: bool) -> SerialJoint:
    """The joint with the actuator that its parameters describe, if they describe one."""
    if not describes(params):
        return joint
    where, (forward, backward) = f"joint {joint.name!r}", joint.friction
    actuator = actuator_of_joint(params, where, (forward, backward), has_motor)
    driven = joint.driven_by(actuator)
    # a <robodyn> element gives the inertia already reflected
    return replace(driven, armature=joint.armature) if has_motor else driven


def _position_limits(joint: Any) -> FloatArray:
    """Where both ends are absent or 0, as exporters leave them, no travel is meant."""
    limit = joint.limit
    ends = (0.0, 0.0) if limit is None else (float(limit.lower or 0.0), float(limit.upper or 0.0))
    if ends == (0.0, 0.0) or joint.type == "continuous":
        return np.array([-np.inf, np.inf])
    return np.array(ends)


def _limit(joint: Any, name: str) -> float:
    """An absent limit or 0, as in many published arms, means unlimited."""
    value = 0.0 if joint.limit is None else float(getattr(joint.limit, name) or 0.0)
    return abs(value) or np.inf
