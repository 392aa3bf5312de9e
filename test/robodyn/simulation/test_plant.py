# SPDX-License-Identifier: Apache-2.0

"""The plant: limits, end stops, and the energy that goes in is there or dissipated."""

from dataclasses import replace

import numpy as np
import pytest
from six_legs import LegLimits, SixLegs, six_legs, with_legs

import robodyn as rd
from robodyn.errors import InvalidInput
from robodyn.poses import pose_difference, pose_from_rpy, rotation_matrix
from robodyn.simulation import EndStops, Plant

REST = np.zeros(6)


def energy_entry(golden):
    entry = golden["stewart_energy"]
    states = entry["start"], entry["end"]
    return entry, *(
        (np.array(state["t"]), np.array(state["R"]), [*state["v"], *state["w"]]) for state in states
    )


def as_pose(position, R):
    yaw, pitch = np.arctan2(R[1, 0], R[0, 0]), -np.arcsin(R[2, 0])
    return pose_from_rpy(position, [np.arctan2(R[2, 1], R[2, 2]), pitch, yaw])


def test_held_forces_lead_to_the_reference_state(dasgupta, golden):
    entry, (start, R0, twist0), (end, R1, twist1) = energy_entry(golden)
    plant = Plant(dasgupta, as_pose(start, R0), twist0, dt=1e-4, end_stops=None)
    plant.hold(entry["F"], round(entry["t_end"] / 1e-4))
    np.testing.assert_allclose(plant.configuration[:3], end, atol=1e-9)
    np.testing.assert_allclose(rotation_matrix(plant.configuration), R1, atol=1e-9)
    np.testing.assert_allclose(plant.velocity, twist1, atol=1e-8)


def test_work_is_change_of_energy_plus_dissipation(dasgupta, golden):
    entry, (start, R0, twist0), _ = energy_entry(golden)
    plant = Plant(dasgupta, as_pose(start, R0), twist0, dt=1e-4, end_stops=None)
    before = dasgupta.energy(plant.configuration, plant.velocity)
    assert before.kinetic + before.potential == pytest.approx(entry["E0"], rel=1e-9)
    states = [(plant.configuration, plant.velocity)]
    for _ in range(round(entry["t_end"] / 1e-4)):
        plant.hold(entry["F"], 1)
        states.append((plant.configuration, plant.velocity))
    pose, twist = map(np.array, zip(*states, strict=True))
    # constant forces: their work is exact from the leg lengths
    lengths = dasgupta.joint_positions(pose[[0, -1]])
    work = np.dot(entry["F"], lengths[1] - lengths[0])
    dissipated = simpson(dissipation(dasgupta, pose, twist), 1e-4)
    after = dasgupta.energy(pose[-1], twist[-1])
    change = after.kinetic + after.potential - before.kinetic - before.potential
    assert work == pytest.approx(change + dissipated, abs=1e-10)
    assert work == pytest.approx(entry["work"], rel=1e-9)
    assert dissipated == pytest.approx(entry["dissipated"], rel=1e-6)


def dissipation(platform, pose, twist):
    """Power [W] lost in the universal, prismatic and spherical joints."""
    motion = platform.leg_motion(pose, twist)
    damping = six_legs(platform).legs[0].damping
    relative = motion.angular_velocity - twist[:, None, 3:]
    return (
        damping.universal * (motion.universal_rates**2).sum(axis=(1, 2))
        + damping.prismatic * (motion.rate**2).sum(axis=1)
        + damping.spherical * (relative**2).sum(axis=(1, 2))
    )


def simpson(values, h):
    return h / 3 * (values[0] + 4 * values[1:-1:2].sum() + 2 * values[2:-1:2].sum() + values[-1])


def test_a_wrench_that_carries_the_weight_keeps_all_at_rest(dasgupta):
    wrench = dasgupta.bias(dasgupta.home, REST)
    plant = Plant(dasgupta)
    plant.hold(REST, 100, wrench)
    np.testing.assert_allclose(pose_difference(dasgupta.home, plant.configuration), 0.0, atol=1e-9)


def test_plant_starts_at_home_and_at_rest(dasgupta, puma):
    for mechanism in (dasgupta, puma):
        plant = Plant(mechanism)
        np.testing.assert_allclose(plant.configuration, mechanism.home, atol=1e-15)
        np.testing.assert_array_equal(plant.velocity, 0.0)


def test_efforts_are_cut_to_the_limits_and_counted(dasgupta):
    asked = [2e5, -2e5, 10.0, 0.0, 0.0, 0.0]
    plant = Plant(dasgupta, dt=1e-5)
    plant.hold(asked, 1)
    plant.hold(asked, 2)
    np.testing.assert_array_equal(plant.effort, [1e5, -1e5, 10.0, 0.0, 0.0, 0.0])
    np.testing.assert_array_equal(plant.saturated, [2, 2, 0, 0, 0, 0])
    free = Plant(dasgupta, dt=1e-5, limit_efforts=False)
    free.hold(asked, 1)
    np.testing.assert_array_equal(free.effort, asked)
    plant.reset()
    np.testing.assert_array_equal(plant.effort, 0.0)
    np.testing.assert_array_equal(plant.saturated, 0)


def test_end_stops_hold_the_legs_and_give_no_energy(dasgupta):
    """Without forces the platform falls onto its stops; without stops it falls through."""
    model = six_legs(dasgupta)
    lengths = dasgupta.joint_positions(dasgupta.home)
    legs = tuple(
        replace(leg, limits=LegLimits((length - 0.01, length + 0.01)))
        for leg, length in zip(model.legs, lengths, strict=True)
    )
    platform = with_legs(dasgupta, legs)
    limits = platform.position_limits
    outside = {}
    for stops in (EndStops(1e6, 1e4), None):
        plant = Plant(platform, dt=1e-4, end_stops=stops)
        start = sum(platform.energy(plant.configuration, plant.velocity))
        outside[stops] = 0.0
        for _ in range(100 if stops else 20):
            plant.hold(REST, 50)
            lengths = platform.joint_positions(plant.configuration)
            beyond = np.maximum(limits[:, 0] - lengths, lengths - limits[:, 1]).max()
            outside[stops] = max(outside[stops], float(beyond))
            assert sum(platform.energy(plant.configuration, plant.velocity)) < start
    assert 0.0 < outside[EndStops(1e6, 1e4)] < 0.02 < outside[None]


@pytest.mark.parametrize(
    ("state", "text"),
    [
        ((np.zeros(7), None), "quaternion"),
        ((np.zeros(6), None), r"shape \(6,\)"),
        ((pose_from_rpy(np.zeros((2, 3)), [0, 0, 0]), None), "expected a single configuration"),
        ((pose_from_rpy([0, 0, 0.5], [0, 0, 0]), np.zeros(7)), r"velocity has shape \(7,\)"),
        ((pose_from_rpy([0, 0, 0.5], [0, 0, 0]), [np.nan] * 6), r"velocity\[0\] is nan"),
    ],
)
def test_states_that_cannot_be_are_refused(dasgupta, state, text):
    with pytest.raises(InvalidInput, match=text):
        Plant(dasgupta, *state)


def test_a_state_without_geometry_is_refused(dasgupta):
    leg = six_legs(dasgupta).legs[0]
    with pytest.raises(rd.KinematicsError, match="leg 1 has zero length"):
        Plant(dasgupta, pose_from_rpy(leg.base - leg.platform, [0, 0, 0]))


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((REST, 0), "steps is 0, expected a whole number of at least 1"),
        ((np.zeros(5), 1), r"effort has shape \(5,\)"),
        ((np.zeros((2, 6)), 1), r"effort has shape \(2, 6\).*without batch"),
        (([np.nan] * 6, 1), r"effort\[0\] is nan"),
        ((REST, 1, np.zeros((2, 6))), r"wrench has shape \(2, 6\)"),
        ((REST, 1, [np.inf] * 6), r"wrench\[0\] is inf"),
    ],
)
def test_efforts_that_cannot_be_are_refused(dasgupta, arguments, text):
    plant = Plant(dasgupta)
    with pytest.raises(InvalidInput, match=text):
        plant.hold(*arguments)
    np.testing.assert_array_equal(plant.saturated, 0)


def test_steps_and_stops_have_bounds(dasgupta):
    with pytest.raises(InvalidInput, match=r"dt is 0\.0, must be above 0"):
        Plant(dasgupta, dt=0.0)
    with pytest.raises(InvalidInput, match=r"stiffness is -1\.0"):
        EndStops(stiffness=-1.0)
    with pytest.raises(InvalidInput, match="damping is nan"):
        EndStops(damping=np.nan)


def test_a_failure_leaves_the_plant_where_it_was_and_reports_how_far_it_got(dasgupta):
    plant = Plant(dasgupta, dt=0.01, end_stops=None, limit_efforts=False)
    with pytest.raises(rd.SimulationFailed, match=r"stopped after \d+ of \d+ steps") as caught:
        plant.hold(np.full(6, 1e12), 1000)
    np.testing.assert_allclose(plant.configuration, dasgupta.home, atol=1e-15)
    assert 0.0 <= caught.value.time < 10.0
    assert np.isfinite(np.concatenate(caught.value.value)).all()


def test_a_model_without_a_home_can_be_placed(dasgupta):
    model = six_legs(dasgupta)
    homeless = rd.StewartPlatform(SixLegs("homeless", model.platform, model.legs).model())
    Plant(homeless, dasgupta.home)
    with pytest.raises(InvalidInput, match="no home pose"):
        Plant(homeless)
