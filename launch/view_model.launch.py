"""See a mechanism in RViz and move it by sliders: a platform by its pose, an arm by its joints."""

from launch.actions import DeclareLaunchArgument, OpaqueFunction

from launch import LaunchDescription
from robodyn_ros.description_launch import viewed


def generate_launch_description():
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "model",
                default_value="stewart_symmetric",
                description="bundled model, or path of a .yaml, .urdf or .xacro file",
            ),
            DeclareLaunchArgument(
                "sliders",
                default_value="true",
                choices=["true", "false"],
                description="false: somebody else publishes the joint states",
            ),
            DeclareLaunchArgument(
                "rviz",
                default_value="true",
                choices=["true", "false"],
                description="show it in RViz; needs rviz2 and robot_state_publisher",
            ),
            DeclareLaunchArgument(
                "namespace", default_value="", description="namespace of all nodes"
            ),
            OpaqueFunction(function=viewed),
        ]
    )
