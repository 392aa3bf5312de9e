# SPDX-License-Identifier: Apache-2.0

"""End stops take energy, whatever the joint's inertia, the kind of mechanism and the step."""

from dataclasses import replace

import numpy as np
import pytest
from six_legs import six_legs, with_legs

import robodyn as rd
from robodyn.errors import InvalidInput

NAMES = ("puma560", "stanford_arm", "fivebar", "delta", "hexapod_rotary", "motion_platform")
STEPS = (1e-4, 1e-3, 5e-3)
# Largest speed after an impact, as a fraction of that before.
REBOUND = 0.4
FAST = {"m": 0.5, "rad": 3.0}


def at_an_end(m, joint, side, distance):
    """The configuration with one driven joint so far before an end, the others at home."""
    positions = np.array(m.joint_positions(m.home))
    positions[joint] = m.position_limits[joint][side] - (2 * side - 1) * distance
    return m.assemble(positions, m.home)


def push_of(m, q, joint):
    """The velocity that an impulse on a driven joint causes, for a unit rate of this joint."""
    J = m.joint_jacobian(q)
    v = np.linalg.solve(m.mass_matrix(q), J[joint])
    return v / (J[joint] @ v)


def joints_and_sides(m):
    for joint, limits in enumerate(m.position_limits):
        yield from ((joint, side) for side in (0, 1) if np.isfinite(limits[side]))


def impacts(m, dt):
    """Plants in which one joint each is about to hit an end, with its rate."""
    starts, rates = [], []
    for joint, side in joints_and_sides(m):
        rate = FAST[m.drives.units[joint]]
        # within the fourth step
        try:
            q = at_an_end(m, joint, side, 3.3 * rate * dt)
        except rd.RobodynError:
            continue  # the end is out of the workspace
        starts.append((q, (2 * side - 1) * rate * push_of(m, q, joint)))
        rates.append((joint, (2 * side - 1) * rate))
    q, v = (np.array(part) for part in zip(*starts, strict=True))
    plant = rd.BatchPlant(m, len(q), dt=dt)
    plant.reset(q, v)
    return plant, rates


def energies(m, plant):
    return np.sum(m.energy(plant.configuration, plant.velocity), axis=0)


@pytest.mark.slow
@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize("name", NAMES)
def test_hitting_an_end_never_adds_energy(name, dt):
    """The energy never exceeds that before the impact plus the work of the drives."""
    m = rd.load(name).without_friction()
    plant, rates = impacts(m, dt)
    assert len(rates) >= 4
    rng = np.random.default_rng(5)
    efforts = 0.02 * rng.uniform(-1.0, 1.0, (len(rates), len(m.joint_names)))
    efforts *= np.minimum(m.effort_limits, 1e3)
    start, first = m.joint_positions(plant.configuration), energies(m, plant)
    scale = np.abs(m.energy(plant.configuration, plant.velocity)[0])
    was_beyond, rebound = np.zeros(len(rates), dtype=bool), np.zeros(len(rates))
    limits = m.position_limits
    for _ in range(24):
        plant.step(efforts)
        assert not plant.failed.any()
        positions = m.joint_positions(plant.configuration)
        work = ((positions - start) * efforts).sum(axis=1)
        assert (energies(m, plant) <= first + work + 1e-3 * scale).all()
        moving = m.joint_velocities(plant.configuration, plant.velocity)
        for row, (joint, rate) in enumerate(rates):
            end = limits[joint][int(rate > 0.0)]
            was_beyond[row] |= np.sign(rate) * (positions[row, joint] - end) > 0.0
            back = -moving[row, joint] / rate
            if was_beyond[row] and np.sign(rate) * (positions[row, joint] - end) > 0.0:
                rebound[row] = max(rebound[row], back)
    assert was_beyond.all()
    assert (rebound < REBOUND).all()


@pytest.mark.slow
@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize("name", NAMES)
def test_a_pressed_joint_stays_near_its_end(name, dt):
    """The largest effort tau presses a joint of effective inertia m by dt^2 tau / m beyond."""
    m = rd.with_gravity(rd.load(name).without_friction(), [0.0, 0.0, 0.0])
    for joint, side in list(joints_and_sides(m))[:4]:
        try:
            q = at_an_end(m, joint, side, 0.0)
        except rd.RobodynError:
            continue
        J, efforts = m.joint_jacobian(q), np.zeros(len(m.joint_names))
        inverse = J[joint] @ np.linalg.solve(m.mass_matrix(q), J[joint])
        efforts[joint] = (2 * side - 1) * min(m.effort_limits[joint], 1.0 / inverse / dt)
        plant = rd.Plant(m, q, dt=dt)
        plant.hold(efforts, 20)
        beyond = m.joint_positions(plant.configuration)[joint] - m.position_limits[joint][side]
        expected = dt**2 * efforts[joint] * inverse
        assert 0.8 * abs(expected) < np.sign(expected) * beyond < 1.2 * abs(expected)


@pytest.mark.parametrize("dt", STEPS)
def test_a_wrist_without_rotors_loses_its_energy_at_an_end(dt):
    """Its inertia is 1e-4 of the first joint's; almost all of its energy is taken."""
    m = rd.load("puma560").without_friction().without_actuators()
    m = rd.with_gravity(m, [0.0, 0.0, 0.0])
    joint = len(m.joint_names) - 1
    q = at_an_end(m, joint, 1, 1.3 * 3.0 * dt)
    plant = rd.Plant(m, q, 3.0 * push_of(m, q, joint), dt=dt)
    before = sum(m.energy(plant.configuration, plant.velocity))
    plant.hold(np.zeros(len(m.joint_names)), 20)
    assert m.joint_positions(plant.configuration)[joint] < m.position_limits[joint][1]
    assert sum(m.energy(plant.configuration, plant.velocity)) < 0.07 * before


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_batch_hits_its_ends_with_the_bits_of_a_plant(name):
    m = rd.load(name).without_friction()
    batch, rates = impacts(m, 1e-3)
    plants = [
        rd.Plant(m, *state, dt=1e-3)
        for state in zip(batch.configuration, batch.velocity, strict=True)
    ]
    efforts = np.zeros(len(m.joint_names))
    batch.step(efforts, 12)
    for plant, *state in zip(plants, batch.configuration, batch.velocity, strict=True):
        plant.hold(efforts, 12)
        np.testing.assert_array_equal(plant.configuration, state[0])
        np.testing.assert_array_equal(plant.velocity, state[1])
    assert len(plants) == len(rates)


def test_all_joints_pressed_together_come_to_rest():
    """Coupled stops of six legs have no mode that is too fast for the step."""
    platform = rd.load("stewart_symmetric").without_friction()
    lengths = platform.joint_positions(platform.home)
    legs = tuple(
        replace(leg, limits=replace(leg.limits, length=(length - 0.01, length + 0.01)))
        for leg, length in zip(six_legs(platform).legs, lengths, strict=True)
    )
    platform = with_legs(platform, legs)
    for dt in STEPS:
        plant = rd.Plant(platform, dt=dt)
        for sign in (1.0, -1.0):
            plant.hold(sign * np.array(platform.effort_limits), round(0.6 / dt))
            rates = platform.joint_velocities(plant.configuration, plant.velocity)
            assert np.abs(rates).max() < 1e-3
            beyond = sign * (platform.joint_positions(plant.configuration) - lengths) - 0.01
            assert ((beyond > 0.0) & (beyond < 2e-3)).all()


def test_given_numbers_replace_those_from_the_inertia():
    with pytest.raises(InvalidInput, match="no time constant"):
        _ = rd.EndStops().numbers
    np.testing.assert_array_equal(rd.EndStops(1e5, 1e3).numbers, [1e5, 1e3, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(rd.EndStops(time_constant=0.01).numbers, [0.0, 0.0, 0.0, 1e4, 200.0])
    np.testing.assert_allclose(rd.EndStops(1e5).for_step(0.01).numbers, [1e5, 0, 0, 0, 200.0])
