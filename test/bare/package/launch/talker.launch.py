# SPDX-License-Identifier: Apache-2.0

"""Nodes with namespaces, conditions, remappings and every kind of parameters."""

from typing import List  # noqa: UP035 - as ROS 2 launch has it

from launch.actions import DeclareLaunchArgument
from launch.conditions import IfCondition, UnlessCondition
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

from launch import LaunchDescription


def generate_launch_description():
    rate = LaunchConfiguration("rate")
    return LaunchDescription(
        [
            DeclareLaunchArgument("rate", default_value="20", description="How often [Hz]"),
            DeclareLaunchArgument("named", default_value="true", description="Which ones"),
            Node(
                package="bare_demo",
                executable="talker",
                name="bob",
                namespace="robot",
                arguments=["first"],
                remappings=[("chatter", ["gos", "sip"])],
                parameters=[
                    PathJoinSubstitution([FindPackageShare("bare_demo"), "config", "talker.yaml"]),
                    {
                        "rate": ParameterValue(rate, value_type=float),
                        "names": ParameterValue(["40", "b"], value_type=List[str]),  # noqa: UP006
                        "nested.name": "yes",
                        "flag": True,
                    },
                ],
                condition=IfCondition(LaunchConfiguration("named")),
                output="screen",
            ),
            Node(
                package="bare_demo",
                executable="talker",
                namespace="/other",
                parameters=[
                    {
                        "text": ParameterValue(rate, value_type=str),
                        "count": ParameterValue(rate, value_type=int),
                    }
                ],
                ros_arguments=["-p", "flag:=true"],
                condition=IfCondition(LaunchConfiguration("named")),
                output="screen",
            ),
            Node(
                package="bare_demo",
                executable="talker",
                condition=UnlessCondition(LaunchConfiguration("named")),
                output="screen",
            ),
        ]
    )
