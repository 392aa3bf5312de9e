# SPDX-License-Identifier: Apache-2.0

"""Launch description of a machine: commander, planner, cueing, drives and browser page."""

from __future__ import annotations

from typing import Any

from launch.actions import OpaqueFunction, RegisterEventHandler
from launch.event_handlers import OnProcessExit
from launch.events.process import ProcessExited
from launch.launch_description_entity import LaunchDescriptionEntity
from launch.substitutions import PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare

from launch import LaunchContext, LaunchDescription
from robodyn_ros.launch_helpers.description import (
    GRAVITY,
    NAMESPACE,
    arguments,
    description_nodes,
    failure_actions,
    is_on,
    model_argument,
    of_parameter,
    own_files,
    parameter_overrides,
    robodyn_node,
    switch,
)
from robodyn_ros.parameter_files import read_sections

PATH, OUTPUT = "demo", "runs/latest"  # defaults
ARGUMENTS = {
    "hardware": (
        "simulated",
        "Hardware of the drives. With simulated, the launch starts simulated_drives. With link, "
        "drive_link sends the commands to servos over a serial line or UDP. With none, a node of "
        "yours subscribes to position_controller/commands and publishes joint_states.",
        *("simulated", "link", "none"),
    ),
    "link": of_parameter("drive_link", "link"),
    "path": (
        PATH,
        "Path that trajectory_planner/start starts: demo, or a file of waypoints. If empty, the "
        "machine moves to goals only.",
    ),
    "params_file": (
        PathJoinSubstitution([FindPackageShare("robodyn"), "config", "machine.yaml"]),
        "Parameter file for all nodes.",
    ),
    "cueing": switch(
        "If true, motion_cueing computes set-points from vehicle/imu, for a motion simulator."
    ),
    "telemetry": of_parameter("motion_cueing", "telemetry"),
    "flight": switch(
        "If true, JSBSim simulates a flight as the motion of the vehicle. Requires jsbsim."
    ),
    "viewer": switch("If true, a web page on localhost shows the machine. Requires viser."),
    "port": of_parameter("web_viewer", "port"),
    "record": switch("If true, record all topics in a rosbag2 folder in `output`."),
    "output": of_parameter("recorder", "output", OUTPUT),
    "rviz": switch("If true, show the machine in RViz. Requires rviz2 and robot_state_publisher."),
}


def machine() -> LaunchDescription:
    """Return the launch description of a machine, with its arguments."""
    table = model_argument("stewart_symmetric") | ARGUMENTS | GRAVITY | NAMESPACE
    return LaunchDescription(
        [
            *arguments(table),
            OpaqueFunction(function=description_nodes, args=[False]),
            OpaqueFunction(function=_nodes),
        ]
    )


def _nodes(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    hardware, files = context.launch_configurations["hardware"], own_files(context)

    def node(name: str, *given: str, **more: Any) -> Node:
        passed = parameter_overrides(context, name, *given, path=PATH, output=OUTPUT)
        return robodyn_node(name, files=files, given=passed, **more)

    nodes = [node("joint_commander"), node("trajectory_planner", "path")]
    if hardware == "simulated":
        nodes.append(node("simulated_drives"))
    elif hardware == "link":
        _refuse_stall_homing(context.launch_configurations["params_file"])
        nodes += [node("drive_link", "link"), node("state_estimator")]
    if is_on(context, "cueing"):
        nodes.append(node("motion_cueing", "telemetry"))
    if is_on(context, "flight"):
        nodes.append(node("vehicle_flight", has_model=False))
    if is_on(context, "viewer"):
        nodes.append(node("web_viewer", "port"))
    recorders = [node("recorder", "output")] if is_on(context, "record") else []
    ends = [
        RegisterEventHandler(OnProcessExit(target_action=n, on_exit=_fail_launch)) for n in nodes
    ]
    return [*ends, *recorders, *nodes]


def _refuse_stall_homing(params_file: str) -> None:
    """Raise an error for homing by end stops if drive_link sends the commands.

    drive_link rejects commands beyond the travel of the joints, which such homing requires.

    Raises:
        RuntimeError: the homing is `stall`; the message names the file and the parameter.
    """
    for section, values in read_sections(params_file).items():
        is_its_own = section.rsplit("/", 1)[-1] in ("joint_commander", "**")
        if is_its_own and values.get("homing") == "stall":
            raise RuntimeError(
                f"{params_file}: homing is 'stall', which commands positions beyond the limits of "
                "the joints, but drive_link rejects such commands: use homing 'absolute' or "
                "'assumed', or hardware:=none with a node of your own for the drives"
            )


def _fail_launch(event: ProcessExited, context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Fail the launch when one of the nodes ends."""
    return failure_actions(event, context, ": a machine needs all its nodes, so the launch ends")
