# SPDX-License-Identifier: Apache-2.0

"""Show a mechanism in RViz and move it: platforms by parameters of a pose, others by sliders."""

from launch.actions import DeclareLaunchArgument, OpaqueFunction

from launch import LaunchDescription
from robodyn_ros.description_launch import (
    model_argument,
    namespace_argument,
    reading_arguments,
    viewed,
)


def generate_launch_description():
    return LaunchDescription(
        [
            model_argument("stewart_symmetric"),
            *reading_arguments(),
            DeclareLaunchArgument(
                "sliders",
                default_value="true",
                choices=["true", "false"],
                description="false: the joint states are published by another node",
            ),
            DeclareLaunchArgument(
                "rviz",
                default_value="true",
                choices=["true", "false"],
                description="show the mechanism in RViz; needs rviz2 and robot_state_publisher",
            ),
            namespace_argument(),
            OpaqueFunction(function=viewed),
        ]
    )
