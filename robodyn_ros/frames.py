# SPDX-License-Identifier: Apache-2.0

"""Poses of frames other than the mechanism's own, looked up in TF if tf2_ros is installed."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from rclpy.node import Node
from rclpy.time import Time

from robodyn.arrays import FloatArray
from robodyn.checks import as_pose
from robodyn.errors import InvalidInput
from robodyn.poses import composed_pose
from robodyn_ros import messages
from robodyn_ros.parameters import on_change, table

try:
    from tf2_ros import Buffer, TransformException, TransformListener
except ImportError:
    Buffer = None

TRANSFORMS = table("transforms")
# After subscribing, transforms arrive within this time [s] if at all.
PATIENCE = 2.0
_PARENT = re.compile(r"^Frame (.+) exists with parent (.+)\.$", re.MULTILINE)


class Frames:
    """Lookup of poses of TF frames relative to the frames of a mechanism.

    Args:
        node: node that subscribes; it has the parameters TRANSFORMS.
        own: names of the base and the body frame, which messages list as known.
        now: returns the stamp [ns] of the latest state, for the age of transforms.
    """

    def __init__(
        self,
        node: Node,
        own: tuple[str, str],
        now: Callable[[], int],
    ) -> None:
        self._node = node
        self._own = own
        self._now = now
        self._limits = {name: node.get_parameter(name).value for name in TRANSFORMS}
        on_change(node, TRANSFORMS, self._limits)
        # without the node: otherwise every one of our nodes would offer the service `tf2_frames`
        self._buffer = Buffer() if Buffer is not None else None
        self._listener: TransformListener | None = None
        self._since = 0.0

    def subscribe(self) -> None:
        """Subscribe once to `/tf` and `/tf_static`, if tf2_ros is installed."""
        if self._buffer is not None and self._listener is None:
            self._listener = TransformListener(self._buffer, self._node)
            self._since = time.monotonic()

    @property
    def is_new(self) -> bool:
        """Whether the subscription is so recent that transforms may still be missing."""
        return self._listener is not None and time.monotonic() - self._since < PATIENCE

    def pose(self, frame: str, target: str) -> FloatArray:
        """Look up the pose of a frame relative to a target frame.

        Returns:
            Pose (7,) [m, -].

        Raises:
            InvalidInput: TF is not installed, does not contain the frame, or the transform is too
                old or not a valid pose.
        """
        if self._buffer is None:
            raise InvalidInput(
                f"frame is {frame!r}, expected {' or '.join(map(repr, self._own))}: other frames "
                "are looked up in TF, but tf2_ros is not installed",
                value=frame,
            )
        try:
            found = self._buffer.lookup_transform(target, frame, Time())
        except TransformException as error:
            raise InvalidInput(
                f"frame is {frame!r}, which TF cannot relate to {target!r}: {str(error).strip()} "
                f"Known frames: {', '.join(self._names())}",
                value=frame,
            ) from error
        stamp, timeout = (
            messages.to_nanoseconds(found.header.stamp),
            self._limits["transform_timeout"],
        )
        age = (self._now() - stamp) * 1e-9
        if stamp and timeout and age > timeout:
            raise InvalidInput(
                f"frame is {frame!r}, whose transform to {target!r} is {age:.3f} s older than the "
                f"latest state; transform_timeout is {timeout:g} s",
                value=age,
            )
        return as_pose(f"transform of {frame}", messages.pose_array(found.transform))

    def in_base(self, frame: str, pose: FloatArray, body_pose: FloatArray) -> FloatArray:
        """Transform a pose from a given frame to the base frame.

        Args:
            frame: name of the pose's frame; empty for the base frame.
            pose: (7,) pose in this frame.
            body_pose: (7,) pose of the moving body in the base frame.

        Returns:
            Pose (7,) in the base frame.

        Raises:
            InvalidInput: TF is not installed or does not contain a valid, recent pose of the frame.
        """
        base, body = self._own
        if frame in ("", base):
            return pose
        return composed_pose(body_pose if frame == body else self.pose(frame, base), pose)

    def is_on_body(self, frame: str) -> bool:
        """Return whether a frame is fixed to the moving body, according to TF."""
        base, body = self._own
        parents = self._parents()
        for _ in range(len(parents)):
            if frame in (base, body) or frame not in parents:
                break
            frame = parents[frame]
        return frame == body

    def _names(self) -> list[str]:
        parents = self._parents()
        return sorted({*self._own, *parents, *parents.values()})

    def _parents(self) -> dict[str, str]:
        if self._buffer is None:
            return {}
        found = dict(_PARENT.findall(self._buffer.all_frames_as_string()))
        return {child: parent for child, parent in found.items() if parent != "NO_PARENT"}
