# SPDX-License-Identifier: Apache-2.0

"""A URDF tree at zero: where every link is, which links move as one body, and its inertia."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.poses import pose_from_rpy, rotation_matrix

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray
    from robodyn.formats.urdf_text import UrdfDocument


def transform(origin: Any) -> FloatArray:
    """Homogeneous transform (4, 4) of a URDF `<origin>`, child frame to parent frame."""
    out = np.eye(4)
    if origin is not None:
        out[:3, 3] = origin.xyz or (0.0, 0.0, 0.0)
        out[:3, :3] = rotation_matrix(pose_from_rpy((0.0, 0.0, 0.0), origin.rpy or (0.0, 0.0, 0.0)))
    return out


@dataclass(frozen=True)
class MergedBody:
    """Rigidly joined links as one body, in the frame of the topmost of them.

    Attributes:
        links: names of those with an `<inertial>`.
        mass: [kg].
        com: (3,) [m].
        inertia: (3, 3) [kg m^2] about the centre of mass.
    """

    links: tuple[str, ...]
    mass: float
    com: FloatArray
    inertia: FloatArray

    def seen_from(self, rotation: FloatArray, origin: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Centre of mass and inertia in a frame of given axes (3, 3) and origin (3,)."""
        inertia = rotation.T @ self.inertia @ rotation
        return rotation.T @ (self.com - origin), 0.5 * (inertia + inertia.T)


class UrdfTree:
    """Links and joints of a checked URDF, all joints at zero.

    Attributes:
        frames: link -> (4, 4) its frame in the frame of the root.
        above: link -> the joint whose child it is; the root has none.
        body: link -> name of the topmost link that it is rigidly joined to.
    """

    def __init__(self, document: UrdfDocument) -> None:
        robot = document.robot
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

    def merged(self, body: str) -> MergedBody | None:
        """The inertia of all links that move with a body, or None if no link states any."""
        names, masses, coms, inertias = [], [], [], []
        for name, link in self.links.items():
            if self.body[name] != body or link.inertial is None:
                continue
            frame = self.relative(name, body) @ transform(link.inertial.origin)
            names.append(name)
            masses.append(float(link.inertial.mass))
            coms.append(frame[:3, 3])
            tensor = np.array(link.inertial.inertia.to_matrix(), dtype=np.float64)
            tensor = frame[:3, :3] @ tensor @ frame[:3, :3].T
            inertias.append(0.5 * (tensor + tensor.T))
        if len(names) < 2:  # as stated, to the last bit
            return MergedBody((names[0],), masses[0], coms[0], inertias[0]) if names else None
        mass = sum(masses)
        com = np.average(coms, axis=0, weights=masses if mass > 0.0 else None)
        inertia = np.zeros((3, 3))
        for weight, own, tensor in zip(masses, coms, inertias, strict=True):
            arm = own - com
            inertia += tensor + weight * (arm @ arm * np.eye(3) - np.outer(arm, arm))
        return MergedBody(tuple(names), mass, com, inertia)
