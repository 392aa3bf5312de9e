"""
A pole on a delta
=================

A delta balances a pole on two passive hinges: three motors control five degrees of freedom. An
episode ends when the pole falls. The policy is an LQR, a baseline for learned policies.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg import solve_continuous_are

import robodyn as rd
from robodyn.gym import MechanismVectorEnv, Task

POLE = """
  <link name="fork"><inertial><mass value="0.01"/>
    <inertia ixx="1e-6" iyy="1e-6" izz="1e-6" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="pole"><inertial><origin xyz="0 0 0.25"/><mass value="0.1"/>
    <inertia ixx="2e-3" iyy="2e-3" izz="1e-5" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="pole_x" type="continuous"><parent link="tool0"/><child link="fork"/>
    <axis xyz="1 0 0"/></joint>
  <joint name="pole_y" type="continuous"><parent link="fork"/><child link="pole"/>
    <axis xyz="0 1 0"/></joint>
</robot>"""


class Balance(Task):
    """Balancing task; the reward of a step is 1 if the delta is at home with an upright pole."""

    def reset(self, env, rows, rng):
        away = np.zeros((len(rows), 5))
        away[:, 3:] = rng.uniform(-0.15, 0.15, (len(rows), 2))
        return env.mechanism.advance(env.mechanism.home, away), np.zeros_like(away)

    def reward(self, env, action):
        return 1.0 - np.square(self.observe(env)[:, :5]).sum(axis=1)

    def terminated(self, env):
        return (np.abs(self.observe(env)[:, 3:5]) > 0.8).any(axis=1)


rd.save(rd.load("delta"), "delta.urdf")
text = Path("delta.urdf").read_text(encoding="utf-8")
m = rd.load(text.replace("</robot>", POLE), tip_link="tool0")
envs = MechanismVectorEnv(8, m, Balance(), duration=1.0, control_dt=0.02, dt=2e-3)
model = m.linearize(m.home, efforts=envs.holding_efforts[0])
A, B = model.state_matrix, model.input_matrix
gain = B.T @ solve_continuous_are(A, B, np.diag([10.0] * 5 + [0.1] * 5), np.eye(3))
seen, _ = envs.reset(seed=0)
tilts = []
for _ in range(envs.episode_steps - 1):
    seen, reward, terminated, _, _ = envs.step(-seen @ gain.T / envs.effort_range)
    tilts.append(seen[:, 3:5])
print(f"{terminated.sum()} of 8 poles fell; reward of the last step {reward.mean():.4f}")
plt.plot(0.02 * np.arange(len(tilts)), np.rad2deg(np.linalg.norm(tilts, axis=2)))
plt.gca().set(xlabel="time [s]", ylabel="tilt of the pole [deg]")
