"""
Free motion keeps its energy
============================

Without friction and leg forces, a Stewart platform falls like a pendulum with thirteen bodies. Its
energy is constant up to the error of the integrator: if the step is halved, the error of the
fourth-order Runge-Kutta method decreases to a sixteenth.
"""

import matplotlib.pyplot as plt
import numpy as np

import robodyn as rd

platform = rd.load("stewart_dasgupta").without_friction()
path = rd.paper_path("I")  # only its start is used
nothing = rd.ConstantEffort(np.zeros(6))

figure, axes = plt.subplots()
for step in (2e-3, 1e-3, 5e-4):
    fall = rd.simulate(
        platform, nothing, path, dt=step, control_dt=2e-3, end_stops=None, duration=0.2
    )
    error = abs(fall.energy - fall.energy[0]) + 1e-16
    axes.semilogy(fall.time, error, label=f"step {step * 1e3:g} ms")
    print(f"step {step * 1e3:3.1f} ms: energy changes by {error.max():.1e} J")
axes.set(xlabel="time [s]", ylabel="change of energy [J]")
axes.legend()
plt.show()
