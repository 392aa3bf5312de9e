# SPDX-License-Identifier: Apache-2.0

"""Common parts of the simulation launch files: the nodes, and how a run ends."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, List  # noqa: UP035, as ROS 2 launch has it

from launch.actions import (
    DeclareLaunchArgument,
    EmitEvent,
    LogInfo,
    OpaqueFunction,
    RegisterEventHandler,
    SetLaunchConfiguration,
)
from launch.conditions import IfCondition, UnlessCondition
from launch.event_handlers import OnProcessExit
from launch.events import Shutdown, matches_action
from launch.events.process import ShutdownProcess
from launch.substitutions import (
    LaunchConfiguration,
    PathJoinSubstitution,
    PythonExpression,
)
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

from launch import LaunchDescription
from robodyn.planning.profiles import PROFILES
from robodyn_ros.description_launch import (
    described,
    enclave,
    model_argument,
    model_parameters,
    namespace_argument,
    own_clock,
    reading_arguments,
)
from robodyn_ros.launch_settings import settle
from robodyn_ros.nodes import NOT_COMPLETED
from robodyn_ros.ros2_control_launch import (
    as_hardware,
    controlled,
    estimates,
    ros2_control_arguments,
    runs,
    simulates,
    with_ros2_control,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from launch.events.process import ProcessExited
    from launch.launch_description_entity import LaunchDescriptionEntity
    from launch.some_substitutions_type import SomeSubstitutionsType

    from launch import Condition, LaunchContext


PATHS = "I, II, III, P1 of the papers, puma, puma_cycloidal, puma_fast for an arm"
# joint_state_broadcaster stamps what came from the simulator a period ago with the time at which it
# passes it on; whoever goes by the stamps hears the simulator itself.
OWN_STATES = as_hardware("joint_states")
NOT_DONE = "the run was not completed: the summary above says what ended it"
STAYING = "the run is done; Ctrl-C ends the launch (stay:=false ends it with the run)"


def simulation_arguments(
    model: str,
    path: str,
    paths: str,
    params_file: str,
    controllers: str,
    ros2_control: str = "false",
    frictionless: str = "",
) -> list[DeclareLaunchArgument]:
    """The launch arguments of a simulation, with its defaults.

    Args:
        model, path, params_file, controllers, ros2_control: default values.
        paths: names of paths, for the description.
        frictionless: the model that runs without friction unless something else is asked for.
    """
    return [
        model_argument(model),
        *reading_arguments(),
        DeclareLaunchArgument(
            "path",
            default_value=path,
            description=f"path to follow: {paths}, demo, or a file of waypoints (.yaml); default: "
            "the mechanism's own, of its paper or bundled with it, else demo; none: run until "
            "stopped, goals by topic",
        ),
        DeclareLaunchArgument(
            "avoid_singularities",
            default_value="false",
            choices=["true", "false"],
            description="lead the path round singularities: between its ends another one, with a "
            "condition number below condition_limit of trajectory_planner",
        ),
        DeclareLaunchArgument(
            "profile",
            default_value="auto",
            choices=["auto", *PROFILES],
            description="speed profile to goals; time_optimal: the path, too, is followed as fast "
            "as limits of efforts, rates and motors allow; auto: as params_file says, else lspb",
        ),
        DeclareLaunchArgument(
            "mode",
            default_value="computed_torque",
            choices=["computed_torque", "feedforward"],
            description="control mode of inverse_dynamics",
        ),
        DeclareLaunchArgument(
            "command_unit",
            default_value="effort",
            choices=["effort", "torque", "current"],
            description="what commands are told in: effort of the joints, torque of their motors "
            "[N m], or current [A]",
        ),
        DeclareLaunchArgument(
            "stepping",
            default_value="auto",
            choices=["auto", "lockstep", "realtime"],
            description="lockstep: reproducible, as fast as possible; realtime: by the wall clock, "
            "always used with ros2_control; auto: lockstep, or realtime for path:=none",
        ),
        DeclareLaunchArgument(
            "friction",
            default_value="auto",
            choices=["auto", "true", "false"],
            description="joint friction as in the model, or none; auto: as params_file says, else "
            + (f"none for {frictionless}, as published, else " if frictionless else "")
            + "as in the model",
        ),
        DeclareLaunchArgument(
            "duration",
            default_value="0.0",
            description="duration of the run [s]; 0.0: until the path is done",
        ),
        DeclareLaunchArgument(
            "output",
            default_value="runs/latest",
            description="folder for summary.json and history.csv",
        ),
        DeclareLaunchArgument(
            "params_file",
            default_value=PathJoinSubstitution(
                [FindPackageShare("robodyn"), "config", params_file]
            ),
            description="parameter file of all nodes; for path:=none by default bringup.yaml",
        ),
        DeclareLaunchArgument(
            "record",
            default_value="false",
            choices=["true", "false"],
            description="record all topics to a rosbag2 folder in `output`",
        ),
        DeclareLaunchArgument(
            "viewer",
            default_value="false",
            choices=["true", "false"],
            description="show the run live in the browser, on localhost only; needs viser",
        ),
        DeclareLaunchArgument(
            "stay",
            default_value=LaunchConfiguration("viewer"),
            choices=["true", "false"],
            description="stay open after the run until Ctrl-C; by default with viewer:=true",
        ),
        DeclareLaunchArgument(
            "rviz",
            default_value="false",
            choices=["true", "false"],
            description="show the run in RViz; needs rviz2 and robot_state_publisher",
        ),
        *ros2_control_arguments(ros2_control, controllers),
        namespace_argument(),
    ]


def simulation(
    model: str, params_file: str, ros2_control: str = "false", frictionless: str = ""
) -> LaunchDescription:
    """A launch that simulates any mechanism, with defaults as for `simulation_arguments`."""
    return LaunchDescription(
        [
            *simulation_arguments(
                model, "default", PATHS, params_file, "", ros2_control, frictionless
            ),
            *simulation_nodes(params_file, frictionless),
        ]
    )


def simulation_nodes(
    params_file: str = "", frictionless: str = ""
) -> list[LaunchDescriptionEntity]:
    """Planner, inverse dynamics, monitor, simulator and summary, and what to do when one exits.

    Args: as for `simulation_arguments`.
    """
    summary = _node(
        "run_summary",
        condition=UnlessCondition(LaunchConfiguration("bringup")),
        remappings=[OWN_STATES],
        path=_text("path"),
        mode=_text("mode"),
        output=_text("output"),
        duration=ParameterValue(LaunchConfiguration("duration"), value_type=float),
    )
    planner = _node(
        "trajectory_planner",
        remappings=[OWN_STATES],
        path=_text("path"),
        profile=_text("profile"),
        avoid_singularities=ParameterValue(
            LaunchConfiguration("avoid_singularities"), value_type=bool
        ),
    )
    simulator = _node(
        "forward_simulator",
        condition=IfCondition(simulates()),
        remappings=[
            as_hardware("joint_commands"),
            OWN_STATES,
            as_hardware("effort_controller/commands"),
        ],
        path=_text("path"),
        stepping=ParameterValue(
            with_ros2_control("realtime", LaunchConfiguration("stepping")), value_type=str
        ),
        min_subscribers=_listeners(),
        ends_with_path=ParameterValue(
            PythonExpression(["'", LaunchConfiguration("bringup"), "' == 'false'"]), value_type=bool
        ),
        duration=ParameterValue(LaunchConfiguration("duration"), value_type=float),
        command_unit=_text("command_unit"),
    )
    others = [
        _node(
            "inverse_dynamics",
            remappings=[
                OWN_STATES,
                (
                    "~/joint_trajectory_with_effort",
                    with_ros2_control(
                        "leg_trajectory_controller/joint_trajectory",
                        "~/joint_trajectory_with_effort",
                    ),
                ),
            ],
            mode=_text("mode"),
            command_unit=_text("command_unit"),
        ),
        _node("condition_monitor", remappings=[OWN_STATES]),
        simulator,
        _node("state_estimator", condition=IfCondition(estimates())),
    ]
    viewer = _node(
        "web_viewer",
        condition=IfCondition(LaunchConfiguration("viewer")),
        remappings=[OWN_STATES],
    )
    recorder = _node(
        "recorder",
        condition=IfCondition(LaunchConfiguration("record")),
        output=_text("output"),
        time=ParameterValue("sim", value_type=str),
        begin_with=ParameterValue(["joint_commands"], value_type=List[str]),  # noqa: UP006
    )
    return [
        OpaqueFunction(function=settle, args=[params_file, frictionless]),
        OpaqueFunction(function=described),
        RegisterEventHandler(
            OnProcessExit(target_action=summary, on_exit=partial(_done, recorder=recorder))
        ),
        RegisterEventHandler(OnProcessExit(target_action=recorder, on_exit=_recorded)),
        *(
            RegisterEventHandler(OnProcessExit(target_action=other, on_exit=_died))
            for other in (*others, viewer, planner)
        ),
        *others,
        viewer,
        recorder,
        summary,
        OpaqueFunction(function=_plan, args=[planner, [*others, summary]]),
    ]


def _plan(
    context: LaunchContext, planner: Node, others: list[Node]
) -> list[LaunchDescriptionEntity]:
    """Start the planner at once, or once all are ready and the controllers are active."""
    needed = [node for node in others if runs(node, context)]
    return controlled(context, planner, needed, _died) or [planner]


def _text(name: str) -> ParameterValue:
    """A launch argument as a string parameter, whatever it looks like."""
    return ParameterValue(LaunchConfiguration(name), value_type=str)


def _listeners() -> ParameterValue:
    """Number of state subscribers with which a lockstep run starts: all nodes that need it.

    They are planner, inverse dynamics, monitor and summary, and the recorder if there is one.
    """
    more = ["4 + ('", LaunchConfiguration("record"), "' == 'true')"]
    return ParameterValue(PythonExpression(more), value_type=int)


def _node(
    name: str,
    condition: Condition | None = None,
    remappings: Iterable[tuple[str, SomeSubstitutionsType]] = (),
    **parameters: ParameterValue,
) -> Node:
    params_file = LaunchConfiguration("params_file")
    return Node(
        package="robodyn",
        executable=name,
        name=name,
        namespace=LaunchConfiguration("namespace"),
        output="screen",
        condition=condition,
        remappings=[own_clock(), *remappings],
        ros_arguments=enclave(name),
        parameters=[
            params_file,
            with_ros2_control(LaunchConfiguration("controllers_file"), params_file),
            with_ros2_control(LaunchConfiguration("more_controllers_file"), params_file),
            {
                **model_parameters(),
                "friction": ParameterValue(LaunchConfiguration("friction"), value_type=bool),
                **parameters,
            },
        ],
    )


def _done(
    event: ProcessExited, context: LaunchContext, recorder: Node
) -> list[LaunchDescriptionEntity]:
    """Stop the other nodes once the summary is written; without a summary the run has failed."""
    if event.returncode not in (0, NOT_COMPLETED):
        return _died(event, context)
    if event.returncode == NOT_COMPLETED:
        context.launch_configurations["run_failed"] = "true"
    if LaunchConfiguration("record").perform(context) != "true":
        return _end(context, "the run is done")
    # the recorder first: messages still queued in the other nodes would be lost with them
    return [
        SetLaunchConfiguration("run_is_done", "true"),
        EmitEvent(event=ShutdownProcess(process_matcher=matches_action(recorder))),
    ]


def _recorded(event: ProcessExited, context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Shut down when the bag is complete; before the run is done it is a failure."""
    if event.returncode == 0 and "run_is_done" in context.launch_configurations:
        return _end(context, "the run is done and recorded")
    return _died(event, context)


def _end(context: LaunchContext, reason: str) -> list[LaunchDescriptionEntity]:
    """Shut down, with an exit code that is not 0 unless the run was completed; or stay."""
    if context.launch_configurations.get("stay") == "true":
        return [LogInfo(msg=STAYING)]
    if "run_failed" in context.launch_configurations:
        return [OpaqueFunction(function=_fail, args=[NOT_DONE])]
    return [EmitEvent(event=Shutdown(reason=reason))]


def _died(event: ProcessExited, context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """A process that ends before the run is done ends the launch with an error."""
    if context.is_shutdown:
        return []
    text = f"{event.process_name} ended with exit code {event.returncode} before the run was done"
    return [OpaqueFunction(function=_fail, args=[text])]


def _fail(_: LaunchContext, text: str) -> None:
    # launch exits with code 1 only for an exception
    raise RuntimeError(text)
