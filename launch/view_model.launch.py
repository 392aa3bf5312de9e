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

"""Show a mechanism in RViz and move it by sliders: platforms by pose, others by joints."""

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
