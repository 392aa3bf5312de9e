# SPDX-License-Identifier: Apache-2.0

"""The launch of a machine: commander, planner, cueing, drives or a link to them, the browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from launch.actions import EmitEvent, LogInfo, OpaqueFunction, RegisterEventHandler
from launch.event_handlers import OnProcessExit
from launch.events import Shutdown
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.substitutions import FindPackageShare

from launch import LaunchDescription
from robodyn_ros.description_launch import (
    NAMESPACE,
    SWITCH,
    arguments,
    described,
    enclave,
    given,
    model_argument,
    model_parameters,
    node,
)

if TYPE_CHECKING:
    from launch.events.process import ProcessExited
    from launch.launch_description_entity import LaunchDescriptionEntity
    from launch_ros.actions import Node

    from launch import LaunchContext

ARGUMENTS = {
    "hardware": (
        "simulated",
        "simulated: drives with a lag; link: servos behind drive_link, a serial line or UDP; none: "
        "whoever takes position_controller/commands and tells joint_states",
        *("simulated", "link", "none"),
    ),
    "link": (
        "udp:127.0.0.1:9870",
        "of drive_link: serial:/dev/ttyUSB0@115200, or udp:host:port",
    ),
    "path": (
        "demo",
        "path that trajectory_planner/start begins: demo, a file of waypoints; empty: goals only",
    ),
    "params_file": (
        PathJoinSubstitution([FindPackageShare("robodyn"), "config", "machine.yaml"]),
        "parameter file of all nodes",
    ),
    "cueing": ("false", "motion_cueing makes set-points of vehicle/imu, for a simulator", *SWITCH),
    "telemetry": (
        "",
        "of motion_cueing: a simulator's format, host and port, as csv:127.0.0.1:9900",
    ),
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
    def chosen(name: str) -> str:
        return str(LaunchConfiguration(name).perform(context))

    nodes = [_node("joint_commander"), _node("trajectory_planner", path=given("path"))]
    if chosen("hardware") == "simulated":
        nodes.append(_node("simulated_drives"))
    elif chosen("hardware") == "link":
        nodes += [_node("drive_link", link=given("link")), _node("state_estimator")]
    if chosen("cueing") == "true":
        nodes.append(_node("motion_cueing", telemetry=given("telemetry")))
    if chosen("flight") == "true":
        nodes.append(_node("vehicle_flight", has_model=False))
    if chosen("viewer") == "true":
        nodes.append(_node("web_viewer"))
    ends = [RegisterEventHandler(OnProcessExit(target_action=n, on_exit=_ended)) for n in nodes]
    return [*ends, *nodes]


def _node(name: str, *, has_model: bool = True, **parameters: object) -> Node:
    return node(
        "robodyn",
        name,
        name=name,
        ros_arguments=enclave(name),
        parameters=[
            LaunchConfiguration("params_file"),
            {**(model_parameters() if has_model else {}), **parameters},
        ],
    )


def _ended(event: ProcessExited, context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """A machine without one of its nodes is no machine."""
    if context.is_shutdown:
        return []
    text = f"{event.process_name} ended with exit code {event.returncode}: the machine is left"
    return [LogInfo(msg=text), EmitEvent(event=Shutdown(reason=text))]
