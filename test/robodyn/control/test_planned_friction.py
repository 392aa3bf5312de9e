# SPDX-License-Identifier: Apache-2.0

"""Dry friction in inverse dynamics and in control: for the motion that is planned."""

from dataclasses import replace

import numpy as np
import pytest
from six_legs import six_legs, with_legs

import robodyn as rd
from robodyn.actuators import Actuator
from robodyn.algorithms import motions
from robodyn.control import ComputedTorque, TrajectoryFollower
from robodyn.simulation import Plant

PERIOD = 5_000_000  # [ns]


@pytest.fixture(scope="module", params=("arm", "platform", "loop"))
def rubbing(request, puma):
    if request.param == "arm":
        return puma
    if request.param == "platform":
        m = rd.load("stewart_symmetric").without_actuators()
        screw = Actuator(coulomb=60.0, coulomb_backward=70.0, static=90.0, stribeck_velocity=2e-3)
        legs = tuple(replace(leg, actuator=screw) for leg in six_legs(m).legs)
        return with_legs(m, legs)
    m = rd.load("fivebar")
    joints = (
        replace(joint, friction=np.array([0.3, 0.25])) if joint.name in m.joint_names else joint
        for joint in m.model.joints
    )
    return rd.ClosedLoop(replace(m.model, joints=tuple(joints)))


def test_a_motion_from_rest_has_the_friction_of_the_side_to_which_it_accelerates(rubbing, rng):
    """Single states and a batch; at rest without acceleration there is none."""
    size, smooth = rubbing.coordinates.velocity_size, rubbing.without_dry_friction()
    home, rest = rubbing.home, np.zeros(size)
    rows = rubbing.solver.friction.rows
    changes = rng.normal(size=(11, size))
    efforts = []
    for change in changes:
        sides = np.sign(motions.driven_motion(rubbing, home, rest, change)[2])
        level = np.where(sides > 0.0, rows[:, 0] + rows[:, 2], rows[:, 1] + rows[:, 3])
        effort = rubbing.inverse_dynamics(home, rest, change)
        expected = smooth.inverse_dynamics(home, rest, change) + sides * level
        np.testing.assert_allclose(effort, expected, rtol=1e-9)
        efforts.append(effort)
    stack = np.tile(home, (11, 1)), np.zeros((11, size))
    np.testing.assert_allclose(rubbing.inverse_dynamics(*stack, changes), efforts, rtol=1e-9)
    np.testing.assert_array_equal(
        rubbing.inverse_dynamics(home, rest, rest), smooth.inverse_dynamics(home, rest, rest)
    )


def test_a_path_is_followed_with_friction_in_plant_and_control(rubbing):
    """By `simulate` in compiled code, and as the node does it, through a reversal and to rest."""
    n = rubbing.coordinates.velocity_size
    aside = rubbing.advance(rubbing.home, np.full(n, 0.03))
    there = rd.plan_straight(rubbing, rubbing.home, aside, duration=0.6)
    run = rd.simulate(rubbing, ComputedTorque(rubbing), there, 1e-3, 5e-3, duration=0.8)
    error = rubbing.difference(run.configuration[-1], aside)
    assert np.abs(error).max() < 5e-4
    plant, follower = Plant(rubbing, rubbing.home), TrajectoryFollower(rubbing)
    follower.follow(there, 0)
    for count in range(160):
        command = follower.command(count * PERIOD, plant.configuration, plant.velocity)
        plant.hold(command.effort, 5)
    assert np.abs(rubbing.difference(plant.configuration, aside)).max() < 5e-4
    # and then nothing moves any more
    np.testing.assert_array_equal(plant.velocity, 0.0)


def test_compiled_and_python_control_agree_about_friction(puma):
    class Own(ComputedTorque):
        """A derived class is called at every instant."""

    path = rd.plan_joints(puma.home, puma.home + 0.2, duration=0.5)
    runs = [
        rd.simulate(puma, law(puma), path, 1e-3, 1e-2, duration=0.6)
        for law in (ComputedTorque, Own)
    ]
    np.testing.assert_allclose(runs[0].configuration, runs[1].configuration, rtol=0, atol=1e-9)
    np.testing.assert_allclose(runs[0].effort, runs[1].effort, rtol=0, atol=1e-6)
