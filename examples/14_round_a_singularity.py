"""
A path around a singularity
===========================

The straight line between two poses of the bundled `stewart_dasgupta` crosses two singularities.
`rd.plan_path` finds another path, on which the condition number stays below a bound.
"""

import matplotlib.pyplot as plt
import numpy as np

import robodyn as rd

platform = rd.load("stewart_dasgupta")
start = rd.pose_from_rpy([0.1, 0.0, 0.4], [0.0, 0.0, -0.2])
goal = rd.pose_from_rpy([0.0, 0.0, 0.4], [-0.2, 1.0, 0.0])
straight = rd.plan_line(start, goal, duration=6.0)
around = rd.plan_path(platform, start, goal, condition_limit=60.0)

fraction = np.linspace(0.0, 1.0, 1001)
for path, label in ((straight, "straight"), (around, "around")):
    poses = path.sample(fraction * path.duration).configuration
    plt.semilogy(fraction, platform.condition_number(poses), label=label)
plt.axhline(60.0, color="gray", linewidth=0.8)
plt.gca().set(xlabel="fraction of the duration", ylabel="condition number")
plt.legend()
plt.show()
