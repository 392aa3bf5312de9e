# SPDX-License-Identifier: Apache-2.0

"""A URDF tree at zero: where every link is, which links move as one body, and its inertia."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.actuators.description import actuator_of_joint, describes
from robodyn.formats.urdf_joints import damping, friction, limit, position_limits
from robodyn.formats.urdf_motors import Motor
from robodyn.model.body import Body, joined
from robodyn.model.fields import GRAVITY
from robodyn.poses import pose_from_rpy, rotation_matrix

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray
    from robodyn.formats.urdf_text import UrdfDocument
    from robodyn.model.joint import Joint


def transform(origin: Any) -> FloatArray:
    """Homogeneous transform (4, 4) of a URDF `<origin>`, child frame to parent frame."""
    out = np.eye(4)
    if origin is not None:
        out[:3, 3] = origin.xyz or (0.0, 0.0, 0.0)
        out[:3, :3] = rotation_matrix(pose_from_rpy((0.0, 0.0, 0.0), origin.rpy or (0.0, 0.0, 0.0)))
    return out


def inertial(link: Any, at: FloatArray | None = None) -> Body:
    """A link's `<inertial>`, in the frame in which the link is at (4, 4), by default its own."""
    frame = transform(link.inertial.origin)
    frame = frame if at is None else at @ frame
    R = frame[:3, :3]
    tensor = R @ np.array(link.inertial.inertia.to_matrix(), dtype=np.float64) @ R.T
    return Body(float(link.inertial.mass), frame[:3, 3], 0.5 * (tensor + tensor.T))


def moving(made: Joint, joint: Any, document: UrdfDocument) -> Joint:
    """A model's joint with the friction, limits and actuator that a URDF's joint has.

    Raises:
        ModelError: values that are wrong, or said twice and differently.
    """
    motor = document.motors.get(joint.name, Motor())
    described = replace(
        made,
        armature=motor.armature,
        damping=damping(joint),
        friction=friction(joint, motor),
        position=position_limits(joint),
        velocity=limit(joint, "velocity"),
        effort=limit(joint, "effort"),
    )
    params = document.drives.params.get(joint.name, {})
    if joint.type in ("fixed", "floating") or not describes(params):
        return described
    forward, backward = described.friction.tolist()
    where = f"joint {joint.name!r}"
    driven = described.driven_by(
        actuator_of_joint(params, where, (forward, backward), motor.stated)
    )
    # a <robodyn> element gives the inertia already reflected
    return replace(driven, armature=motor.armature) if motor.stated else driven


class UrdfTree:
    """Links and joints of a checked URDF, all joints at zero.

    Attributes:
        frames: link -> (4, 4) its frame in the frame of the root.
        above: link -> the joint whose child it is; the root has none.
        body: link -> name of the topmost link that it is rigidly joined to.
        told: what its `<robodyn>` says.
    """

    def __init__(self, document: UrdfDocument) -> None:
        robot, self.told = document.robot, document.settings
        self.links: dict[str, Any] = dict(robot.link_map)
        self.above: dict[str, Any] = {joint.child: joint for joint in robot.joints}
        self.frames: dict[str, FloatArray] = {}
        self.body: dict[str, str] = {}
        for link in self.links:
            self._place(link)

    def _place(self, link: str) -> None:
        waiting = []
        while link not in self.frames:
            waiting.append(link)
            if link not in self.above:
                break
            link = self.above[link].parent
        for name in reversed(waiting):
            joint = self.above.get(name)
            if joint is None:
                self.frames[name], self.body[name] = np.eye(4), name
            else:
                self.frames[name] = self.frames[joint.parent] @ transform(joint.origin)
                self.body[name] = self.body[joint.parent] if joint.type == "fixed" else name

    def moving_joints_above(self, link: str) -> list[Any]:
        """The joints between the root and a link that are not fixed, root first."""
        found = []
        while link in self.above:
            joint = self.above[link]
            if joint.type != "fixed":
                found.append(joint)
            link = joint.parent
        return found[::-1]

    def axis(self, joint: Any) -> FloatArray:
        """Unit axis (3,) of a joint, x if not given, in the frame of the root."""
        own = np.array(joint.axis or (1.0, 0.0, 0.0), dtype=np.float64)
        axis: FloatArray = self.frames[joint.child][:3, :3] @ (own / np.linalg.norm(own))
        return axis

    def origin(self, link: str) -> FloatArray:
        """Origin (3,) [m] of a link's frame, in the frame of the root."""
        return self.frames[link][:3, 3]

    def point(self, link: str, point: FloatArray) -> FloatArray:
        """A point (3,) [m] of a link's frame, in the frame of the root."""
        frame = self.frames[link]
        out: FloatArray = frame[:3, :3] @ point + frame[:3, 3]
        return out

    def relative(self, link: str, above: str) -> FloatArray:
        """(4, 4) frame of a link in that of one that it hangs from; no rounding between the two."""
        out = np.eye(4)
        while link != above:
            joint = self.above[link]
            out, link = transform(joint.origin) @ out, joint.parent
        return out

    def gravity(self, base: str | None = None) -> FloatArray:
        """(3,) [m/s^2] in the axes of a link, by default the root.

        It is what `<robodyn>` says, or 9.81 along -z of the root.
        """
        if base is None:
            base = next(link for link in self.links if link not in self.above)
        told, R = self.told, self.frames[base][:3, :3].T
        gravity: FloatArray = R @ GRAVITY
        if told.gravity is not None:
            gravity = np.array(told.gravity)
            if told.base_link in self.frames and told.base_link != base:
                gravity = R @ (self.frames[told.base_link][:3, :3] @ gravity)
        return gravity

    def merged(self, body: str) -> Body | None:
        """All links that move with a body as one, in its frame; None if no link states inertia."""
        parts = [
            inertial(link, self.relative(name, body))
            for name, link in self.links.items()
            if self.body[name] == body and link.inertial is not None
        ]
        return functools.reduce(joined, parts) if parts else None
