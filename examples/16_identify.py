"""
A better model from a recording
===============================

The masses and friction of an arm differ from those in its model file. From a recording of an
exciting motion, `rd.identify` finds parameters that predict the torques of another motion.
"""

import matplotlib.pyplot as plt
import numpy as np

import robodyn as rd

believed = rd.load("puma560")
true = believed.with_payload(1.5, [0.02, 0.0, 0.05])  # unknown to the model
noise = np.random.default_rng(1)


def record(motion):
    """Simulate the readings of encoders and current sensors along a motion."""
    times = np.arange(0.0, motion.duration, 0.005)
    q, qd, qdd = motion.sample(times)
    torque = true.inverse_dynamics(q, qd, qdd)
    measured = torque + noise.normal(0.0, 0.01 * torque.std(axis=0), torque.shape)
    return rd.Recording.from_arrays(believed, times, q, measured, velocity=qd)


fit, other = (record(rd.exciting_trajectory(believed, duration=8.0, seed=seed)) for seed in (1, 2))
result = rd.identify(believed, [fit])
(check,) = result.validate([other])
print("relative error of the predicted torques:", check.relative.round(3))

((samples, predicted),) = result.predict(other)
plt.plot(samples.time, samples.effort[:, 1], label="measured")
plt.plot(samples.time, predicted[:, 1], label="identified model")
plt.plot(samples.time, believed.inverse_dynamics(*samples.motion)[:, 1], label="model file")
plt.gca().set(xlabel="time [s]", ylabel="torque of joint 2 [N m]")
plt.legend()
plt.show()
