"""Fly a Stewart platform along a path: planner, inverse dynamics, monitor, simulator, summary.

The launch ends by itself when the path is done. If any process dies before that, all others are
stopped, a line says which one it was, and the exit code is not 0.
"""

from launch import LaunchDescription
from robodyn_ros.sim_launch import simulation_arguments, simulation_nodes


def generate_launch_description():
    return LaunchDescription(
        [
            *simulation_arguments(
                model="stewart_dasgupta",
                path="I",
                paths="I, II, III, P1",
                params_file="stewart_sim.yaml",
                controllers="stewart_controllers.yaml",
            ),
            *simulation_nodes(),
        ]
    )
