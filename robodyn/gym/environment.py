# SPDX-License-Identifier: Apache-2.0

"""Gymnasium environments, vectorized and single, and the base class of their tasks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

import robodyn as rd
from robodyn.arrays import BoolArray, FloatArray, IntArray
from robodyn.checks import as_exact, as_scalar
from robodyn.errors import InvalidInput, UnderActuated
from robodyn.extras import require_extra
from robodyn.gym.history import History
from robodyn.mechanism.mechanism import Mechanism
from robodyn.presentation.picture import Camera
from robodyn.simulation.plant import StepMethod

with require_extra("gym", "an environment for reinforcement learning", "gymnasium"):
    import gymnasium
    from gymnasium.spaces import Box
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space


class Task(ABC):
    """Base class of tasks for a `MechanismVectorEnv`; subclasses must define `reward`.

    Every method receives the environment. `env.plants.configuration` (num_envs, nq),
    `env.plants.velocity` (num_envs, nv) and `env.time` (num_envs,) [s] are the state;
    `env.mechanism` has the kinematics of the first sub-environment. A task belongs to one
    environment and may keep arrays with one entry for each sub-environment.

    Attributes:
        failure_reward: reward of a step after which the state of a sub-environment is not finite.
    """

    failure_reward: float = -100.0

    def setup(self, env: MechanismVectorEnv) -> None:  # noqa: B027
        """Prepare the task for an environment; called once, before the first reset."""

    def randomize(
        self, env: MechanismVectorEnv, rows: IntArray, rng: np.random.Generator
    ) -> Sequence[Mechanism] | None:
        """Draw random parameters for the sub-environments that begin an episode.

        Rows of `env.noise`, `env.latency` and `env.delay` may be assigned here.

        Args:
            env: environment.
            rows: (k,) indices of the sub-environments.
            rng: generator of the environment, seeded by `reset(seed=...)`.

        Returns:
            k mechanisms of the same structure, one for each of these sub-environments, or None to
            keep the current mechanisms.
        """
        return None

    def reset(
        self, env: MechanismVectorEnv, rows: IntArray, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        """Return the initial states of sub-environments, by default home at rest.

        Args:
            env: environment.
            rows: (k,) indices of the sub-environments.
            rng: generator of the environment.

        Returns:
            Configurations (k, nq) and velocities (k, nv).
        """
        m = env.mechanism
        return np.tile(m.home, (len(rows), 1)), np.zeros((len(rows), m.coordinates.velocity_size))

    def observe(self, env: MechanismVectorEnv) -> FloatArray:
        """Return the observations (num_envs, d) of the current state.

        By default they are displacements from home and velocities.
        """
        q = env.plants.configuration
        home = np.broadcast_to(env.mechanism.home, q.shape)
        return np.hstack([env.mechanism.difference(home, q), env.plants.velocity])

    @abstractmethod
    def reward(self, env: MechanismVectorEnv, action: FloatArray) -> FloatArray:
        """Return the rewards (num_envs,) for the actions that led to the current state.

        Args:
            env: environment, in the state after the actions.
            action: (num_envs, n) actions in [-1, 1].
        """

    def terminated(self, env: MechanismVectorEnv) -> BoolArray:
        """Return whether each episode has ended (num_envs,); by default none has."""
        return np.zeros(env.num_envs, dtype=np.bool_)

    def wrench(self, env: MechanismVectorEnv) -> FloatArray | None:
        """Return the external wrenches (num_envs, 6) on the mechanisms; None for none.

        A wrench is a force [N] and a moment [N m] about the reference point of the mechanism's
        body, base frame. The method is called once in every `env.actuation_dt`, for which the
        wrench is constant. A task that simulates further bodies advances them here.
        """
        return None


# Built-in tasks by name.
TASKS: dict[str, type[Task]] = {}


class MechanismVectorEnv(VectorEnv[Any, Any, Any]):
    """Vectorized Gymnasium environment that simulates one mechanism per sub-environment.

    An action (n,) in [-1, 1] spans the efforts within the limits; 0 stands for the efforts that
    hold the sub-environment's original mechanism at home. An episode is terminated if the task ends
    it or if the state is not finite, and truncated after `duration`. The same seed gives the same
    results, bit for bit, even if an environment is pickled in the middle of an episode.

    Args:
        num_envs: number of environments; by default one for each mechanism.
        model: a mechanism, a source for `rd.load`, or a sequence of mechanisms, which are assigned
            to the environments in turn.
        task: a `Task`, or `reach` or `track`.
        duration: [s] length of an episode.
        control_dt: [s] between steps of the environment.
        dt: [s] between steps of the simulation.
        integrator: `rk4` or `semi_implicit`, as for `rd.Plant`.
        actuation_dt: [s] after which wrenches are evaluated again and delayed actions take effect;
            a divisor of `control_dt`, which is the default.
        autoreset_mode: when a new episode begins after one has ended; an `AutoresetMode` of
            Gymnasium.
        render_mode: `rgb_array` for pictures by `render`.

    Attributes:
        mechanism: mechanism of the first sub-environment.
        plants: `BatchPlant` that simulates all mechanisms.
        task: the task.
        time: (num_envs,) [s] since the episode began.
        episode_steps: steps of an episode.
        holding_efforts, effort_range: (num_envs, n) [N or N m] efforts for action 0, and their
            increase for action 1.
        noise: (num_envs, 1) or (num_envs, d) standard deviation of noise in observations.
        latency: (num_envs,) [s] age of observations, rounded up to steps of the environment.
        delay: (num_envs,) [s] between an action and its efforts, rounded up to `actuation_dt`.

    Raises:
        InvalidInput: unknown task or mode, fewer environments than mechanisms, or times that are
            not positive or not multiples.
    """

    def __init__(
        self,
        num_envs: int | None = None,
        model: str | Mechanism | Sequence[Mechanism] = "stewart_symmetric",
        task: Task | str = "reach",
        *,
        duration: float = 4.0,
        control_dt: float = 0.02,
        dt: float = 1e-3,
        actuation_dt: float | None = None,
        integrator: StepMethod = "rk4",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
    ) -> None:
        if render_mode not in (None, "rgb_array"):
            raise InvalidInput(
                f"render_mode is {render_mode!r}, expected 'rgb_array' or None", value=render_mode
            )
        self.render_mode = render_mode
        self._autoreset = AutoresetMode(autoreset_mode)
        self.metadata = {
            "autoreset_mode": self._autoreset,
            "render_modes": ["rgb_array"],
            "render_fps": round(1.0 / as_scalar("control_dt", control_dt, "s", above=0.0)),
        }
        self.task = _task_of(task)
        listed, count = _mechanisms(model, num_envs)
        rows = [listed[k % len(listed)] for k in range(count)]
        self.plants = rd.BatchPlant(rows, dt=dt, integrator=integrator)
        self.mechanism = self.plants.mechanisms[0]
        self.num_envs, self.control_dt = self.plants.count, float(control_dt)
        self.actuation_dt = self.control_dt if actuation_dt is None else float(actuation_dt)
        self._steps = _ratio("actuation_dt", self.actuation_dt, "dt", dt)
        self._parts = _ratio("control_dt", self.control_dt, "actuation_dt", self.actuation_dt)
        whole = as_scalar("duration", duration, "s", above=0.0)
        self.episode_steps = max(1, round(whole / self.control_dt))
        efforts = [_efforts_around_home(each) for each in listed]
        self.holding_efforts, self.effort_range = (
            np.array([efforts[k % len(listed)][part] for k in range(count)]) for part in range(2)
        )
        n = self.holding_efforts.shape[1]
        self.time: FloatArray = np.zeros(count)
        self.latency, self.delay = np.zeros((2, count))
        self.noise = np.zeros((count, 1))
        self._count = np.zeros(count, dtype=np.int64)
        self._over = np.zeros(count, dtype=np.bool_)
        self._actions = History(np.zeros((count, n)))
        self.task.setup(self)
        # a first episode with a separate generator determines the size of observations
        self._begin(np.arange(count), np.random.default_rng(0))
        first = self._observations()
        self._observed = History(first)
        self.single_action_space = Box(-1.0, 1.0, (n,), np.float32)
        self.single_observation_space = Box(-np.inf, np.inf, first.shape[1:], np.float64)
        self.action_space = batch_space(self.single_action_space, count)
        self.observation_space = batch_space(self.single_observation_space, count)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[FloatArray, dict[str, Any]]:
        """Begin new episodes, and return the first observations.

        With the same `seed`, all later results are equal, bit for bit.

        Args:
            seed: seed of all random numbers; None to continue the current sequence.
            options: with a mask (num_envs,) `reset_mask`, only the masked sub-environments begin a
                new episode.

        Returns:
            Observations (num_envs, d), and an empty dictionary.
        """
        super().reset(seed=seed)
        mask = (options or {}).get("reset_mask", np.ones(self.num_envs, dtype=np.bool_))
        rows = np.flatnonzero(mask)
        self._begin(rows, self.np_random)
        self._observed.begin(rows, self._observations()[rows])
        return self._receive(), {}

    def step(
        self, actions: Any
    ) -> tuple[FloatArray, FloatArray, BoolArray, BoolArray, dict[str, Any]]:
        """Apply actions (num_envs, n) for `control_dt`, and begin new episodes where due.

        Returns:
            Observations (num_envs, d); rewards, whether each episode terminated, and whether it was
            truncated, (num_envs,) each; and further information, as Gymnasium defines it.

        Raises:
            InvalidInput: actions of the wrong shape or not finite.
        """
        given = np.clip(as_exact("actions", actions, self.effort_range.shape), -1.0, 1.0)
        begun = np.flatnonzero(self._over)
        self._advance(given)
        failed = self.plants.failed.copy()
        reward = np.array(self.task.reward(self, given), dtype=np.float64)
        reward[failed] = self.task.failure_reward
        terminated = np.asarray(self.task.terminated(self), dtype=np.bool_) | failed
        truncated = (self._count >= self.episode_steps) & ~terminated
        if self._autoreset is AutoresetMode.NEXT_STEP and len(begun):
            self._begin(begun, self.np_random)
            reward[begun], terminated[begun], truncated[begun] = 0.0, False, False
        seen = self._observations()
        self._observed.push(seen, self._lags(self.latency).max())
        if self._autoreset is AutoresetMode.NEXT_STEP:
            self._observed.begin(begun, seen[begun])
        received, over, info = self._receive(), terminated | truncated, {}
        self._over = over.copy()
        if self._autoreset is AutoresetMode.SAME_STEP and over.any():
            rows = np.flatnonzero(over)
            info = {
                "final_obs": received,
                "_final_obs": over,
                "final_info": {},
                "_final_info": over,
            }
            self._begin(rows, self.np_random)
            self._observed.begin(rows, self._observations()[rows])
            received = np.where(over[:, None], self._receive(), received)
        return received, reward, terminated, truncated, info

    def render(self) -> tuple[Any, ...] | None:
        """Return a picture (height, width, 3) of each mechanism; None without `render_mode`."""
        if self.render_mode is None:
            return None
        camera = Camera(self.mechanism)
        rows = zip(self.plants.mechanisms, self.plants.configuration, strict=True)
        return tuple(camera.pixels(one, q) for one, q in rows)

    def _begin(self, rows: IntArray, rng: np.random.Generator) -> None:
        """Begin an episode in the sub-environments with the given indices (k,)."""
        self.time[rows], self._count[rows], self._over[rows] = 0.0, 0, False
        others = self.task.randomize(self, rows, rng)
        if others is not None:
            self.plants.replace_mechanisms(others, rows)
        self.plants.reset(*self.task.reset(self, rows, rng), rows)
        self._actions.begin(rows, 0.0)

    def _advance(self, actions: FloatArray) -> None:
        """Advance the plants by `control_dt`, applying each action after its delay."""
        self._actions.push(actions, self._lags(self.delay).max())
        for part in range(self._parts):
            passed = self._count * self.control_dt + part * self.actuation_dt
            self.time = np.asarray(passed)
            applied = self._actions.past(self._lags(self.delay - part * self.actuation_dt))
            efforts = self.holding_efforts + applied * self.effort_range
            self.plants.step(efforts, self._steps, self.task.wrench(self))
        self._count += 1
        self.time = np.asarray(self._count * self.control_dt)

    def _lags(self, times: FloatArray) -> IntArray:
        """Convert times (num_envs,) [s] to numbers of environment steps, rounded up."""
        return np.maximum(np.ceil(times / self.control_dt - 1e-9), 0.0).astype(np.int64)

    def _observations(self) -> FloatArray:
        return np.array(self.task.observe(self), dtype=np.float64)

    def _receive(self) -> FloatArray:
        """Return the delayed and noisy observations (num_envs, d) that the agent receives."""
        seen = self._observed.past(self._lags(self.latency))
        if self.noise.any():
            seen = seen + self.noise * self.np_random.normal(size=seen.shape)
        return seen


def _mechanisms(
    model: str | Mechanism | Sequence[Mechanism], num_envs: int | None
) -> tuple[list[Mechanism], int]:
    """Return an environment's mechanisms, and its number of sub-environments."""
    given = rd.load(model) if isinstance(model, str) else model
    listed = list(given) if isinstance(given, Sequence) else [given]
    count = len(listed) if num_envs is None else num_envs
    if count < max(len(listed), 1):
        raise InvalidInput(
            f"num_envs is {count} for {len(listed)} mechanisms, expected at least one for each",
            value=num_envs,
        )
    return listed, count


def _task_of(task: Task | str) -> Task:
    if isinstance(task, Task):
        return task
    if task not in TASKS:
        raise InvalidInput(
            f"task is {task!r}, expected {', '.join(TASKS)} or a robodyn.gym.Task", value=task
        )
    return TASKS[task]()


def _ratio(name: str, value: float, of: str, period: float) -> int:
    """Return the number of periods in a time; reject a time that is no multiple of it."""
    count = round(as_scalar(name, value, "s", above=0.0) / as_scalar(of, period, "s", above=0.0))
    if not count or abs(count * period - value) > 1e-9:
        raise InvalidInput(
            f"{name} is {value} s, expected a multiple of {of}, which is {period} s", value=value
        )
    return count


def _efforts_around_home(mechanism: Mechanism) -> tuple[FloatArray, FloatArray]:
    """Return efforts (n,) that hold the mechanism at home, and the margins to limits."""
    rest = np.zeros(mechanism.coordinates.velocity_size)
    try:
        holding = mechanism.inverse_dynamics(mechanism.home, rest, rest)
    except UnderActuated:  # least-norm efforts that hold it as well as possible
        d = mechanism.forward_dynamics_derivatives(
            mechanism.home, rest, np.zeros(len(mechanism.joint_names))
        )
        holding = -np.linalg.pinv(d.efforts) @ d.acceleration
    used, limits = np.abs(holding), mechanism.effort_limits
    limits = np.where(np.isfinite(limits), limits, 2.0 * used.max())
    return holding, np.maximum(limits - used, 0.0)


class MechanismEnv(gymnasium.Env[Any, Any]):
    """Gymnasium environment of one mechanism; see `MechanismVectorEnv`.

    Args:
        model: a mechanism, or a source for `rd.load`.
        task: a `Task`, or `reach` or `track`.
        render_mode: `rgb_array` for pictures by `render`.
        options: the other arguments of `MechanismVectorEnv`.

    Raises:
        InvalidInput: as for `MechanismVectorEnv`.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 50}  # noqa: RUF012

    def __init__(
        self,
        model: str | Mechanism = "stewart_symmetric",
        task: Task | str = "reach",
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        options |= {"autoreset_mode": AutoresetMode.DISABLED, "render_mode": render_mode}
        self.rows, self.render_mode = MechanismVectorEnv(1, model, task, **options), render_mode
        self.metadata = self.rows.metadata
        self.action_space = self.rows.single_action_space
        self.observation_space = self.rows.single_observation_space

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode; the same `seed` leads to the same results.

        Returns:
            The first observation (d,), and an empty dictionary.
        """
        super().reset(seed=seed)
        observation, info = self.rows.reset(seed=seed, options=options)
        return observation[0], info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Apply an action (n,) for `control_dt`.

        Returns:
            Observation (d,), reward, whether the episode terminated, whether it was truncated, and
            further information.

        Raises:
            InvalidInput: an action of the wrong shape or not finite.
        """
        every = self.rows.step(np.asarray(action)[None])
        observation, reward, terminated, truncated, info = every
        return observation[0], float(reward[0]), bool(terminated[0]), bool(truncated[0]), info

    def render(self) -> Any:
        """Return a picture (height, width, 3) of the mechanism; None without `render_mode`."""
        pictures = self.rows.render()
        return None if pictures is None else pictures[0]
