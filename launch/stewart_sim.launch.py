# SPDX-License-Identifier: Apache-2.0

"""Simulate a Stewart platform on a path: planner, inverse dynamics, monitor, simulator, summary.

The launch ends at the end of the path. If a process dies before, the launch stops all others, names
that process and returns a nonzero exit code. This is a preset of mechanism_sim.launch.py.
"""

from robodyn_ros.launch_helpers.simulation import simulation


def generate_launch_description():
    return simulation(model="stewart_dasgupta", params_file="stewart_sim.yaml")
