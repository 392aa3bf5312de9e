# SPDX-License-Identifier: Apache-2.0

"""Stands in for tf2_ros where that is not installed: the nodes find frames, but not over DDS.

What nodes ask of tf2's Buffer, with its answers: the latest transform between two frames, as old as
the oldest on the way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from geometry_msgs.msg import TransformStamped
from scipy.spatial.transform import Rotation

from robodyn_ros import messages

if TYPE_CHECKING:
    from rclpy.node import Node
    from rclpy.time import Time


class TransformException(Exception):
    """There is no transform between two frames."""


class Edge(NamedTuple):
    """A frame in its parent."""

    parent: str
    matrix: np.ndarray
    stamp: int | None  # [ns], None: for all time


class Buffer:
    """Latest transform of each frame to its parent; common to all buffers."""

    edges_of_all: dict[str, Edge] = {}  # noqa: RUF012 - shared on purpose
    edges: dict[str, Edge]

    def __init__(self) -> None:
        self.edges = {}

    @classmethod
    def set_transform(cls, parent: str, child: str, pose: np.ndarray, stamp: int | None) -> None:
        """Take a transform, unless it is not finite: tf2 ignores those."""
        if np.isfinite(pose).all():
            cls.edges_of_all[child] = Edge(parent, matrix(np.asarray(pose, dtype=float)), stamp)

    def lookup_transform(self, target: str, source: str, _: Time) -> TransformStamped:
        known = self.edges.keys() | {edge.parent for edge in self.edges.values()}
        for name in (target, source):
            if name not in known:
                raise TransformException(f'"{name}" does not exist.')
        (top, into, first), (other, back, second) = self.up(source), self.up(target)
        if top != other:
            raise TransformException("Could not find a connection between them.")
        found = np.linalg.solve(back, into)
        made = TransformStamped(child_frame_id=source)
        made.header.frame_id = target
        made.header.stamp = messages.to_stamp(min([*first, *second], default=0))
        quaternion = Rotation.from_matrix(found[:3, :3]).as_quat()
        messages.fill_pose(made.transform, np.concatenate([found[:3, 3], quaternion]))
        return made

    def up(self, frame: str) -> tuple[str, np.ndarray, list[int]]:
        """The root above a frame, the frame (4, 4) in it, and the stamps on the way."""
        whole, stamps, seen = np.identity(4), [], set()
        while frame in self.edges:
            if frame in seen:
                raise TransformException("The tf tree contains a loop.")
            seen.add(frame)
            edge = self.edges[frame]
            frame, whole = edge.parent, edge.matrix @ whole
            stamps += [] if edge.stamp is None else [edge.stamp]
        return frame, whole, stamps

    def all_frames_as_string(self) -> str:
        return "".join(
            f"Frame {child} exists with parent {edge.parent}.\n"
            for child, edge in self.edges.items()
        )


class TransformListener:
    """Connection of a buffer to past and future transforms."""

    def __init__(self, buffer: Buffer, _: Node) -> None:
        buffer.edges = Buffer.edges_of_all


def matrix(pose: np.ndarray) -> np.ndarray:
    """Pose (7,) as a matrix (4, 4)."""
    made = np.identity(4)
    made[:3, :3], made[:3, 3] = Rotation.from_quat(pose[3:]).as_matrix(), pose[:3]
    return made
