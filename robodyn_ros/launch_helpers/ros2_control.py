# SPDX-License-Identifier: Apache-2.0

"""Launch helpers: the controller manager of ros2_control between nodes and hardware.

The hardware is robodyn's simulator, connected by the topics of JointStateTopicSystem;
ros2_control's mock; or a robot whose plugin the URDF names. Controllers are activated once every
node of the run is ready, and the planner starts once they are active; until then brakes hold the
simulated mechanism.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from launch.actions import RegisterEventHandler
from launch.event_handlers import OnProcessExit, OnProcessIO
from launch.events.process import ProcessIO
from launch.launch_description_entity import LaunchDescriptionEntity
from launch.some_substitutions_type import SomeSubstitutionsType
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node

from launch import LaunchContext
from robodyn.loading.robot_description import robot_description
from robodyn_ros.launch_helpers.description import (
    clock_remapping,
    display_nodes,
    installed,
    is_on,
    node,
    selected_mechanism,
    state_publisher,
    switch,
    write_temporary_file,
)
from robodyn_ros.parameter_files import read_sections

# Each of them claims the effort of every driven joint.
TRAJECTORIES = "leg_trajectory_controller"
CONTROLLERS = {
    "effort_controller": "forward_command_controller",
    TRAJECTORIES: "joint_trajectory_controller",
}
HARDWARE_TOPICS = ("joint_commands", "joint_states")
BROADCASTER = "joint_state_broadcaster"
# Packages with topic-based hardware and their plugins; the second is for Humble.
TOPIC_HARDWARE = {
    "joint_state_topic_hardware_interface": (
        "joint_state_topic_hardware_interface/JointStateTopicSystem"
    ),
    "topic_based_ros2_control": "topic_based_ros2_control/TopicBasedSystem",
}
MOCK = "mock_components/GenericSystem"


def ros2_control_arguments(ros2_control: str) -> dict[str, tuple[str, ...]]:
    """Describe the launch arguments for ros2_control.

    Args:
        ros2_control: default value of the argument `ros2_control`.

    Returns:
        A table for `arguments`.
    """
    return {
        "ros2_control": switch(
            "If true, the controller manager of ros2_control drives the joints in real time.",
            ros2_control,
        ),
        "controller": (
            "effort_controller",
            "ros2_control controller that commands the efforts of the joints.",
            *CONTROLLERS,
        ),
        "hardware": (
            "simulator",
            "Hardware behind ros2_control. With robot, it is the hardware that the URDF names.",
            *("simulator", "mock", "robot"),
        ),
        "controllers_file": (
            "",
            "Parameter file for the controllers of ros2_control, which overrides params_file. If "
            "empty, stewart_controllers.yaml is used for a platform and arm_controllers.yaml for "
            "other mechanisms, with the joints of the mechanism and the rate of the simulator.",
        ),
    }


def as_hardware(context: LaunchContext, name: str) -> tuple[str, SomeSubstitutionsType]:
    """Return the remapping of a simulator's topic to one for the controller manager.

    If ros2_control does not control the simulator, the topic keeps its name.
    """
    hardware = context.launch_configurations["hardware"]
    by_ros2_control = is_on(context, "ros2_control") and hardware == "simulator"
    return name, hardware_topic(name) if by_ros2_control else name


def hardware_topic(name: str) -> PathJoinSubstitution:
    """Return the name of a topic between the controller manager and the simulator."""
    return PathJoinSubstitution(["/", LaunchConfiguration("namespace"), "robodyn/hw", name])


def with_controllers(
    context: LaunchContext, shipped: Path, joints: Sequence[str], rate: Any
) -> None:
    """Set the launch configurations with the controllers' parameter files.

    `controllers_file` becomes a generated file: the default file, completed for the mechanism.
    `more_controllers_file` becomes the user's file, which overrides it.

    Args:
        context: context of the launch, which is changed.
        shipped: default parameter file.
        joints: names of the driven joints.
        rate: rate [Hz] of the simulator's states, from a parameter file; None for the default. The
            simulator rejects an invalid rate.
    """
    settings = context.launch_configurations
    if not is_on(context, "ros2_control"):
        settings["controllers_file"] = settings["more_controllers_file"] = str(shipped)
        return
    sections = read_sections(shipped)
    for name, parameters in controller_parameters(joints, rate).items():
        sections.setdefault(name, {}).update(parameters)
    if settings.get("controller") == TRAJECTORIES:
        # its own hold has no efforts: the mechanism would sag until the trajectory arrives
        sections.setdefault("/**/inverse_dynamics", {})["idle"] = "hold"
    document = {name: {"ros__parameters": values} for name, values in sections.items()}
    made = write_temporary_file(document, "robodyn_controllers_", ".yaml")
    atexit.register(Path(made).unlink, missing_ok=True)
    settings["more_controllers_file"] = settings["controllers_file"] or made
    settings["controllers_file"] = made


def controller_parameters(joints: Sequence[str], rate: Any) -> dict[str, dict[str, Any]]:
    """Return parameters of the controllers for a mechanism, by node name.

    Args:
        joints: names of the driven joints.
        rate: rate [Hz] of the states; None for the default.
    """
    sections: dict[str, dict[str, Any]] = {name: {"joints": [*joints]} for name in CONTROLLERS}
    if isinstance(rate, (int, float)) and rate > 0:
        # One update for each state. Efforts act from the next update on, and the state is half a
        # period old on average, since simulation and controller manager are not synchronized.
        sections["controller_manager"] = {"update_rate": round(rate)}
        sections["inverse_dynamics"] = {"delay": 1.5 / rate}
    return {f"/**/{name}": values for name, values in sections.items()}


def check_installed(context: LaunchContext) -> None:
    """Raise an error if packages for a launch with ros2_control are not installed.

    Raises:
        RuntimeError: packages are missing; the message names them.
    """
    if not is_on(context, "ros2_control"):
        return
    controller = context.launch_configurations["controller"]
    packages = ["controller_manager", "robot_state_publisher", BROADCASTER, CONTROLLERS[controller]]
    missing = [package for package in packages if not installed(package)]
    if context.launch_configurations["hardware"] == "simulator" and not _topic_plugin():
        missing.append(next(iter(TOPIC_HARDWARE)))
    if missing:
        debs = " ".join(f"ros-$ROS_DISTRO-{package.replace('_', '-')}" for package in missing)
        raise RuntimeError(
            f"ros2_control:=true needs {', '.join(missing)}, not installed: apt install {debs}"
        )


def ros2_control_actions(
    context: LaunchContext,
    start: LaunchDescriptionEntity,
    needed: Sequence[Node],
    died: Callable[..., object],
) -> list[LaunchDescriptionEntity]:
    """Return actions that start ros2_control, then an entity such as the planner.

    The controller manager and its controllers are started in turn. The list is empty without
    ros2_control.

    Args:
        context: context of the launch.
        start: entity to start once the controllers are active, such as the planner.
        needed: nodes that must be ready before the controllers are activated.
        died: event handler for a process that ended early.
    """
    if not is_on(context, "ros2_control"):
        return []
    hardware = context.launch_configurations["hardware"]
    simulated = hardware == "simulator"
    plugin = MOCK if hardware == "mock" else _topic_plugin()
    source, mechanism = selected_mechanism(context)
    topics = {name: hardware_topic(name).perform(context) for name in HARDWARE_TOPICS}
    text = robot_description(
        source,
        mechanism,
        ros2_control=True,
        own_hardware=hardware == "robot",
        arguments={f"{name}_topic": topic for name, topic in topics.items()}
        | ({"plugin": plugin} if plugin else {}),
    )
    manager = node(
        "controller_manager",
        "ros2_control_node",
        parameters=[
            LaunchConfiguration("controllers_file"),
            LaunchConfiguration("more_controllers_file"),
            {"use_sim_time": simulated},
        ],
        # it passes remappings to every controller, which ros2_control discourages
        remappings=[clock_remapping()] if context.launch_configurations["namespace"] else [],
    )
    chosen = context.launch_configurations["controller"]
    spawner = node(
        "controller_manager",
        "spawner",
        arguments=[
            BROADCASTER,
            chosen,
            *("--controller-manager-timeout", "60", "--switch-timeout", "60"),
        ],
    )

    def start_if_spawned(event: object, context: LaunchContext) -> object:
        return [start] if getattr(event, "returncode", 1) == 0 else died(event, context)

    # the simulator's own states have all joints at one instant, so displayed loops are closed
    joint_states = topics["joint_states"] if simulated else "joint_states"
    return [
        state_publisher(text, joint_states, sim_time=simulated),
        RegisterEventHandler(OnProcessExit(target_action=manager, on_exit=died)),
        RegisterEventHandler(OnProcessExit(target_action=spawner, on_exit=start_if_spawned)),
        manager,
        # Kernels may have to be compiled first, and messages until then are late. Controllers also
        # become active only while simulated time runs, and a spawner waits 10 s only.
        *start_when_ready(needed, spawner),
        *display_nodes(context, mechanism, sim_time=simulated),
    ]


def start_when_ready(
    nodes: Sequence[Node], then: LaunchDescriptionEntity
) -> list[LaunchDescriptionEntity]:
    """Return event handlers that start an entity once all given nodes are ready.

    A node is ready when it logs a line that contains `, ready`.
    """
    waited_for = {id(node) for node in nodes}

    def handler(node: Node) -> RegisterEventHandler:
        def look(event: ProcessIO) -> LaunchDescriptionEntity | None:
            if b", ready" not in event.text or id(node) not in waited_for:
                return None
            waited_for.remove(id(node))
            return None if waited_for else then

        return RegisterEventHandler(OnProcessIO(target_action=node, on_stdout=look, on_stderr=look))

    return [handler(node) for node in nodes]


def _topic_plugin() -> str:
    """Return an installed hardware plugin that uses topics; empty if there is none."""
    return next((plugin for package, plugin in TOPIC_HARDWARE.items() if installed(package)), "")
