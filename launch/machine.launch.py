# SPDX-License-Identifier: Apache-2.0

"""Launch a machine with position-controlled drives: simulated drives, or your own.

The machine is homed and parks. Then call joint_commander/engage, and trajectory_planner/start for
the path. The page in the browser shows its state, the target pose and the actual pose, with
buttons.
"""

from robodyn_ros.launch_helpers.machine import machine


def generate_launch_description():
    return machine()
