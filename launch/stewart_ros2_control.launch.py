# SPDX-License-Identifier: Apache-2.0

"""Run a Stewart platform with ros2_control's controller manager; our simulator is its hardware.

The launch ends at the end of the path. If a process dies before, the launch stops all others, names
that process and returns a nonzero exit code. This is a preset of mechanism_sim.launch.py.
"""

from robodyn_ros.launch_helpers.simulation import simulation


def generate_launch_description():
    return simulation(model="stewart_dasgupta", params_file="stewart_sim.yaml", ros2_control="true")
