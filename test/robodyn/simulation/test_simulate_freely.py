# SPDX-License-Identifier: Apache-2.0

"""Simulations without a trajectory, wrenches of the state, and results as xarray has them."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.presentation import presentation

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
MODELS = ("stewart_symmetric", "puma560", "delta")


@pytest.mark.parametrize("name", MODELS)
def test_without_a_trajectory_it_starts_at_home(name):
    m = rd.load(name)
    efforts = 0.0 * m.gravity(m.home)
    found = rd.simulate(m, rd.ConstantEffort(efforts), duration=0.2)
    np.testing.assert_array_equal(found.configuration[0], m.home)
    assert not found.velocity[0].any()
    assert found.desired is None
    assert not found.error.any()
    assert found.velocity[-1].any()
    # held where it started
    still = rd.simulate(m, rd.ComputedTorque(m), duration=0.2)
    assert np.abs(m.difference(m.home, still.configuration[-1])).max() < 1e-9
    moved = m.advance(m.home, np.full(m.coordinates.velocity_size, 0.01))
    rest = np.zeros(m.coordinates.velocity_size)
    there = rd.simulate(m, rd.ComputedTorque(m), duration=0.2, initial=(moved, rest))
    assert np.abs(m.difference(moved, there.configuration[-1])).max() < 1e-9
    with pytest.raises(rd.InvalidInput, match="duration"):
        rd.simulate(m, rd.ConstantEffort(efforts))


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_a_spring_takes_and_gives_back_energy(name):
    m = rd.load(name).without_friction()
    home = m.body_pose(m.home)[:3]
    held = m.gravity(m.home)
    stiffness = 2e3 * presentation.moving_mass(m)

    def spring(time, configuration, velocity):
        pull = stiffness * (home - m.body_pose(configuration)[:3])
        return np.concatenate([pull, np.zeros(3)])

    def controller(time, configuration, velocity, trajectory):
        return held

    pushed = 0.05 * np.ones(m.coordinates.velocity_size)
    options = {"duration": 0.3, "initial": (m.home, pushed), "end_stops": None}
    options |= {"limit_efforts": False}
    found = rd.simulate(m, controller, None, 5e-4, None, wrench=spring, **options)
    stretched = np.linalg.norm(m.body_pose(found.configuration)[:, :3] - home, axis=1)
    stored = 0.5 * stiffness * stretched**2
    total = found.energy + stored
    # what holds it works along the joints
    joints = m.joint_positions(found.configuration)
    total -= (joints - joints[0]) @ held
    moving = found.energy.max() - found.energy.min() + stored.max()
    assert stored.max() > 0.02 * moving
    np.testing.assert_allclose(total, total[0], rtol=0, atol=1e-6 * moving)


def test_a_function_of_the_state_that_ignores_it_is_one_of_time():
    m, path = rd.load("delta"), rd.load_path("demo", rd.load("delta"))
    control = rd.ComputedTorque(m)

    def of_time(time):
        return np.array([np.sin(9.0 * time), 0.0, 1.0, 0.0, 0.0, 0.0])

    def of_state(time, configuration, velocity, scale=1.0):
        return scale * of_time(time)

    found = [
        rd.simulate(m, control, path, wrench=wrench, duration=0.3) for wrench in (of_time, of_state)
    ]
    np.testing.assert_allclose(found[0].configuration, found[1].configuration, atol=1e-12)
    assert (found[0].velocity != 0.0).any()


@pytest.mark.parametrize("name", MODELS)
def test_a_result_as_xarray(name):
    pytest.importorskip("xarray")
    m = rd.load(name)
    found = rd.simulate(m, rd.ComputedTorque(m), rd.load_path("demo", m), duration=0.1)
    data = found.to_xarray()
    assert data.attrs["mechanism"] == m.name
    np.testing.assert_array_equal(data["velocity"], found.velocity)
    np.testing.assert_array_equal(data["desired_acceleration"], found.desired.acceleration)
    joint = m.joint_names[1]
    np.testing.assert_array_equal(data["effort"].sel(joint=joint), found.effort[:, 1])
    free = rd.simulate(m, rd.ConstantEffort(m.gravity(m.home)), duration=0.1)
    assert "desired_velocity" not in free.to_xarray()
