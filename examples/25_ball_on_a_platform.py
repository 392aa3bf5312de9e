"""
A ball on a platform
====================

A platform keeps a ball at its center. The task simulates the ball, with the contact as a stiff
spring with damping and viscous friction, and computes the wrench on the platform every millisecond.
"""

import matplotlib.pyplot as plt
import numpy as np

import robodyn as rd
from robodyn.gym import MechanismVectorEnv, Task

MASS, RADIUS, STIFFNESS, DAMPING = 1.0, 0.05, 2e4, 60.0


class Roll(Task):
    """Keep a ball at the center; `ball` contains positions, velocities and angular velocities."""

    ball = np.zeros((3, 8, 3))

    def reset(self, env, rows, rng):
        self.ball[:, rows] = 0.0
        self.ball[0, rows, :2] = rng.uniform(-0.15, 0.15, (len(rows), 2))
        self.ball[0, rows, 2] = env.mechanism.home[2] + RADIUS
        return super().reset(env, rows, rng)

    def wrench(self, env):
        (at, velocity, spin), dt = self.ball, env.actuation_dt
        pose, twist = env.plants.configuration, env.plants.velocity
        normal = rd.matrix_from_pose(pose)[:, :3, 2]
        arm = at - RADIUS * normal - pose[:, :3]  # from the platform's reference point
        plate = twist[:, :3] + np.cross(twist[:, 3:], arm)
        slip = velocity - RADIUS * np.cross(spin, normal) - plate
        gap, rate = ((each * normal).sum(axis=1, keepdims=True) for each in (arm, slip))
        press = np.where(gap < 0.0, np.maximum(-STIFFNESS * gap - DAMPING * rate, 0.0), 0.0)
        drag = np.where(gap < 0.0, -20.0 * (slip - rate * normal), 0.0)
        force = press * normal + drag
        velocity += dt * (force / MASS + [0.0, 0.0, -9.81])
        spin -= dt * RADIUS * np.cross(normal, drag) / (0.4 * MASS * RADIUS**2)
        at += dt * velocity
        return np.hstack([-force, np.cross(arm, -force)])

    def reward(self, env, action):
        return -np.linalg.norm((self.ball[0] - env.plants.configuration[:, :3])[:, :2], axis=1)


envs = MechanismVectorEnv(8, task=Roll(), duration=3.0, control_dt=0.01, actuation_dt=1e-3)
rewards, goal, (seen, _) = [], np.zeros((8, 6)), envs.reset(seed=0)
for _ in range(envs.episode_steps - 1):
    at, velocity, _ = envs.task.ball
    goal[:, 3:5] = (0.4 * at + 0.35 * velocity)[:, [1, 0]] * [1.0, -1.0]
    command = 400.0 * (goal - seen[:, :6]) - 40.0 * seen[:, 6:]
    efforts = envs.mechanism.inverse_dynamics(envs.plants.configuration, seen[:, 6:], command)
    seen, reward, *_ = envs.step((efforts - envs.holding_efforts) / envs.effort_range)
    rewards.append(-reward)
plt.plot(0.01 * np.arange(len(rewards)), rewards)
plt.gca().set(xlabel="time [s]", ylabel="distance of the ball from the center [m]")
