# SPDX-License-Identifier: Apache-2.0

"""Settings of a simulation launch, checked once before any node starts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ament_index_python.packages import get_package_share_directory
from launch.actions import LogInfo
from launch.launch_description_entity import LaunchDescriptionEntity

import robodyn as rd
from launch import LaunchContext
from robodyn.algorithms.estimation import needs_estimator
from robodyn.presentation import presentation
from robodyn.trajectories.waypoints import default_path
from robodyn_ros.launch_helpers.description import selected_mechanism, warn
from robodyn_ros.launch_helpers.ros2_control import check_installed, with_controllers
from robodyn_ros.nodes import NODES
from robodyn_ros.parameter_files import read_sections, unknown_sections

# Path of a launch that runs until it is stopped.
NONE = "none"
DEFAULT = "default"
# Parameters of motions to goals.
DEFAULT_PROFILE = "lspb"
# Nodes of other packages that have sections in our files.
OTHERS = ("analyzers", "controller_manager", "effort_controller", "leg_trajectory_controller")


def resolve_arguments(
    context: LaunchContext, params_file: str, frictionless: str
) -> list[LaunchDescriptionEntity]:
    """Check the launch arguments, and set those that depend on others.

    Errors are reported here once instead of in every node. If launch failed later, the
    processes started by then would keep running.

    Args:
        context: context of the launch, which is changed.
        params_file: default parameter file, replaced by bringup.yaml if no path is followed.
        frictionless: name of a model that has no friction by default.

    Returns:
        Log actions with notes about the settings; empty if there is nothing to note.

    Raises:
        RuntimeError: the model, path, duration or parameter file is invalid.
    """
    settings = context.launch_configurations
    duration = settings["duration"]
    try:
        float(duration)
    except ValueError:
        raise RuntimeError(f"duration is {duration!r}, expected seconds, such as 2.5") from None
    bringup = settings["path"] == NONE
    settings["bringup"] = str(bringup).lower()
    config = Path(get_package_share_directory("robodyn")) / "config"
    if bringup and params_file and Path(settings["params_file"]) == config / params_file:
        settings["params_file"] = str(config / "bringup.yaml")
    try:
        sections = read_sections(settings["params_file"])
        source, mechanism = selected_mechanism(context)
        path = settings["path"]
        if path == DEFAULT:
            path = default_path(mechanism)
        settings["path"] = "" if bringup else path
        if not bringup:
            rd.load_path(path, mechanism)
    except rd.RobodynError as error:
        raise RuntimeError(str(error)) from None
    check_installed(context)
    settings["needs_estimator"] = str(needs_estimator(mechanism)).lower()
    name = "stewart" if presentation.has_legs(mechanism) else "arm"
    rate = _value(sections, "forward_simulator", "control_rate")
    shipped = config / f"{name}_controllers.yaml"
    with_controllers(context, shipped, mechanism.joint_names, rate)
    if settings["stepping"] == "auto":
        settings["stepping"] = "realtime" if bringup else "lockstep"
    if settings["friction"] == "auto":
        given = sections.get("/**", {}).get("friction")
        on = given if isinstance(given, bool) else source != frictionless
        settings["friction"] = str(on).lower()
    if settings["profile"] == "auto":
        settings["profile"] = str(
            _value(sections, "trajectory_planner", "profile") or DEFAULT_PROFILE
        )
    for text in unknown_sections(sections, settings["params_file"], (*NODES, *OTHERS)):
        warn(text)
    notes = []
    if settings["friction"] == "false":
        notes.append("friction: off (friction:=true uses the model's friction)")
    if bringup:
        notes.append(
            "no path: the launch runs until Ctrl-C; send goals to goal_joints, or poses of the "
            "body to goal_pose"
        )
    return [LogInfo(msg=text) for text in notes]


def _value(sections: dict[str, dict[str, Any]], node: str, parameter: str) -> Any:
    """Return a parameter of a node from a parameter file; None if it is not set."""
    own = [values for name, values in sections.items() if name.endswith(node)]
    for values in (*own, sections.get("/**", {})):
        if parameter in values:
            return values[parameter]
    return None
