# SPDX-License-Identifier: Apache-2.0

"""Simulate an arm on a path under computed torque: by default the PUMA experiment of Lee et al.

That experiment is without friction, as published; other arms have the friction of their models.

The launch ends at the end of the path. If a process dies before, the launch stops all others, names
that process and returns a nonzero exit code. This is a preset of mechanism_sim.launch.py.
"""

from robodyn_ros.launch_helpers.simulation import simulation


def generate_launch_description():
    return simulation(model="puma560", params_file="arm_sim.yaml", frictionless="puma560")
