# SPDX-License-Identifier: Apache-2.0

"""Show a mechanism in RViz and move it: platforms by parameters of a pose, others by sliders."""

from launch.actions import OpaqueFunction

from launch import LaunchDescription
from robodyn_ros.launch_helpers.description import (
    NAMESPACE,
    arguments,
    model_argument,
    switch,
    viewer_nodes,
)

SHOWN = {
    "sliders": switch(
        "If true, sliders move the mechanism. If false, another node publishes the states.", "true"
    ),
    "rviz": switch(
        "If true, show the mechanism in RViz. Requires rviz2 and robot_state_publisher.", "true"
    ),
}


def generate_launch_description():
    table = model_argument("stewart_symmetric") | SHOWN | NAMESPACE
    return LaunchDescription([*arguments(table), OpaqueFunction(function=viewer_nodes)])
