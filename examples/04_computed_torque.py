"""
Computed torque, sampled
========================

At 200 Hz, the controller computes leg forces from a model and the measured state. In between, the
simulation integrates the motion of the platform in steps of 1 ms. With a model that ignores the
payload, the platform still follows the path, but less accurately.
"""

import matplotlib.pyplot as plt
import numpy as np

import robodyn as rd

model = rd.load("stewart_dasgupta")
path = rd.paper_path("I")

figure, axes = plt.subplots()
for payload in (0.0, 10.0, 20.0):
    loaded = model.with_payload(payload) if payload else model
    law = rd.ComputedTorque(model, kp=100.0, kv=20.0)  # the model excludes the payload
    run = rd.simulate(loaded, law, path, dt=1e-3, control_dt=5e-3)
    distance = np.linalg.norm(run.error[:, :3], axis=1)
    axes.plot(run.time, 1e3 * distance, label=f"payload {payload:g} kg")
    print(f"payload {payload:4.1f} kg: largest error {1e3 * distance.max():.3f} mm")
axes.set(xlabel="time [s]", ylabel="position error [mm]")
axes.legend()
plt.show()
