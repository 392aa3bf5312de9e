"""Fly an arm along a path under computed torque: by default the PUMA experiment of Lee et al.

The launch ends by itself when the path is done. If any process dies before that, all others are
stopped, a line says which one it was, and the exit code is not 0.
"""

from launch import LaunchDescription
from robodyn_ros.sim_launch import simulation_arguments, simulation_nodes


def generate_launch_description():
    return LaunchDescription(
        [
            *simulation_arguments(
                model="puma560",
                path="puma",
                paths="puma, puma_cycloidal, puma_fast",
                params_file="arm_sim.yaml",
                controllers="arm_controllers.yaml",
            ),
            *simulation_nodes(),
        ]
    )
