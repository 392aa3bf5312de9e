# SPDX-License-Identifier: Apache-2.0

"""Drives that add gravity or Coriolis efforts themselves, and a controller that does not."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.control import TrajectoryFollower
from robodyn.simulation import Plant

TICK = 2_000_000


def errors(plant, follower, path, add):
    """Displacements (K, nv) from the path, of a plant whose drives add efforts to commands."""
    m, found = plant.mechanism, []
    follower.follow(path, 0)
    for k in range(400):
        state = plant.configuration, plant.velocity
        command = follower.command(k * TICK, *state)
        found.append(m.difference(follower.desired.configuration, state[0]))
        plant.hold(command.effort + add(*state), 2)
    return np.array(found)


@pytest.mark.parametrize("name", ["puma560", "delta"])
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.slow
def test_an_arm_follows_alike_whether_its_drives_add_gravity_or_not(name):
    """Also Coriolis efforts: the motion is the same whether drive or controller adds them."""
    m = rd.load(name)
    rest = np.zeros(m.coordinates.velocity_size)
    goal = m.advance(m.home, 0.2 + rest)
    path = rd.plan_straight(m, m.home, goal, duration=0.6, profile="quintic")
    away = m.advance(m.home, 1e-3 + rest)
    free = m.without_friction()

    def run(model, add, **options):
        plant = Plant(m, away, dt=1e-3, limit_efforts=False)
        return errors(plant, TrajectoryFollower(model, **options), path, add)

    def gravity(q, _):
        return free.inverse_dynamics(q, rest, rest)

    def coriolis(q, v):
        return free.inverse_dynamics(q, v, rest) - gravity(q, v)

    own = run(m, lambda *_: 0.0)
    assert np.abs(own).max() > 1e-5
    still = rd.with_gravity(m, [0.0, 0.0, 0.0])
    np.testing.assert_allclose(run(still, gravity), own, atol=1e-9)
    without = run(m, coriolis, compensates_coriolis=False)
    np.testing.assert_allclose(without, own, atol=1e-9)
    both = run(still, lambda q, v: gravity(q, v) + coriolis(q, v), compensates_coriolis=False)
    np.testing.assert_allclose(both, own, atol=1e-9)
    # without anybody's compensation it sags
    assert np.abs(run(still, lambda *_: 0.0) - own).max() > 1e-3
