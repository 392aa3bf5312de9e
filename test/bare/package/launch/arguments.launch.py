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

"""Arguments, conditions, substitutions, scopes; no processes."""

from launch.actions import (
    DeclareLaunchArgument,
    GroupAction,
    IncludeLaunchDescription,
    LogInfo,
    OpaqueFunction,
    SetEnvironmentVariable,
    SetLaunchConfiguration,
)
from launch.conditions import IfCondition, LaunchConfigurationEquals, UnlessCondition
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import (
    Command,
    EnvironmentVariable,
    EqualsSubstitution,
    FindExecutable,
    LaunchConfiguration,
    PathJoinSubstitution,
    PythonExpression,
    TextSubstitution,
    ThisLaunchFileDir,
)

from launch import LaunchDescription

mode = LaunchConfiguration("mode")


def say(context):
    return [LogInfo(msg=f"opaque {mode.perform(context)} {context.launch_configurations['extra']}")]


def generate_launch_description():
    included = PathJoinSubstitution([ThisLaunchFileDir(), "included.launch.py"])
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "mode", default_value="slow", choices=["slow", "fast"], description="How to go"
            ),
            DeclareLaunchArgument("loud", default_value="false"),
            DeclareLaunchArgument("extra", default_value=["<", mode, ">"]),
            DeclareLaunchArgument(
                "rare", default_value="1", condition=IfCondition(LaunchConfiguration("loud"))
            ),
            LogInfo(msg=["mode is ", mode]),
            LogInfo(msg="LOUD", condition=IfCondition(LaunchConfiguration("loud"))),
            LogInfo(msg="quiet", condition=UnlessCondition(LaunchConfiguration("loud"))),
            LogInfo(msg="equal", condition=IfCondition(EqualsSubstitution(mode, "fast"))),
            LogInfo(msg="deprecated", condition=LaunchConfigurationEquals("mode", "fast")),
            LogInfo(msg=["sum ", PythonExpression(["1 + ", TextSubstitution(text="2")])]),
            LogInfo(msg=["pi ", PythonExpression(["round(pi, 2)"])]),
            LogInfo(msg=["echo ", Command([FindExecutable(name="echo"), " -n a 'b c'"])]),
            LogInfo(msg=["unset ", EnvironmentVariable("BARE_NOT_SET", default_value="-")]),
            LogInfo(msg=["unknown ", LaunchConfiguration("unknown", default="-")]),
            OpaqueFunction(function=say),
            GroupAction(
                [
                    SetLaunchConfiguration("mode", "inner"),
                    SetEnvironmentVariable("BARE_SCOPE", "inner"),
                    LogInfo(msg=["in ", mode, " ", EnvironmentVariable("BARE_SCOPE")]),
                ]
            ),
            LogInfo(msg=["out ", mode, " ", EnvironmentVariable("BARE_SCOPE", default_value="-")]),
            IncludeLaunchDescription(
                PythonLaunchDescriptionSource(included),
                launch_arguments={"needed": ["for ", mode]}.items(),
            ),
        ]
    )
