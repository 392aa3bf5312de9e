# SPDX-License-Identifier: Apache-2.0

"""When a motion is singular: path III of the 1998 paper, and its condition number there."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import robodyn as rd
from robodyn.algorithms import conditioning, motions
from robodyn.control import (
    look_ahead,
    motion_singularities,
    needs_regularity,
    singular_times,
    threshold_crossings,
)
from robodyn.errors import InvalidInput, UnphysicalInertiaWarning
from robodyn.poses import rotation_matrix
from robodyn.presentation import presentation
from robodyn.trajectories import Motion, SampledTrajectory

# Found outside this project, by root finding on det H of a 13-body model: test/reference.
SINGULAR = 3.670504110006
REDUNDANT = Path(__file__).parents[2] / "reference" / "closed_loops" / "redundant_3rrr.urdf"


@pytest.fixture(scope="module")
def platform():
    with pytest.warns(UnphysicalInertiaWarning):
        return rd.load("stewart_dasgupta")


def test_path_three_is_singular_once(platform):
    times = singular_times(platform, rd.paper_path("III"))
    np.testing.assert_allclose(times, [SINGULAR], rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("samples", [1, 7, 100])
def test_a_coarse_grid_finds_the_same_time(samples, platform):
    times = singular_times(platform, rd.paper_path("III"), samples)
    np.testing.assert_allclose(times, [SINGULAR], rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("name", ["I", "II", "P1"])
def test_the_other_paths_are_not(name, platform):
    assert singular_times(platform, rd.paper_path(name)).shape == (0,)


def test_condition_number_at_a_crossing_is_the_threshold(platform):
    path = rd.paper_path("I")
    rising, *more = threshold_crossings(platform, path, 45.0)
    assert not more
    assert rising.upward
    pose = path.sample(rising.time).configuration
    assert platform.condition_number(pose) == pytest.approx(45.0, rel=1e-9)


def test_even_the_narrowest_peak_is_seen(platform):
    """At 1e9 the condition number is up for a microsecond; the grid's step is 6 ms."""
    up, down = threshold_crossings(platform, rd.paper_path("III"), 1e9)
    assert up.upward
    assert not down.upward
    assert up.time < SINGULAR < down.time
    assert down.time - up.time < 1e-5


def test_singularity_searches_reject_invalid_arguments(platform):
    path = rd.paper_path("III")
    with pytest.raises(InvalidInput, match="threshold"):
        threshold_crossings(platform, path, 0.5)
    with pytest.raises(InvalidInput, match="samples"):
        singular_times(platform, path, 0)


def moved(mechanism, change, count=60):
    """From home by a change of the independent joints, in a second at constant rates."""
    times = np.linspace(0.0, 1.0, count)
    start = presentation.values_of(mechanism, mechanism.home)
    positions = start + times[:, None] * np.asarray(change)
    motion = motions.motion_of_independent(mechanism, positions, np.full_like(positions, change))
    return SampledTrajectory(mechanism, times, motion)


def links(mechanism, q):
    """Unit vectors along the four links of a five-bar, the two left ones first."""
    names = [joint.child for joint in mechanism.model.joints if joint.moves]
    return [rotation_matrix(mechanism.link_pose(q, name))[:, 0] for name in names]


def test_a_five_bar_meets_both_types_and_each_is_distinguished():
    """Type 1 where a leg is straight, type 2 where the two distal links are in line."""
    fivebar = rd.load("fivebar")
    fivebar = rd.ClosedLoop(replace(fivebar.model, independent=("left_motor", "left_elbow")))
    path = moved(fivebar, [-3.9, 1.95])
    outlook = look_ahead(fivebar, path)
    assert outlook.severity == 2
    assert [meeting.name for meeting in outlook.meetings] == ["type 1", "type 2"]
    for time, name, meaning in outlook.meetings:
        upper, lower, other, distal = links(fivebar, path.sample(time).configuration)
        legs = min(np.linalg.norm(np.cross(*leg)) for leg in ((upper, lower), (other, distal)))
        across = np.linalg.norm(np.cross(lower, distal))
        assert (legs if name == "type 1" else across) < 1e-7
        assert (across if name == "type 1" else legs) > 1e-2
        assert f"singular at t = {time:.4f} s ({name}: {meaning})" in outlook.text
    # what gives way at type 2 is the tip, across the distal links that are in line
    q = path.sample(outlook.meetings[1].time).configuration
    escape = conditioning.singularities(fivebar)[1].yields(q, 1.0)
    _, lower, _, distal = links(fivebar, q)
    assert np.abs([lower @ escape[:3], distal @ escape[:3]]).max() < 1e-6 * np.linalg.norm(escape)
    assert np.linalg.norm(escape[:3]) > 1e-2 * np.linalg.norm(escape)
    # each pole of the condition number is met
    rises = [c.time for c in threshold_crossings(fivebar, path, 1e4) if c.upward]
    assert len(rises) == len(outlook.meetings)


def test_a_delta_is_at_an_end_of_travel_where_its_arms_and_rods_are_in_line():
    """All three at once: 0.20 + (0.30 + 0.70) cos angle = 0.05."""
    delta = rd.load("delta")
    start = delta.joint_positions(delta.home)[0]
    path = moved(delta, [1.9 - start] * 3)
    (meeting,) = motion_singularities(delta, path)
    assert meeting.name == "type 1"
    angle = delta.joint_positions(path.sample(meeting.time).configuration)
    np.testing.assert_allclose(angle, np.arccos(-0.15), rtol=0.0, atol=1e-4)


def test_numbers_without_a_sign_are_singular_where_they_touch_zero(platform):
    redundant = rd.load(REDUNDANT)
    assert conditioning.determinant(redundant, redundant.home) is None
    assert needs_regularity(redundant)
    path = moved(redundant, [0.1, 0.05, -0.1])
    assert motion_singularities(redundant, path) == ()
    # a mechanism whose number is the distance of a coordinate from where it is at 0.3 s
    at = path.sample(0.3).configuration[0]
    touching = conditioning.Singularity(
        "type 2", "none", lambda q: np.abs(q[:, 0] - at), False, redundant.condition_number, True
    )

    class Touching:
        pass

    conditioning.singularities.register(Touching, lambda _: (touching,))

    (meeting,) = motion_singularities(Touching(), path)
    assert meeting.time == pytest.approx(0.3, abs=1e-7)


def test_a_jump_from_one_assembly_to_another_is_no_singularity():
    fivebar = rd.load("fivebar")
    driven = fivebar.joint_positions(fivebar.home)
    both = fivebar.assemblies(driven, searches=40)[:2]
    assert len(both) == 2

    class Jumping:
        duration = 1.0

        def sample(self, t):
            which = (np.asarray(t) > 0.25).astype(int)
            return Motion(both[which], *np.zeros((2, *which.shape, 2)))

    with pytest.raises(InvalidInput, match=r"the motion jumps at t = 0\.25 s"):
        motion_singularities(fivebar, Jumping())


def test_motion_with_a_straight_wrist_is_singular_from_its_start():
    """Axes 4 and 6 are in line throughout: one singularity, not one for each change of a sign."""
    arm = rd.load("stanford_arm")
    start = np.array([0.0, 0.5, 0.5, 0.2, 0.0, 0.0])
    for change in ([0.4, 0.4, -0.1, 0.6, 0.0, 0.3], [0.4, 0.0, 0.0, 0.0, 0.0, 0.0]):
        goal = start + change
        (meeting,) = motion_singularities(arm, rd.plan_joints(start, goal, 2.0))
        assert (meeting.time, meeting.name) == (0.0, "type 1")
        # beside it there is nothing singular
        goal[4] = bent = 0.2
        start_beside = np.array([*start[:4], bent, start[5]])
        assert motion_singularities(arm, rd.plan_joints(start_beside, goal, 2.0)) == ()
