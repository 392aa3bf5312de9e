"""Fly a Stewart platform along a path: planner, inverse dynamics, monitor, simulator, summary.

The launch ends by itself when the path is done. If any process dies before that, all others are
stopped, a line says which one it was, and the exit code is not 0.
"""

from launch.actions import (
    DeclareLaunchArgument,
    EmitEvent,
    OpaqueFunction,
    RegisterEventHandler,
)
from launch.event_handlers import OnProcessExit
from launch.events import Shutdown
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

from launch import LaunchDescription


def text(name):
    """A launch argument as a string parameter, whatever it looks like."""
    return ParameterValue(LaunchConfiguration(name), value_type=str)


def generate_launch_description():
    arguments = [
        DeclareLaunchArgument(
            "model",
            default_value="stewart_dasgupta",
            description="bundled model, or path of a .yaml, .urdf or .xacro file",
        ),
        DeclareLaunchArgument(
            "path",
            default_value="I",
            description="path to fly: I, II, III, P1, or a YAML file of waypoints",
        ),
        DeclareLaunchArgument(
            "mode",
            default_value="computed_torque",
            choices=["computed_torque", "feedforward"],
            description="how inverse_dynamics makes its forces",
        ),
        DeclareLaunchArgument(
            "stepping",
            default_value="lockstep",
            choices=["lockstep", "realtime"],
            description="lockstep: repeatable, as fast as it goes; realtime: by the wall clock",
        ),
        DeclareLaunchArgument(
            "duration",
            default_value="0.0",
            description="seconds to watch; 0.0: until the path is done",
        ),
        DeclareLaunchArgument(
            "output",
            default_value="runs/latest",
            description="folder for summary.json and history.csv",
        ),
        DeclareLaunchArgument(
            "params_file",
            default_value=PathJoinSubstitution(
                [FindPackageShare("robodyn"), "config", "stewart_sim.yaml"]
            ),
            description="parameter file of all nodes",
        ),
        DeclareLaunchArgument("namespace", default_value="", description="namespace of all nodes"),
    ]

    def node(name, **parameters):
        return Node(
            package="robodyn",
            executable=name,
            name=name,
            namespace=LaunchConfiguration("namespace"),
            output="screen",
            parameters=[
                LaunchConfiguration("params_file"),
                {"model": text("model"), **parameters},
            ],
        )

    summary = node(
        "run_summary",
        path=text("path"),
        mode=text("mode"),
        output=text("output"),
        duration=ParameterValue(LaunchConfiguration("duration"), value_type=float),
    )
    others = [
        node("trajectory_planner", path=text("path")),
        node("inverse_dynamics", mode=text("mode")),
        node("condition_monitor"),
        node("forward_simulator", path=text("path"), stepping=text("stepping")),
    ]
    return LaunchDescription(
        [
            *arguments,
            RegisterEventHandler(OnProcessExit(target_action=summary, on_exit=_done)),
            *(
                RegisterEventHandler(OnProcessExit(target_action=other, on_exit=_died))
                for other in others
            ),
            *others,
            summary,
        ]
    )


def _done(event, context):
    """The summary is written: stop the rest. Without one, the run has failed."""
    if event.returncode == 0:
        return [EmitEvent(event=Shutdown(reason="the run is done"))]
    return _died(event, context)


def _died(event, context):
    """A process that ends before the run is done takes the launch down with it."""
    if context.is_shutdown:
        return []
    text = f"{event.process_name} ended with exit code {event.returncode} before the run was done"
    return [OpaqueFunction(function=_fail, args=[text])]


def _fail(_, text):
    # launch makes its exit code 1 for an exception, and for nothing else
    raise RuntimeError(text)
