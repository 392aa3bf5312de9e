"""
What a ball screw adds
======================

A rotor of 1e-4 kg m^2 on a screw of 5 mm lead acts on its leg like a mass of 158 kg, more than the
platform itself. A model without rotors then has large errors, even if the rest of it is exact.
"""

import matplotlib.pyplot as plt
import numpy as np

import robodyn as rd

driven = rd.load("stewart_symmetric")
ideal = driven.without_actuators()

times = np.linspace(0.0, 2.0, 400)
still = np.zeros((400, 6))
heave, rate, acceleration = still.copy(), still.copy(), still.copy()
pulse = 2.0 * np.pi  # [rad/s]: one cycle a second, 50 mm up and down
heave[:, 2] = 0.05 * np.sin(pulse * times)
rate[:, 2] = 0.05 * pulse * np.cos(pulse * times)
acceleration[:, 2] = -0.05 * pulse**2 * np.sin(pulse * times)
pose = ideal.advance(ideal.home, heave)

plt.plot(times, ideal.inverse_dynamics(pose, rate, acceleration)[:, 0], label="no rotor")
plt.plot(times, driven.inverse_dynamics(pose, rate, acceleration)[:, 0], label="with rotor")
plt.gca().set(xlabel="time [s]", ylabel="force of leg 1 [N]", title="Heave, 50 mm at 1 Hz")
plt.legend()
plt.show()
