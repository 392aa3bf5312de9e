"""
A hundred simulations at once
=============================

`simulate_many` runs batches of start states, payloads, gains and paths in compiled code on all
processors. The example shows how the tracking error depends on the gains if the payload is unknown.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LogNorm

import robodyn as rd

model = rd.load("stewart_dasgupta")
payloads = np.linspace(0.0, 20.0, 10)  # [kg]
gains = np.geomspace(10.0, 1000.0, 10)  # kp [1/s^2]; kv for critical damping

plants = [model.with_payload(mass) for mass in payloads for _ in gains]
laws = [rd.ComputedTorque(model, kp=kp, kv=2.0 * kp**0.5) for _ in payloads for kp in gains]
runs = rd.simulate_many(plants, laws, rd.paper_path("I"), dt=2e-3, control_dt=4e-3)
error = np.linalg.norm(runs.peak_error[:, :3], axis=1).reshape(10, 10)

plt.pcolormesh(gains, payloads, 1e3 * error, shading="nearest", norm=LogNorm())
plt.xscale("log")
plt.gca().set(xlabel="kp [1/s^2]", ylabel="unknown payload [kg]")
plt.colorbar(label="largest position error [mm]")
plt.show()
