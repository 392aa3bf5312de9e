# SPDX-License-Identifier: Apache-2.0

"""The follower: always finite and within limits, for any states and trajectories."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import robodyn as rd
from robodyn.algorithms import conditioning, motions
from robodyn.control import TrajectoryFollower, reduced_efforts
from robodyn.errors import InvalidInput
from robodyn.poses import pose_from_rpy
from robodyn.simulation import Plant
from robodyn.trajectories import plan_line_rpy

SECOND = 1_000_000_000
REST = np.zeros(6)


@pytest.fixture
def follower(dasgupta):
    return TrajectoryFollower(dasgupta)


def static(mechanism, pose):
    return mechanism.inverse_dynamics(pose, REST, REST)


def test_an_idle_follower_says_nothing(follower, dasgupta):
    assert follower.command(0, dasgupta.home, REST) is None


def test_hold_when_idle_holds_the_first_measured_state(dasgupta):
    follower = TrajectoryFollower(dasgupta, hold_when_idle=True)
    first = follower.command(0, dasgupta.home, REST)
    np.testing.assert_allclose(first.effort, static(dasgupta, dasgupta.home), rtol=1e-12)
    moved = dasgupta.advance(dasgupta.home, [0.001, 0, 0, 0, 0, 0])
    later = follower.command(SECOND, moved, REST)
    accel = dasgupta.forward_dynamics(moved, REST, later.effort)
    np.testing.assert_allclose(accel, [-0.1, 0, 0, 0, 0, 0], atol=1e-9)


@pytest.mark.parametrize("start", [None, 7 * SECOND])
def test_a_trajectory_begins_at_its_start_or_with_the_next_state(follower, dasgupta, start):
    path = rd.paper_path("I")
    follower.follow(path, start)
    for seconds in (7, 8.25, 13, 20):
        motion = path.sample(seconds - 7)
        command = follower.command(round(seconds * SECOND), *motion[:2])
        np.testing.assert_allclose(command.required, dasgupta.inverse_dynamics(*motion), rtol=1e-9)
        assert command.problem == ""


def test_before_the_start_it_rests_at_the_beginning(follower, dasgupta):
    path = rd.paper_path("I")
    follower.follow(path, 10 * SECOND)
    pose = path.sample(0.0).configuration
    command = follower.command(0, pose, REST)
    np.testing.assert_allclose(command.effort, static(dasgupta, pose), rtol=1e-12)


def test_feedforward_does_not_look_at_the_state(dasgupta, rng):
    follower = TrajectoryFollower(dasgupta, "feedforward")
    path = rd.paper_path("I")
    follower.follow(path, 0)
    anywhere = dasgupta.advance(dasgupta.home, 0.1 * rng.normal(size=6))
    command = follower.command(3 * SECOND, anywhere, rng.normal(size=6))
    expected = dasgupta.inverse_dynamics(*path.sample(3.0))
    np.testing.assert_array_equal(command.effort, expected)


def test_a_known_wrench_is_met(follower, dasgupta):
    path, wrench = rd.paper_path("I"), [10.0, 20.0, -300.0, 1.0, 2.0, 3.0]
    follower.follow(path)
    motion = path.sample(0.0)
    command = follower.command(0, *motion[:2], wrench)
    np.testing.assert_allclose(
        command.effort, dasgupta.inverse_dynamics(*motion, wrench), rtol=1e-12
    )


def test_stop_holds_where_the_next_state_finds_the_mechanism(follower, dasgupta):
    path = rd.paper_path("I")
    follower.follow(path)
    follower.command(0, *path.sample(0.0)[:2])
    follower.stop()
    here = path.sample(2.5).configuration
    command = follower.command(3 * SECOND, here, REST)
    np.testing.assert_allclose(command.effort, static(dasgupta, here), rtol=1e-12)
    follower.follow(path)  # and it can go on with something new, from where it is
    command = follower.command(5 * SECOND, here, REST)
    np.testing.assert_allclose(command.effort, static(dasgupta, here), rtol=1e-9)
    motion = path.sample(1.0)
    command = follower.command(6 * SECOND, *motion[:2])
    np.testing.assert_allclose(command.effort, dasgupta.inverse_dynamics(*motion), rtol=1e-9)


def test_efforts_are_cut_and_it_is_said(dasgupta):
    follower = TrajectoryFollower(dasgupta, handover=0.0)
    follower.follow(rd.paper_path("I"))
    far = dasgupta.advance(dasgupta.home, [0, 0, 0.3, 0, 0, 0])
    command = follower.command(0, far, [0, 0, 900.0, 0, 0, 0])
    limits = dasgupta.effort_limits
    assert (np.abs(command.effort) <= limits).all()
    cut = np.abs(command.required) > limits
    assert cut.any()
    np.testing.assert_array_equal(follower.saturated, cut)
    worst = int(np.abs(command.required / limits).argmax())
    assert command.problem.startswith(f"leg{worst + 1}_actuator needs ")
    assert command.problem.endswith("its limit is 100000: the acceleration is reduced")


def near_singular(name):
    """A mechanism without friction half-way to type 2, and as close to it as drives hold it."""
    m = rd.load(name).without_friction()
    way = np.array([0, 0, 0, 0, 0, 0.5 * np.pi] if name == "stewart_symmetric" else [2.44, 0.0])
    side, places, still = conditioning.side(m, m.home), [], np.zeros(len(way))
    for fraction in np.linspace(0.0, 1.0, 1000):
        q = motions.advance_near(m, m.home, fraction * way)
        if conditioning.side(m, q) * side < 1e-6:
            break
        if not (np.abs(m.inverse_dynamics(q, still, still)) < 0.5 * m.effort_limits).all():
            break
        places.append(q)
    return m, [places[len(places) // 2], places[-1]]


@pytest.mark.parametrize("name", ["stewart_symmetric", "fivebar"])
def test_limited_efforts_accelerate_in_the_requested_direction(name, rng):
    """However large the requested acceleration is, and where efforts nearly cancel."""
    m, places = near_singular(name)
    nv = m.coordinates.velocity_size
    still, limits = np.zeros(nv), m.effort_limits
    turned = []
    for q in places:
        resting = m.inverse_dynamics(q, still, still)
        assert (np.abs(resting) < limits).all()
        for size in 10.0 ** rng.uniform(0.0, 5.0, 20):
            expected = size * rng.normal(size=nv)
            required = m.inverse_dynamics(q, still, expected)
            effort = reduced_efforts(m, q, resting, required, limits)
            assert (np.abs(effort) <= limits).all()
            caused = m.forward_dynamics(q, still, effort)
            fraction = (caused @ expected) / (expected @ expected)
            assert 0.0 < fraction <= 1.0 + 1e-9
            np.testing.assert_allclose(caused, fraction * expected, atol=1e-6 * fraction * size)
            if (np.abs(required) > limits).any():  # the largest share
                assert (np.abs(effort) > limits * (1.0 - 1e-9)).any()
            clipped = m.forward_dynamics(q, still, np.clip(required, -limits, limits))
            along = (clipped @ expected) / np.linalg.norm(expected) / np.linalg.norm(clipped)
            turned.append(along)
    assert min(turned) < 0.9  # efforts that are cut one by one turn it


@pytest.mark.parametrize("name", ["stewart_symmetric", "puma560"])
def test_a_load_beyond_the_efforts_never_accelerates_more_than_without_drives(name):
    """The error of the acceleration, by kinetic energy, is at most that of a free fall."""
    arm = rd.load("puma560").without_friction()
    m, places = (arm, [arm.home]) if name == "puma560" else near_singular(name)
    for q in places:
        still = np.zeros(m.coordinates.velocity_size)
        resting = m.inverse_dynamics(q, still, still)
        for fraction in (0.9, 0.5, 0.01):
            limits = fraction * np.abs(resting).max() * np.ones(len(resting))
            effort = reduced_efforts(m, q, resting, resting, limits)
            assert (np.abs(effort) <= limits).all()
            caused, fall = (m.forward_dynamics(q, still, each) for each in (effort, 0.0 * effort))
            M = m.mass_matrix(q)
            assert caused @ M @ caused <= (1.0 - fraction) ** 2 * (fall @ M @ fall) * (1.0 + 1e-6)


def test_at_a_singular_pose_the_last_efforts_stand(dasgupta):
    # turned by a quarter, every leg of a symmetric platform lies in one linear complex
    symmetric = rd.load("stewart_symmetric")
    follower = TrajectoryFollower(symmetric, "feedforward", handover=0.0)
    home = symmetric.home
    singular = pose_from_rpy(home[:3], [0.0, 0.0, 0.5 * np.pi])
    with pytest.raises(rd.SingularConfiguration):
        symmetric.inverse_dynamics(singular, REST, REST)
    assert follower.command(0, home, REST) is None
    follower.follow(plan_line_rpy([home[:3]] * 2, np.zeros((2, 3)), 1.0))
    before = follower.command(0, home, REST)
    follower.follow(plan_line_rpy([home[:3]] * 2, [[0, 0, 0.5 * np.pi]] * 2, 1.0))
    command = follower.command(SECOND, home, REST)
    assert command.problem.startswith("no efforts: singular configuration")
    np.testing.assert_array_equal(command.effort, before.effort)


def test_a_clock_set_back_begins_anew_what_began_with_a_state(follower, dasgupta):
    path = rd.paper_path("I")
    follower.follow(path)
    follower.command(50 * SECOND, *path.sample(0.0)[:2])
    follower.command(53 * SECOND, *path.sample(3.0)[:2])
    follower.command(52 * SECOND, *path.sample(2.0)[:2])  # late, not a new clock
    for clock in (0, 3):
        motion = path.sample(float(clock))
        command = follower.command(clock * SECOND, *motion[:2])
        np.testing.assert_allclose(command.effort, dasgupta.inverse_dynamics(*motion), rtol=1e-9)


def test_a_clock_set_back_waits_for_a_start_that_was_given(follower, dasgupta):
    path = rd.paper_path("I")
    follower.follow(path, 50 * SECOND)
    follower.command(53 * SECOND, *path.sample(3.0)[:2])
    pose = path.sample(0.0).configuration
    command = follower.command(0, pose, REST)
    np.testing.assert_allclose(command.effort, static(dasgupta, pose), rtol=1e-9)


def test_a_clock_set_back_holds_where_the_mechanism_is_then(dasgupta):
    follower = TrajectoryFollower(dasgupta, hold_when_idle=True)
    follower.command(50 * SECOND, dasgupta.home, REST)
    elsewhere = dasgupta.advance(dasgupta.home, [0.01, 0, 0.02, 0, 0, 0.1])
    command = follower.command(0, elsewhere, REST)
    np.testing.assert_allclose(command.effort, static(dasgupta, elsewhere), rtol=1e-9)


@pytest.mark.parametrize(
    ("state", "text"),
    [
        ((np.zeros(7), REST), "quaternion"),
        ((np.full(7, np.nan), REST), r"\[0\] is nan"),
        ((np.zeros(6), REST), r"shape \(6,\)"),
        ((pose_from_rpy([0, 0, 0.5], [0, 0, 0]), np.zeros(5)), r"velocity has shape \(5,\)"),
        ((pose_from_rpy([0, 0, 0.5], [0, 0, 0]), np.full(6, np.inf)), r"velocity\[0\] is inf"),
        ((pose_from_rpy([0, 0, 0.5], np.zeros((2, 3))), REST), "without batch"),
        ((pose_from_rpy([0, 0, 0.5], [0, 0, 0]), REST, np.zeros(3)), r"wrench has shape \(3,\)"),
    ],
)
@pytest.mark.parametrize("mode", ["feedforward", "computed_torque"])
def test_states_that_cannot_be_are_refused(dasgupta, mode, state, text):
    follower = TrajectoryFollower(dasgupta, mode)
    follower.follow(rd.paper_path("I"))
    with pytest.raises(InvalidInput, match=text):
        follower.command(0, *state)


def test_unknown_modes_are_refused(dasgupta):
    with pytest.raises(InvalidInput, match="mode is 'pid', expected one of feedforward, comp"):
        TrajectoryFollower(dasgupta, "pid")


def test_a_trajectory_of_another_kind_is_refused(follower):
    with pytest.raises(InvalidInput, match=r"configurations have shape \(6,\), .* \(7,\)"):
        follower.follow(rd.plan_joints(np.zeros(6), np.ones(6), duration=3.0))


def test_an_arm_is_followed_by_the_same_code(puma):
    follower = TrajectoryFollower(puma)
    path = rd.plan_joints(np.zeros(6), np.ones(6), duration=3.0)
    follower.follow(path)
    follower.command(0, np.zeros(6), np.zeros(6))
    motion = path.sample(1.5)
    command = follower.command(round(1.5 * SECOND), *motion[:2])
    np.testing.assert_allclose(command.required, puma.inverse_dynamics(*motion), rtol=1e-12)


numbers = st.one_of(
    st.floats(-2, 2), st.floats(-1e5, 1e5), st.floats(allow_nan=False, allow_infinity=False)
)
states = st.tuples(
    st.integers(-(2**40), 2**62),
    st.lists(numbers, min_size=3, max_size=3),
    st.lists(st.floats(-math.pi, math.pi), min_size=3, max_size=3),
    st.lists(numbers, min_size=6, max_size=6),
    st.lists(numbers, min_size=6, max_size=6),
    st.sampled_from(["", "follow", "start", "stop", "slow", "fast", "load"]),
)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["feedforward", "computed_torque", "gravity_compensation"])
@given(history=st.lists(states, min_size=1, max_size=8))
@settings(max_examples=100, deadline=None)
def test_efforts_are_always_finite_and_within_limits(dasgupta, mode, history):
    follower = TrajectoryFollower(dasgupta, mode, hold_when_idle=True)
    for time, xyz, rpy, twist, wrench, action in history:
        if action == "stop":
            follower.stop()
        elif action in {"slow", "fast"}:
            follower.scale = 0.3 if action == "slow" else 1.0
        elif action == "load":
            follower.set_mechanism(dasgupta.with_payload(abs(xyz[0]) % 100.0))
        elif action:
            follower.follow(rd.paper_path("III"), time if action == "start" else None)
        state = pose_from_rpy(xyz, rpy), np.array(twist)
        if max(np.abs(values).max() for values in state) > 1e6:
            with pytest.raises(InvalidInput, match="expected no more than"):
                follower.command(time, *state, wrench)
            continue
        command = follower.command(time, *state, wrench)
        assert np.isfinite(command.effort).all()
        assert (np.abs(command.effort) <= dasgupta.effort_limits).all()


@pytest.mark.slow
@pytest.mark.parametrize("late", [1, 2])
def test_efforts_that_act_late_are_for_then(dasgupta, late):
    """Path I with efforts that act some periods after their state, known to the follower or not."""
    period, path = 5_000_000, rd.paper_path("I")
    worst = []
    for delay in (0.0, late * period * 1e-9):
        follower = TrajectoryFollower(dasgupta, predicts=delay > 0.0, delay=delay)
        follower.follow(path, 0)
        begin = path.sample(0.0)
        plant = Plant(dasgupta, begin.configuration, begin.velocity, dt=1e-3)
        waiting = [dasgupta.inverse_dynamics(*begin)] * late
        errors = []
        for k in range(300):
            planned = path.sample(k * period * 1e-9).configuration
            errors.append(np.abs(dasgupta.difference(planned, plant.configuration)).max())
            command = follower.command(k * period, plant.configuration, plant.velocity)
            waiting.append(command.effort)
            plant.hold(waiting.pop(0), 5, np.zeros(6))
        worst.append(max(errors))
    assert worst[1] < 0.05 * worst[0]


def test_an_arm_whose_efforts_act_late_keeps_to_its_path(puma):
    """The acceleration, too, is that which is planned for when they act."""
    period, path, late = 10_000_000, rd.load_path("puma", puma), 2
    worst = []
    for lag in (0, late):
        delay = lag * period * 1e-9
        follower = TrajectoryFollower(puma, predicts=lag > 0, delay=delay)
        follower.follow(path, 0)
        begin = path.sample(0.0)
        plant = Plant(puma, begin.configuration, begin.velocity, dt=1e-3)
        waiting = [puma.inverse_dynamics(*begin)] * lag
        errors = []
        for k in range(round(path.duration * 1e9 / period)):
            planned = path.sample(k * period * 1e-9).configuration
            errors.append(np.abs(puma.difference(planned, plant.configuration)).max())
            command = follower.command(k * period, plant.configuration, plant.velocity)
            waiting.append(command.effort)
            plant.hold(waiting.pop(0), 10, np.zeros(6))
        worst.append(max(errors))
    assert worst[1] < 0.5 * worst[0]
