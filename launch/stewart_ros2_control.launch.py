# SPDX-License-Identifier: Apache-2.0

"""Run a Stewart platform with ros2_control's controller manager; our simulator is its hardware.

The launch ends when the path is done. If a process dies before that, all others are stopped, an
error names it, and the exit code is not 0. A preset of mechanism_sim.launch.py.
"""

from robodyn_ros.launch_helpers.simulation import simulation


def generate_launch_description():
    return simulation(model="stewart_dasgupta", params_file="stewart_sim.yaml", ros2_control="true")
