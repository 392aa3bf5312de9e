"""
Learning under a random payload
===============================

A delta tracks a motion. In each episode, the payload mass and the delay of the motors are random,
and the sensors are noisy. The cross-entropy method finds three gains that suit all episodes.
"""

import matplotlib.pyplot as plt
import numpy as np

from robodyn.gym import MechanismVectorEnv, Track

CANDIDATES, EPISODES, STEPS, GENERATIONS, rng = 16, 3, 20, 5, np.random.default_rng(0)


class Carry(Track):
    """`Track` with a payload of up to 1 kg, delayed motors and noisy sensors."""

    def setup(self, env):
        super().setup(env)
        self.loads, self.mass = np.linspace(0.0, 1.0, 16), np.zeros(env.num_envs)
        self.loaded = [env.mechanism.with_payload(mass) for mass in self.loads]

    def randomize(self, env, rows, rng):
        drawn = rng.integers(0, len(self.loads), len(rows))
        self.mass[rows] = self.loads[drawn]
        env.delay[rows] = rng.uniform(0.0, 0.02, len(rows))
        env.noise[rows] = 0.01
        return [self.loaded[k] for k in drawn]


envs = MechanismVectorEnv(CANDIDATES * EPISODES, "delta", Carry(), duration=1.0, dt=5e-3)


def returns(gains, seed):
    """Return mean rewards (envs,) for gains (k, 3) of displacement, velocity and goal velocity."""
    each = np.repeat(gains, envs.num_envs // len(gains), axis=0)
    seen, _ = envs.reset(seed=seed)
    total = 0.0
    for _ in range(STEPS):
        v, away, target = np.split(seen[:, 3:], 3, axis=1)
        seen, reward, *_ = envs.step(each[:, :1] * away - each[:, 1:2] * v + each[:, 2:] * target)
        total += reward / STEPS
    return total


mean, spread = np.full(3, 0.1), np.full(3, 0.2)
for generation in range(GENERATIONS):
    gains = np.abs(mean + spread * rng.normal(size=(CANDIDATES, 3)))
    found = returns(gains, generation).reshape(CANDIDATES, EPISODES).mean(axis=1)
    best = gains[np.argsort(found)[-4:]]
    mean, spread = best.mean(axis=0), best.std(axis=0) + 0.02
for label, used in (("first", np.full(3, 0.1)), ("learned", mean)):
    found = returns(used[None], 99)
    print(f"{label} gains: {used.round(3)}: mean reward {found.mean():.5f}")
    plt.plot(envs.task.mass, found, "o", label=label)
plt.gca().set(xlabel="payload [kg]", ylabel="mean reward")
plt.legend()
