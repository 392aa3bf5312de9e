# SPDX-License-Identifier: Apache-2.0

"""Built-in tasks: reaching configurations, and following a motion."""

from __future__ import annotations

import numpy as np

from robodyn.arrays import FloatArray, IntArray
from robodyn.gym.environment import TASKS, MechanismVectorEnv, Task
from robodyn.trajectories import load_path


class Reach(Task):
    """Task of reaching a configuration and staying there.

    Starts and goals lie on the mechanism's demonstration path, where every configuration can be
    reached. An observation (n + 3 nv,) has the driven joints' positions relative to home, the
    velocity, the displacement to the goal and the goal's velocity, each relative to its range on
    the path. The reward is minus the mean square of the displacement, relative to that range, and
    minus a thousandth of the mean square of the action.

    Attributes:
        scale: (nv,) range of each displacement on the path.
        goal: (num_envs,) indices of the goals on the sampled path; for moving goals, those at
            the start of the episode.
    """

    _moves = False

    def setup(self, env: MechanismVectorEnv) -> None:
        """Sample the path at the control period, and determine the ranges of motion on it."""
        m = env.mechanism
        path = load_path("demo", m)
        self.path = path.sample(np.arange(0.0, path.duration, env.control_dt))
        at = self.path.configuration
        away = np.abs(m.difference(np.broadcast_to(m.home, at.shape), at)).max(axis=0)
        self.scale = np.maximum(away, 1e-3 * away.max())
        self._joints_home = m.joint_positions(m.home)
        reach = np.abs(m.joint_positions(at) - self._joints_home).max(axis=0)
        self._joints_scale = np.maximum(reach, 1e-3 * reach.max())
        self.goal = np.zeros(env.num_envs, dtype=np.int64)

    def reset(
        self, env: MechanismVectorEnv, rows: IntArray, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        """Draw random starts and goals on the path for the sub-environments `rows` (k,).

        Returns:
            Configurations (k, nq) and velocities (k, nv) of the starts.
        """
        last = max(1, len(self.path.configuration) - self._moves * env.episode_steps)
        first, self.goal[rows] = rng.integers(0, last, (2, len(rows)))
        start = self.goal[rows] if self._moves else first
        return self.path.configuration[start], self._moves * self.path.velocity[start]

    def observe(self, env: MechanismVectorEnv) -> FloatArray:
        """Return observations (num_envs, n + 3 nv); see the class."""
        joints = env.mechanism.joint_positions(env.plants.configuration) - self._joints_home
        velocity = self._moves * self.path.velocity[self._rows(env)]
        others = env.plants.velocity, self.displacement(env), velocity
        return np.hstack([joints / self._joints_scale, *(each / self.scale for each in others)])

    def reward(self, env: MechanismVectorEnv, action: FloatArray) -> FloatArray:
        """Return rewards (num_envs,) that penalize distance to the goal and large actions.

        A reward is minus the mean square of the displacement to the goal, relative to its range on
        the path, and minus 0.001 times the mean square of the action.
        """
        away = np.square(self.displacement(env) / self.scale).mean(axis=1)
        return np.asarray(-away - 1e-3 * np.square(action).mean(axis=1))

    def displacement(self, env: MechanismVectorEnv) -> FloatArray:
        """Return displacements (num_envs, nv) from current configurations to the goals."""
        goals = self.path.configuration[self._rows(env)]
        return env.mechanism.difference(env.plants.configuration, goals)

    def _rows(self, env: MechanismVectorEnv) -> IntArray:
        """Return the indices (num_envs,) of the current goals on the sampled path."""
        passed = self._moves * np.rint(env.time / env.control_dt).astype(np.int64)
        return np.asarray(np.minimum(self.goal + passed, len(self.path.configuration) - 1))


class Track(Reach):
    """Task of following the demonstration path, starting at a random instant.

    Observations and rewards are those of `Reach`, with the moving goal.
    """

    _moves = True


TASKS.update(reach=Reach, track=Track)
