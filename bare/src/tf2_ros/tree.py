# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""The tree of frames: the latest transform of each to its parent."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from geometry_msgs.msg import TransformStamped

from tf_transformations import inverse_matrix, quaternion_from_matrix, quaternion_matrix

# A robot has some dozens; who sends more than this means no good.
MOST_FRAMES = 10_000
UNIT = 1e-3


class TransformException(Exception):
    """No transform is to be had."""


class ConnectivityException(TransformException):
    """Two frames are in trees that nothing connects."""


class LookupException(TransformException):
    """A frame is not known, or the frames form a loop."""


class ExtrapolationException(TransformException):
    """A time is asked for at which nothing is known."""


class InvalidArgumentException(TransformException):
    """A transform that is none."""


class _Edge(NamedTuple):
    """From a frame to its parent."""

    parent: str
    matrix: np.ndarray
    stamp: int | None  # [ns], None for all time


class Tree:
    """Frames by name."""

    def __init__(self) -> None:
        """Begin without a frame."""
        self._edges: dict[str, _Edge] = {}

    @property
    def parents(self) -> dict[str, str]:
        """The parent of every frame that has one."""
        return {child: edge.parent for child, edge in self._edges.items()}

    def forget_moving(self) -> None:
        """Keep what holds for all time."""
        self._edges = {name: e for name, e in self._edges.items() if e.stamp is None}

    def add(self, transform: TransformStamped, *, static: bool) -> None:
        """Take a transform.

        Raises:
            InvalidArgumentException: frames without a name, one that is its own parent, numbers
                that are not finite, or a quaternion not of unit length.
        """
        child = transform.child_frame_id.lstrip("/")
        parent = transform.header.frame_id.lstrip("/")
        if not child or not parent or child == parent:
            raise InvalidArgumentException(f"{child!r} cannot be a child of {parent!r}")
        t, q = transform.transform.translation, transform.transform.rotation
        numbers = (t.x, t.y, t.z, q.x, q.y, q.z, q.w)
        if not all(map(math.isfinite, numbers)):
            raise InvalidArgumentException(f"{child!r} in {parent!r} is not finite: {numbers}")
        if abs(math.hypot(*numbers[3:]) - 1.0) > UNIT:
            raise InvalidArgumentException(f"{child!r} in {parent!r}: quaternion {numbers[3:]}")
        if child not in self._edges and len(self._edges) >= MOST_FRAMES:
            raise InvalidArgumentException(f"{child!r} is one frame too many")
        matrix = quaternion_matrix(numbers[3:])
        matrix[:3, 3] = numbers[:3]
        stamp = transform.header.stamp
        when = None if static else stamp.sec * 1_000_000_000 + stamp.nanosec
        self._edges[child] = _Edge(parent, matrix, when)

    def lookup(self, target: str, source: str) -> TransformStamped:
        """Return where `source` is in `target`, at the latest time at which all on the way are.

        Raises:
            LookupException, ConnectivityException: there is no way.
        """
        target, source = target.lstrip("/"), source.lstrip("/")
        known = self._edges.keys() | {edge.parent for edge in self._edges.values()}
        for name in (target, source):
            if name not in known:
                raise LookupException(f'"{name}" passed to lookupTransform does not exist. ')
        up, down = self._to_root(source), self._to_root(target)
        common = next((name for name in up if name in set(down)), None)
        if common is None:
            raise ConnectivityException(
                f"Could not find a connection between '{target}' and '{source}' because they are "
                "not part of the same tree. Tf has two or more unconnected trees."
            )
        into, stamps = self._along(up[: up.index(common)])
        back, more = self._along(down[: down.index(common)])
        matrix = inverse_matrix(back) @ into
        result = TransformStamped(child_frame_id=source)
        result.header.frame_id = target
        latest = min([*stamps, *more], default=0)
        result.header.stamp.sec, result.header.stamp.nanosec = divmod(latest, 1_000_000_000)
        t, q = result.transform.translation, result.transform.rotation
        t.x, t.y, t.z = matrix[:3, 3].tolist()
        q.x, q.y, q.z, q.w = (float(value) for value in quaternion_from_matrix(matrix))
        return result

    def _to_root(self, frame: str) -> list[str]:
        path = [frame]
        while (edge := self._edges.get(path[-1])) is not None:
            if edge.parent in path:
                raise LookupException("The tf tree is invalid because it contains a loop.")
            path.append(edge.parent)
        return path

    def _along(self, frames: list[str]) -> tuple[np.ndarray, list[int]]:
        """From the first of some frames to the parent of the last, and the stamps on the way."""
        matrix, stamps = np.identity(4), []
        for name in frames:
            edge = self._edges[name]
            matrix = edge.matrix @ matrix
            if edge.stamp is not None:
                stamps.append(edge.stamp)
        return matrix, stamps
