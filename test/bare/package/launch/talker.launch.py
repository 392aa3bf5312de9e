# SPDX-License-Identifier: Apache-2.0

"""Nodes with namespaces, remappings and every kind of parameters."""

from typing import List  # noqa: UP035 - as ROS 2 launch has it

from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

from launch import LaunchDescription


def talkers(context):
    if context.launch_configurations["named"] != "true":
        return [Node(package="bare_demo", executable="talker", output="screen")]
    rate = LaunchConfiguration("rate")
    return [
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
            output="screen",
        ),
    ]


def generate_launch_description():
    return LaunchDescription(
        [
            DeclareLaunchArgument("rate", default_value="20", description="How often [Hz]"),
            DeclareLaunchArgument("named", default_value="true", description="Which ones"),
            OpaqueFunction(function=talkers),
        ]
    )
