"""
Leg forces of a Stewart platform
================================

`inverse_dynamics` computes the leg forces for one state or for a whole trajectory at once. This
example compares the exact forces on path I of Dasgupta and Mruthyunjaya (1998) with those of the
approximation by massless legs.
"""

import matplotlib.pyplot as plt
import numpy as np

import robodyn as rd

platform = rd.load("stewart_dasgupta")
path = rd.paper_path("I")
times = np.linspace(0.0, path.duration, 400)
motion = path.sample(times)  # pose (400, 7), twist (400, 6), acceleration (400, 6)

forces = platform.inverse_dynamics(*motion)  # (400, 6) [N]
massless = platform.inverse_dynamics(*motion, formulation="massless")
print("peak force of each leg [N]:", abs(forces).max(axis=0).round(1))

figure, axes = plt.subplots()
for leg in range(6):
    (line,) = axes.plot(times, forces[:, leg], label=f"leg {leg + 1}")
    axes.plot(times, massless[:, leg], "--", color=line.get_color(), linewidth=0.8)
axes.set(xlabel="time [s]", ylabel="force [N]", title="Exact (solid), massless legs (dashed)")
axes.legend()
plt.show()
