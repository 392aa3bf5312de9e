# SPDX-License-Identifier: Apache-2.0

"""Continuous joints: positions a full turn apart are the same, and the short way is the way."""

import ctypes
import shutil
from types import SimpleNamespace

import numpy as np
import pytest
from partial_export import partial_llvm, write_library

import robodyn as rd
from robodyn.algorithms import motions
from robodyn.analysis import GoalRefused, Present, examine
from robodyn.control import TrajectoryFollower, describe_deviation
from robodyn.motion_base.machine import Machine, MachineSettings
from robodyn.simulation import is_compiled
from robodyn.trajectories import (
    Motion,
    SampledTrajectory,
    distance_to_start,
    joint_rows,
    without_turns,
)

TURN = 2.0 * np.pi


def arm_text(kind="continuous", limit="<limit effort='100' velocity='3'/>", extra=""):
    links = "".join(
        f"<link name='l{k}'><inertial><origin xyz='0 0 0.2'/><mass value='2'/>"
        "<inertia ixx='0.03' ixy='0.001' ixz='-0.002' iyy='0.028' iyz='0.0015' izz='0.004'/>"
        "</inertial></link>"
        for k in (1, 2)
    )
    return (
        f"<robot name='turning'><link name='base'/>{links}<joint name='j1' type='{kind}'>"
        f"<parent link='base'/><child link='l1'/><axis xyz='1 0 0'/>{limit}{extra}</joint>"
        "<joint name='j2' type='revolute'><origin xyz='0 0 0.4'/><parent link='l1'/>"
        "<child link='l2'/><axis xyz='0 1 0'/>"
        "<limit lower='-3' upper='3' effort='100' velocity='3'/></joint></robot>"
    )


@pytest.fixture(params=["serial", "closed_loop"])
def arm(request):
    return rd.load(arm_text(), kind=request.param)


def shortest(angle):
    """The angle between two positions on a circle."""
    return np.angle(np.exp(1j * np.asarray(angle)))


def test_the_difference_is_the_short_way(arm, rng):
    start, goal = rng.uniform(-20.0, 20.0, (2, 50, 2))
    way = arm.difference(start, goal)
    np.testing.assert_allclose(way[:, 0], shortest(goal - start)[:, 0], atol=1e-12)
    np.testing.assert_array_equal(way[:, 1], (goal - start)[:, 1])
    for a, b, each in zip(start, goal, way, strict=True):
        np.testing.assert_array_equal(arm.solver.unchecked.difference(a, b), each)
    np.testing.assert_allclose(arm.difference([3.1, 0.0], [-3.1, 0.0])[0], TURN - 6.2, atol=1e-14)
    np.testing.assert_array_equal(arm.difference([0.0, 0.0], [np.pi, 0.0]), [np.pi, 0.0])


def test_advance_is_its_inverse_within_half_a_turn(arm, rng):
    start, way = rng.uniform(-3.0, 3.0, (2, 20, 2))
    np.testing.assert_allclose(arm.difference(start, arm.advance(start, way)), way, atol=1e-12)


@pytest.mark.parametrize(
    "text",
    [
        arm_text("revolute"),
        arm_text("revolute", "<limit lower='-9' upper='9' effort='100' velocity='3'/>"),
        arm_text(extra="<robodyn multi_turn='true'/>"),
    ],
)
def test_joints_that_count_their_turns(text):
    m = rd.load(text)
    np.testing.assert_allclose(m.difference([3.1, 0.0], [-3.1, 0.0]), [-6.2, 0.0])
    assert not motions.wrapping_joints(m)


def test_multi_turn_is_true_or_false():
    with pytest.raises(rd.ModelError, match="multi_turn"):
        rd.load(arm_text(extra="<robodyn multi_turn='1'/>"))


def test_a_joint_that_drives_others_counts_its_turns():
    carriage = (
        "<link name='carriage'><inertial><mass value='1'/>"
        "<inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>"
        "<joint name='belt' type='prismatic'><parent link='base'/><child link='carriage'/>"
        "<axis xyz='1 0 0'/><limit lower='-5' upper='5' effort='9' velocity='9'/>"
        "<mimic joint='j1' multiplier='0.01'/></joint></robot>"
    )
    m = rd.load(arm_text().replace("</robot>", carriage), kind="closed_loop")
    here, there = m.assemble([0.0, 0.0]), m.assemble([TURN, 0.0])
    np.testing.assert_allclose(m.difference(here, there), [TURN, 0.0], atol=1e-9)


def test_compiled_control_takes_the_short_way_as_python_does(arm):
    class Own(rd.ComputedTorque):
        """Not compiled, as it may behave differently."""

    away = 3.0 * TURN
    path = rd.plan_joints([3.1 - away, 0.0], [4.0 - away, 0.3], duration=1.0)
    start = np.array([3.1, 0.0]), np.zeros(2)
    runs = [
        rd.simulate(arm, control(arm), path, dt=1e-3, control_dt=2e-3, initial=start)
        for control in (rd.ComputedTorque, Own)
    ]
    assert is_compiled(arm, rd.ComputedTorque(arm))
    for run in runs:
        assert np.abs(run.error).max() < 0.01
        np.testing.assert_allclose(run.configuration[-1], [4.0, 0.3], atol=0.01)
    np.testing.assert_array_equal(runs[0].configuration, runs[1].configuration)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cc") is None, reason="the library is linked by cc")
@pytest.mark.parametrize("kind", ["serial", "closed_loop"])
def test_the_exported_library_takes_the_short_way(tmp_path, kind):
    m = rd.load(arm_text(), kind=kind)
    llvm = partial_llvm(m, "turning", "computed_torque", "configuration")
    write_library(m, "turning", tmp_path, llvm)
    library = ctypes.CDLL(str(tmp_path / "libturning.so"))

    def call(*arrays):
        given = [None if x is None else np.ascontiguousarray(x, float) for x in arrays]
        out = np.empty(2)
        pointers = [None if x is None else x.ctypes.data for x in (*given, out)]
        assert library.turning_computed_torque(*map(ctypes.c_void_p, pointers)) == 0
        return out

    still, gains = np.zeros(2), (np.full(2, 100.0), np.full(2, 20.0))
    efforts = call([3.1, 0.2], still, [-3.1, 0.2], still, still, *gains, None, None)
    planned = Motion(np.array([-3.1, 0.2]), still, still)
    control = rd.ComputedTorque(m, 100.0, 20.0)
    path = SampledTrajectory(m, [0.0], Motion(*(row[None] for row in planned)))
    np.testing.assert_array_equal(control(0.0, np.array([3.1, 0.2]), still, path), efforts)
    turned = call([3.1, 0.2], still, [TURN - 3.1, 0.2], still, still, *gains, None, None)
    np.testing.assert_allclose(efforts, turned, rtol=1e-12)
    q = np.array([3.1, 0.2])
    expected = np.array([-3.1, 0.3])
    pointers = (ctypes.c_void_p(each.ctypes.data) for each in (expected, q))
    assert library.turning_configuration(*pointers) == 0
    np.testing.assert_allclose(shortest(q - expected), 0.0, atol=1e-12)


def test_trajectories_take_the_short_way_between_knots(arm):
    still = np.zeros((3, 2))
    knots = Motion(np.array([[3.0, 0.0], [3.1, 0.0], [-3.1, 0.0]]), still, still)
    path = SampledTrajectory(arm, [0.0, 1.0, 2.0], knots)
    t = np.linspace(0.0, 2.0, 201)
    assert np.ptp(path.sample(t).configuration[:, 0]) < 0.2
    np.testing.assert_allclose(path.sample(2.0).configuration[0], TURN - 3.1)


def test_rates_at_knots_say_how_far_a_joint_turns(arm):
    fast = np.array([[5.0, 0.0], [5.0, 0.0]])
    knots = Motion(np.array([[0.0, 0.0], [5.0 - TURN, 0.0]]), fast, np.zeros((2, 2)))
    middle = SampledTrajectory(arm, [0.0, 1.0], knots).sample(0.5)
    np.testing.assert_allclose(middle.configuration, [2.5, 0.0], atol=1e-12)
    np.testing.assert_allclose(middle.velocity, [5.0, 0.0], atol=1e-12)


def test_plans_take_the_short_way(arm, tmp_path):
    start, goal = np.array([3.0, 0.0]), np.array([-3.0, 0.1])
    file = tmp_path / "path.yaml"
    file.write_text("v_max: 1.0\nwaypoints: [{joints: [3.0, 0]}, {joints: [-3.0, 0.1]}]\n")
    plans = [
        rd.plan_straight(arm, start, goal, duration=1.0),
        rd.time_optimal(arm, np.array([start, goal])),
        rd.plan_path(arm, start, goal),
        rd.load_path(file, arm),
    ]
    for plan in plans:
        motion = plan.sample(np.linspace(0.0, plan.duration, 101)).configuration
        assert np.abs(motion[:, 0] - start[0]).max() < 0.284
        np.testing.assert_allclose(arm.difference(motion[-1], goal), 0.0, atol=1e-6)
    assert distance_to_start(arm, goal, plans[0]).joint == pytest.approx(TURN - 6.0)


def test_a_turn_is_no_tracking_error(arm):
    still = np.zeros(2)
    expected = Motion(np.array([1.0 - TURN, 0.1]), still, still)
    assert not describe_deviation(arm, np.full(2, 0.1), expected, np.array([1.01, 0.1]))
    assert "j1" in describe_deviation(arm, np.full(2, 0.1), expected, np.array([1.2, 0.1]))


def test_a_driver_that_wraps_is_followed_without_a_jump(arm):
    follower = TrajectoryFollower(arm, path_tolerance=0.1)
    path = rd.plan_joints([3.0, 0.0], [3.6, 0.3], duration=1.0)
    times = np.linspace(0.0, 1.0, 101)
    knots = SampledTrajectory(arm, times, path.sample(times))
    follower.follow(knots)
    largest = 0.0
    for t in times:
        q, v, _ = knots.sample(float(t))
        q = np.array([shortest(q[0]), q[1]])
        command = follower.command(round(1e9 * t) + 1, q, v)
        largest = max(largest, np.abs(command.effort).max())
    assert not follower.abandoned
    plain = np.abs(arm.inverse_dynamics(*path.sample(times))).max()
    assert largest < 1.5 * plain


def message(names, *points):
    """A JointTrajectory's fields: (time [s], positions)."""
    stamp = SimpleNamespace(sec=0, nanosec=0)
    return SimpleNamespace(
        joint_names=list(names),
        header=SimpleNamespace(stamp=stamp, frame_id=""),
        points=[
            SimpleNamespace(
                positions=list(q),
                velocities=[],
                accelerations=[],
                effort=[],
                time_from_start=SimpleNamespace(sec=int(t), nanosec=round(t % 1 * 1e9)),
            )
            for t, q in points
        ],
    )


def test_messages_wrap_from_point_to_point_and_from_where_the_joint_is(arm):
    names = arm.independent_joints
    given = message(names, (0.0, [3.0 - TURN, 0.0]), (1.0, [3.1, 0.0]), (2.0, [-3.1, 0.0]))
    times, rows = joint_rows(given, names)
    positions, _, _ = without_turns(arm, names, times, rows, np.array([3.0, 0.0]))
    np.testing.assert_allclose(positions[:, 0], [3.0, 3.1, TURN - 3.1])


def test_goals_a_turn_away_are_the_short_way(arm):
    def goal(*points):
        return SimpleNamespace(
            trajectory=message(("j1", "j2"), *points),
            path_tolerance=[],
            goal_tolerance=[],
            goal_time_tolerance=SimpleNamespace(sec=0, nanosec=0),
        )

    settings = dict.fromkeys(("path_tolerance", "goal_tolerance", "goal_time"), 0.0)
    settings |= {"stopped_velocity_tolerance": 0.01, "start_tolerance": 0.05}
    present = Present(0, Motion(np.array([3.0, 0.0]), np.zeros(2), np.zeros(2)), None)
    begin, end = [3.0 - TURN, 0.0], [3.4 - TURN, 0.1]
    for points in (((0.0, begin), (2.0, end)), ((2.0, end),)):
        plan = examine(goal(*points), arm, present, settings)
        way = plan.trajectory.sample(np.linspace(0.0, 2.0, 50)).configuration[:, 0]
        assert way.min() > 2.99
        assert way.max() < 3.41
    with pytest.raises(GoalRefused, match="j1"):
        examine(goal((0.0, [3.2, 0.0]), (2.0, end)), arm, present, settings)


def test_a_machine_follows_drives_that_wrap():
    m = rd.load(arm_text())
    machine = Machine(m, 0.01, settings=MachineSettings(homing="absolute", following_error=0.2))
    machine.measure(0, [3.0, 0.0])
    machine.request("power_on")
    where, time = np.array([3.0, 0.0]), 0
    for _ in range(100):
        time += 10_000_000
        machine.measure(time, [float(shortest(where[0])), where[1]])
        point = machine.step(time)
        assert machine.state != "fault", machine.reason
        assert np.abs(point.positions - where).max() < 0.1
        where = point.positions


def crank_text():
    """A four-bar whose crank turns all the way round: 0.1 + 0.4 < 0.4 + 0.3 (Grashof)."""
    names = ("crank", "coupler", "rocker")
    links = "".join(
        f"<link name='{name}'><inertial><origin xyz='0.1 0 0'/><mass value='1'/><inertia "
        "ixx='0.001' iyy='0.02' izz='0.02' ixy='0' ixz='0' iyz='0'/></inertial></link>"
        for name in names
    )
    places = (("base", "crank", 0.0), ("crank", "coupler", 0.1), ("base", "rocker", 0.4))
    limits = ("<limit effort='50' velocity='20'/>", "", "")
    joints = "".join(
        f"<joint name='j_{child}' type='continuous'><parent link='{parent}'/>"
        f"<child link='{child}'/><origin xyz='{x} 0 0'/><axis xyz='0 1 0'/>{limit}</joint>"
        for (parent, child, x), limit in zip(places, limits, strict=True)
    )
    loop = (
        "<constraint name='loop' type='revolute'><parent link='coupler'/>"
        "<parent_origin xyz='0.4 0 0'/><parent_axis xyz='0 1 0'/><child link='rocker'/>"
        "<child_origin xyz='0.3 0 0'/><child_axis xyz='0 1 0'/></constraint>"
    )
    drive = (
        "<ros2_control name='d' type='system'><hardware><plugin>x/Y</plugin></hardware>"
        "<joint name='j_crank'><command_interface name='effort'/>"
        "<state_interface name='position'/></joint></ros2_control>"
    )
    return f"<robot name='crank'><link name='base'/>{links}{joints}{loop}{drive}</robot>"


@pytest.fixture(scope="module")
def crank():
    return rd.load(crank_text())


def turned(m, angles):
    """Turn the crank from home through angles (K,), in small steps, and return configurations."""
    found, near, last = [], m.home, 0.0
    for angle in angles:
        for between in np.linspace(last, angle, 2 + int(abs(angle - last) / 0.1)):
            near = m.assemble([between], near)
        found.append(near)
        last = angle
    return np.array(found)


def test_a_crank_takes_the_short_way_and_its_loop_stays_closed(crank):
    start, goal = turned(crank, [3.1, -3.1])
    np.testing.assert_allclose(crank.difference(start, goal), [TURN - 6.2], atol=1e-12)
    np.testing.assert_allclose(crank.difference(goal, start), [6.2 - TURN], atol=1e-12)
    there = crank.advance(start, crank.difference(start, goal))
    np.testing.assert_allclose(np.exp(1j * there), np.exp(1j * goal), atol=1e-9)
    again, far = turned(crank, [1.0, 5.0 * TURN + 1.0])
    np.testing.assert_allclose(crank.difference(again, far), [0.0], atol=1e-9)
    for plan in (
        rd.plan_straight(crank, start, goal, duration=1.0),
        rd.time_optimal(crank, np.array([start, goal])),
        rd.plan_path(crank, start, goal),
    ):
        motion = plan.sample(np.linspace(0.0, plan.duration, 51)).configuration
        assert np.ptp(crank.joint_positions(motion)) == pytest.approx(TURN - 6.2, rel=1e-6)


def test_a_crank_turns_without_end_although_its_encoder_wraps(crank):
    """Three turns in three seconds; the drive reports angles within half a turn."""
    times = np.linspace(0.0, 3.0, 301)
    knots = turned(crank, TURN * times)
    rates = np.full((301, 1), TURN)
    path = SampledTrajectory(crank, times, Motion(knots, rates, np.zeros((301, 1))))
    start = knots[0], rates[0]
    run = rd.simulate(
        crank, rd.ComputedTorque(crank), path, dt=1e-3, control_dt=1e-3, initial=start
    )
    assert np.abs(run.error).max() < 0.01
    assert crank.joint_positions(run.configuration[-1])[0] == pytest.approx(3.0 * TURN, abs=0.01)
    follower = TrajectoryFollower(crank, path_tolerance=0.1)
    follower.follow(path)
    along = path.sample(times)
    for t, q, v in zip(times, along.configuration, along.velocity, strict=True):
        wrapped = crank.assemble(shortest(crank.joint_positions(q)), q)
        command = follower.command(round(1e9 * t) + 1, wrapped, v)
        plain = crank.inverse_dynamics(*path.sample(t))
        np.testing.assert_allclose(command.effort, plain, rtol=1e-6, atol=1e-6)
    assert not follower.abandoned


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cc") is None, reason="the library is linked by cc")
def test_the_exported_crank_takes_the_short_way(crank, tmp_path):
    llvm = partial_llvm(crank, "crank", "computed_torque", "configuration")
    write_library(crank, "crank", tmp_path, llvm)
    library = ctypes.CDLL(str(tmp_path / "libcrank.so"))
    start, goal = turned(crank, [3.1, -3.1])
    still, gains = np.zeros(1), (np.full(1, 100.0), np.full(1, 20.0))
    efforts = np.empty(1)
    given = (start, still, goal, still, still, *gains, None, None, efforts)
    pointers = [None if x is None else ctypes.c_void_p(x.ctypes.data) for x in given]
    assert library.crank_computed_torque(*pointers) == 0
    planned = SampledTrajectory(crank, [0.0], Motion(goal[None], still[None], still[None]))
    control = rd.ComputedTorque(crank, 100.0, 20.0)
    np.testing.assert_array_equal(control(0.0, start, still, planned), efforts)
    expected, found = np.array([-3.1]), start.copy()
    pointers = [ctypes.c_void_p(x.ctypes.data) for x in (expected, found)]
    assert library.crank_configuration(*pointers) == 0
    np.testing.assert_allclose(np.exp(1j * found), np.exp(1j * goal), atol=1e-9)
    assert abs(found[0] - start[0]) < 0.1
