# SPDX-License-Identifier: Apache-2.0

"""Past points without stopping: Craig's formulas, continuity, and path files."""

import numpy as np
import pytest
import yaml

import robodyn as rd
from robodyn.errors import InfeasibleTrajectory, InvalidInput, PathError
from robodyn.poses import pose_from_rpy
from robodyn.trajectories import JointLine, Line, ParabolicBlend, Sequence, ViaPoints, plan_line_rpy

POINTS = np.array([[0.0, 1.0], [1.0, 1.0], [1.0, 0.0], [3.0, -1.0]])
DURATIONS, BLENDS = [1.0, 2.0, 1.5], [0.2, 0.6, 1.0, 0.4]


@pytest.fixture
def path():
    return ViaPoints(POINTS, DURATIONS, BLENDS)


@pytest.fixture
def random_poses(rng):
    points = rng.normal(size=(5, 6))
    return ViaPoints(points, rng.uniform(1.0, 2.0, 4), rng.uniform(0.1, 0.6, 5), poses=True)


def test_via_points_go_from_rest_to_rest_between_the_ends(path):
    motion = path.sample([-1.0, 0.0, 4.5, 9.0])
    np.testing.assert_array_equal(motion.configuration, POINTS[[0, 0, 3, 3]])
    np.testing.assert_array_equal(motion.velocity, 0.0)
    np.testing.assert_array_equal(motion.acceleration[[0, 3]], 0.0)
    assert path.duration == pytest.approx(4.5)
    # it does not jump to the goal, but comes there
    np.testing.assert_allclose(path.sample(4.5 - 1e-9).configuration, POINTS[-1], atol=1e-14)


def test_between_blends_the_rate_is_constant(path):
    rates = np.diff(POINTS, axis=0) / np.array([0.9, 2.0, 1.3])[:, None]
    for t, rate in zip((0.5, 1.8, 3.8), rates, strict=True):
        motion = path.sample(t)
        np.testing.assert_allclose(motion.velocity, rate, atol=1e-14)
        np.testing.assert_array_equal(motion.acceleration, 0.0)


def test_a_point_is_missed_by_an_eighth_of_the_change_of_rate(path):
    rates = np.diff(POINTS, axis=0) / np.array([0.9, 2.0, 1.3])[:, None]
    for k, t in ((1, 1.0), (2, 3.0)):
        miss = (rates[k] - rates[k - 1]) * BLENDS[k] / 8.0
        np.testing.assert_allclose(path.sample(t).configuration, POINTS[k] + miss, atol=1e-14)


def test_switching_times_are_where_blends_begin_and_end(path):
    np.testing.assert_allclose(path.switching_times, [0.2, 0.7, 1.3, 2.5, 3.5, 4.1])
    for t in path.switching_times:
        before, after = path.sample(np.nextafter(t, 0.0)), path.sample(t)
        assert np.abs(after.acceleration - before.acceleration).max() > 0.1


def test_a_point_on_the_way_is_no_switch():
    path = ViaPoints([[0.0], [1.0], [2.0]], [1.2, 1.2], [0.4, 0.2, 0.4])
    np.testing.assert_allclose(path.switching_times, [0.4, 2.0])
    np.testing.assert_allclose(path.sample(1.2).configuration, [1.0], atol=1e-15)


def test_position_and_velocity_are_continuous_and_derivatives(dasgupta, random_poses):
    path, h = random_poses, 1e-5
    edges = np.array(path.switching_times)
    for t in edges:
        before, after = path.sample(t - 1e-10), path.sample(t + 1e-10)
        step = dasgupta.difference(before.configuration, after.configuration)
        np.testing.assert_allclose(step, 0.0, atol=1e-8)
        np.testing.assert_allclose(before.velocity, after.velocity, atol=1e-7)
    times = np.linspace(0.01, path.duration - 0.01, 97)
    times = times[np.abs(times[:, None] - edges).min(axis=1) > 2 * h]
    before, here, after = (path.sample(times + dt) for dt in (-h, 0.0, h))
    rate = dasgupta.difference(before.configuration, after.configuration) / (2 * h)
    np.testing.assert_allclose(here.velocity, rate, atol=1e-5)
    change = (after.velocity - before.velocity) / (2 * h)
    np.testing.assert_allclose(here.acceleration, change, atol=1e-4)


def test_of_two_points_it_is_the_line_with_parabolic_blends(rng):
    ends = rng.normal(size=(2, 6))
    path = ViaPoints(ends, [2.0], [0.3, 0.3], poses=True)
    profile = ParabolicBlend(2.0, 0.3)
    line = Line(ends[:, :3], ends[:, 3:], profile, profile)
    t = rng.uniform(0.0, 2.0, 50)
    for found, expected in zip(path.sample(t), line.sample(t), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_allclose(path.switching_times, line.switching_times)


def test_blends_may_fill_their_segments():
    path = ViaPoints([[0.0], [1.0], [0.0]], [1.0, 1.0], [0.5, 1.0, 0.5])
    np.testing.assert_allclose(path.switching_times, [0.5, 1.5])
    t = np.linspace(0.0, 2.0, 41)
    assert np.isfinite(np.concatenate([np.ravel(v) for v in path.sample(t)])).all()


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((POINTS[:1], [], [1.0]), InvalidInput, r"points has shape \(1, 2\)"),
        (
            (POINTS, [1.0, 2.0], BLENDS),
            InvalidInput,
            r"durations has shape \(2,\), expected \(\.\.\., 3\)",
        ),
        ((POINTS, DURATIONS, [1.0]), InvalidInput, r"blends has shape \(1,\)"),
        ((POINTS, [1.0, 0.0, 1.0], BLENDS), InvalidInput, "durations is .* must be positive"),
        ((POINTS, DURATIONS, [0.2, 0.0, 0.2, 0.2]), InvalidInput, "blends is .* must be positive"),
        (
            (POINTS, DURATIONS, [0.8, 0.6, 1.0, 0.4]),
            InfeasibleTrajectory,
            "points 0 and 1 take 1.1",
        ),
        (
            (POINTS, DURATIONS, [0.2, 0.6, 2.4, 0.4]),
            InfeasibleTrajectory,
            "points 2 and 3 take 1.6",
        ),
    ],
)
def test_via_points_reject_impossible_motions(arguments, error, text):
    with pytest.raises(error, match=text):
        ViaPoints(*arguments)


A, B, C, D = (
    {"xyz": [x, y, 0.5], "rpy": [0.0, 0.0, x]}
    for x, y in ((0.1, 0.0), (0.3, 0.0), (0.3, 0.2), (0.1, 0.2))
)
LIMITS = {"v_max": 0.1, "w_max": 0.1}


@pytest.fixture
def load(tmp_path):
    def load(document):
        file = tmp_path / "path.yaml"
        file.write_text(yaml.safe_dump(document))
        return rd.load_path(file)

    return load


def test_a_file_with_a_blend_for_all(load):
    path = load({"blend": 0.5, "waypoints": [A, B, C, D], **LIMITS})
    assert isinstance(path, ViaPoints)
    # 2 s each at 0.1 m/s, and half a blend more to start and to stop
    np.testing.assert_allclose(path.durations, [2.25, 2.0, 2.25])
    speed = np.linalg.norm(path.sample(np.linspace(0, path.duration, 999)).velocity[:, :3], axis=1)
    assert speed.max() == pytest.approx(0.1)
    assert speed[100:-100].min() > 0.07  # it does not stop at the corners
    goal = pose_from_rpy(D["xyz"], D["rpy"])
    np.testing.assert_allclose(path.sample(path.duration).configuration, goal, atol=1e-15)


def test_a_waypoint_without_a_blend_is_a_stop(load):
    path = load({"waypoints": [A, B | {"blend": 0.5}, C, D], **LIMITS})
    assert isinstance(path, Sequence)
    blended, line = path.segments
    np.testing.assert_array_equal(blended.blends, [0.5, 0.5, 0.5])
    expected = plan_line_rpy([C["xyz"], D["xyz"]], [C["rpy"], D["rpy"]], **LIMITS)
    assert line.position == expected.position
    there = path.sample(blended.duration)
    np.testing.assert_allclose(there.velocity, 0.0, atol=1e-15)
    np.testing.assert_allclose(there.configuration[:3], C["xyz"], atol=1e-15)


def test_an_end_without_a_blend_takes_that_of_the_point_next_to_it(load):
    path = load({"waypoints": [A, B | {"blend": 0.5}, C | {"blend": 0.3}, D], **LIMITS})
    np.testing.assert_array_equal(path.blends, [0.5, 0.5, 0.3, 0.3])
    # it starts within 0.5 s and stops within 0.3 s
    times = np.array([0.49, 0.51, path.duration - 0.31, path.duration - 0.29])
    speeding_up, cruising, cruising_still, slowing_down = np.linalg.norm(
        path.sample(times).acceleration[:, :3], axis=1
    )
    assert speeding_up == pytest.approx(0.1 / 0.5)
    assert slowing_down == pytest.approx(0.1 / 0.3)
    assert max(cruising, cruising_still) < 1e-12


def test_a_waypoint_may_stop_where_all_others_do_not(load):
    path = load({"blend": 0.4, "waypoints": [A, B, C | {"blend": 0}, D], **LIMITS})
    assert [len(segment.points) for segment in path.segments] == [3, 2]
    np.testing.assert_array_equal(path.segments[1].blends, 0.4)


def test_joints_are_blended_as_poses_are(load):
    points = [{"joints": [0.0, 0.0]}, {"joints": [1.0, 0.5], "blend": 0.5}, {"joints": [0.0, 1.0]}]
    path = load({"v_max": 0.5, "waypoints": points})
    assert isinstance(path, ViaPoints)
    np.testing.assert_allclose(path.durations, [2.25, 2.25])
    assert path.sample(1.0).configuration.shape == (2,)
    assert np.abs(path.sample(np.linspace(0, 4.5, 99)).velocity).max() == pytest.approx(0.5)


def test_durations_may_be_given(load):
    path = load({"blend": 0.5, "waypoints": [A, *(p | {"duration": 3.0} for p in (B, C, D))]})
    assert path.duration == pytest.approx(9.0)


def test_files_without_blends_are_as_they_were(load):
    assert isinstance(load({"waypoints": [A, B], **LIMITS}), Line)
    joints = {"v_max": 1.0, "waypoints": [{"joints": [0.0]}, {"joints": [1.0]}]}
    assert isinstance(load(joints), JointLine)


def with_(waypoint, **fields):
    return waypoint | fields


REFUSED = {
    "too long": (
        {"waypoints": [A, with_(B, blend=3.9), C], **LIMITS},
        r"waypoints\[1\].blend is 3.9, expected a shorter one: the blends take 5.85 s, but only "
        r"3.95 s lie between waypoints\[0\] and waypoints\[1\]",
    ),
    "too long for all": (
        {"blend": 9.0, "waypoints": [A, B, C], **LIMITS},
        "path.yaml: blend is 9.0, expected a shorter one",
    ),
    "negative": (
        {"blend": -1.0, "waypoints": [A, B, C], **LIMITS},
        "blend is -1.0, expected a num",
    ),
    "no number": (
        {"waypoints": [A, with_(B, blend="soft"), C], **LIMITS},
        r"waypoints\[1\].blend is 'soft', expected a number of at least 0 \[s\]",
    ),
    "profile": (
        {"profile": "quintic", "blend": 0.5, "waypoints": [A, B, C], **LIMITS},
        "profile is 'quintic', expected lspb if waypoints are blended",
    ),
    "no limits": (
        {"blend": 0.5, "waypoints": [A, B, C]},
        r"waypoints\[1\].duration is missing, expected a number above 0 \[s\], or v_max",
    ),
    "too fast": (
        {"blend": 0.5, "waypoints": [A, with_(B, duration=2.0), C], **LIMITS},
        r"waypoints\[1\].duration is 2.0, expected at least 2.25 s",
    ),
    "no list": (
        {"blend": 0.5, "waypoints": [{"joints": 3}, {"joints": [1.0]}], **LIMITS},
        r"waypoints\[0\].joints is 3, expected a list of joint positions",
    ),
    "never": (
        {"blend": 0.5, "waypoints": [A, B], "v_max": 1e-320, "w_max": 1.0},
        r"waypoints\[1\].duration is inf, expected a finite duration",
    ),
    "at rest": (
        {"blend": 0.5, "waypoints": [A, A, C], **LIMITS},
        r"waypoints\[1\].duration is missing, expected a number above 0 \[s\]",
    ),
}


@pytest.mark.parametrize(("document", "text"), REFUSED.values(), ids=REFUSED)
def test_a_file_is_refused_with_file_and_field(load, document, text):
    with pytest.raises(PathError, match=text) as caught:
        load(document)
    assert "path.yaml: " in str(caught.value)
    assert "\n" not in str(caught.value)
