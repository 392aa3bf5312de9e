"""
As fast as the motors allow
===========================

`rd.time_optimal` computes the fastest motion along a path. The motion makes full use of the effort
limits, the velocity limits and the torque-speed curves. It exceeds none of them, not even between
the points of the planner's grid.
"""

import matplotlib.pyplot as plt
import numpy as np

import robodyn as rd

arm = rd.load("puma560")
path = rd.plan_joints(arm.home, arm.home + 0.5, duration=3.0)
fastest = rd.time_optimal(arm, path)
print(f"{path.duration:g} s for the given motion, {fastest.duration:.3f} s for the fastest one")

times = np.linspace(0.0, fastest.duration, 600)
effort = arm.inverse_dynamics(*fastest.sample(times))
plt.plot(times, effort / arm.effort_limits)
plt.gca().set(xlabel="time [s]", ylabel="effort relative to its limit")
plt.show()
