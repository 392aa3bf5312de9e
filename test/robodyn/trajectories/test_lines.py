# SPDX-License-Identifier: Apache-2.0

"""Lines of platforms and joints: where they lead, how fast, and what they refuse."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.errors import InfeasibleTrajectory, InvalidInput, PathError
from robodyn.poses import pose_difference, pose_from_rpy, rotation_matrix, rpy_from_pose
from robodyn.trajectories import PAPER_PATHS, plan_line_rpy

ZERO = pose_from_rpy([0.0] * 3, [0.0] * 3)


def pose(*rpy, xyz=(0.0, 0.0, 0.0)):
    return pose_from_rpy(xyz, rpy)


def assert_same_pose(actual, expected):
    np.testing.assert_allclose(pose_difference(actual, expected), 0.0, atol=1e-14)


@pytest.mark.parametrize("profile", ["lspb", "cubic", "quintic", "cycloidal"])
def test_a_line_leads_from_start_to_goal(rng, profile):
    start = pose(*rng.uniform(-1, 1, 3), xyz=rng.normal(size=3))
    goal = pose(*rng.uniform(-1, 1, 3), xyz=rng.normal(size=3))
    line = rd.plan_line(start, goal, duration=3.0, profile=profile)
    motion = line.sample([-1.0, 0.0, 3.0, 4.0])
    for row, end in enumerate((start, start, goal, goal)):
        assert_same_pose(motion.configuration[row], end)
    np.testing.assert_allclose(motion.velocity, 0.0, atol=1e-14)
    middle = line.sample(1.5).configuration
    np.testing.assert_allclose(middle[:3], 0.5 * (start[:3] + goal[:3]), atol=1e-14)


def test_twist_and_acceleration_are_derivatives(rng):
    xyz, rpy = rng.normal(size=(2, 2, 3))
    line = plan_line_rpy(xyz, rpy, 2.0, profile="quintic")
    h = 1e-4
    for t in (0.3, 1.0, 1.6):
        before, here, after = (line.sample(t + dt) for dt in (-h, 0.0, h))
        rate = pose_difference(before.configuration, after.configuration) / (2 * h)
        np.testing.assert_allclose(here.velocity, rate, atol=1e-6)
        change = (after.velocity - before.velocity) / (2 * h)
        np.testing.assert_allclose(here.acceleration, change, atol=1e-5)


def test_any_shape_of_times(rng):
    line = rd.paper_path("I")
    motion = line.sample(rng.uniform(0, 6, (2, 3, 4)))
    assert [part.shape for part in motion] == [(2, 3, 4, 7), (2, 3, 4, 6), (2, 3, 4, 6)]
    assert line.sample([]).configuration.shape == (0, 7)
    with pytest.raises(InvalidInput, match="t is nan"):
        line.sample(np.nan)


@pytest.mark.parametrize("axis", [0, 2])
def test_angles_take_the_shorter_way_round(axis):
    first, last = np.zeros(3), np.zeros(3)
    first[axis], last[axis] = 3.0, -3.0
    line = rd.plan_line(pose(*first), pose(*last), duration=1.0)
    turn = np.abs(line.rpy[1] - line.rpy[0])
    np.testing.assert_allclose(turn[axis], 2 * np.pi - 6.0, atol=1e-14)
    assert_same_pose(line.sample(1.0).configuration, pose(*last))


def test_pitch_passes_the_vertical_without_swinging_round():
    start, goal = pose(0.0, 1.4, 0.0), pose(0.0, 1.8, 0.0)
    line = rd.plan_line(start, goal, duration=1.0)
    np.testing.assert_allclose(line.rpy[1] - line.rpy[0], [0.0, 0.4, 0.0], atol=1e-14)
    assert_same_pose(line.sample(1.0).configuration, goal)


def test_angles_given_as_such_are_taken_as_they_are():
    line = plan_line_rpy(np.zeros((2, 3)), [[0, 0, 0], [0, 0, 3 * np.pi]], 3.0)
    assert_same_pose(line.sample(3.0).configuration, pose(0, 0, np.pi))
    assert line.sample(1.5).velocity[5] == pytest.approx(1.5 * np.pi)


@pytest.mark.parametrize(("profile", "factor"), [("lspb", 1.5), ("cubic", 1.5), ("quintic", 1.875)])
def test_the_duration_follows_from_the_slower_of_position_and_rotation(profile, factor):
    goal = pose(0.0, 0.0, 0.2, xyz=(0.3, 0.0, 0.0))
    line = rd.plan_line(ZERO, goal, v_max=0.1, w_max=0.1, profile=profile)
    assert line.duration == pytest.approx(factor * 3.0)
    motion = line.sample(np.linspace(0, line.duration, 1001))
    assert np.linalg.norm(motion.velocity[:, :3], axis=1).max() == pytest.approx(0.1)
    assert np.linalg.norm(motion.velocity[:, 3:], axis=1).max() == pytest.approx(0.2 / 3)


def test_a_pure_turn_needs_no_speed_of_translation():
    assert rd.plan_line(ZERO, pose(0.3, 0.0, 0.0), w_max=0.1).duration == pytest.approx(4.5)


def test_switching_times_are_those_of_what_moves():
    only_position = plan_line_rpy([[0, 0, 0], [0.5, 0, 0]], np.zeros((2, 3)), 6.0, 0.1, 0.1)
    assert only_position.switching_times == (pytest.approx(1.0), pytest.approx(5.0))
    assert rd.plan_line(ZERO, ZERO, duration=2.0).switching_times == ()
    assert rd.paper_path("P1").switching_times == ()


@pytest.mark.parametrize(
    ("changes", "error", "text"),
    [
        ({"start": np.zeros(6)}, InvalidInput, r"start has shape \(6,\)"),
        (
            {"start": np.tile(ZERO, (2, 1))},
            InvalidInput,
            r"start has shape \(2, 7\).*without batch",
        ),
        ({"goal": np.zeros(7)}, InvalidInput, "goal: the quaternion"),
        ({"duration": None}, InvalidInput, "give a duration, or v_max and w_max"),
        ({"duration": None, "v_max": 1.0}, InvalidInput, "give a duration, or v_max and w_max"),
        ({"duration": 0.0}, InvalidInput, "duration is 0.0, must be above 0.0"),
        ({"duration": np.inf}, InvalidInput, "duration is inf"),
        ({"v_max": -1.0}, InvalidInput, "v_max is -1.0, must be above 0.0"),
        ({"w_max": "fast"}, InvalidInput, "w_max must be numbers"),
        ({"profile": "s"}, InvalidInput, "profile is 's', expected one of lspb"),
        (
            {"v_max": 0.1},
            InfeasibleTrajectory,
            r"position \[m\]: a distance of 1 cannot be covered in 1 s",
        ),
        (
            {"w_max": 0.1},
            InfeasibleTrajectory,
            r"angles \[rad\]: a distance of 1 cannot be covered in 1 s",
        ),
        (
            {"goal": ZERO, "duration": None, "v_max": 1.0, "w_max": 1.0},
            InfeasibleTrajectory,
            "the same pose: give a duration to rest there",
        ),
    ],
)
def test_invalid_arguments_of_a_line_are_refused(changes, error, text):
    arguments = {"start": ZERO, "goal": pose(0, 0, 1, xyz=(1, 0, 0)), "duration": 1.0}
    with pytest.raises(error, match=text):
        rd.plan_line(**(arguments | changes))


def test_a_batch_of_ends_is_refused():
    with pytest.raises(InvalidInput, match=r"xyz has shape \(4, 2, 3\)"):
        plan_line_rpy(np.zeros((4, 2, 3)), np.zeros((2, 3)), 1.0)


@pytest.mark.parametrize("name", ["I", "II", "III"])
def test_paper_paths_pass_through_the_reference_states(golden, name):
    entry = golden["stewart_dasgupta"]["paths"][name]
    motion = rd.paper_path(name).sample(entry["t"])
    for row, state in enumerate(entry["state"]):
        np.testing.assert_allclose(motion.configuration[row, :3], state["t"], atol=1e-14)
        R = rotation_matrix(motion.configuration[row])
        np.testing.assert_allclose(R, state["R"], atol=1e-14)
        twist = np.concatenate([state["v"], state["w"]])
        np.testing.assert_allclose(motion.velocity[row], twist, atol=1e-13)
        accel = np.concatenate([state["a"], state["al"]])
        np.testing.assert_allclose(motion.acceleration[row], accel, atol=1e-12)


def test_path_two_is_path_one_ten_times_as_fast(rng):
    t = rng.uniform(0, 6, 20)
    slow, fast = rd.paper_path("I").sample(t), rd.paper_path("II").sample(t / 10)
    np.testing.assert_allclose(fast.configuration, slow.configuration, atol=1e-14)
    np.testing.assert_allclose(fast.velocity, 10 * slow.velocity, atol=1e-13)


def test_path_p1_is_constant_speed():
    motion = rd.paper_path("P1").sample(np.linspace(0, 6, 50))
    np.testing.assert_allclose(motion.velocity[:, 0], 0.5 / 6.0)
    np.testing.assert_array_equal(motion.acceleration, 0.0)


def test_an_unknown_path_lists_the_known_ones():
    with pytest.raises(PathError, match=f"no path 'IV'; expected one of {', '.join(PAPER_PATHS)}"):
        rd.paper_path("IV")


@pytest.mark.parametrize("profile", ["lspb", "cubic", "quintic", "cycloidal"])
def test_joints_start_and_stop_together(rng, profile):
    q0, q1 = rng.normal(size=(2, 5))
    line = rd.plan_joints(q0, q1, duration=2.0, profile=profile)
    motion = line.sample([-1.0, 0.0, 2.0, 3.0, 1.0])
    np.testing.assert_allclose(motion.configuration, [q0, q0, q1, q1, 0.5 * (q0 + q1)], atol=1e-14)
    np.testing.assert_allclose(motion.velocity[:4], 0.0, atol=1e-14)


def test_the_joint_nearest_to_its_limit_sets_the_duration():
    limits = [1.0, 0.1, 9.0]
    line = rd.plan_joints([0, 0, 0], [1, -0.5, 2], v_max=limits, profile="cycloidal")
    assert line.duration == pytest.approx(2.0 * 5.0)
    peak = np.abs(line.sample(np.linspace(0, 10, 1001)).velocity).max(axis=0)
    np.testing.assert_allclose(peak, [0.2, 0.1, 0.4])


def test_joints_cruise_at_the_limit_of_the_one_nearest_to_it():
    line = rd.plan_joints([0, 0], [1, 4], duration=3.0, v_max=2.0)
    np.testing.assert_allclose(line.sample(1.5).velocity, [0.5, 2.0])
    assert line.switching_times == (pytest.approx(1.0), pytest.approx(2.0))


@pytest.mark.parametrize(
    ("changes", "error", "text"),
    [
        ({"q0": [0.0]}, InvalidInput, r"shapes \(1,\) and \(2,\)"),
        ({"q0": 0.0, "q1": 0.0}, InvalidInput, r"shapes \(\) and \(\)"),
        ({"q1": [np.nan, 0.0]}, InvalidInput, r"q1\[0\] is nan"),
        ({"duration": None}, InvalidInput, "give a duration, or v_max"),
        ({"v_max": [1.0, 1.0, 1.0]}, InvalidInput, r"v_max has shape \(3,\).*\(2,\)"),
        ({"v_max": [1.0, 0.0]}, InvalidInput, r"v_max is \[1.0, 0.0\], must be positive"),
        ({"profile": ""}, InvalidInput, "profile is ''"),
        (
            {"v_max": [9.0, 1.5]},
            InfeasibleTrajectory,
            r"joint 2 \[rad or m\]: a distance of 2 cannot be",
        ),
        ({"q1": [0, 0], "duration": None, "v_max": 1}, InfeasibleTrajectory, "are the same"),
    ],
)
def test_a_joint_line_refuses(changes, error, text):
    arguments = {"q0": [0.0, 0.0], "q1": [1.0, 2.0], "duration": 1.0}
    with pytest.raises(error, match=text):
        rd.plan_joints(**(arguments | changes))


def test_plans_start_where_rpy_from_pose_says(rng):
    start = pose(*rng.uniform(-1, 1, 3))
    line = rd.plan_line(start, ZERO, duration=1.0)
    np.testing.assert_array_equal(line.rpy[0], rpy_from_pose(start)[1])


def test_a_line_of_all_joints_of_a_closed_loop_is_refused_with_what_plans_one():
    """Rates of 26 joints are no velocity of a delta: its loops would not close on the way."""
    delta = rd.load("delta")
    goal = delta.advance(delta.home, np.full(delta.mobility, 0.1))
    line = rd.plan_joints(delta.home, goal, 1.0)
    for use in (
        lambda: rd.simulate(delta, rd.ComputedTorque(delta), line),
        lambda: rd.check_limits(delta, line),
        lambda: rd.analyze(delta, line),
        lambda: rd.time_optimal(delta, line),
    ):
        with pytest.raises(rd.InvalidInput, match=r"plan_straight\(mechanism"):
            use()
    straight = rd.plan_straight(delta, delta.home, goal, duration=1.0)
    assert rd.check_limits(delta, straight) is None
    end = straight.sample(1.0).configuration
    np.testing.assert_allclose(delta.difference(end, goal), 0.0, atol=1e-9)
