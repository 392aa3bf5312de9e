"""
Learning to reach
=================

A platform learns to move from any point of its path to any other, and to stay there. The policy is
linear in the observations of a Gymnasium environment. The cross-entropy method selects the best
candidates of each generation; the episodes of all candidates are simulated at once.
"""

import matplotlib.pyplot as plt
import numpy as np

from robodyn.gym import MechanismVectorEnv

CANDIDATES, EPISODES, STEPS, GENERATIONS = 40, 2, 40, 12
envs = MechanismVectorEnv(CANDIDATES * EPISODES, "stewart_symmetric", duration=1.0, dt=5e-3)
actions, seen = envs.single_action_space.shape[0], envs.single_observation_space.shape[0]
rng = np.random.default_rng(0)


def returns(policies, seed):
    """Return the mean reward of each policy (k, actions, seen + 1) over the same episodes."""
    observation, _ = envs.reset(seed=seed)
    each = np.repeat(policies, EPISODES, axis=0)
    total = 0.0
    for _ in range(STEPS):
        known = np.column_stack([observation, np.ones(len(observation))])
        observation, reward, *_ = envs.step(np.tanh(np.einsum("kij,kj->ki", each, known)))
        total += reward / STEPS
    return total.reshape(-1, EPISODES).mean(axis=1)


mean, spread = np.zeros((actions, seen + 1)), np.ones((actions, seen + 1))
history = []
for generation in range(GENERATIONS):
    policies = mean + spread * rng.normal(size=(CANDIDATES, *mean.shape))
    found = returns(policies, generation)
    best = policies[np.argsort(found)[-CANDIDATES // 5 :]]
    mean, spread = best.mean(axis=0), best.std(axis=0) + 0.05
    history.append([found.max(), np.median(found)])
print("median reward of the first and the last generation:", history[0][1], history[-1][1])

plt.plot(history, label=["best", "median"])
plt.gca().set(xlabel="generation", ylabel="mean reward", yscale="symlog")
plt.legend()
plt.show()
