# SPDX-License-Identifier: Apache-2.0

"""Arguments, substitutions; no processes."""

from launch.actions import (
    DeclareLaunchArgument,
    LogInfo,
    OpaqueFunction,
    RegisterEventHandler,
    SetLaunchConfiguration,
)
from launch.event_handlers import OnShutdown
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution

from launch import LaunchDescription

mode = LaunchConfiguration("mode")


def say(context, what):
    values = context.launch_configurations
    return [
        LogInfo(msg=f"{what} {mode.perform(context)} {values['extra']}"),
        LogInfo(msg=f"undeclared {values.get('undeclared', '-')}"),
    ]


def generate_launch_description():
    return LaunchDescription(
        [
            RegisterEventHandler(OnShutdown(on_shutdown=lambda e, _: LogInfo(msg=e.reason))),
            DeclareLaunchArgument(
                "mode", default_value="slow", choices=["slow", "fast"], description="How to go"
            ),
            DeclareLaunchArgument("extra", default_value=["<", mode, ">"], description="More."),
            LogInfo(msg=["mode is ", mode]),
            LogInfo(msg=["path ", PathJoinSubstitution(["a", ["b", mode], "c"])]),
            OpaqueFunction(function=say, args=["opaque"]),
            SetLaunchConfiguration("mode", ["not ", mode]),
            LogInfo(msg=["now ", mode]),
        ]
    )
