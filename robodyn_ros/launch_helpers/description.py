# SPDX-License-Identifier: Apache-2.0

"""Launch helpers: nodes for robot description, transforms and display."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import numpy as np
import yaml
from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from launch.actions import DeclareLaunchArgument, LogInfo, OpaqueFunction
from launch.events.process import ProcessExited
from launch.launch_description_entity import LaunchDescriptionEntity
from launch.logging import get_logger
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

import robodyn as rd
from launch import LaunchContext
from robodyn.loading.robot_description import robot_description
from robodyn.mechanism.mechanism import Mechanism
from robodyn.mechanism.option_names import as_launch_argument
from robodyn.presentation import presentation
from robodyn_ros.parameter_files import READING, read_mechanism, read_sections, tables

# Rate of transforms [Hz], like RViz's frame rate.
TRANSFORMS = 60.0


SWITCH = ("true", "false")
MODEL = ("model", *READING)
TYPES = {"string": str, "bool": bool, "double": float, "int": int}
NAMESPACE = {"namespace": ("", "Namespace of all nodes.")}
GRAVITY = {
    "gravity": (
        "",
        "Gravity vector in the base frame [m/s^2], three numbers in quotes: '0 0 0' if the drives "
        "compensate gravity themselves. If empty, the value in params_file or, if there is none, "
        "the gravity of the model is used.",
    )
}


def arguments(table: Mapping[str, Sequence[Any]]) -> list[DeclareLaunchArgument]:
    """Create the declarations of launch arguments from a table.

    Args:
        table: default, description and optional choices of each argument, by its name.

    Returns:
        One action for each argument, to add to the launch description.
    """
    return [
        DeclareLaunchArgument(
            name, default_value=default, description=text, choices=choices or None
        )
        for name, (default, text, *choices) in table.items()
    ]


def switch(text: str, default: Any = "false") -> tuple[Any, ...]:
    """Return default, description and choices of a launch argument that is true or false."""
    return default, text, *SWITCH


def of_parameter(group: str, name: str, default: str = "", auto: str = "") -> tuple[str, ...]:
    """Describe a parameter of `parameters.yaml` as a launch argument.

    Args:
        group, name: group and name of the parameter.
        default: default value, instead of the parameter's.
        auto: effect of `auto` as the end of a sentence, if the launch has that choice, which is
            then the default.

    Returns:
        Default, description and choices, for the table of `arguments`.
    """
    entry = tables()[group][name]
    is_switch = entry["type"] == "bool"
    choices = SWITCH if is_switch else tuple(*entry.get("validation", {}).get("one_of<>", ()))
    if auto:
        return "auto", f"{entry['description']} If auto, {auto}.", "auto", *choices
    return default or default_of(entry), entry["description"], *choices


def model_argument(default: str) -> dict[str, tuple[str, ...]]:
    """Describe the launch argument `model` and those for reading the model.

    Args:
        default: default value of `model`.

    Returns:
        A table for `arguments`.
    """
    model = {"model": of_parameter("mechanism", "model", default)}
    return model | {name: of_parameter("mechanism", name) for name in READING}


def launch_parameters(*names: str) -> dict[str, ParameterValue]:
    """Return node parameters whose values are the launch arguments of these names."""
    kinds = {name: each["type"] for group in tables().values() for name, each in group.items()}
    return {
        name: ParameterValue(LaunchConfiguration(name), value_type=TYPES[kinds[name]])
        for name in names
    }


def parameter_overrides(
    context: LaunchContext, node: str, *names: str, **defaults: str
) -> tuple[str, ...]:
    """Return the launch arguments that override the parameter file of a node.

    An argument at its default does not override the file `params_file`.

    Args:
        context: context of the launch.
        node: node with these parameters.
        names: names of the arguments.
        defaults: default values of arguments that differ from those of the parameters.

    Returns:
        The names of these arguments.
    """
    settings, groups = context.launch_configurations, tables()
    entries = {name: each for group in groups.values() for name, each in group.items()}
    entries |= groups.get(node, {})
    in_file: set[str] = set()
    for section, values in read_sections(settings["params_file"]).items():
        if section.rsplit("/", 1)[-1] in (node, "**"):
            in_file |= values.keys()

    def is_given(name: str) -> bool:
        return bool(settings[name] != defaults.get(name, default_of(entries[name])))

    return tuple(name for name in names if name not in in_file or is_given(name))


def gravity(context: LaunchContext) -> list[float] | None:
    """Return the launch argument `gravity` (3,) [m/s^2]; None if it is empty.

    Raises:
        RuntimeError: the argument does not consist of three numbers.
    """
    text = context.launch_configurations.get("gravity", "")
    if not text:
        return None
    with suppress(ValueError):
        values = [float(word) for word in text.split()]
        if len(values) == 3 and np.isfinite(values).all():
            return values
    raise RuntimeError(f"gravity is {text!r}, expected three numbers, such as '0 0 -9.81'")


def own_files(context: LaunchContext) -> list[str]:
    """Return the names of launch configurations with parameter files for all nodes.

    The names are in the order of increasing precedence. If the launch argument `gravity` is given,
    one of the files contains it.
    """
    given = gravity(context)
    if given is None:
        return ["params_file"]
    settings = context.launch_configurations
    if "gravity_file" not in settings:
        document = {"/**": {"ros__parameters": {"gravity": given}}}
        settings["gravity_file"] = write_temporary_file(document, "gravity_", ".yaml")
    return ["params_file", "gravity_file"]


def default_of(entry: Mapping[str, Any]) -> str:
    """Format a parameter's default as a launch argument; empty if it has none."""
    text = str(entry.get("default_value", ""))
    return text.lower() if entry["type"] == "bool" else text


def robodyn_node(
    name: str,
    *remappings: tuple[str, Any],
    files: Sequence[str] = ("params_file",),
    given: Sequence[str] = (),
    has_model: bool = True,
    **parameters: Any,
) -> Node:
    """Create a node of this package, in the launch's namespace and with its clock.

    Args:
        name: name of the node and its executable.
        remappings: remappings of its topics.
        files: launch configurations that contain parameter files, in increasing precedence.
        given: launch arguments whose values become parameters of the same names.
        has_model: whether to pass the parameters of the mechanism.
        parameters: parameters that override those of the files.
    """
    return node(
        "robodyn",
        name,
        name=name,
        remappings=[clock_remapping(), *remappings],
        ros_arguments=enclave(name),
        parameters=[
            *map(LaunchConfiguration, files),
            {**launch_parameters(*(MODEL if has_model else ()), *given), **parameters},
        ],
    )


def node(package: str, executable: str = "", **more: Any) -> Node:
    """Create the launch action of a node in the launch's namespace.

    Args:
        package: ROS package of the node.
        executable: name of the executable; by default that of the package.
        more: further arguments of `launch_ros.actions.Node`.
    """
    place = LaunchConfiguration("namespace")
    return Node(
        package=package,
        executable=executable or package,
        namespace=place,
        **{"output": "screen", **more},
    )


def clock_remapping() -> tuple[str, PathJoinSubstitution]:
    """Return the remapping of `/clock` to a topic in the launch's namespace.

    Each namespace then has its own simulated time.
    """
    return "/clock", PathJoinSubstitution(["/", LaunchConfiguration("namespace"), "clock"])


def selected_mechanism(context: LaunchContext) -> tuple[str, Mechanism]:
    """Load the mechanism that the launch argument `model` specifies.

    Returns:
        The value of the argument, and the mechanism.
    """
    source = context.launch_configurations["model"]
    values = {
        **context.launch_configurations,
        "hold_branches": is_on(context, "hold_branches"),
        "gravity": gravity(context),
    }
    mechanism, _ = read_mechanism(source, values, as_launch_argument)  # the simulator warns
    return source, mechanism


def failure_actions(
    event: ProcessExited, context: LaunchContext, why: str
) -> list[LaunchDescriptionEntity]:
    """Return launch actions that report an error because a required process ended.

    The list is empty during shutdown.

    Args:
        event: exit of the process.
        context: context of the launch.
        why: end of the error message, after the process and its exit code.
    """
    if context.is_shutdown:
        return []
    text = f"{event.process_name} ended with exit code {event.returncode}{why}"
    return [OpaqueFunction(function=fail, args=[text])]


def fail(_: LaunchContext, text: str) -> None:
    """End the launch with exit code 1, for which an exception is required.

    Raises:
        RuntimeError: always, with the message `text`.
    """
    raise RuntimeError(text)


def installed(package: str) -> bool:
    """Return whether a ROS package is installed."""
    try:
        get_package_prefix(package)
    except PackageNotFoundError:
        return False
    return True


def is_on(context: LaunchContext, argument: str) -> bool:
    """Return whether a launch argument is `true`."""
    return bool(context.launch_configurations[argument] == "true")


def warn(text: str) -> None:
    """Log a warning of the launch itself, on the screen and in its log file."""
    # launch does not fill in the arguments of a message
    get_logger("launch.user").warning(text)


def enclave(name: str) -> list[str]:
    """Return the ROS arguments that select the SROS 2 enclave of a node.

    The list is empty if security is not enabled.
    """
    secure = os.environ.get("ROS_SECURITY_ENABLE", "").lower() == "true"
    return ["--enclave", f"/robodyn/{name}"] if secure else []


def state_publisher(text: str, joint_states: str, sim_time: bool) -> LaunchDescriptionEntity:
    """Create the node robot_state_publisher, or a log action if it is not installed.

    Args:
        text: URDF to publish.
        joint_states: topic of the joint states.
        sim_time: whether the node uses simulated time.
    """
    if not installed("robot_state_publisher"):
        return LogInfo(msg="robot_state_publisher is not installed: no robot_description, no TF")
    return node(
        "robot_state_publisher",
        parameters=[
            {
                "robot_description": ParameterValue(text, value_type=str),
                "publish_frequency": TRANSFORMS,
                "use_sim_time": sim_time,
            }
        ],
        remappings=[clock_remapping(), ("joint_states", joint_states)],
        ros_arguments=enclave("robot_state_publisher"),
    )


def rviz(context: LaunchContext, mechanism: Mechanism, sim_time: bool) -> LaunchDescriptionEntity:
    """Create the action that starts RViz, or a log action if it is not installed."""
    if not installed("rviz2"):
        return LogInfo(msg="rviz2 is not installed: apt install ros-$ROS_DISTRO-rviz2")
    return node(
        "rviz2",
        output="log",
        arguments=[
            *("--display-config", view_of(context, mechanism)),
            *("--fixed-frame", mechanism.frames[0]),
        ],
        remappings=[clock_remapping()],
        parameters=[{"use_sim_time": sim_time}],
    )


def view_of(context: LaunchContext, mechanism: Mechanism) -> str:
    """Write an RViz configuration for a mechanism to a file; return its path."""
    fraction = Path(FindPackageShare("robodyn").perform(context))
    name = "with_leg_forces.rviz" if presentation.has_legs(mechanism) else "mechanism.rviz"
    view = yaml.safe_load((fraction / "rviz" / name).read_text(encoding="utf-8"))
    current = view["Visualization Manager"]["Views"]["Current"]
    size = mechanism.size
    current["Distance"] *= size
    # toward the middle of the mechanism, which stands on its base or hangs like a delta robot
    height = float(mechanism.body_pose(mechanism.home)[2])
    current["Focal Point"]["Z"] *= min(max(2.0 * height, -size), size)
    for display in view["Visualization Manager"]["Displays"]:
        if "Marker Scale" in display:
            display["Marker Scale"] *= size
    return write_temporary_file(view, f"{mechanism.name}_", ".rviz")


def write_temporary_file(document: Any, prefix: str, suffix: str) -> str:
    """Write a document to a temporary YAML file; return the path of the file."""
    with NamedTemporaryFile(
        "w", prefix=prefix, suffix=suffix, encoding="utf-8", delete=False
    ) as file:
        yaml.safe_dump(document, file, sort_keys=False)
    return file.name


def force_markers(mechanism: Mechanism) -> list[LaunchDescriptionEntity]:
    """Return the node force_markers in a list, empty for mechanisms without legs."""
    if not presentation.has_legs(mechanism):
        return []
    config = PathJoinSubstitution([FindPackageShare("robodyn"), "config", "force_markers.yaml"])
    shown = {**launch_parameters(*MODEL), "color_by": "condition", "values": True}
    return [node("robodyn", "force_markers", name="force_markers", parameters=[config, shown])]


def display_nodes(
    context: LaunchContext, mechanism: Mechanism, sim_time: bool
) -> list[LaunchDescriptionEntity]:
    """Return the nodes RViz and force_markers.

    The list is empty unless the launch argument `rviz` is true.
    """
    if not is_on(context, "rviz"):
        return []
    return [rviz(context, mechanism, sim_time), *force_markers(mechanism)]


def viewer_nodes(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return the nodes that show a mechanism moved by sliders, with or without RViz.

    Raises:
        RuntimeError: the mechanism cannot be loaded, or has no URDF.
    """
    try:
        source, mechanism = selected_mechanism(context)
        text = robot_description(source, mechanism)
    except rd.RobodynError as error:
        raise RuntimeError(str(error)) from None
    entities = [state_publisher(text, "joint_states", sim_time=False)]
    if is_on(context, "sliders"):
        entities.append(sliders(mechanism))
    if is_on(context, "rviz"):
        entities.append(rviz(context, mechanism, sim_time=False))
    return entities


def sliders(mechanism: Mechanism) -> LaunchDescriptionEntity:
    """Create the node whose sliders move the mechanism: by pose, or joint by joint.

    If the package of the node is not installed, a log action is returned instead.
    """
    if mechanism.coordinates.is_pose:
        return node(
            "robodyn", "pose_sliders", name="pose_sliders", parameters=[launch_parameters(*MODEL)]
        )
    if not installed("joint_state_publisher_gui"):
        return LogInfo(
            msg="joint_state_publisher_gui is not installed: no sliders; "
            "apt install ros-$ROS_DISTRO-joint-state-publisher-gui"
        )
    return node("joint_state_publisher_gui")


def description_nodes(
    context: LaunchContext, sim_time: bool = True
) -> list[LaunchDescriptionEntity]:
    """Return the nodes for description, transforms and display of a mechanism.

    The list is empty for a simulation with ros2_control, for which other functions start these
    nodes, and if neither `rviz` is true nor robot_state_publisher is installed.
    """
    seen = is_on(context, "rviz")
    if (sim_time and is_on(context, "ros2_control")) or not (
        seen or installed("robot_state_publisher")
    ):
        return []
    source, mechanism = selected_mechanism(context)
    view = display_nodes(context, mechanism, sim_time=sim_time)
    try:
        text = robot_description(source, mechanism)
    except rd.RobodynError as error:
        warn(f"no robot_description: {error}")
        return view
    return [state_publisher(text, "joint_states", sim_time=sim_time), *view]
