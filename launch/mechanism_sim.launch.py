# SPDX-License-Identifier: Apache-2.0

"""Simulate a mechanism of any kind on a path, or, with path:=none, until it is stopped.

With a path, the launch ends at the end of the path. If a process dies before, the launch stops all
others, names that process and returns a nonzero exit code. With path:=none, Ctrl-C ends the launch;
publish goals on the topics goal_joints and goal_pose. They start at once, or with
trajectory_planner/start.
"""

from robodyn_ros.launch_helpers.simulation import simulation


def generate_launch_description():
    return simulation(model="stewart_symmetric", params_file="mechanism_sim.yaml")
