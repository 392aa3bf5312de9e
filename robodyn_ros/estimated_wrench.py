# SPDX-License-Identifier: Apache-2.0

"""What pushes a mechanism, told without a sensor: published, and watched for collisions."""

from __future__ import annotations

from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node

import robodyn as rd
from robodyn.arrays import FloatArray
from robodyn.base_motion import BaseMotion
from robodyn.mechanisms.mechanism import Mechanism
from robodyn_ros import messages, qos

# After so long without a state [ns] the estimate begins anew.
GAP = 100_000_000


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
