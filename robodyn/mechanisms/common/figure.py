# SPDX-License-Identifier: Apache-2.0

"""A drawable mechanism: a tree of links, the joints that move them, and the links' shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.errors import ModelError
from robodyn.formats.meshes import Mesh
from robodyn.model.joint import Joint
from robodyn.poses import quaternion_of_rotation, rotation_matrix

GREY = (0.6, 0.62, 0.65)
# Distance of an arrow's tail from the joint's centre, in sizes of the mechanism.
CLEARANCE = 0.2
# Ends the name of the frame of a joint that does not sit at its child's origin; no link has it.
JOINT_FRAME = "/joint"


@dataclass(frozen=True)
class Shape:
    """A primitive or a mesh that is drawn on a link.

    Attributes:
        link: name of the link.
        kind: `cylinder` (along z), `sphere`, `box` or `mesh`.
        size: [m] (radius, length), (radius,) or (x, y, z); none of a mesh.
        place: (4, 4) its centre and axes in the link's frame.
        color: red, green, blue, 0 to 1.
        opacity: 0 to 1.
        mesh: its triangles, in place of a primitive.
    """

    link: str
    kind: str
    size: tuple[float, ...]
    place: FloatArray
    color: tuple[float, float, float] = GREY
    opacity: float = 1.0
    mesh: Mesh | None = None


@dataclass(frozen=True)
class DrawnJoint:
    """A joint of the tree.

    Attributes:
        name, kind: as in URDF; `floating` follows the pose of the moving body.
        parent, child: names of links.
        place: (4, 4) its frame in the parent's.
        axis: (3,) unit, in the joint's frame.
        mimic: the joint it mimics, with factor and offset, if any.
        travel: [m] upper limit of a prismatic joint, 0 if unknown.
    """

    name: str
    kind: str
    parent: str
    child: str
    place: FloatArray
    axis: FloatArray = field(default_factory=lambda: np.array([1.0, 0.0, 0.0]))
    mimic: tuple[str, float, float] | None = None
    travel: float = 0.0


class Figure:
    """A tree of links with shapes, posed by joint positions and the pose of the moving body.

    Args:
        joints: of the tree, in any order.
        shapes: on its links.
        root: name of the root; needed only where there is no joint.
        remarks: what could not be drawn, one line each.

    Attributes:
        links: names, parents before children; the first is the root.
        joints, shapes, remarks: as given, joints in the order of the links they move.

    Raises:
        ModelError: the joints do not form one tree.
    """

    def __init__(
        self,
        joints: Sequence[DrawnJoint],
        shapes: Sequence[Shape],
        root: str = "base_link",
        remarks: Sequence[str] = (),
    ) -> None:
        moved = {joint.child: joint for joint in joints}
        roots = [joint.parent for joint in joints if joint.parent not in moved]
        if len(moved) != len(joints) or len(set(roots)) > 1 or (joints and not roots):
            raise ModelError("the links to draw do not form one tree", value=sorted(set(roots)))
        self.links = [roots[0] if roots else root]
        self.joints: list[DrawnJoint] = []
        for link in self.links:  # grows during the iteration
            children = [joint for joint in joints if joint.parent == link]
            self.joints += children
            self.links += [joint.child for joint in children]
        self.shapes = tuple(shapes)
        self.remarks = tuple(remarks)
        self._index = {link: i for i, link in enumerate(self.links)}

    def link_frames(
        self,
        positions: Mapping[str, float],
        body_pose: ArrayLike | Mapping[tuple[str, str], FloatArray] | None = None,
    ) -> FloatArray:
        """Frames (L, 4, 4) of all links in the root's, for joint positions [rad or m] by name.

        A joint without a position is drawn at 0. Floating joints take `body_pose` (7,), or one each
        by the names of parent and child; without one they stay where the description puts them.
        """
        poses: Mapping[tuple[str, str], ArrayLike] = {}
        if isinstance(body_pose, Mapping):
            poses = body_pose
        elif body_pose is not None:
            poses = {(j.parent, j.child): body_pose for j in self.joints if j.kind == "floating"}
        frames = np.empty((len(self.links), 4, 4))
        frames[0] = np.eye(4)
        for i, joint in enumerate(self.joints, start=1):
            above = frames[self._index[joint.parent]]
            frames[i] = above @ frame_in_parent(joint, positions, poses)
        return frames

    def many_link_frames(
        self,
        count: int,
        positions: Mapping[str, FloatArray],
        floating: Mapping[tuple[str, str], FloatArray],
    ) -> FloatArray:
        """Frames (count, L, 4, 4) of all links, as `link_frames` for each of many configurations.

        Args:
            count: of configurations.
            positions: (count,) [rad or m] of joints by name.
            floating: (count, 4, 4) of children of floating joints, by names of parent and child.
        """
        frames = np.empty((count, len(self.links), 4, 4))
        frames[:, 0] = np.eye(4)
        for i, joint in enumerate(self.joints, start=1):
            above = frames[:, self._index[joint.parent]]
            pose = floating.get((joint.parent, joint.child))
            if pose is not None:
                frames[:, i] = above @ pose
            elif joint.kind in ("fixed", "floating"):
                frames[:, i] = above @ joint.place
            else:
                leader, factor, offset = joint.mimic or (joint.name, 1.0, 0.0)
                value = factor * positions.get(leader, np.zeros(count)) + offset
                frames[:, i] = above @ joint.place @ _moved(joint, value)
        return frames

    def index(self, link: str) -> int:
        """Row of a link in `link_frames`.

        Raises:
            ModelError: there is no such link.
        """
        if link not in self._index:
            raise ModelError(f"no link {link!r} to draw", value=link)
        return self._index[link]

    def with_sticks(self, size: float) -> Figure:
        """The same tree, with links that have no shapes drawn as sticks towards their joints.

        Args:
            size: [m] of the mechanism; the sticks' radii are proportional to it.
        """
        drawn = {shape.link for shape in self.shapes}
        added: list[Shape] = []
        for joint in self.joints:
            if joint.kind == "floating":
                continue
            if joint.parent not in drawn:
                added += stick(joint.parent, joint.place[:3, 3], 0.025 * size)
            if joint.kind == "prismatic" and joint.child not in drawn:
                added += stick(joint.child, -joint.travel * joint.axis, 0.015 * size)
            if joint.kind not in ("fixed", "floating"):
                ball = Shape(joint.parent, "sphere", (0.04 * size,), joint.place, (0.85, 0.45, 0.1))
                added.append(ball)
        return Figure(self.joints, (*self.shapes, *added), self.links[0], self.remarks)


def stick(link: str, end: FloatArray, radius: float) -> list[Shape]:
    """A cylinder from a link's origin to a point (3,) [m] on it; nothing if they coincide."""
    length = float(np.linalg.norm(end))
    if length < 1e-9:
        return []
    place = np.eye(4)
    place[:3, :3] = _turning_z_to(end / length)
    place[:3, 3] = 0.5 * end
    return [Shape(link, "cylinder", (radius, length), place)]


def joint_axis_arrows(
    figure: Figure, frames: FloatArray, names: Sequence[str], lengths: FloatArray, size: float
) -> FloatArray:
    """Arrows (n, 2, 3) [m] on the axes of joints, in the sense of the effort.

    Args:
        figure: has the joints.
        frames: (L, 4, 4) of its links.
        names: (n,) of the joints.
        lengths: (n,) [m] with the signs of the efforts.
        size: [m] of the mechanism.
    """
    joints = {joint.name: joint for joint in figure.joints}
    arrows = np.empty((len(lengths), 2, 3))
    for i, name in enumerate(names):
        joint = joints[name]
        frame = frames[figure.index(joint.parent)] @ joint.place
        axis = frame[:3, :3] @ joint.axis
        # clear of the joint's own shape, on the side that the effort points to
        start = frame[:3, 3] + np.copysign(CLEARANCE * size, lengths[i]) * axis
        arrows[i] = start, start + lengths[i] * axis
    return arrows


def frame_of_pose(pose: ArrayLike) -> FloatArray:
    """Frame (4, 4) of pose (7,)."""
    given = np.asarray(pose, dtype=np.float64)
    frame = np.eye(4)
    frame[:3, :3] = rotation_matrix(given)
    frame[:3, 3] = given[:3]
    return frame


def pose_of_frame(frame: FloatArray) -> FloatArray:
    """Pose (7,) of a frame (4, 4)."""
    return np.concatenate([frame[:3, 3], quaternion_of_rotation(frame[:3, :3])])


def frame_in_parent(
    joint: DrawnJoint,
    positions: Mapping[str, float],
    poses: Mapping[tuple[str, str], ArrayLike],
) -> FloatArray:
    """Frame (4, 4) of a joint's child in its parent's.

    Args:
        joint: of a figure.
        positions: [rad or m] of joints by name; a joint that is not among them is at 0.
        poses: (7,) of the children of floating joints, by the names of parent and child; one that
            is not among them is where the description puts it.
    """
    pose = poses.get((joint.parent, joint.child))
    if joint.kind == "floating" and pose is not None:
        return frame_of_pose(pose)
    if joint.kind in ("fixed", "floating"):
        return joint.place
    leader, factor, offset = joint.mimic or (joint.name, 1.0, 0.0)
    value = factor * positions.get(leader, 0.0) + offset
    out: FloatArray = joint.place @ _moved(joint, value)
    return out


def _moved(joint: DrawnJoint, value: float | FloatArray) -> FloatArray:
    """(..., 4, 4) rotations about the axis, or translations along it, by values (...)."""
    values = np.asarray(value, dtype=np.float64)
    out = np.zeros((*values.shape, 4, 4))
    out[...] = np.eye(4)
    if joint.kind == "prismatic":
        out[..., :3, 3] = values[..., None] * joint.axis
        return out
    x, y, z = joint.axis
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    sine, rest = np.sin(values)[..., None, None], (1.0 - np.cos(values))[..., None, None]
    out[..., :3, :3] += sine * cross + rest * (cross @ cross)
    return out


def _turning_z_to(direction: FloatArray) -> FloatArray:
    helper = np.eye(3)[int(np.abs(direction).argmin())]
    x = np.cross(helper, direction)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(direction, x), direction])


def drawn_joint(joint: Joint, size: float) -> list[DrawnJoint]:
    """A joint; one that does not sit at its child's origin has a fixed one behind it."""
    mimic = None
    if joint.mimic is not None:
        mimic = joint.mimic.joint, joint.mimic.multiplier, joint.mimic.offset
    behind: FloatArray = np.asarray(np.linalg.inv(joint.child_at.matrix), dtype=np.float64)
    turned = np.abs(behind - np.eye(4)).max() > 1e-12 and joint.kind != "floating"
    child = joint.child + JOINT_FRAME if turned else joint.child
    reach = float(joint.position[1])
    own = DrawnJoint(
        joint.name,
        joint.kind,
        joint.parent,
        child,
        joint.at.matrix,
        joint.axis,
        mimic,
        reach if np.isfinite(reach) else size,
    )
    if not turned:
        return [own]
    return [own, DrawnJoint(f"{joint.name}/child", "fixed", child, joint.child, behind)]
