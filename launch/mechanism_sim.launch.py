# SPDX-License-Identifier: Apache-2.0

"""Simulate a mechanism of any kind on a path, or, with path:=none, until it is stopped.

A run on a path ends when the path is done. If a process dies before that, all others are stopped,
an error names it, and the exit code is not 0. With path:=none, Ctrl-C ends the launch; publish
goals on the topics goal_joints and goal_pose. They start at once, or with trajectory_planner/start.
"""

from robodyn_ros.launch_helpers.simulation import simulation


def generate_launch_description():
    return simulation(model="stewart_symmetric", params_file="mechanism_sim.yaml")
