"""
A controller that learns a payload
==================================

Slotine and Li's adaptive control: efforts Y(q, v, v_r, a_r) @ parameters, and the parameters move
against what is left of the error. An arm takes up 3 kg that its model knows nothing of.
"""

import matplotlib.pyplot as plt
import numpy as np

import robodyn as rd

model = rd.load("puma560")
loaded = model.with_payload(3.0, [0.0, 0.0, 0.05])
start, goal = model.home, model.home + np.array([0.8, -0.6, 0.5, 0.4, -0.5, 0.3])
way = rd.plan_joints(start, goal, duration=1.5, profile="quintic")


class There:
    """Back and forth between two points, again and again."""

    duration, switching_times = 12.0, ()

    def sample(self, t):
        """The motion at times [s]."""
        turn, phase = np.divmod(t, way.duration)
        back = turn % 2 == 1
        q, v, a = way.sample(way.duration - phase if back else phase)
        return q, -v if back else v, a


class Adaptive:
    """The error with its rate, s = e' + 5 e, decays; of the last link the mass and moments move."""

    def __init__(self):
        self.values = model.parameters.values.copy()
        self.learned = [k for k, name in enumerate(model.parameters.names)
                        if name.startswith("link6.m")]  # fmt: skip
        self.rate = np.array([60.0, 3.0, 3.0, 3.0])
        self.told = []

    def __call__(self, time, q, v, trajectory):
        """Efforts, every 5 ms."""
        wanted, rate, change = There().sample(time)
        error, error_rate = q - wanted, v - rate
        s = error_rate + 5.0 * error
        Y = model.reference_regressor(q, v, rate - 5.0 * error, change - 5.0 * error_rate)
        self.values[self.learned] -= 5e-3 * self.rate * (Y[:, self.learned].T @ s)
        self.told.append(self.values[self.learned[0]] - model.parameters.values[self.learned[0]])
        return Y @ self.values - np.array([150.0, 250.0, 100.0, 8.0, 8.0, 4.0]) * s


law = Adaptive()
run = rd.simulate(loaded, law, duration=12.0, initial=(start, np.zeros(6)), control_dt=5e-3)
planned = np.array([There().sample(t)[0] for t in run.time])
error = np.abs(run.configuration - planned).max(axis=1)
first, last = error[run.time < 3.0].max(), error[run.time > 9.0].max()
print(f"largest error: {first:.4f} rad in the first round, {last:.4f} rad in the last")
print(f"the payload is taken to be {law.told[-1]:.2f} kg")

figure, (above, below) = plt.subplots(2, sharex=True)
above.plot(run.time, error)
above.set(ylabel="largest error of a joint [rad]")
below.plot(run.time[:-1], law.told)
below.set(xlabel="time [s]", ylabel="learned payload [kg]")
plt.show()
