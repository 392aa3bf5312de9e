# SPDX-License-Identifier: Apache-2.0

"""A stop of what moves: without a jump, within the limits where any way is, and never refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import robodyn as rd
from robodyn.control import ActiveTrajectory, TrajectoryFollower, limited_stop
from robodyn.trajectories import Motion, SampledTrajectory

MS = 1_000_000

# A wall-mounted slide with a swinging arm, as its maker might publish it.
SLIDER = """
<robot name="slider"><link name="world"/>
<link name="carriage"><inertial><origin xyz="0 0 0.1"/><mass value="2.0"/>
<inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="boom"><inertial><origin xyz="0.25 0 0"/><mass value="1.0"/>
<inertia ixx="0.002" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="slide" type="prismatic"><parent link="world"/><child link="carriage"/>
<axis xyz="1 0 0"/><limit lower="-0.5" upper="0.5" velocity="1.0" effort="4.0"/></joint>
<joint name="swing" type="revolute"><parent link="carriage"/><child link="boom"/>
<axis xyz="0 0 1"/><limit lower="-2.0" upper="2.0" velocity="2.0" effort="6.0"/></joint>
</robot>
"""


@pytest.fixture(scope="module")
def slider():
    return rd.load(SLIDER)


@pytest.fixture(scope="module")
def hexapod():
    return rd.load("stewart_symmetric")


def stopped_in_the_middle(mechanism, scale=1.0):
    """Return the planned motion, every 2 ms, of an ideal mechanism; times [s] since the stop."""
    path = rd.load_path("demo", mechanism)
    active = ActiveTrajectory(mechanism, 0.5, 2.0, False)
    active.clock.target = scale
    active.follow(path)
    rest = np.zeros(mechanism.coordinates.velocity_size)
    pace, followed = active.at(0, path.sample(0.0).configuration, rest)
    middle = round(0.5 / scale * 1e9)
    pace, followed = active.at(middle, path.sample(0.5).configuration, rest)
    motion = pace.motion(followed)
    before = motion
    active.stop()
    rows, times = [], range(2 * MS, 800 * MS, 2 * MS)
    for time in times:
        pace, followed = active.at(middle + time, motion.configuration, motion.velocity)
        motion = pace.motion(followed)
        rows.append(motion)
    expected = Motion(*(np.array(values) for values in zip(*rows, strict=True)))
    return before, np.array(times) * 1e-9, expected, active


@pytest.mark.parametrize(("model", "scale"), [("stewart_symmetric", 1.0), ("puma560", 0.4)])
def test_limited_stop_comes_to_rest_without_a_jump_and_never_reverses(model, scale):
    mechanism = rd.load(model)
    before, times, expected, active = stopped_in_the_middle(mechanism, scale)
    assert np.abs(before.velocity).max() > 0.05
    np.testing.assert_allclose(expected.velocity[0], before.velocity, rtol=0, atol=1e-9)
    assert not expected.velocity[times >= 0.26].any()
    along = expected.velocity @ before.velocity
    assert (np.diff(along) <= 1e-12).all()
    assert (along >= 0.0).all()
    step = mechanism.difference(expected.configuration[:-1], expected.configuration[1:])
    middle = 0.5 * (expected.velocity[:-1] + expected.velocity[1:])
    np.testing.assert_allclose(step / 2e-3, middle, rtol=0, atol=2e-3)
    assert (np.abs(mechanism.inverse_dynamics(*expected)) <= mechanism.effort_limits).all()
    rates = np.abs(mechanism.joint_velocities(*expected[:2]))
    assert (rates <= mechanism.velocity_limits).all()
    assert not active.warning


def test_limited_stop_takes_longer_if_efforts_require_it(slider):
    """In 0.25 s the slide would need 1.5 v/T (2 + 1) kg = 9 N; it has 4 N."""
    moving = Motion(np.zeros(2), np.array([0.5, 0.0]), np.zeros(2))
    stop, problem = limited_stop(slider, moving, 0.25)
    assert problem == ""
    assert stop.blend >= 1.5 * 0.5 * 3.0 / 4.0
    motion = stop.sample(np.linspace(0.0, stop.blend, 300))
    assert (np.abs(slider.inverse_dynamics(*motion)) <= slider.effort_limits).all()
    np.testing.assert_allclose(motion.configuration[-1, 0], 0.25 * stop.blend)


def test_limited_stop_takes_less_if_a_joint_would_meet_its_end(slider):
    moving = Motion(np.array([0.0, 1.95]), np.array([0.0, 0.6]), np.zeros(2))
    stop, problem = limited_stop(slider, moving, 0.25)
    assert problem == ""
    assert stop.blend < 0.25
    assert stop.sample(stop.blend).configuration[1] < 2.0


def test_limited_stop_is_the_gentlest_and_reports_it_if_none_is_within_the_limits(slider):
    joints = tuple(replace(joint, effort=0.01) for joint in slider.model.joints)
    weak = rd.SerialArm(replace(slider.model, joints=joints))
    moving = Motion(np.array([0.0, 1.0]), np.array([0.9, 0.0]), np.zeros(2))
    stop, problem = limited_stop(weak, moving, 0.25)
    assert "slide reaches " in problem
    assert stop.blend == 2.0  # the longest of those that are tried
    follower = TrajectoryFollower(weak)
    follower.stop()
    first = follower.command(0, *moving[:2])
    assert first.problem == problem
    assert (np.abs(first.effort) <= 0.01).all()
    assert "the stop" not in follower.command(5 * MS, *moving[:2]).problem


def test_afterwards_it_holds_what_it_finds_and_takes_up_what_came_meanwhile(hexapod):
    _, _, expected, active = stopped_in_the_middle(hexapod)
    found = hexapod.advance(expected.configuration[-1], np.full(6, 2e-3))
    still = np.zeros(6)
    active.stop()
    time = 2000 * MS
    pace, path = active.at(time, found, still)
    np.testing.assert_array_equal(pace.motion(path).configuration, found)
    active.at(time := time + 5 * MS, found, np.full(6, 0.02))
    active.stop()
    active.at(time := time + 5 * MS, found, np.full(6, 0.02))
    line = rd.plan_line(found, hexapod.home, 3.0)
    active.follow(line)
    pace, path = active.at(time := time + 100 * MS, found, np.full(6, 0.01))
    assert np.abs(pace.motion(path).velocity).max() > 0.005  # still on its way to rest
    active.at(time := time + 200 * MS, found, still)
    pace, path = active.at(time + 4000 * MS, hexapod.home, still)
    np.testing.assert_allclose(pace.motion(path).configuration, hexapod.home, rtol=0, atol=1e-12)


def test_led_by_hand_it_comes_to_rest_when_control_takes_over(slider):
    follower = TrajectoryFollower(slider)
    follower.follow(rd.plan_joints([0.0, 0.0], [0.1, 0.1], 2.0))
    follower.command(0, np.zeros(2), np.zeros(2))
    follower.mode = "gravity_compensation"
    q, qd = np.array([0.2, 0.3]), np.array([0.1, -0.4])
    follower.command(5 * MS, q, qd)
    follower.mode = "computed_torque"
    command = follower.command(10 * MS, q, qd)
    # where it is and as it moves: no feedback yet, and no deceleration either
    np.testing.assert_allclose(command.motion.acceleration, 0.0, atol=1e-9)
    assert not command.problem


def test_a_rest_that_cannot_be_taken_up_within_the_limits_is_a_stop(hexapod, monkeypatch):
    """Else what was followed before would go on."""
    monkeypatch.setattr("robodyn.control.limited_motions.LONGEST", 0.1)
    path = rd.load_path("demo", hexapod)
    follower = TrajectoryFollower(hexapod, handover=0.05)
    follower.follow(path, 0)
    moving = path.sample(0.5)
    follower.command(500 * MS, *moving[:2])
    still = np.zeros((1, 6))
    away = hexapod.advance(moving.configuration, [0.0, 0.0, 0.2, 0.0, 0.0, 0.0])
    follower.follow(SampledTrajectory(hexapod, [0.0], Motion(away[None], still, still)))
    command = follower.command(502 * MS, *moving[:2])
    assert command.problem.startswith("trajectory refused")
    rest = hexapod.advance(moving.configuration, 0.125 * moving.velocity)
    held = follower.command(900 * MS, rest, still[0])
    np.testing.assert_allclose(held.effort, hexapod.inverse_dynamics(rest, still[0], still[0]))
