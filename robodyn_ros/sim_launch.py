# SPDX-License-Identifier: Apache-2.0

"""Common parts of the simulation launch files: the nodes, and how a run ends."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, List  # noqa: UP035, as ROS 2 launch has it

from launch.actions import (
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
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

from launch import LaunchDescription
from robodyn.trajectories.profiles import PROFILES
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
    own_clock,
)
from robodyn_ros.launch_settings import DEFAULT, settle
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

    from launch.actions import DeclareLaunchArgument
    from launch.events.process import ProcessExited
    from launch.launch_description_entity import LaunchDescriptionEntity
    from launch.some_substitutions_type import SomeSubstitutionsType
    from launch_ros.actions import Node

    from launch import Condition, LaunchContext


PATHS = "I, II, III, P1 of the papers, puma, puma_cycloidal, puma_fast for an arm"
# joint_state_broadcaster stamps what came from the simulator a period ago with the time at which it
# passes it on; whoever goes by the stamps hears the simulator itself.
OWN_STATES = as_hardware("joint_states")
NOT_DONE = "the run was not completed: the summary above says what ended it"
STAYING = "the run is done; Ctrl-C ends the launch (stay:=false ends it with the run)"


def simulation_arguments(
    model: str, params_file: str, ros2_control: str = "false", frictionless: str = ""
) -> list[DeclareLaunchArgument]:
    """The launch arguments of a simulation, with its defaults.

    Args:
        model, params_file, ros2_control: default values.
        frictionless: the model that runs without friction unless something else is asked for.
    """
    none = f"none for {frictionless}, as published, else " if frictionless else ""
    config = PathJoinSubstitution([FindPackageShare("robodyn"), "config", params_file])
    table = {
        "path": (
            DEFAULT,
            f"path to follow: {PATHS}, demo, or a file of waypoints (.yaml); default: "
            "the mechanism's own, of its paper or bundled with it, else demo; none: run until "
            "stopped, goals by topic",
        ),
        "avoid_singularities": (
            "false",
            "lead the path round singularities: between its ends another one, with a "
            "condition number below condition_limit of trajectory_planner",
            *SWITCH,
        ),
        "profile": (
            "auto",
            "speed profile to goals; time_optimal: the path, too, is followed as fast "
            "as limits of efforts, rates and motors allow; auto: as params_file says, else lspb",
            *("auto", *PROFILES),
        ),
        "mode": (
            "computed_torque",
            "control mode of inverse_dynamics",
            *("computed_torque", "feedforward"),
        ),
        "command_unit": (
            "effort",
            "what commands are told in: effort of the joints, torque of their motors "
            "[N m], or current [A]",
            *("effort", "torque", "current"),
        ),
        "stepping": (
            "auto",
            "lockstep: reproducible, as fast as possible; realtime: by the wall clock, "
            "always used with ros2_control; auto: lockstep, or realtime for path:=none",
            *("auto", "lockstep", "realtime"),
        ),
        "friction": (
            "auto",
            "joint friction as in the model, or none; auto: as params_file says, else "
            f"{none}as in the model",
            *("auto", *SWITCH),
        ),
        "duration": ("0.0", "duration of the run [s]; 0.0: until the path is done"),
        "output": ("runs/latest", "folder for summary.json and history.csv"),
        "params_file": (
            config,
            "parameter file of all nodes; for path:=none by default bringup.yaml",
        ),
        "record": ("false", "record all topics to a rosbag2 folder in `output`", *SWITCH),
        "viewer": (
            "false",
            "show the run live in the browser, on localhost only; needs viser",
            *SWITCH,
        ),
        "stay": (
            LaunchConfiguration("viewer"),
            "stay open after the run until Ctrl-C; by default with viewer:=true",
            *SWITCH,
        ),
        "rviz": (
            "false",
            "show the run in RViz; needs rviz2 and robot_state_publisher",
            *SWITCH,
        ),
    }
    last = ros2_control_arguments(ros2_control) | NAMESPACE
    return arguments(model_argument(model) | table | last)


def simulation(model: str, params_file: str, **more: str) -> LaunchDescription:
    """A launch that simulates any mechanism, with defaults as for `simulation_arguments`."""
    return LaunchDescription(
        [
            *simulation_arguments(model, params_file, **more),
            *simulation_nodes(params_file, more.get("frictionless", "")),
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
        path=given("path"),
        mode=given("mode"),
        output=given("output"),
        duration=given("duration", float),
    )
    planner = _node(
        "trajectory_planner",
        remappings=[OWN_STATES],
        path=given("path"),
        profile=given("profile"),
        avoid_singularities=given("avoid_singularities", bool),
    )
    simulator = _node(
        "forward_simulator",
        condition=IfCondition(simulates()),
        remappings=[
            as_hardware("joint_commands"),
            OWN_STATES,
            as_hardware("effort_controller/commands"),
        ],
        path=given("path"),
        stepping=ParameterValue(
            with_ros2_control("realtime", LaunchConfiguration("stepping")), value_type=str
        ),
        min_subscribers=_listeners(),
        ends_with_path=ParameterValue(
            PythonExpression(["'", LaunchConfiguration("bringup"), "' == 'false'"]), value_type=bool
        ),
        duration=given("duration", float),
        command_unit=given("command_unit"),
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
            mode=given("mode"),
            command_unit=given("command_unit"),
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
        output=given("output"),
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
    needed = [other for other in others if runs(other, context)]
    return controlled(context, planner, needed, _died) or [planner]


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
    return node(
        "robodyn",
        name,
        name=name,
        condition=condition,
        remappings=[own_clock(), *remappings],
        ros_arguments=enclave(name),
        parameters=[
            params_file,
            with_ros2_control(LaunchConfiguration("controllers_file"), params_file),
            with_ros2_control(LaunchConfiguration("more_controllers_file"), params_file),
            {
                **model_parameters(),
                "friction": given("friction", bool),
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
