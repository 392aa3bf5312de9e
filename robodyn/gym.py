# SPDX-License-Identifier: Apache-2.0

"""Gymnasium environments: efforts in, the way to a goal out, of any mechanism, many at once.

Imported, it registers `robodyn/Reach-v0` and `robodyn/Track-v0`:

```python
import gymnasium
import robodyn.gym

envs = gymnasium.make_vec("robodyn/Reach-v0", num_envs=64, model="delta")
```
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import robodyn as rd
from robodyn.checks import as_scalar
from robodyn.errors import InvalidInput
from robodyn.extras import needing

with needing("gym", "an environment for learning", "gymnasium"):
    import gymnasium
    from gymnasium.spaces import Box
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space

from robodyn.arrays import FloatArray
from robodyn.mechanisms.mechanism import Mechanism

TASKS = ("reach", "track")
# Reward of a step from which no finite state follows.
FAILED = -100.0


class MechanismVectorEnv(VectorEnv[Any, Any, Any]):
    """Mechanisms that are to reach a configuration and stay there, or to keep up with a motion.

    An observation (n + 3 nv,) has the driven joints' positions from home, the velocity, the
    displacement to the goal and the goal's velocity, each in parts of what the path takes, so that
    they are of one size. An action (n,) in [-1, 1] spans the efforts within the limits; 0 are those
    that hold the environment's own mechanism at home. The reward is minus the square of the
    displacement, in parts of those on the path, per coordinate, and minus a thousandth of the
    action's. Starts and goals lie on the mechanism's demonstration, where every configuration can
    be reached. An episode is terminated where no finite state follows and truncated after
    `duration`; the next step begins another (`AutoresetMode.NEXT_STEP`).

    Args:
        num_envs: how many, each a row of a `BatchPlant`; by default one for each mechanism.
        model: a mechanism, what `rd.load` takes, or a sequence of mechanisms, which the
            environments have in turn.
        task: `reach` or `track`.
        duration: [s] of an episode.
        control_dt: [s] between steps of the environment.
        dt: [s] between steps of the simulation.

    Raises:
        InvalidInput: another task, fewer environments than mechanisms, or times that are not
            positive or do not fit.
    """

    metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(
        self,
        num_envs: int | None = None,
        model: str | Mechanism | Sequence[Mechanism] = "stewart_symmetric",
        task: str = "reach",
        *,
        duration: float = 4.0,
        control_dt: float = 0.02,
        dt: float = 1e-3,
    ) -> None:
        if task not in TASKS:
            raise InvalidInput(f"no task {task!r}: there are {', '.join(TASKS)}", value=task)
        given = rd.load(model) if isinstance(model, str) else model
        listed = list(given) if isinstance(given, Sequence) else [given]
        count = len(listed) if num_envs is None else num_envs
        if count < max(len(listed), 1):
            raise InvalidInput(
                f"num_envs is {count} for {len(listed)} mechanisms, expected as many or more",
                value=num_envs,
            )
        self.plants = rd.BatchPlant([listed[k % len(listed)] for k in range(count)], dt=dt)
        self.mechanism = m = self.plants.mechanisms[0]
        self.num_envs, self.task = self.plants.count, task
        self._control_dt = as_scalar("control_dt", control_dt, "s", above=0.0)
        self._steps = round(self._control_dt / dt)
        if abs(self._steps * dt - control_dt) > 1e-9 or not self._steps:
            raise InvalidInput(f"control_dt is {control_dt}, expected a multiple of dt, {dt}")
        self._last = max(1, round(as_scalar("duration", duration, "s", above=0.0) / control_dt))
        path = rd.load_path("demo", m)
        self._path = path.sample(np.arange(0.0, path.duration, self._control_dt))
        at = self._path.configuration
        away = np.abs(m.difference(np.broadcast_to(m.home, at.shape), at)).max(axis=0)
        self._scale = np.maximum(away, 1e-3 * away.max())
        self._joints_home = m.joint_positions(m.home)
        reach = np.abs(m.joint_positions(at) - self._joints_home).max(axis=0)
        self._joints_scale = np.maximum(reach, 1e-3 * reach.max())
        efforts = [_efforts_around_home(each) for each in listed]
        # of each row: the efforts that hold it at home, and what is left of its limits
        self._holding, self._reach = (
            np.array([efforts[k % len(listed)][part] for k in range(count)]) for part in range(2)
        )
        n = self._holding.shape[1]
        self.single_action_space = Box(-1.0, 1.0, (n,), np.float32)
        self.single_observation_space = Box(-np.inf, np.inf, (n + 3 * len(away),), np.float64)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        # the goals' rows of the path; one that is tracked moves on
        self._pace = int(task == "track")
        self._goal = np.zeros(self.num_envs, dtype=np.int64)
        self._count = np.zeros(self.num_envs, dtype=np.int64)
        self._over = np.zeros(self.num_envs, dtype=np.bool_)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[FloatArray, dict[str, Any]]:
        """Begin an episode of each; `seed` makes all that follow the same again."""
        super().reset(seed=seed)
        self._begin(np.ones(self.num_envs, dtype=np.bool_))
        return self._observation(), {}

    def step(self, actions: Any) -> tuple[FloatArray, FloatArray, Any, Any, dict[str, Any]]:
        """Hold actions (num_envs, n) for `control_dt`; whose episode was over begins another.

        Raises:
            InvalidInput: actions of the wrong shape or not finite.
        """
        given = np.clip(np.asarray(actions, dtype=np.float64), -1.0, 1.0)
        begun = self._over.copy()
        self.plants.step(self._holding + given * self._reach, self._steps)
        self._goal = np.minimum(self._goal + self._pace, len(self._path.configuration) - 1)
        self._count += 1
        failed = self.plants.failed.copy()
        reward = -np.square(self._displacement() / self._scale).mean(axis=1)
        reward -= 1e-3 * np.square(given).mean(axis=1)
        reward[failed] = FAILED
        truncated = (self._count >= self._last) & ~failed
        # those whose episode was over begin anew instead
        if begun.any():
            self._begin(begun)
            reward[begun], failed[begun], truncated[begun] = 0.0, False, False
        self._over = failed | truncated
        return self._observation(), reward, failed, truncated, {}

    def _begin(self, rows: Any) -> None:
        numbers = np.flatnonzero(rows)
        last = max(1, len(self._path.configuration) - self._pace * self._last)
        first, goal = self.np_random.integers(0, last, (2, numbers.size))
        start = goal if self._pace else first
        velocity = self._pace * self._path.velocity[start]
        self.plants.reset(self._path.configuration[start], velocity, numbers)
        self._goal[numbers], self._count[numbers], self._over[numbers] = goal, 0, False

    def _displacement(self) -> FloatArray:
        wanted = self._path.configuration[self._goal]
        return self.mechanism.difference(self.plants.configuration, wanted)

    def _observation(self) -> FloatArray:
        joints = self.mechanism.joint_positions(self.plants.configuration) - self._joints_home
        wanted = self._pace * self._path.velocity[self._goal]
        others = self.plants.velocity, self._displacement(), wanted
        return np.hstack([joints / self._joints_scale, *(each / self._scale for each in others)])


def _efforts_around_home(mechanism: Mechanism) -> tuple[FloatArray, FloatArray]:
    """Return efforts (n,) that hold a mechanism at home, and what its limits leave besides."""
    rest = np.zeros(mechanism.coordinates.velocity_size)
    holding = mechanism.inverse_dynamics(mechanism.home, rest, rest)
    used, limits = np.abs(holding), mechanism.effort_limits
    limits = np.where(np.isfinite(limits), limits, 2.0 * used.max())
    return holding, np.maximum(limits - used, 0.0)


class MechanismEnv(gymnasium.Env[Any, Any]):
    """One mechanism, as a row of `MechanismVectorEnv`, whose arguments it takes.

    Args:
        model: a mechanism, or what `rd.load` takes.
        task: `reach` or `track`.
        options: the other arguments.

    Raises:
        InvalidInput: as for `MechanismVectorEnv`.
    """

    def __init__(
        self, model: str | Mechanism = "stewart_symmetric", task: str = "reach", **options: Any
    ) -> None:
        self._rows = MechanismVectorEnv(1, model, task, **options)
        self.action_space = self._rows.single_action_space
        self.observation_space = self._rows.single_observation_space

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode; `seed` makes all that follow the same again."""
        super().reset(seed=seed)
        observation, info = self._rows.reset(seed=seed, options=options)
        return observation[0], info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Hold an action (n,) for `control_dt`.

        Raises:
            InvalidInput: an action of the wrong shape or not finite.
        """
        every = self._rows.step(np.asarray(action)[None])
        observation, reward, terminated, truncated, info = every
        return observation[0], float(reward[0]), bool(terminated[0]), bool(truncated[0]), info


for task in TASKS:
    gymnasium.register(
        f"robodyn/{task.capitalize()}-v0",
        entry_point=f"{__name__}:MechanismEnv",
        vector_entry_point=f"{__name__}:MechanismVectorEnv",
        kwargs={"task": task},
    )
