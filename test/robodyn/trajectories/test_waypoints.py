# SPDX-License-Identifier: Apache-2.0

"""Waypoint files and sequences: rest to rest, and one line with file and field when refused."""

import numpy as np
import pytest
import yaml

import robodyn as rd
from robodyn.errors import InvalidInput, PathError
from robodyn.poses import pose_from_rpy
from robodyn.trajectories import Sequence

A, B, C = ({"xyz": [x, 0.0, 0.4], "rpy": [0.0, 0.0, x]} for x in (0.1, 0.3, 0.2))
PATH = {"name": "there", "v_max": 0.1, "w_max": 0.1, "waypoints": [A, B, C]}


@pytest.fixture
def write(tmp_path):
    def write(document, name="path.yaml"):
        file = tmp_path / name
        text = document if isinstance(document, str) else yaml.safe_dump(document)
        file.write_text(text)
        return file

    return write


def test_waypoints_are_reached_at_rest_one_after_the_other(write):
    path = rd.load_path(write(PATH))
    assert isinstance(path, Sequence)
    np.testing.assert_allclose(path.starts, [0.0, 3.0])
    assert path.duration == pytest.approx(4.5)
    motion = path.sample([-1.0, 0.0, 3.0, 4.5, 9.0])
    for row, point in enumerate((A, A, B, C, C)):
        expected = pose_from_rpy(point["xyz"], point["rpy"])
        np.testing.assert_allclose(motion.configuration[row], expected, atol=1e-14)
        np.testing.assert_allclose(motion.velocity[row], 0.0, atol=1e-14)
    np.testing.assert_allclose(path.switching_times, [1.0, 2.0, 3.0, 3.5, 4.0])


def test_a_segment_may_say_otherwise(write):
    last = B | {"duration": 8.0, "profile": "quintic", "v_max": 9.0, "w_max": 9.0}
    path = rd.load_path(str(write(PATH | {"waypoints": [A, last]}, "path.YML")))
    assert path.duration == 8.0
    expected = rd.plan_line(
        pose_from_rpy(A["xyz"], A["rpy"]),
        pose_from_rpy(B["xyz"], B["rpy"]),
        8.0,
        profile="quintic",
    )
    for found, reference in zip(path.sample(2.0), expected.sample(2.0), strict=True):
        np.testing.assert_allclose(found, reference, atol=1e-14)


def test_a_file_that_spells_out_path_one_is_path_one(write):
    document = """
        v_max: 0.08
        w_max: 0.08
        waypoints:
          - {xyz: [0.1, 0, 0.4], rpy: [0, 0, -0.2]}
          - {xyz: [0.3, 0, 0.6], rpy: [0, 0, 0.2], duration: 6}
    """
    path = rd.load_path(write(document))
    assert path.switching_times == rd.paper_path("I").switching_times
    for found, reference in zip(path.sample(2.2), rd.paper_path("I").sample(2.2), strict=True):
        np.testing.assert_array_equal(found, reference)


def test_names_of_paper_paths_are_known():
    assert rd.load_path("II").duration == 0.6


WITHOUT_LIMITS = {"waypoints": [A, B]}
REFUSED = {
    "unknown field": (PATH | {"vmax": 1}, "unknown field vmax; did you mean 'v_max'"),
    "in a waypoint": (PATH | {"waypoints": [A, B | {"rpz": 0}]}, r"waypoints\[1\].rpz; did you"),
    "no waypoints": ({"v_max": 1.0}, "waypoints is missing, expected a list of mappings"),
    "one waypoint": (PATH | {"waypoints": [A]}, "waypoints is .*, expected two waypoints or more"),
    "not a list": (PATH | {"waypoints": A}, "waypoints is .*expected a list of mappings"),
    "not mappings": (PATH | {"waypoints": [A, 3]}, r"waypoints\[1\] is 3, expected a mapping"),
    "no rpy": (PATH | {"waypoints": [A, {"xyz": [0, 0, 0]}]}, r"waypoints\[1\].rpy is missing"),
    "short": (PATH | {"waypoints": [A, B | {"xyz": [0, 1]}]}, r"waypoints\[1\].xyz is \[0, 1\]"),
    "nan": (PATH | {"waypoints": [A, B | {"rpy": [0, 0, np.nan]}]}, r"waypoints\[1\].rpy\[2\] is"),
    "text": (PATH | {"v_max": "fast"}, "v_max is 'fast', expected a number above 0"),
    "negative": (PATH | {"waypoints": [A, B | {"duration": -1}]}, r"waypoints\[1\].duration is -1"),
    "profile": (PATH | {"profile": "s"}, "profile is 's', expected one of lspb, cubic"),
    "name": (PATH | {"name": 7}, "name is 7, expected a text"),
    "first": (PATH | {"waypoints": [A | {"duration": 1}, B]}, "no segment leads to the first"),
    "no limits": (WITHOUT_LIMITS, r"waypoints\[1\]: give a duration, or v_max and w_max"),
    "at rest": (PATH | {"waypoints": [A, A]}, r"waypoints\[1\]: start and goal are the same pose"),
    "too fast": (
        PATH | {"waypoints": [A, B | {"duration": 1.0}]},
        r"waypoints\[1\]: position \[m\]: a distance of 0.2 cannot be covered in 1 s at 0.1",
    ),
    "no YAML": ("waypoints: [", "path.yaml, line 1"),
    "a list": ("- 1", "the document is a list, expected a mapping"),
    "empty": ("", "the document is empty"),
    "twice": ("v_max: 1\nv_max: 2", "'v_max' is given twice"),
}


@pytest.mark.parametrize(("document", "text"), REFUSED.values(), ids=REFUSED)
def test_a_file_is_refused_in_one_line_with_file_and_field(write, document, text):
    file = write(document)
    with pytest.raises(PathError, match=text) as caught:
        rd.load_path(file)
    assert str(file) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "source",
    ["IV", "", "nowhere.yaml", "/", "a\0b.yaml", "x" * 5000 + ".yaml", "~nobody9/x.yaml", None, 3],
)
def test_load_path_rejects_what_is_neither_a_name_nor_a_file(source):
    with pytest.raises(
        PathError, match=r"expected one of I, II, III, P1.* or an existing waypoint file"
    ) as caught:
        rd.load_path(source)
    assert len(str(caught.value)) < 300


def test_a_folder_is_no_file(tmp_path):
    folder = tmp_path / "path.yaml"
    folder.mkdir()
    with pytest.raises(PathError, match="is a directory"):
        rd.load_path(folder)


Q = [{"joints": [0.0] * 6}, {"joints": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]}]


def test_an_arms_waypoints_are_joint_positions(write, puma):
    path = rd.load_path(write({"v_max": 0.3, "profile": "cubic", "waypoints": Q}), puma)
    assert path.duration == pytest.approx(3.0)
    np.testing.assert_allclose(path.sample(9.0).configuration, Q[1]["joints"])
    move = rd.load_path("puma_fast", puma)
    assert move.duration == 1.0
    np.testing.assert_allclose(np.rad2deg(move.sample(1.0).configuration), [45, 30, 0, 45, 60, 90])


@pytest.mark.parametrize(
    ("waypoints", "text"),
    [
        ([{"joints": 3}, Q[1]], r"waypoints\[0\].joints is 3, expected a list of joint"),
        ([{"joints": []}, Q[1]], r"waypoints\[0\].joints is \[\], expected a list of joint"),
        ([Q[0], {"joints": [1.0]}], r"waypoints\[1\].joints is \[1.0\], expected a list of 6"),
        ([Q[0], A], r"unknown field waypoints\[1\].(xyz|rpy)"),
    ],
)
def test_joint_waypoints_are_refused_in_one_line(write, waypoints, text):
    with pytest.raises(PathError, match=text):
        rd.load_path(write({"v_max": 1.0, "waypoints": waypoints}))


def test_a_path_must_suit_what_is_to_follow_it(write, puma, dasgupta):
    with pytest.raises(
        PathError, match="consists of poses of a platform, but puma560 requires 6 joint pos"
    ):
        rd.load_path("I", puma)
    with pytest.raises(
        PathError, match="consists of 6 joint positions, but stewart_dasgupta requires poses"
    ):
        rd.load_path("puma", dasgupta)
    seven = write({"v_max": 1, "waypoints": [{"joints": [0] * 7}, {"joints": [1] * 7}]})
    with pytest.raises(
        PathError, match="consists of 7 joint positions, but stewart_dasgupta requires poses"
    ):
        rd.load_path(seven, dasgupta)


def test_a_sequence_has_segments():
    with pytest.raises(InvalidInput, match="segment"):
        Sequence(())


def test_a_sequence_of_joint_motions(rng):
    q = rng.normal(size=(3, 4))
    path = Sequence(
        (rd.plan_joints(q[0], q[1], duration=1.0), rd.plan_joints(q[1], q[2], duration=0.5))
    )
    motion = path.sample(np.array([[0.0, 1.0], [1.5, 2.0]]))
    assert motion.velocity.shape == (2, 2, 4)
    np.testing.assert_allclose(motion.configuration, [[q[0], q[1]], [q[2], q[2]]], atol=1e-14)
    np.testing.assert_allclose(path.switching_times, np.array([2, 4, 6, 7, 8]) / 6)


BENT = np.array([0.2, -0.6, 0.4, 0.3, 0.7, 0.1])


def tip_waypoints(arm, offsets):
    """Poses of the tip, at offsets [m] from where it is at BENT."""
    xyz, rpy = rd.rpy_from_pose(arm.body_pose(BENT))
    return [{"xyz": (xyz + np.array(d)).tolist(), "rpy": rpy.tolist()} for d in offsets]


@pytest.mark.parametrize("blend", [0.0, 0.4])
def test_an_arms_waypoints_as_poses_are_lines_of_its_tip(write, puma, blend):
    """The tip moves as a platform would; the joints follow, from the solution next to the start."""
    points = tip_waypoints(puma, [(0, 0, 0), (0.05, 0, 0), (0.05, 0.05, -0.05)])
    file = write({"v_max": 0.1, "w_max": 0.1, "blend": blend, "waypoints": points})
    path, of_tip = rd.load_path(file, puma, BENT), rd.load_path(file)
    assert path.duration == pytest.approx(of_tip.duration, abs=1e-9)
    np.testing.assert_allclose(path.sample(0.0).configuration, BENT, rtol=0, atol=1e-8)
    for t in path.times[::7]:
        tip = puma.body_pose(path.sample(float(t)).configuration)
        reference = of_tip.sample(float(t)).configuration
        np.testing.assert_allclose(tip[:3], reference[:3], rtol=0, atol=1e-7)
    # between knots, too
    q, qd, _ = path.sample(path.times[:-1] + 0.5 * np.diff(path.times))
    reference = of_tip.sample(path.times[:-1] + 0.5 * np.diff(path.times))
    np.testing.assert_allclose(puma.body_pose(q)[:, :3], reference.configuration[:, :3], atol=1e-6)
    velocity = np.einsum("sij,sj->si", puma.jacobian(q), qd)
    np.testing.assert_allclose(velocity, reference.velocity, rtol=0, atol=1e-3)


@pytest.mark.slow
def test_a_tip_pose_out_of_reach_is_refused_with_its_time(write, puma):
    points = tip_waypoints(puma, [(0, 0, 0), (3.0, 0, 0)])
    file = write({"v_max": 0.5, "w_max": 0.5, "waypoints": points})
    with pytest.raises(PathError, match=r"path.yaml: at t = \d+\.\d+ s: .*may be out of reach"):
        rd.load_path(file, puma, BENT)
    # nor the first one
    points = tip_waypoints(puma, [(3.0, 0, 0), (0, 0, 0)])
    file = write({"v_max": 0.5, "w_max": 0.5, "waypoints": points})
    with pytest.raises(PathError, match=r"path.yaml: puma560: no configuration within"):
        rd.load_path(file, puma, BENT)
