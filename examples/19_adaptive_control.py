"""
A controller that learns a payload
==================================

Slotine and Li's adaptive control computes the efforts as Y(q, v, v_r, a_r) @ parameters and adapts
the parameters to reduce the error. An arm carries 3 kg that its model does not include.
"""

import matplotlib.pyplot as plt
import numpy as np

import robodyn as rd
from robodyn.algorithms.linear_in_parameters import reference_regressor

model = rd.load("puma560")
loaded = model.with_payload(3.0, [0.0, 0.0, 0.05])
reach, speed = np.array([0.4, -0.3, 0.25, 0.2, -0.25, 0.15]), 2.0


def planned(t):
    """Return positions, rates and accelerations of a periodic motion at times (...) [s]."""
    phase = speed * np.asarray(t)[..., None]
    q = model.home + reach * (1.0 - np.cos(phase))
    return q, speed * reach * np.sin(phase), speed**2 * reach * np.cos(phase)


class Adaptive:
    """Adaptive control of s = e' + 5 e, with the mass and first moments of the last link."""

    def __init__(self):
        names, self.values = model.parameters.names, model.parameters.values.copy()
        self.learned = [k for k, name in enumerate(names) if name.startswith("link6.m")]
        self.estimates = []

    def __call__(self, time, q, v, trajectory):
        """Compute the efforts; called every 5 ms."""
        expected, rate, change = planned(time)
        error, error_rate = q - expected, v - rate
        s = error_rate + 5.0 * error
        Y = reference_regressor(model, q, v, rate - 5.0 * error, change - 5.0 * error_rate)
        self.values[self.learned] -= [0.3, 0.015, 0.015, 0.015] * (Y[:, self.learned].T @ s)
        self.estimates.append((self.values - model.parameters.values)[self.learned[0]])
        return Y @ self.values - np.array([150.0, 250.0, 100.0, 8.0, 8.0, 4.0]) * s


law = Adaptive()
start = model.home, np.zeros(6)
run = rd.simulate(loaded, law, duration=12.0, initial=start, control_dt=5e-3)
error = np.abs(run.configuration - planned(run.time)[0]).max(axis=1)
first, last = error[run.time < 3.0].max(), error[run.time > 9.0].max()
print(f"largest error: {first:.4f} rad in the first 3 s, {last:.4f} rad in the last 3 s")
print(f"estimated payload: {law.estimates[-1]:.2f} kg")

figure, (above, below) = plt.subplots(2, sharex=True)
above.plot(run.time, error)
above.set(ylabel="largest joint error [rad]")
below.plot(run.time[:-1], law.estimates)
below.set(xlabel="time [s]", ylabel="estimated payload [kg]")
plt.show()
