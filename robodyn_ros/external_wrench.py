# SPDX-License-Identifier: Apache-2.0

"""External wrench on the mechanism, from messages or estimated from motion and efforts."""

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
from robodyn_ros.interfaces import steady_timer, subscribe

# Period of retries for a wrench whose frame is not known yet [s].
RETRY = 0.05
# Larger wrenches [N, N m] are rejected: they might overflow when transformed.
LARGEST = 1e12
# After this time without a state [ns] the estimate starts again.
GAP = 100_000_000


class ExternalWrench:
    """Subscription to `external_wrench` that provides the wrench on the mechanism.

    A wrench acts until the next one arrives.

    A wrench in the base frame, or without a frame, is about the body's reference point; one in the
    frame of the moving body rotates with it. Other frames are looked up in TF. The wrench of a
    frame fixed to the body, such as a force sensor's, acts at its origin and rotates with it. For
    any other frame only the orientation matters, at the time at which the wrench arrives.

    Args:
        node: node that subscribes; it has the parameters TRANSFORMS. It subscribes to TF with the
            first wrench that needs it.
        mechanism: mechanism on which the wrench acts.
        now: returns the stamp [ns] of the latest state.
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
        self._subscription = subscribe(
            node, WrenchStamped, "external_wrench", self._receive, qos.RECENT
        )

    def at(self, configuration: FloatArray) -> FloatArray:
        """Return the external wrench on the mechanism in a configuration.

        Args:
            configuration: (nq,) configuration of the mechanism.

        Returns:
            Wrench (6,) [N, N m] about the body's reference point, base frame; zero until the first
            message arrives.
        """
        if not self._turns:
            return self._value
        pose = self._mechanism.body_pose(configuration)
        return turned_to_base(pose, self._value)

    def _receive(self, message: WrenchStamped) -> None:
        self._waiting = None
        try:
            wrench = messages.check_finite("wrench", messages.wrench_array(message.wrench))
            value, turns = self._resolve(message.header.frame_id, wrench)
            refuse_beyond("wrench", messages.check_finite("wrench", value), LARGEST)
            self._value, self._turns = value, turns
        except RobodynError:
            foreign = message.header.frame_id not in ("", *self._own)
            if not (foreign and self._frames.is_new):
                raise
            self._wait(message)

    def _resolve(self, frame: str, wrench: FloatArray) -> tuple[FloatArray, bool]:
        """Return a wrench about the reference point, and whether it rotates with the body."""
        base, body = self._own
        if frame in ("", *self._own):
            return wrench, frame == body
        self._frames.subscribe()
        if self._frames.is_on_body(frame):
            return wrench_about_base(self._frames.pose(frame, body), wrench), True
        return turned_to_base(self._frames.pose(frame, base), wrench), False

    def _wait(self, message: WrenchStamped) -> None:
        """Store a wrench until the transform of its frame arrives."""
        self._waiting = message
        if self._retry is None:
            self._retry = steady_timer(self._node, RETRY, self._try_again)

    def _try_again(self) -> None:
        if self._waiting is not None:
            self._subscription.callback(self._waiting)
        elif not self._frames.is_new and self._retry is not None:
            self._node.destroy_timer(self._retry)
            self._retry = None


class EstimatedWrench:
    """Estimator of the external wrench from motion and efforts, published on `estimated_wrench`.

    The environment exerts the wrench on the body. It is about the body's reference point, in the
    base frame.

    Args:
        node: node that publishes.
        mechanism: mechanism on which the wrench acts.
        parameters: parameters of the table `collision`; a bandwidth of 0 disables the estimate.
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
        """Update the estimate with a new state.

        Args:
            stamp: time [ns] of the state.
            state: configuration (nq,) and velocity (nv,).
            efforts: (n,) [N or N m] efforts that acted since the last state; None if unknown.
            mechanism: mechanism with its payload.
            base: motion of the base; None: at rest.
            known: (6,) [N, N m] wrench that is expected and not a collision, in the base frame
                about the body's reference point.

        Returns:
            Description of a detected collision; an empty string if there is none.
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
        return f"collision: external force of {push:.3g} N, the limit is {limit:g} N"
