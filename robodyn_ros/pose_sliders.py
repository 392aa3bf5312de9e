# SPDX-License-Identifier: Apache-2.0

"""Node that publishes a pose from its parameters.

The node publishes `joint_states` (driven and passive joints), `platform_state` and the transform of
the platform, for RViz. Its parameters `x`, `y`, `z`, `roll`, `pitch` and `yaw` set the pose. These
parameters appear as sliders in rqt_reconfigure, or are set with `ros2 param set`. Without ROS 2,
`robodyn view` shows such sliders in the browser.
"""

from __future__ import annotations

import numpy as np
from rclpy.node import Node
from rclpy.parameter import Parameter
from tf_transformations import euler_from_quaternion, quaternion_from_euler

import robodyn as rd
from robodyn.arrays import FloatArray
from robodyn.presentation import presentation
from robodyn.presentation.nouns import nouns_of
from robodyn_ros import qos
from robodyn_ros.interfaces import Interface
from robodyn_ros.parameters import Spec, check, declare, load_mechanism, on_set, table

PARAMETERS = table("mechanism", "pose_sliders")
# Range of the sliders: relative to the mechanism's size, and an angle [rad] short of gimbal lock.
TRAVEL, TILT = 0.5, 1.5
REST = np.zeros(6)


class PoseSliders(Node):
    """Node that publishes the state of a mechanism at the pose set by the node's parameters."""

    def __init__(self) -> None:
        super().__init__("pose_sliders")
        p = declare(self, PARAMETERS)
        self._mechanism = load_mechanism(p, self.get_logger())
        if not self._mechanism.coordinates.is_pose:
            raise rd.ModelError(
                f"{self._mechanism.name} is moved by its joints, not by a pose: use "
                "joint_state_publisher_gui"
            )
        home = self._mechanism.home
        home = np.array([*home[:3], *euler_from_quaternion(home[3:])])
        travel, noun = TRAVEL * self._mechanism.size, nouns_of(self._mechanism).body
        self._specs = {
            name: _slider(name, noun, float(home[each.index]), each.unit, travel)
            for name, each in presentation.variables(self._mechanism).items()
            if each.role == "position"
        }
        declare(self, self._specs)
        on_set(self, self._check)
        self._publish_state = Interface(self, self._mechanism).state_publisher(qos.STATE)
        self._last_warning = ""
        self.create_timer(1.0 / p["rate"], self._show)
        self.get_logger().info(f"pose sliders of {self._mechanism.name}, ready")

    def _check(self, parameters: list[Parameter]) -> None:
        for parameter in parameters:
            if parameter.name in self._specs:
                check(parameter.name, self._specs[parameter.name], parameter.value)

    def _show(self) -> None:
        values = np.array([self.get_parameter(name).value for name in self._specs])
        pose = np.array([*values[:3], *quaternion_from_euler(*values[3:])])
        text = self._reach(pose)
        if text != self._last_warning and text:
            self.get_logger().warning(text)
        self._last_warning = text
        stamp = self.get_clock().now().nanoseconds
        self._publish_state(stamp, pose, REST, REST)

    def _reach(self, pose: FloatArray) -> str:
        """Return a message if a pose exceeds a leg's length limits; otherwise empty."""
        lengths = self._mechanism.joint_positions(pose)
        for name, length, (low, high) in zip(
            self._mechanism.joint_names, lengths, self._mechanism.position_limits, strict=True
        ):
            if not low <= length <= high:
                return f"{name} is {length:.3f} m, outside its limits, {low:g} to {high:g} m"
        return ""


def _slider(name: str, noun: str, home: float, unit: str, travel: float) -> Spec:
    low, high = (home - travel, home + travel) if unit == "m" else (-TILT, TILT)
    return Spec(home, f"{name} of the {noun} [{unit}]", low, high, read_only=False)
