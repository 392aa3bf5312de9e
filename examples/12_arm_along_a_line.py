"""
An arm's tip along a straight line
==================================

Inverse kinematics converts poses of the tip into joint positions, starting from the current
configuration. The motion stays within the joint limits and is blended at both ends.
"""

import matplotlib.pyplot as plt
import numpy as np

import robodyn as rd
from robodyn.trajectories.tip_line import plan_tip_line

arm = rd.load("puma560")
start = arm.home + np.array([0.0, 0.6, -0.5, 0.0, 0.4, 0.0])
goal = arm.body_pose(start).copy()
goal[:3] += [0.05, 0.25, -0.1]  # [m]; the orientation does not change

line = plan_tip_line(arm, start, goal, duration=2.0)
times = np.linspace(0.0, line.duration, 200)
motion = line.sample(times)
tip = arm.body_pose(motion.configuration)[:, :3]
direction = (goal[:3] - tip[0]) / np.linalg.norm(goal[:3] - tip[0])
distance = np.linalg.norm(np.cross(tip - tip[0], direction), axis=1)
print(f"largest distance from the line: {distance.max():.1e} m")

figure, (above, below) = plt.subplots(2, sharex=True)
above.plot(times, motion.configuration - start)
above.set(ylabel="joint displacements [rad]")
below.plot(times, arm.inverse_dynamics(*motion))
below.set(xlabel="time [s]", ylabel="torque [N m]")
plt.show()
