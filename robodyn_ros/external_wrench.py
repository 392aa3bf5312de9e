# SPDX-License-Identifier: Apache-2.0

"""The external wrench on the mechanism: as messages tell it, or as motion and efforts do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from rclpy.timer import Timer

import robodyn as rd
from robodyn.arrays import FloatArray
from robodyn.base_motion import BaseMotion
from robodyn.checks import refuse_beyond
from robodyn.errors import RobodynError
from robodyn.mechanism.mechanism import Mechanism
from robodyn.poses import twist_in_base as turned_to_base
from robodyn.poses import wrench_about_base
from robodyn_ros import messages, qos
from robodyn_ros.frames import Frames
from robodyn_ros.interfaces import listen, steady_timer

# Period of retries for a wrench whose frame is not known yet [s].
RETRY = 0.05
# Larger wrenches [N, N m] are refused: they might overflow when transformed.
LARGEST = 1e12
# After so long without a state [ns] an estimate begins anew.
GAP = 100_000_000


class ExternalWrench:
    """The last `external_wrench` received; it acts until another one arrives.

    A wrench in the base frame, or without a frame, is about the body's reference point; one in the
    frame of the moving body rotates with it. Other frames are looked up in TF: the wrench of a
    frame fixed to the body, such as a force sensor's, acts at its origin and rotates with it; of
    any other frame only the axes matter, as they are when the wrench arrives.

    Args:
        node: that subscribes and has the parameters TRANSFORMS; it subscribes to TF with the
            first wrench that needs it.
        mechanism: what the wrench acts on.
        now: the stamp [ns] of the latest state.
    """

    def __init__(
        self,
        node: Node,
        mechanism: Mechanism,
        now: Callable[[], int],
    ) -> None:
        self._node = node
        self._mechanism = mechanism
        self._own = mechanism.frames
        self._frames = Frames(node, self._own, now)
        self._value = np.zeros(6)
        self._turns = False
        self._waiting: WrenchStamped | None = None
        self._retry: Timer | None = None
        self._heard = listen(node, WrenchStamped, "external_wrench", self._receive, qos.RECENT)

    def at(self, configuration: FloatArray) -> FloatArray:
        """(6,) [N, N m] in the base frame, for a mechanism in this configuration."""
        if not self._turns:
            return self._value
        pose = self._mechanism.body_pose(configuration)
        return turned_to_base(pose, self._value)

    def _receive(self, message: WrenchStamped) -> None:
        self._waiting = None
        try:
            wrench = messages.finite("wrench", messages.wrench_array(message.wrench))
            value, turns = self._resolved(message.header.frame_id, wrench)
            refuse_beyond("wrench", messages.finite("wrench", value), LARGEST)
            self._value, self._turns = value, turns
        except RobodynError:
            foreign = message.header.frame_id not in ("", *self._own)
            if not (foreign and self._frames.is_new):
                raise
            self._wait(message)

    def _resolved(self, frame: str, wrench: FloatArray) -> tuple[FloatArray, bool]:
        """The wrench about the body's reference point, and whether it rotates with the body."""
        base, body = self._own
        if frame in ("", *self._own):
            return wrench, frame == body
        self._frames.listen()
        if self._frames.is_on_body(frame):
            return wrench_about_base(self._frames.pose(frame, body), wrench), True
        return turned_to_base(self._frames.pose(frame, base), wrench), False

    def _wait(self, message: WrenchStamped) -> None:
        """Keep a wrench whose frame may still arrive."""
        self._waiting = message
        if self._retry is None:
            self._retry = steady_timer(self._node, RETRY, self._try_again)

    def _try_again(self) -> None:
        if self._waiting is not None:
            self._heard.callback(self._waiting)
        elif not self._frames.is_new and self._retry is not None:
            self._node.destroy_timer(self._retry)
            self._retry = None


class EstimatedWrench:
    """Publishes `estimated_wrench`, on the body's reference point in the base frame.

    Args:
        node: that publishes.
        mechanism: what is pushed.
        parameters: of the table `collision`; none is estimated with a bandwidth of 0.
    """

    def __init__(self, node: Node, mechanism: Mechanism, parameters: dict[str, Any]) -> None:
        self._parameters, self._last = parameters, 0
        self._frame = mechanism.frames[0]
        self._publisher = node.create_publisher(WrenchStamped, "estimated_wrench", qos.STATE)
        bandwidth = parameters["observer_bandwidth"]
        self._observer = rd.WrenchObserver(mechanism, 1.0, bandwidth) if bandwidth else None

    def update(
        self,
        stamp: int,
        state: tuple[FloatArray, FloatArray],
        efforts: FloatArray | None,
        mechanism: Mechanism,
        base: BaseMotion | None = None,
        known: FloatArray | float = 0.0,
    ) -> str:
        """Take one more state at `stamp` [ns]; what is said of a collision, or nothing.

        Args:
            stamp: [ns].
            state: configuration and velocity.
            efforts: (n,) that acted since the last state; None if nobody knows.
            mechanism: with its payload.
            base: how it moves.
            known: wrench (6,) that is expected.
        """
        observer, period = self._observer, stamp - self._last
        if observer is None or period == 0:
            return ""
        observer.mechanism, self._last = mechanism, stamp
        if efforts is None or not 0 < period <= GAP:
            observer.reset()
            efforts = np.zeros(len(mechanism.joint_names))
        try:
            wrench = observer.update(*state, efforts, base, max(period, 1) * 1e-9)
        except rd.KinematicsError:
            observer.reset()
            return ""
        self._publisher.publish(messages.wrench_stamped(stamp, self._frame, wrench))
        limit = self._parameters["collision_threshold"]
        push = float(np.linalg.norm((wrench - known)[:3]))
        if not limit or push <= limit:
            return ""
        return f"collision: something pushes with {push:.3g} N, {limit:g} N are allowed"
