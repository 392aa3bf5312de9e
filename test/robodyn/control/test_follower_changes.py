# SPDX-License-Identifier: Apache-2.0

"""Changes while a trajectory is followed: the trajectory itself, its speed, mode, payload."""

from dataclasses import replace

import numpy as np
import pytest
from six_legs import six_legs, with_legs

import robodyn as rd
from robodyn.control import TrajectoryFollower
from robodyn.errors import InvalidInput
from robodyn.poses import pose_from_rpy
from robodyn.simulation import Plant
from robodyn.trajectories import Motion

MS = 1_000_000
SECOND = 1000 * MS
REST = np.zeros(6)


def planned(follower, mechanism, times):
    """Return the planned motion of a follower in feedforward at times [ns], for any state."""
    commands = [follower.command(t, mechanism.home, REST) for t in times]
    return Motion(*(np.array(values) for values in zip(*(c.motion for c in commands), strict=True)))


def assert_smooth(mechanism, motion, dt, jump):
    """Position is the integral of velocity, and velocity of acceleration, within `jump`."""
    _, velocity, acceleration = motion
    step = mechanism.difference(motion.configuration[:-1], motion.configuration[1:])
    middle = 0.5 * (velocity[:-1] + velocity[1:])
    np.testing.assert_allclose(step / dt, middle, atol=jump * dt)
    middle = 0.5 * (acceleration[:-1] + acceleration[1:])
    np.testing.assert_allclose(np.diff(velocity, axis=0) / dt, middle, atol=jump)


@pytest.fixture
def follower(dasgupta):
    return TrajectoryFollower(dasgupta, "feedforward")


@pytest.fixture
def onwards():
    start, goal = pose_from_rpy([[0.2, 0.05, 0.5], [0.1, 0.1, 0.6]], [[0.1, 0, 0], [0, 0.2, -0.3]])
    return rd.plan_line(start, goal, 2.0, profile="quintic")


@pytest.mark.parametrize("start", [None, 2900 * MS, 3000 * MS, 3100 * MS])
def test_a_replacement_takes_over_without_a_jump(follower, dasgupta, onwards, start):
    first = rd.paper_path("I")
    follower.follow(first, 0)
    planned(follower, dasgupta, range(0, 2999 * MS, 100 * MS))
    follower.follow(onwards, start)
    times = range(2990 * MS, 3800 * MS, 2 * MS)
    motion = planned(follower, dasgupta, times)
    assert_smooth(dasgupta, motion, 2e-3, 0.25)
    begin = 2990 * MS if start is None else start
    for time, row in zip(times, zip(*motion, strict=True), strict=True):
        if time < begin:
            expected = first.sample(time * 1e-9)
        elif time < max(begin, 2990 * MS) + 501 * MS:
            continue
        else:
            expected = onwards.sample((time - begin) * 1e-9)
        for found, reference in zip(row, expected, strict=True):
            np.testing.assert_array_equal(found, reference)


@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_a_replacement_whose_start_is_past_is_joined_where_it_is_by_now(
    follower, dasgupta, onwards, scale
):
    """At half speed it is half as far again after the handover, not where real time would be."""
    follower.scale = scale
    follower.follow(rd.paper_path("I"), 0)
    planned(follower, dasgupta, [0, 1000 * MS, 3000 * MS])
    follower.follow(onwards, 2500 * MS)
    planned(follower, dasgupta, [3000 * MS])
    joined = 0.5  # [s] on the replacement
    found = planned(follower, dasgupta, [4200 * MS])
    expected = onwards.sample(joined + 1.2 * scale)
    np.testing.assert_allclose(found.configuration[0], expected.configuration, atol=1e-12)
    np.testing.assert_allclose(found.velocity[0], scale * expected.velocity, atol=1e-12)
    np.testing.assert_allclose(found.acceleration[0], scale**2 * expected.acceleration, atol=1e-12)


@pytest.mark.slow
def test_an_arm_hands_over_as_a_platform_does(puma):
    follower = TrajectoryFollower(puma, "feedforward")
    follower.follow(rd.plan_joints(np.zeros(6), np.ones(6), 1.0, profile="quintic"))
    early = planned(follower, puma, range(0, 500 * MS, 2 * MS))
    follower.follow(rd.plan_joints(np.full(6, 0.3), -np.ones(6), 1.0, profile="quintic"))
    # its efforts make the handover longer
    late = planned(follower, puma, range(500 * MS, 4000 * MS, 2 * MS))
    motion = Motion(*(np.concatenate(pair) for pair in zip(early, late, strict=True)))
    assert_smooth(puma, motion, 2e-3, 0.5)
    np.testing.assert_array_equal(motion.configuration[-1], -np.ones(6))


def test_many_replacements_in_a_row_stay_smooth(follower, dasgupta, onwards):
    paths, parts = (rd.paper_path("I"), onwards), []
    for k in range(10):
        follower.follow(paths[k % 2])
        times = range(k * 100 * MS, (k + 1) * 100 * MS, 2 * MS)
        parts.append(planned(follower, dasgupta, times))
    motion = Motion(*(np.concatenate(values) for values in zip(*parts, strict=True)))
    assert_smooth(dasgupta, motion, 2e-3, 0.5)


def test_no_handover_is_a_jump(dasgupta, onwards):
    follower = TrajectoryFollower(dasgupta, "feedforward", handover=0.0)
    follower.follow(rd.paper_path("I"))
    planned(follower, dasgupta, [0, SECOND])
    follower.follow(onwards)
    found = planned(follower, dasgupta, [2 * SECOND]).configuration[0]
    np.testing.assert_array_equal(found, onwards.sample(0.0).configuration)


def test_trajectory_that_never_began_is_not_handed_over(follower, dasgupta, onwards):
    follower.follow(rd.paper_path("I"))
    follower.follow(onwards)
    found = planned(follower, dasgupta, [0]).configuration[0]
    np.testing.assert_array_equal(found, onwards.sample(0.0).configuration)


def test_the_first_trajectory_begins_as_it_is_even_from_a_hold(dasgupta):
    path = rd.paper_path("I")
    plain = TrajectoryFollower(dasgupta)
    holding = TrajectoryFollower(dasgupta, hold_when_idle=True)
    holding.command(0, dasgupta.home, REST)
    for follower in (plain, holding):
        follower.follow(path)
    for time in range(SECOND, 3 * SECOND, 10 * MS):
        efforts = [f.command(time, dasgupta.home, REST).effort for f in (plain, holding)]
        np.testing.assert_array_equal(*efforts)


def test_a_late_state_after_a_replacement_is_no_reset(follower, dasgupta, onwards):
    follower.follow(rd.paper_path("I"), 0)
    planned(follower, dasgupta, [0, 3 * SECOND])
    follower.follow(onwards)
    motion = planned(follower, dasgupta, [3001 * MS, 2999 * MS, 3002 * MS])
    steps = dasgupta.difference(motion.configuration[:-1], motion.configuration[1:])
    assert np.abs(steps).max() < 1e-3
    np.testing.assert_array_equal(motion.configuration[0], motion.configuration[1])


@pytest.mark.parametrize("start", [None, 3 * SECOND])
def test_a_clock_set_back_begins_the_replacement_itself_anew(follower, dasgupta, onwards, start):
    follower.follow(rd.paper_path("I"), 0)
    planned(follower, dasgupta, [0, SECOND])
    follower.follow(onwards, start)
    planned(follower, dasgupta, [4 * SECOND])
    found = planned(follower, dasgupta, [2 * SECOND]).configuration[0]
    np.testing.assert_array_equal(found, onwards.sample(0.0).configuration)


def test_a_slower_pass_needs_what_the_slower_motion_needs(dasgupta):
    path, follower = rd.paper_path("I"), TrajectoryFollower(dasgupta, "feedforward")
    follower.scale = 0.25
    follower.follow(path, 0)
    q, v, a = path.sample(1.0)
    command = follower.command(0, dasgupta.home, REST)
    command = follower.command(4 * SECOND, dasgupta.home, REST)
    expected = dasgupta.inverse_dynamics(q, v / 4, a / 16)
    np.testing.assert_allclose(command.effort, expected, rtol=1e-9)


@pytest.mark.slow
def test_changes_of_speed_are_smooth_and_end_at_the_goal(follower, dasgupta):
    path = rd.paper_path("I")
    follower.follow(path, 0)
    motions = []
    for k, scale in enumerate([1.0, 0.3, 0.0, 0.0, 0.7, 1.0, 1.0, 1.0, 1.0]):
        follower.scale = scale
        motions.append(planned(follower, dasgupta, range(k * SECOND, (k + 1) * SECOND, 5 * MS)))
    motion = Motion(*(np.concatenate(values) for values in zip(*motions, strict=True)))
    # the ends of blends and of ramps are the only jumps, of acceleration
    assert_smooth(dasgupta, motion, 5e-3, 0.25)
    np.testing.assert_array_equal(motion.velocity[700], 0.0)  # stands still
    np.testing.assert_array_equal(motion.configuration[700], motion.configuration[780])
    goal = planned(follower, dasgupta, [10 * SECOND]).configuration[0]
    np.testing.assert_array_equal(goal, path.sample(6.0).configuration)


def test_a_plant_that_is_slowed_down_tracks_all_the_same(dasgupta):
    path = rd.paper_path("I")
    follower, plant = TrajectoryFollower(dasgupta), Plant(dasgupta, *path.sample(0.0)[:2])
    follower.follow(path)
    for k in range(150):
        follower.scale = 0.2 if 30 <= k < 90 else 1.0
        plant.hold(follower.command(k * 10 * MS, plant.configuration, plant.velocity).effort, 10)
    reference = follower.command(1500 * MS, plant.configuration, plant.velocity).motion
    assert np.abs(plant.velocity[:3]).max() > 0.02
    desired = follower.clock.at(1500 * MS).motion(path)
    assert np.abs(dasgupta.difference(desired.configuration, plant.configuration)).max() < 1e-3
    assert np.isfinite(reference.acceleration).all()


@pytest.mark.parametrize("kind", ["platform", "arm"])
def test_gravity_compensation_lets_the_mechanism_rest_anywhere(kind, dasgupta, puma, rng):
    mechanism = {"platform": dasgupta, "arm": puma}[kind]
    follower = TrajectoryFollower(mechanism, "gravity_compensation")
    q = mechanism.advance(mechanism.home, 0.05 * rng.normal(size=6))
    wrench = rng.normal(size=6)
    command = follower.command(0, q, rng.normal(size=6), wrench)
    accel = mechanism.forward_dynamics(q, REST, command.effort, wrench)
    np.testing.assert_allclose(accel, 0.0, atol=1e-8)
    np.testing.assert_array_equal(follower.hold_effort(q, wrench), command.effort)
    follower.follow(rd.paper_path("I") if kind == "platform" else rd.plan_joints(q, q + 1.0, 1.0))
    again = follower.command(SECOND, q, REST, wrench)
    np.testing.assert_array_equal(again.effort, command.effort)


@pytest.mark.parametrize("mode", ["computed_torque", "feedforward", "gravity_compensation"])
@pytest.mark.parametrize("kind", ["platform", "arm"])
def test_a_state_that_was_checked_gets_the_same_answer(kind, mode, dasgupta, puma, rng):
    """Through the beginning, the replacement and the end of a trajectory."""
    mechanism = {"platform": dasgupta, "arm": puma}[kind]
    home, wrench = mechanism.home, rng.normal(size=6)
    paths = [
        rd.plan_line(home, mechanism.advance(home, step), duration=1.0)
        if kind == "platform"
        else rd.plan_joints(home, home + step, duration=1.0)
        for step in 0.02 * rng.normal(size=(2, 6))
    ]
    checked, unchecked = (TrajectoryFollower(mechanism, mode, predicts=True) for _ in range(2))
    for time in range(-1, 20):
        if time in (0, 6):
            for follower in (checked, unchecked):
                follower.follow(paths[time // 6])
        state = mechanism.advance(home, 1e-3 * rng.normal(size=6)), rng.normal(size=6)
        answers = [
            checked.command(time * 100 * MS, *state, wrench),
            unchecked.command_unchecked(time * 100 * MS, *state, wrench),
        ]
        if answers[0] is None:
            assert answers[1] is None
            continue
        for one, other in zip(answers[0][:2], answers[1][:2], strict=True):
            # a pose that is normalized twice may be off in its last bit
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)
        assert bool(answers[0].problem) == bool(answers[1].problem)
        assert (np.abs(answers[0].effort) <= mechanism.effort_limits).all()


def test_holding_is_within_limits_at_every_configuration(dasgupta):
    effort = TrajectoryFollower(dasgupta).hold_effort(dasgupta.home, [0, 0, -1e9, 0, 0, 0])
    np.testing.assert_array_equal(np.abs(effort) <= dasgupta.effort_limits, True)
    singular = rd.load("stewart_symmetric")
    turned = pose_from_rpy(singular.home[:3], [0.0, 0.0, 0.5 * np.pi])
    np.testing.assert_array_equal(TrajectoryFollower(singular).hold_effort(turned), 0.0)


@pytest.mark.parametrize(
    "arguments", [(np.zeros(6),), (np.full(7, np.nan),), ([0, 0, 0.5, 0, 0, 0, 1], [1.0, 2.0])]
)
def test_hold_effort_rejects_invalid_arguments(dasgupta, arguments):
    with pytest.raises(InvalidInput):
        TrajectoryFollower(dasgupta).hold_effort(*arguments)


def test_leaving_gravity_compensation_in_mid_path_holds(dasgupta):
    follower, path = TrajectoryFollower(dasgupta), rd.paper_path("I")
    follower.follow(path, 0)
    follower.command(0, *path.sample(0.0)[:2])
    follower.mode = "gravity_compensation"
    here = path.sample(1.0).configuration
    follower.command(5 * SECOND, here, REST)
    follower.mode = "computed_torque"
    command = follower.command(5001 * MS, here, REST)
    np.testing.assert_allclose(command.effort, follower.hold_effort(here), rtol=1e-9)
    with pytest.raises(InvalidInput, match="mode is 'pid'"):
        follower.mode = "pid"
    assert follower.mode == "computed_torque"


@pytest.mark.parametrize("kind", ["platform", "arm"])
def test_a_payload_may_come_while_the_trajectory_is_followed(kind, dasgupta, puma):
    mechanism = {"platform": dasgupta, "arm": puma}[kind]
    path = rd.paper_path("I") if kind == "platform" else rd.plan_joints([0] * 6, [1] * 6, 6.0)
    follower = TrajectoryFollower(mechanism, kp=80.0, kv=15.0)
    follower.follow(path, 0)
    motion = path.sample(2.0)
    follower.command(0, *motion[:2])
    loaded = mechanism.with_payload(5.0, [0.0, 0.1, 0.2])
    follower.set_mechanism(loaded)
    command = follower.command(2 * SECOND, *motion[:2])
    np.testing.assert_allclose(command.effort, loaded.inverse_dynamics(*motion), rtol=1e-9)
    assert follower.mechanism is loaded


def test_efforts_that_stand_keep_to_the_limits_of_the_mechanism_as_it_is_now(dasgupta):
    """Without a solution the last efforts are repeated, within limits that have shrunk."""
    follower = TrajectoryFollower(dasgupta, "feedforward")
    follower.follow(rd.paper_path("I"), 0)
    before = follower.command(0, dasgupta.home, REST).effort
    smallest, largest = np.abs(before).min(), np.abs(before).max()
    limit = 0.5 * (smallest + largest)
    legs = [
        replace(leg, limits=replace(leg.limits, effort=limit)) for leg in six_legs(dasgupta).legs
    ]
    weaker = with_legs(dasgupta, legs)
    follower.set_mechanism(weaker)
    # no finite acceleration is known there: the wrench is beyond any number
    stands = follower.command(MS, dasgupta.home, REST, [1e308, 1e308, 1e308, 1e308, 0.0, 0.0])
    assert stands.problem
    np.testing.assert_array_equal(stands.effort, np.clip(before, -limit, limit))
    assert (stands.effort != before).any()


def test_another_mechanism_is_refused(dasgupta, puma):
    with pytest.raises(InvalidInput, match=r"puma560 drives joint.*; expected leg1_actuator"):
        TrajectoryFollower(dasgupta).set_mechanism(puma)
