"""Included by another; requires an argument."""

from launch.actions import DeclareLaunchArgument, LogInfo
from launch.substitutions import LaunchConfiguration

from launch import LaunchDescription


def generate_launch_description():
    return LaunchDescription(
        [
            DeclareLaunchArgument("needed", description="Something needed"),
            LogInfo(msg=["included ", LaunchConfiguration("needed")]),
        ]
    )
