# SPDX-License-Identifier: Apache-2.0

"""The launch of a machine: commander, planner, cueing, drives or a link to them, the browser."""

from __future__ import annotations

from launch.actions import OpaqueFunction, RegisterEventHandler
from launch.event_handlers import OnProcessExit
from launch.events.process import ProcessExited
from launch.launch_description_entity import LaunchDescriptionEntity
from launch.substitutions import PathJoinSubstitution
from launch_ros.substitutions import FindPackageShare

from launch import LaunchContext, LaunchDescription
from robodyn_ros.description_launch import (
    NAMESPACE,
    SWITCH,
    arguments,
    described,
    failed,
    is_on,
    model_argument,
    of_parameter,
    own_node,
)

ARGUMENTS = {
    "hardware": (
        "simulated",
        "simulated: drives with a lag; link: servos behind drive_link, a serial line or UDP; none: "
        "whoever takes position_controller/commands and tells joint_states",
        *("simulated", "link", "none"),
    ),
    "link": of_parameter("drive_link", "link"),
    "path": (
        "demo",
        "path that trajectory_planner/start begins: demo, a file of waypoints; empty: goals only",
    ),
    "params_file": (
        PathJoinSubstitution([FindPackageShare("robodyn"), "config", "machine.yaml"]),
        "parameter file of all nodes",
    ),
    "cueing": ("false", "motion_cueing makes set-points of vehicle/imu, for a simulator", *SWITCH),
    "telemetry": of_parameter("motion_cueing", "telemetry"),
    "flight": ("false", "the vehicle is a flight by JSBSim; needs jsbsim", *SWITCH),
    "viewer": ("false", "show the machine in the browser, on localhost only; needs viser", *SWITCH),
    "rviz": ("false", "show it in RViz; needs rviz2 and robot_state_publisher", *SWITCH),
}


def machine() -> LaunchDescription:
    """The launch, with its arguments."""
    table = model_argument("stewart_symmetric") | ARGUMENTS | NAMESPACE
    return LaunchDescription(
        [
            *arguments(table),
            OpaqueFunction(function=described, args=[False]),
            OpaqueFunction(function=_nodes),
        ]
    )


def _nodes(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    hardware = context.launch_configurations["hardware"]
    nodes = [own_node("joint_commander"), own_node("trajectory_planner", given=("path",))]
    if hardware == "simulated":
        nodes.append(own_node("simulated_drives"))
    elif hardware == "link":
        nodes += [own_node("drive_link", given=("link",)), own_node("state_estimator")]
    if is_on(context, "cueing"):
        nodes.append(own_node("motion_cueing", given=("telemetry",)))
    if is_on(context, "flight"):
        nodes.append(own_node("vehicle_flight", has_model=False))
    if is_on(context, "viewer"):
        nodes.append(own_node("web_viewer"))
    ends = [RegisterEventHandler(OnProcessExit(target_action=n, on_exit=_ended)) for n in nodes]
    return [*ends, *nodes]


def _ended(event: ProcessExited, context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """A machine without one of its nodes is no machine."""
    return failed(event, context, ": the machine is left")
