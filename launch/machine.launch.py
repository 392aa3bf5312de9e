# SPDX-License-Identifier: Apache-2.0

"""A machine whose drives take positions: simulated ones, or those of your own.

It is homed and parks; then call joint_commander/engage, and trajectory_planner/start for the path.
The browser shows its state, the pose wished for and the pose reached, with buttons for all that.
"""

from robodyn_ros.machine_launch import machine


def generate_launch_description():
    return machine()
