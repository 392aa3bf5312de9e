"""
A delta robot: closed loops from a URDF
=======================================

A URDF describes a tree of links. In this model, six `<constraint>` elements close the loops of a
delta with full parallelograms. The loops are closed exactly, without springs or regularization.
"""

import matplotlib.pyplot as plt
import numpy as np

import robodyn as rd

delta = rd.load("delta")
print(
    f"{len(delta.all_joint_names)} joints, closures of rank {delta.structure.rank}, "
    f"mobility {delta.mobility}"
)

# a periodic motion of the motors; `assemble` closes the loops at every sample
phase = np.linspace(0.0, 2.0 * np.pi, 200)
driven = 0.35 + 0.25 * np.sin(phase[:, None] + [0.0, 2.0, 4.0])
configuration = delta.assemble(driven)
tip = delta.body_pose(configuration)[:, :3]

rate = 6.0  # [1/s]: one cycle in about a second
velocity = 0.25 * rate * np.cos(phase[:, None] + [0.0, 2.0, 4.0])
acceleration = -0.25 * rate**2 * np.sin(phase[:, None] + [0.0, 2.0, 4.0])
torque = delta.inverse_dynamics(configuration, velocity, acceleration)

figure = plt.figure(figsize=(9, 4))
space = figure.add_subplot(1, 2, 1, projection="3d")
space.plot(*tip.T)
space.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]", title="tip")
axes = figure.add_subplot(1, 2, 2)
axes.plot(phase / rate, torque)
axes.set(xlabel="time [s]", ylabel="motor torque [N m]")
plt.show()
