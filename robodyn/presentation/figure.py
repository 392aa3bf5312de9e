# SPDX-License-Identifier: Apache-2.0

"""Figure of a mechanism for drawing: a tree of links with shapes, and the joints between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.errors import ModelError
from robodyn.formats.meshes import Mesh
from robodyn.model.joint import Joint
from robodyn.poses import matrix_from_pose

GRAY = (0.6, 0.62, 0.65)
# Distance of an arrow's tail from the joint's center, relative to the mechanism's size.
CLEARANCE = 0.2


@dataclass(frozen=True)
class Shape:
    """Shape drawn on a link: a primitive or a mesh.

    Attributes:
        link: name of the link.
        kind: `cylinder` (along z), `sphere`, `box` or `mesh`.
        size: [m] (radius, length) of a cylinder, (radius,) of a sphere, or (x, y, z) of a box;
            empty for a mesh.
        place: (4, 4) pose of the shape's center and axes in the link's frame.
        color: red, green and blue, from 0 to 1.
        opacity: opacity from 0 (invisible) to 1.
        mesh: triangles of a mesh; None for a primitive.
    """

    link: str
    kind: str
    size: tuple[float, ...]
    place: FloatArray
    color: tuple[float, float, float] = GRAY
    opacity: float = 1.0
    mesh: Mesh | None = None


class Figure:
    """Tree of links with shapes, for drawing a mechanism in any configuration.

    Args:
        joints: joints of the tree, in any order.
        shapes: shapes on its links.
        root: name of the root link; only used if there are no joints.
        remarks: messages about parts that could not be drawn.

    Attributes:
        links: names of the links, parents before children; the first is the root.
        joints: joints in the order of the links that they move.
        shapes, remarks: the arguments.

    Raises:
        ModelError: the joints do not form one tree.
    """

    def __init__(
        self,
        joints: Sequence[Joint],
        shapes: Sequence[Shape],
        root: str = "base_link",
        remarks: Sequence[str] = (),
    ) -> None:
        moved = {joint.child: joint for joint in joints}
        roots = [joint.parent for joint in joints if joint.parent not in moved]
        if len(moved) != len(joints) or len(set(roots)) > 1 or (joints and not roots):
            raise ModelError("the links to draw do not form one tree", value=sorted(set(roots)))
        self.links = [roots[0] if roots else root]
        self.joints: list[Joint] = []
        for link in self.links:  # grows during the iteration
            children = [joint for joint in joints if joint.parent == link]
            self.joints += children
            self.links += [joint.child for joint in children]
        self.shapes = tuple(shapes)
        self.remarks = tuple(remarks)
        self._index = {link: i for i, link in enumerate(self.links)}

    def link_frames(
        self,
        positions: Mapping[str, ArrayLike],
        body_pose: ArrayLike | Mapping[tuple[str, str], ArrayLike] | None = None,
    ) -> FloatArray:
        """Compute the frames of all links relative to the root's frame.

        Args:
            positions: (...) [rad or m] joint positions by name, 0 for joints that are not listed.
            body_pose: (..., 7) pose of every floating joint's child in its parent's frame; or such
                poses by the names of parent and child. By default the poses are those of the
                description.

        Returns:
            Frames (..., L, 4, 4) of the L links.
        """
        if isinstance(body_pose, Mapping):
            poses = dict(body_pose)
        else:
            poses = {(j.parent, j.child): body_pose for j in self.joints if body_pose is not None}
        shape = np.broadcast_shapes(
            *map(np.shape, positions.values()), *(np.shape(pose)[:-1] for pose in poses.values())
        )
        frames = np.empty((*shape, len(self.links), 4, 4))
        frames[..., 0, :, :] = np.eye(4)
        for i, joint in enumerate(self.joints, start=1):
            above = frames[..., self._index[joint.parent], :, :]
            frames[..., i, :, :] = above @ frame_in_parent(joint, positions, poses)
        return frames

    def index(self, link: str) -> int:
        """Return the index of a link in `links` and in the result of `link_frames`.

        Raises:
            ModelError: there is no such link.
        """
        if link not in self._index:
            raise ModelError(f"no link {link!r} to draw", value=link)
        return self._index[link]

    def with_sticks(self, size: float) -> Figure:
        """Return a figure in which sticks represent the links without shapes.

        Args:
            size: size [m] of the mechanism; the sticks' radii are proportional to it.
        """
        drawn = {shape.link for shape in self.shapes}
        added: list[Shape] = []
        for joint in self.joints:
            if joint.kind == "floating":
                continue
            if joint.parent not in drawn:
                added += stick(joint.parent, joint.at.translation, 0.025 * size)
            if joint.kind == "prismatic" and joint.child not in drawn:
                travel = joint.position[1] if np.isfinite(joint.position[1]) else size
                added += stick(joint.child, -travel * joint.axis, 0.015 * size)
            if joint.moves:
                at = joint.at.matrix
                added.append(Shape(joint.parent, "sphere", (0.04 * size,), at, (0.85, 0.45, 0.1)))
        return Figure(self.joints, (*self.shapes, *added), self.links[0], self.remarks)


def stick(link: str, end: FloatArray, radius: float) -> list[Shape]:
    """Create a cylinder from a link's origin to a point in its frame.

    Args:
        link: name of the link.
        end: (3,) [m] point in the link's frame.
        radius: radius [m].

    Returns:
        A list with the cylinder, empty if the point is the origin.
    """
    length = float(np.linalg.norm(end))
    if length < 1e-9:
        return []
    place = np.eye(4)
    place[:3, :3] = _rotation_from_z(end / length)
    place[:3, 3] = 0.5 * end
    return [Shape(link, "cylinder", (radius, length), place)]


def joint_axis_arrows(
    figure: Figure, frames: FloatArray, names: Sequence[str], lengths: FloatArray, size: float
) -> FloatArray:
    """Compute arrows along the axes of joints that represent efforts.

    Args:
        figure: figure with the joints.
        frames: (L, 4, 4) frames of its links, from `Figure.link_frames`.
        names: names of the n joints.
        lengths: (n,) [m] lengths of the arrows, with the signs of the efforts.
        size: size [m] of the mechanism.

    Returns:
        Tail and head (n, 2, 3) [m] of each arrow, in the root's frame.
    """
    joints = {joint.name: joint for joint in figure.joints}
    arrows = np.empty((len(lengths), 2, 3))
    for i, name in enumerate(names):
        joint = joints[name]
        frame = frames[figure.index(joint.parent)] @ joint.at.matrix
        axis = frame[:3, :3] @ joint.axis
        # outside of the joint's own shape, on the side to which the effort points
        start = frame[:3, 3] + np.copysign(CLEARANCE * size, lengths[i]) * axis
        arrows[i] = start, start + lengths[i] * axis
    return arrows


def frame_in_parent(
    joint: Joint,
    positions: Mapping[str, ArrayLike],
    poses: Mapping[tuple[str, str], ArrayLike],
) -> FloatArray:
    """Compute the frame of a joint's child link relative to its parent link.

    Args:
        joint: joint of a figure.
        positions: (...) [rad or m] joint positions by name, 0 for joints that are not listed.
        poses: (..., 7) poses of the children of floating joints, by the names of parent and child;
            by default those of the description.

    Returns:
        Frames (..., 4, 4).
    """
    if joint.kind == "floating":
        pose = poses.get((joint.parent, joint.child))
        return joint.at.matrix if pose is None else matrix_from_pose(pose)
    if joint.mimic is None:
        return joint.child_frame(positions.get(joint.name, 0.0))
    leader = np.asarray(positions.get(joint.mimic.joint, 0.0))
    return joint.child_frame(joint.mimic.multiplier * leader + joint.mimic.offset)


def _rotation_from_z(direction: FloatArray) -> FloatArray:
    helper = np.eye(3)[int(np.abs(direction).argmin())]
    x = np.cross(helper, direction)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(direction, x), direction])
