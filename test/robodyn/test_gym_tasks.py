# SPDX-License-Identifier: Apache-2.0

"""Tasks of users: states, wrenches, delays, noise and randomized mechanisms act as stated."""

import pickle

import numpy as np
import pytest

import robodyn as rd

gymnasium = pytest.importorskip("gymnasium", "1.1")
from gymnasium.vector import AutoresetMode  # noqa: E402

from robodyn.gym import MechanismEnv, MechanismVectorEnv, Task  # noqa: E402

DT = 1e-3


class Hover(Task):
    """Stay at home under a wrench that grows with time, with everything random."""

    def randomize(self, env, rows, rng):
        env.delay[rows] = rng.integers(0, 4, len(rows)) * env.actuation_dt
        env.latency[rows] = rng.integers(0, 3, len(rows)) * env.control_dt
        env.noise[rows] = 1e-3
        loads = rng.uniform(0.0, 1.0, len(rows))
        return [env.mechanism.with_payload(mass) for mass in loads]

    def reward(self, env, action):
        return -np.linalg.norm(super().observe(env), axis=1)

    def terminated(self, env):
        return super().observe(env)[:, 0] > 0.05

    def wrench(self, env):
        return np.outer(env.time, [0.0, 0.0, 20.0, 0.0, 0.0, 0.0])


class Plain(Task):
    """Nothing but a reward; the base class has the rest."""

    def reward(self, env, action):
        return env.time


class Loaded(Plain):
    """A wrench of time only."""

    def wrench(self, env):
        return np.outer(env.time, [5.0, 0.0, 20.0, 0.0, 0.1, 0.0])


def test_a_task_needs_nothing_but_a_reward():
    envs = MechanismVectorEnv(2, "delta", Plain(), duration=0.06)
    m = envs.mechanism
    first, _ = envs.reset(seed=0)
    assert not first.any()
    assert envs.single_observation_space.shape == (6,)
    ends = [envs.step(np.full((2, 3), 0.1))[1:4] for _ in range(3)]
    assert [reward[0] for reward, _, _ in ends] == pytest.approx([0.02, 0.04, 0.06])
    assert [truncated.all() for _, _, truncated in ends] == [False, False, True]
    assert (envs.plants.configuration[0] != m.home).any()


def test_wrenches_of_a_task_are_those_of_a_plant():
    envs = MechanismVectorEnv(
        2, "delta", Loaded(), duration=1.0, control_dt=0.02, actuation_dt=5 * DT
    )
    envs.reset(seed=0)
    plant = rd.Plant(envs.mechanism, dt=DT)
    for step in range(2):
        envs.step(np.full((2, 3), 0.2))
        for part in range(4):
            wrench = np.array([5.0, 0.0, 20.0, 0.0, 0.1, 0.0]) * (0.02 * step + 5 * DT * part)
            efforts = envs.holding_efforts[0] + 0.2 * envs.effort_range[0]
            plant.hold(efforts, 5, wrench)
    np.testing.assert_allclose(envs.plants.velocity[1], plant.velocity, rtol=1e-12, atol=1e-14)


def test_an_action_acts_after_its_delay():
    """Rows with delays move as plants that keep action 0 until then."""
    envs = MechanismVectorEnv(
        3, "delta", Plain(), duration=1.0, control_dt=0.01, actuation_dt=2 * DT
    )
    envs.reset(seed=0)
    envs.delay[:] = 0.0, 0.004, 0.015
    for _ in range(3):
        envs.step(np.full((3, 3), 0.3))
    full = envs.holding_efforts[0] + 0.3 * envs.effort_range[0]
    for row, late in enumerate((0, 4, 16)):  # 15 ms are rounded up to the next 2 ms
        plant = rd.Plant(envs.mechanism, dt=DT)
        if late:
            plant.hold(envs.holding_efforts[row], late)
        plant.hold(full, 30 - late)
        np.testing.assert_allclose(envs.plants.velocity[row], plant.velocity, rtol=1e-9, atol=1e-12)


def test_observations_are_late_and_have_noise():
    envs = MechanismVectorEnv(2, "delta", Plain(), duration=1.0)
    envs.reset(seed=0)
    envs.latency[1] = 0.03  # rounded up to two steps
    seen = np.array([envs.step(np.full((2, 3), 0.3))[0] for _ in range(5)])
    assert seen[:, 0].any(axis=1).all()
    assert not seen[:2, 1].any()
    np.testing.assert_array_equal(seen[2:, 1], seen[:3, 0])
    envs.noise = np.full((2, 6), 0.1)
    spread = np.array([envs.step(np.zeros((2, 3)))[0] for _ in range(40)]).std(axis=0)
    assert (spread > 0.03).all()


def test_same_step_begins_at_once_and_keeps_the_last_observation():
    modes = AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP, "Disabled"
    same, following, disabled = (
        MechanismVectorEnv(3, "delta", duration=0.04, autoreset_mode=mode) for mode in modes
    )
    action = np.full((3, 3), 0.2)
    for envs in (same, following, disabled):
        envs.reset(seed=4)
        envs.step(action)
    begun, reward, _, truncated, info = same.step(action)
    last, again, *_ = following.step(action)
    assert truncated.all()
    np.testing.assert_array_equal(info["final_obs"], last)
    np.testing.assert_array_equal(reward, again)
    assert info["_final_obs"].all()
    np.testing.assert_array_equal(begun, following.step(action)[0])
    assert not same.time.any()
    disabled.step(action)
    mask = np.array([True, False, True])
    moved = disabled.plants.configuration
    disabled.reset(options={"reset_mask": mask})
    np.testing.assert_array_equal(disabled.time > 0.0, ~mask)
    assert (disabled.plants.configuration[1] == moved[1]).all()


@pytest.mark.parametrize("mode", list(AutoresetMode)[:2])
def test_a_pickle_in_mid_episode_goes_on_with_the_same_bits(mode):
    """Through ends of episodes, with randomized mechanisms, delays, latency and noise."""
    envs = MechanismVectorEnv(
        4, "delta", Hover(), duration=0.1, actuation_dt=0.01, autoreset_mode=mode
    )
    envs.reset(seed=7)
    actions = np.random.default_rng(1).uniform(-1.0, 1.0, (10, 4, 3))
    for action in actions[:3]:
        envs.step(action)
    clone = pickle.loads(pickle.dumps(envs))
    ended = np.zeros(4, dtype=bool)
    for action in actions[3:]:
        one, two = envs.step(action), clone.step(action)
        for a, b in zip(one[:4], two[:4], strict=True):
            assert a.tobytes() == b.tobytes()
        ended |= one[2] | one[3]
    assert ended.all()
    masses = [sum(body.mass for body in m.bodies) for m in envs.plants.mechanisms]
    assert len(set(masses)) == 4
    assert masses == [sum(body.mass for body in m.bodies) for m in clone.plants.mechanisms]


def test_the_same_seed_randomizes_alike():
    found = []
    for _ in range(2):
        envs = MechanismVectorEnv(3, "delta", Hover(), duration=0.1, actuation_dt=0.01)
        observation, _ = envs.reset(seed=5)
        found.append(np.array([observation, *(envs.step(np.zeros((3, 3)))[0] for _ in range(7))]))
    assert found[0].tobytes() == found[1].tobytes()


def test_pictures_show_the_mechanism_move():
    pytest.importorskip("matplotlib")
    env = MechanismEnv("delta", "reach", render_mode="rgb_array")
    env.reset(seed=0)
    before = env.render()
    assert before.shape == (240, 320, 3)
    assert before.dtype == np.uint8
    for _ in range(5):
        env.step(np.full(3, 0.5))
    assert (env.render() != before).any()
    assert (before == 255).mean() > 0.5
    assert MechanismVectorEnv(2, "delta").render() is None
    with pytest.raises(rd.InvalidInput, match="render_mode is 'human'"):
        MechanismEnv("delta", render_mode="human")


def test_a_mechanism_with_fewer_drives_than_freedoms_is_held_as_well_as_can_be(tmp_path):
    """A pole stands on a delta: action 0 holds both, upright at rest."""
    pole = """
      <link name="pole"><inertial><origin xyz="0 0 0.2"/><mass value="0.1"/>
        <inertia ixx="1e-3" iyy="1e-3" izz="1e-5" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="hinge" type="continuous"><parent link="tool0"/><child link="pole"/>
        <axis xyz="0 1 0"/></joint>
    </robot>"""
    rd.save(rd.load("delta"), tmp_path / "delta.urdf")
    text = (tmp_path / "delta.urdf").read_text().replace("</robot>", pole)
    m = rd.load(text, tip_link="tool0")
    envs = MechanismVectorEnv(1, m, Plain(), duration=1.0)
    envs.reset(seed=0)
    envs.step(np.zeros((1, 3)))
    assert np.abs(envs.plants.velocity).max() < 1e-10
    heavier = rd.load("delta").with_payload(0.1)
    expected = heavier.inverse_dynamics(heavier.home, np.zeros(3), np.zeros(3))
    np.testing.assert_allclose(envs.holding_efforts[0], expected, rtol=0.0, atol=1e-9)
