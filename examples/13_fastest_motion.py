"""
As fast as the motors allow
===========================

`rd.time_optimal` times a path so that efforts, rates and torque-speed curves are used up and never
exceeded, between the points of its grid, too.
"""

import matplotlib.pyplot as plt
import numpy as np

import robodyn as rd

arm = rd.load("puma560")
path = rd.plan_joints(arm.home, arm.home + 0.5, duration=3.0)
fastest = rd.time_optimal(arm, path)
print(f"{path.duration:g} s planned by hand, {fastest.duration:.3f} s at the limits")

times = np.linspace(0.0, fastest.duration, 600)
effort = arm.inverse_dynamics(*fastest.sample(times))
plt.plot(times, effort / arm.effort_limits)
plt.gca().set(xlabel="time [s]", ylabel="effort, as a share of its limit")
plt.show()
