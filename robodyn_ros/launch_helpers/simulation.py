# SPDX-License-Identifier: Apache-2.0

"""Common functions of the simulation launch files: the nodes, and the end of a run."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, List  # noqa: UP035, as ROS 2 launch has it

from launch.actions import (
    DeclareLaunchArgument,
    EmitEvent,
    LogInfo,
    OpaqueFunction,
    RegisterEventHandler,
    SetLaunchConfiguration,
)
from launch.event_handlers import OnProcessExit
from launch.events import Shutdown, matches_action
from launch.events.process import ProcessExited, ShutdownProcess
from launch.launch_description_entity import LaunchDescriptionEntity
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

from launch import LaunchContext, LaunchDescription
from robodyn_ros.launch_helpers.description import (
    GRAVITY,
    NAMESPACE,
    arguments,
    description_nodes,
    fail,
    failure_actions,
    is_on,
    model_argument,
    of_parameter,
    own_files,
    parameter_overrides,
    robodyn_node,
    switch,
)
from robodyn_ros.launch_helpers.ros2_control import (
    TRAJECTORIES,
    as_hardware,
    ros2_control_actions,
    ros2_control_arguments,
)
from robodyn_ros.launch_helpers.settings import DEFAULT, DEFAULT_PROFILE, resolve_arguments
from robodyn_ros.nodes import NOT_COMPLETED

PATHS = "I, II, III or P1 of the papers; puma, puma_cycloidal or puma_fast for an arm"
NOT_DONE = "the run was not completed; the summary above gives the reason"
STAYING = "the run is done; Ctrl-C ends the launch (stay:=false ends it with the run)"


def simulation_arguments(
    model: str, params_file: str, ros2_control: str = "false", frictionless: str = ""
) -> list[DeclareLaunchArgument]:
    """Create the declarations of a simulation's launch arguments.

    Args:
        model, params_file, ros2_control: default values of these arguments.
        frictionless: name of a model that has no friction by default.
    """
    own = "the friction of the model is included"
    if frictionless:
        own = f"{frictionless} has no friction, as published, and other models have their own"
    config = PathJoinSubstitution([FindPackageShare("robodyn"), "config", params_file])
    table = {
        "path": (
            DEFAULT,
            f"Path to follow: {PATHS}; demo; or a file of waypoints (.yaml). If default, the "
            "mechanism follows the path of its paper or the path bundled with it, otherwise demo. "
            "If none, the launch runs until it is stopped, and goals arrive on topics.",
        ),
        "avoid_singularities": of_parameter("trajectory_planner", "avoid_singularities"),
        "profile": of_parameter(
            "trajectory_planner",
            "profile",
            auto=f"the profile is that of params_file, otherwise {DEFAULT_PROFILE}",
        ),
        "mode": of_parameter("control", "mode"),
        "command_unit": of_parameter("command_unit", "command_unit"),
        "stepping": of_parameter(
            "forward_simulator",
            "stepping",
            auto="the stepping is lockstep with a path and realtime without one; with ros2_control "
            "it is always realtime",
        ),
        "friction": of_parameter(
            "mechanism",
            "friction",
            auto=f"the setting in params_file is used. Without one, {own}",
        ),
        "duration": of_parameter("run_summary", "duration"),
        "output": of_parameter("run_summary", "output", "runs/latest"),
        "params_file": (
            config,
            "Parameter file for all nodes. For path:=none, the default is bringup.yaml.",
        ),
        "record": switch("If true, record all topics in a rosbag2 folder in `output`."),
        "viewer": switch("If true, a web page on localhost shows the run live. Requires viser."),
        "stay": switch(
            "If true, the launch stays open after the run until Ctrl-C. The default is the value "
            "of `viewer`.",
            LaunchConfiguration("viewer"),
        ),
        "rviz": switch("If true, show the run in RViz. Requires rviz2 and robot_state_publisher."),
    }
    last = ros2_control_arguments(ros2_control) | NAMESPACE
    return arguments(model_argument(model) | GRAVITY | table | last)


def simulation(model: str, params_file: str, **more: str) -> LaunchDescription:
    """Return the launch description of a simulation.

    Args:
        model, params_file: default values of these launch arguments.
        more: further arguments of `simulation_arguments`.
    """
    start = OpaqueFunction(
        function=simulation_nodes, args=[params_file, more.get("frictionless", "")]
    )
    return LaunchDescription([*simulation_arguments(model, params_file, **more), start])


def simulation_nodes(
    context: LaunchContext, params_file: str, frictionless: str
) -> list[LaunchDescriptionEntity]:
    """Return the nodes of a simulation, and handlers for their exits.

    The nodes are planner, inverse dynamics, monitor, simulator and summary.

    Args:
        context: context of the launch.
        params_file, frictionless: as for `simulation_arguments`.
    """
    notes = resolve_arguments(context, params_file, frictionless)
    on, bringup = is_on(context, "ros2_control"), is_on(context, "bringup")
    # joint_state_broadcaster stamps a state of the simulator, a period old, with the time at which
    # it publishes it; nodes that depend on stamps subscribe to the simulator itself
    states = as_hardware(context, "joint_states")

    given = ("path", "profile", "avoid_singularities")
    planner = _node(context, "trajectory_planner", states, given=given)
    efforts = "~/joint_trajectory_with_effort"
    needed = [
        _node(
            context,
            "inverse_dynamics",
            states,
            (efforts, f"{TRAJECTORIES}/joint_trajectory" if on else efforts),
            given=("mode", "command_unit"),
        ),
        _node(context, "condition_monitor", states),
        *_state_sources(context, states),
    ]
    ends = dict.fromkeys((planner, *needed), _on_failure)
    if is_on(context, "viewer"):
        ends[_node(context, "web_viewer", states)] = _on_failure
    recorder = None
    if is_on(context, "record"):
        recorder = _node(
            context,
            "recorder",
            given=("output",),
            time="sim",
            begin_with=ParameterValue(["joint_commands"], value_type=List[str]),  # noqa: UP006
        )
        ends[recorder] = _on_bag_exit
    if not bringup:
        reported = ("path", "mode", "output", "duration")
        summary = _node(context, "run_summary", states, given=reported)
        needed.append(summary)
        ends[summary] = partial(_on_summary_exit, recorder=recorder)
    return [
        *notes,
        *description_nodes(context),
        *(
            RegisterEventHandler(OnProcessExit(target_action=each, on_exit=end))
            for each, end in ends.items()
        ),
        *(each for each in ends if each is not planner),
        # at once, or once all are ready and the controllers are active
        *(ros2_control_actions(context, planner, needed, _on_failure) or [planner]),
    ]


def _state_sources(context: LaunchContext, states: Any) -> list[Node]:
    """Return the node that provides states: simulator, or estimator if needed."""
    settings = context.launch_configurations
    on = is_on(context, "ros2_control")
    if on and settings["hardware"] != "simulator":
        return [_node(context, "state_estimator")] if is_on(context, "needs_estimator") else []
    return [
        _node(
            context,
            "forward_simulator",
            states,
            as_hardware(context, "joint_commands"),
            as_hardware(context, "effort_controller/commands"),
            given=("path", "duration", "command_unit"),
            stepping="realtime" if on else settings["stepping"],
            min_subscribers=subscriber_count(context),
            ends_with_path=not is_on(context, "bringup"),
        )
    ]


def subscriber_count(context: LaunchContext) -> int:
    """Return the number of subscribers to the state for which a lockstep run waits.

    The subscribers are planner, inverse dynamics, monitor, summary and, if the run is recorded, the
    recorder.
    """
    return 4 + is_on(context, "record")


def _node(
    context: LaunchContext, name: str, *remappings: Any, given: Sequence[str] = (), **more: Any
) -> Node:
    files = own_files(context)
    if is_on(context, "ros2_control"):
        files += ["controllers_file", "more_controllers_file"]
    passed = parameter_overrides(context, name, *given)
    return robodyn_node(name, *remappings, files=files, given=("friction", *passed), **more)


def _on_summary_exit(
    event: ProcessExited, context: LaunchContext, recorder: Node | None
) -> list[LaunchDescriptionEntity]:
    """End the launch, after the recorder, when the run's summary process exits."""
    if event.returncode not in (0, NOT_COMPLETED):
        return _on_failure(event, context)
    if event.returncode == NOT_COMPLETED:
        context.launch_configurations["run_failed"] = "true"
    if recorder is None:
        return _end(context, "the run is done")
    # the recorder first: messages still queued in the other nodes would be lost with them
    return [
        SetLaunchConfiguration("run_is_done", "true"),
        EmitEvent(event=ShutdownProcess(process_matcher=matches_action(recorder))),
    ]


def _on_bag_exit(event: ProcessExited, context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """End the launch when the recorder exits; it is an error if the run is not done."""
    if event.returncode == 0 and "run_is_done" in context.launch_configurations:
        return _end(context, "the run is done and recorded")
    return _on_failure(event, context)


def _end(context: LaunchContext, reason: str) -> list[LaunchDescriptionEntity]:
    """Shut down the launch; exit with an error unless the run was completed.

    If the launch argument `stay` is true, only log that the nodes keep running.
    """
    if context.launch_configurations.get("stay") == "true":
        return [LogInfo(msg=STAYING)]
    if "run_failed" in context.launch_configurations:
        return [OpaqueFunction(function=fail, args=[NOT_DONE])]
    return [EmitEvent(event=Shutdown(reason=reason))]


def _on_failure(event: ProcessExited, context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """End the launch with an error because a process exited during the run."""
    return failure_actions(event, context, " before the run was done")
