# SPDX-License-Identifier: Apache-2.0

"""Simulate an arm on a path under computed torque: by default the PUMA experiment of Lee et al.

That experiment is without friction, as published; other arms have the friction of their models.

The launch ends when the path is done. If a process dies before that, all others are stopped, an
error names it, and the exit code is not 0. A preset of mechanism_sim.launch.py.
"""

from robodyn_ros.launch_helpers.simulation import simulation


def generate_launch_description():
    return simulation(model="puma560", params_file="arm_sim.yaml", frictionless="puma560")
