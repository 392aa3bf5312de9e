# SPDX-License-Identifier: Apache-2.0

"""The environments are Gymnasium's, the same for the same seed, and can be solved."""

import copy
import pickle

import numpy as np
import pytest

import robodyn as rd

gymnasium = pytest.importorskip("gymnasium", "1.1")
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
MODELS = ("stewart_symmetric", "delta", "puma560")


def vector(task="reach", **given):
    import robodyn.gym  # registers  # noqa: F401

    return gymnasium.make_vec(f"robodyn/{task.capitalize()}-v0", **given)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("task", ["reach", "track"])
def test_gymnasiums_own_checker_passes(model, task):
    from gymnasium.utils.env_checker import check_env

    from robodyn.gym import MechanismEnv

    check_env(MechanismEnv(model, task, duration=0.2), skip_render_check=True)


@pytest.mark.parametrize("model", MODELS)
def test_the_same_seed_gives_the_same_episodes(model):
    found = []
    for _ in range(2):
        envs = vector(num_envs=5, model=model, duration=0.1)
        observations = [envs.reset(seed=3)[0]]
        envs.action_space.seed(1)
        for _ in range(12):
            observation, reward, terminated, truncated, _ = envs.step(envs.action_space.sample())
            assert envs.observation_space.contains(observation)
            assert reward.shape == terminated.shape == truncated.shape == (5,)
            observations.append(observation)
        found.append(np.array(observations))
    np.testing.assert_array_equal(*found)


def test_an_episode_ends_and_the_next_step_begins_another():
    envs = vector(num_envs=3, model="delta", duration=0.1)
    first, _ = envs.reset(seed=0)
    still = np.zeros((3, 3))
    ends = [envs.step(still)[3] for _ in range(5)]
    assert np.array(ends).all(axis=1).tolist() == [False] * 4 + [True]
    begun, reward, terminated, truncated, _ = envs.step(still)
    assert not (terminated | truncated).any()
    assert not reward.any()
    assert (begun[:, :3] != first[:, :3]).any(axis=1).all()
    assert not begun[:, 3:6].any()  # at rest


@pytest.mark.slow
@pytest.mark.parametrize("task", ["reach", "track"])
@pytest.mark.parametrize("model", MODELS)
def test_feedback_gets_to_the_goal(model, task):
    """Computed torque, with the goal from the observation alone, has the reward of a solver."""
    envs = vector(task, num_envs=8, model=model, duration=2.0)
    env = envs.unwrapped
    m, nv = env.mechanism, env.mechanism.coordinates.velocity_size
    observation, _ = envs.reset(seed=5)
    rewards = []
    for _ in range(100):
        displacement = env.task.scale * observation[:, -2 * nv : -nv]
        expected = env.task.scale * observation[:, -nv:]
        q, v = env.plants.configuration, env.plants.velocity
        command = 40.0 * displacement + 12.0 * (expected - v)
        efforts = m.inverse_dynamics(q, v, command)
        observation, reward, *_ = envs.step((efforts - env.holding_efforts) / env.effort_range)
        rewards.append(reward)
    assert np.median(rewards[-1]) > -0.02
    if task == "reach":
        assert np.median(rewards[-1]) > 0.2 * np.median(rewards[0])


def test_payloads_of_their_own_and_what_is_refused():
    from robodyn.gym import MechanismVectorEnv

    m = rd.load("delta")
    envs = MechanismVectorEnv(model=[m, m.with_payload(1.0)], duration=1.0)
    assert envs.num_envs == 2
    with pytest.raises(rd.InvalidInput, match="task is 'fly', expected reach, track"):
        MechanismVectorEnv(1, m, "fly")
    with pytest.raises(rd.InvalidInput, match="a multiple of dt"):
        MechanismVectorEnv(1, m, control_dt=0.0105)
    envs.reset(seed=0)
    for actions in (np.full((2, 3), np.nan), np.zeros((3, 3)), np.zeros(3), [[0.0] * 3, [0.0]]):
        with pytest.raises(rd.InvalidInput, match="actions"):
            envs.step(actions)


def test_a_list_of_mechanisms_is_taken_in_turn_and_action_0_holds_each():
    from robodyn.gym import MechanismVectorEnv

    m = rd.load("delta")
    given = [m.with_payload(mass) for mass in (0.0, 0.05, 0.1)]
    envs = MechanismVectorEnv(5, given, duration=1.0)
    assert envs.num_envs == 5
    assert [one.name for one in envs.plants.mechanisms] == [given[k % 3].name for k in range(5)]
    with pytest.raises(rd.InvalidInput, match="num_envs is 2 for 3 mechanisms"):
        MechanismVectorEnv(2, given)
    envs.reset(seed=0)
    envs.plants.reset()
    for _ in range(20):
        envs.step(np.zeros((5, 3)))
    away = m.difference(np.broadcast_to(m.home, (5, len(m.home))), envs.plants.configuration)
    assert np.abs(away).max() < 1e-6


def test_environments_step_semi_implicitly_and_near_the_default():
    """Also after copies, whose plants have the same integrator."""
    found = {}
    for integrator in ("rk4", "semi_implicit"):
        envs = copy.deepcopy(vector(num_envs=2, model="delta", integrator=integrator))
        envs.reset(seed=0)
        for _ in range(5):
            envs.step(np.full((2, 3), 0.05))
        found[integrator] = envs.unwrapped.plants.configuration
    off = np.abs(found["semi_implicit"] - found["rk4"]).max()
    assert 1e-7 < off < 1e-2


def test_a_copied_environment_goes_on_as_the_original():
    from robodyn.gym import MechanismVectorEnv

    envs = MechanismVectorEnv(2, "delta", duration=1.0)
    envs.reset(seed=3)
    action = np.full((2, 3), 0.1)
    envs.step(action)
    clones = [copy.deepcopy(envs), pickle.loads(pickle.dumps(envs))]
    observation, reward, *_ = envs.step(action)
    for clone in clones:
        again, same, *_ = clone.step(action)
        assert (again == observation).all()
        assert (same == reward).all()
