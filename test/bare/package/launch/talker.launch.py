# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""One node in a namespace, with remappings and every kind of parameters."""

from launch.actions import DeclareLaunchArgument, GroupAction
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node, PushRosNamespace, SetParameter
from launch_ros.parameter_descriptions import ParameterFile, ParameterValue
from launch_ros.substitutions import FindPackageShare

from launch import LaunchDescription


def generate_launch_description():
    share = FindPackageShare("bare_demo")
    rate = ParameterValue(LaunchConfiguration("rate"), value_type=float)
    return LaunchDescription(
        [
            DeclareLaunchArgument("rate", default_value="20"),
            DeclareLaunchArgument("greeting", default_value="good morning"),
            GroupAction(
                [
                    PushRosNamespace("robot"),
                    SetParameter("flag", True),
                    SetParameter("count", 3),
                    Node(
                        package="bare_demo",
                        executable="talker",
                        name="bob",
                        arguments=["first"],
                        remappings=[("chatter", "gossip")],
                        parameters=[
                            PathJoinSubstitution([share, "config", "talker.yaml"]),
                            {"rate": rate, "gains": [1, 2.5], "nested": {"name": "yes"}},
                        ],
                        output="screen",
                    ),
                ]
            ),
            Node(
                package="bare_demo",
                executable="talker",
                namespace="/other",
                exec_name="second",
                parameters=[
                    ParameterFile(
                        PathJoinSubstitution([share, "config", "substituted.yaml"]),
                        allow_substs=True,
                    ),
                    {"count": LaunchConfiguration("rate")},
                ],
                ros_arguments=["-p", "flag:=true"],
                output="screen",
            ),
        ]
    )
