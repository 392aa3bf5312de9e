# SPDX-License-Identifier: Apache-2.0

"""Workspaces compared with brute force and known geometry, and messages of empty ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from six_legs import six_legs, with_legs
from typer.testing import CliRunner

import robodyn as rd
from robodyn.algorithms import conditioning, smallest_stiffness, travel
from robodyn.cli import app
from robodyn.planning.workspace import (
    Requirements,
    WorkspaceSettings,
    connected_cells,
    level_surface,
)
from robodyn.report.workspace_page import area_image

pytestmark = pytest.mark.slow

LOOPS = Path(__file__).parents[2] / "reference" / "closed_loops"


@pytest.fixture(scope="module")
def platform():
    return rd.load("stewart_symmetric")


@pytest.fixture(scope="module")
def region(platform):
    return rd.workspace(platform, error=0.02, resolution=32)


def at_home_turn(platform, points):
    angles = rd.rpy_from_pose(platform.home)[1]
    return rd.pose_from_rpy(points, np.broadcast_to(angles, points.shape))


def within(platform, poses, limit=np.inf):
    lower, upper = platform.position_limits.T
    lengths = platform.joint_positions(poses)
    kept = ((lengths >= lower) & (lengths <= upper)).all(axis=1)
    return kept & (platform.condition_number(poses) <= limit)


@pytest.mark.parametrize("limit", [np.inf, 9.0])
def test_volume_is_that_of_brute_force(platform, rng, limit):
    legs = tuple(
        replace(leg, base=leg.base + 0.1 * rng.normal(size=3)) for leg in six_legs(platform).legs
    )
    other = with_legs(platform, legs)
    found = rd.workspace(other, condition_limit=limit, error=0.02)
    count = 400_000
    points = rng.uniform(found.box[:, 0], found.box[:, 1], (count, 3))
    fraction = within(other, at_home_turn(other, points), limit).mean()
    whole = np.prod(np.diff(found.box, axis=1))
    noise = whole * np.sqrt(fraction * (1.0 - fraction) / count)
    assert found.volume_error < 0.03 * found.volume
    assert abs(found.volume - whole * fraction) < found.volume_error + 4.0 * noise


def turned(rpy):
    """Rotation matrices (N, 3, 3): about z by the yaw after y by the pitch after x by the roll."""
    return Rotation.from_euler("xyz", rpy).as_matrix()


@pytest.mark.parametrize(("kind", "seed"), [("constant", 1), ("constant", 2), ("orientation", 1)])
def test_volumes_of_random_platforms_are_those_of_their_legs_formula(platform, kind, seed):
    """Legs drawn at random, their lengths by |x + R b - a| and nothing of the library's."""
    random = np.random.default_rng(seed)
    legs = []
    for leg in six_legs(platform).legs:
        shortest, longest = leg.limits.length
        first = shortest * random.uniform(0.9, 1.05)
        ends = first, first + (longest - shortest) * random.uniform(0.7, 1.2)
        feet = leg.base + 0.15 * random.normal(size=3)
        tips = leg.platform + 0.08 * random.normal(size=3)
        limits = replace(leg.limits, length=ends)
        legs.append(replace(leg, base=feet, platform=tips, limits=limits))
    drawn = with_legs(platform, legs)
    found = rd.workspace(drawn, kind, error=0.03, seed=seed)
    assert found.volume > 0.0
    count = 200_000
    points = random.uniform(found.box[:, 0], found.box[:, 1], (count, 3))
    at, angles = (part[None] for part in rd.rpy_from_pose(drawn.home))
    xyz, R = (at, turned(points)) if kind == "orientation" else (points, turned(angles))
    inside = np.ones(count, dtype=bool)
    for leg in legs:
        length = np.linalg.norm(xyz + R @ leg.platform - leg.base, axis=-1)
        inside &= (length >= leg.limits.length[0]) & (length <= leg.limits.length[1])
    fraction, whole = inside.mean(), np.prod(np.diff(found.box, axis=1))
    noise = whole * np.sqrt(fraction * (1.0 - fraction) / count)
    assert abs(found.volume - whole * fraction) < found.volume_error + 4.0 * noise


def test_boundary_is_closed_and_encloses_the_volume(region):
    surface = region.boundary
    edges = np.sort(surface.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    _, uses = np.unique(edges, axis=0, return_counts=True)
    assert (uses == 2).all()
    # a grid of 32 cells cuts corners
    assert surface.volume == pytest.approx(region.volume, rel=0.06)


def test_files_hold_the_boundary(region, tmp_path):
    trimesh = pytest.importorskip("trimesh")
    for name in ("region.stl", "region.ply"):
        region.save(tmp_path / name)
        read = trimesh.load(tmp_path / name)
        assert read.volume == pytest.approx(region.boundary.volume, rel=1e-5)
    with pytest.raises(rd.InvalidInput, match=r"expected \.stl or \.ply"):
        region.save(tmp_path / "region.obj")


def test_workspace_contains_what_the_legs_reach(platform, region, rng):
    points = rng.uniform(region.box[:, 0], region.box[:, 1], (2000, 3))
    expected = within(platform, at_home_turn(platform, points))
    np.testing.assert_array_equal(region.contains(points), expected)
    assert region.contains(platform.home)


def test_dexterous_lies_within_constant_and_constant_within_reachable(platform, region):
    turns = [[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.0, -0.1, 0.0]]
    every, any_ = (
        rd.workspace(platform, kind, orientations=turns, bounds=region.box, error=0.05)
        for kind in ("dexterous", "reachable")
    )
    assert every.volume < region.volume < any_.volume


def test_efforts_below_the_weight_are_named(platform):
    found = rd.workspace(
        platform, effort_limits=20.0, bounds=[[-0.3, 0.3], [-0.3, 0.3], [0.7, 1.1]]
    )
    assert found.volume == 0.0
    assert "needs" in found.text
    assert "its limit is 20 N" in found.text


def test_singular_surface_is_where_the_determinant_is_zero(dasgupta):
    box = [[-0.5, 0.9], [-0.6, 0.8], [0.2, 1.2]]
    found = rd.workspace(dasgupta, rpy=[0.0, 0.6, 0.0], bounds=box, error=0.2, resolution=24)
    surface = found.singular_surface
    assert len(surface.triangles) > 50
    turns = np.broadcast_to([0.0, 0.6, 0.0], surface.vertices.shape)
    near = np.abs(conditioning.determinant(dasgupta, rd.pose_from_rpy(surface.vertices, turns)))
    corners = rd.pose_from_rpy(found.box.T, np.broadcast_to([0.0, 0.6, 0.0], (2, 3)))
    assert np.median(near) < 0.05 * np.abs(conditioning.determinant(dasgupta, corners)).max()


def test_tip_of_two_links_covers_a_ring(tmp_path):
    """Links of 1 and 0.5 m, joints without limits: a ring between 0.5 and 1.5 m."""
    link = "joint: revolute, theta: 0, d: 0, alpha: 0, mass: 1, com: [0, 0, 0], inertia: "
    inertia = "[[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]"
    file = tmp_path / "two.yaml"
    file.write_text(
        "type: serial\nname: two\ngravity: [0, 0, -9.81]\nconvention: standard_dh\nlinks:\n"
        f"  - {{{link}{inertia}, a: 1.0}}\n  - {{{link}{inertia}, a: 0.5}}\n"
    )
    found = rd.workspace(rd.load(file), resolution=24)
    assert found.dimensions == 2
    assert abs(found.volume - 2.0 * np.pi) < found.volume_error
    assert found.volume_error < 0.2
    inside = found.contains([[1.2, 0.0, 0.0], [0.3, 0.0, 0.0], [1.6, 0.0, 0.0]])
    assert inside.tolist() == [True, False, False]


def test_surface_of_a_sphere():
    axis = np.linspace(-1.2, 1.2, 31)
    x, y, z = np.meshgrid(axis, axis, axis, indexing="ij")
    surface = level_surface((axis, axis, axis), 1.0 - np.sqrt(x * x + y * y + z * z))
    np.testing.assert_allclose(np.linalg.norm(surface.vertices, axis=1), 1.0, atol=0.01)
    assert surface.volume == pytest.approx(4.0 / 3.0 * np.pi, rel=0.01)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "round"}, "kind is 'round'"),
        ({"kind": "dexterous"}, "dexterous workspace requires several orientations"),
        ({"effort_limits": -1.0}, "effort_limits is -1.0, must be above 0"),
        ({"bounds": [[0, 1], [1, 0], [0, 1]]}, "lower < upper"),
    ],
)
def test_invalid_settings_of_a_workspace_are_refused(platform, options, message):
    with pytest.raises(rd.InvalidInput, match=message):
        rd.workspace(platform, **options)


def limited(loop, half):
    """Return the mechanism with driven joints limited to this distance from home."""
    home = dict(zip(loop.joint_names, loop.joint_positions(loop.home), strict=True))
    joints = (
        replace(one, position=home[one.name] + half * np.array([-1.0, 1.0]))
        if one.name in home
        else one
        for one in loop.model.joints
    )
    return rd.ClosedLoop(replace(loop.model, joints=tuple(joints)))


def test_orientations_of_a_spherical_mechanism_are_those_of_its_motors(rng):
    """Their volume is that of the motors' positions, times how the tip turns with each."""
    loop = limited(rd.load(LOOPS / "spm.yaml"), 0.4)
    found = rd.workspace(loop, resolution=16, budget=300.0)
    assert (found.kind, found.unit) == ("orientation", "rad^3")
    motors = rng.uniform(*loop.position_limits.T, (300, 3))
    turned = [loop.assemble(one) for one in motors]
    angles = rd.rpy_from_pose(loop.body_pose(np.array(turned)))[1]
    # the rates of roll, pitch and yaw follow from the angular velocity, with 1 / cos(pitch)
    fraction = [
        abs(np.linalg.det(loop.jacobian(q)[3:])) / np.cos(b)
        for q, b in zip(turned, angles[:, 1], strict=True)
    ]
    assert abs(found.volume - 0.8**3 * np.mean(fraction)) < found.volume_error
    assert found.volume_error < 0.15 * found.volume
    assert found.contains(angles[:20]).mean() > 0.8
    assert ((angles > found.box[:, 0]) & (angles < found.box[:, 1])).all()
    beyond = limited(loop, 0.6)
    corner = loop.joint_positions(loop.home) + 0.58
    outside = rd.rpy_from_pose(beyond.body_pose(beyond.assemble(corner)))[1]
    assert not found.contains(outside)


def test_roll_and_yaw_go_on_after_a_turn(tmp_path):
    """A spherical wrist without limits has every orientation: 2 pi times pi times 2 pi."""
    body = "d: 0, mass: 1, com: [0, 0, 0], inertia: [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]"
    links = "".join(
        f"  - {{joint: revolute, theta: 0, a: {length}, alpha: {turn}, {body}}}\n"
        for length, turn in ((0, -np.pi / 2), (0, np.pi / 2), (0.1, 0))
    )
    file = tmp_path / "wrist.yaml"
    file.write_text(
        "type: serial\nname: wrist\ngravity: [0, 0, -9.81]\nconvention: standard_dh\n"
        f"home: [0.3, 0.7, 0.2]\nlinks:\n{links}"
    )
    found = rd.workspace(rd.load(file), "orientation", resolution=12)
    assert abs(found.volume - 4.0 * np.pi**3) < found.volume_error
    assert found.contains([[np.pi, 0.1, -np.pi], [-3.1, 1.0, 3.1]]).all()


def test_a_tip_that_does_not_turn_has_no_orientations():
    with pytest.raises(rd.InvalidInput, match="the tip of delta does not rotate"):
        rd.workspace(rd.load("delta"), "orientation")


GIMBAL = """<robot name="gimbal"><link name="base_link"/>
<link name="ring"><inertial><mass value="1"/>{inertia}</inertial></link>
<link name="plate"><inertial><mass value="1"/>{inertia}</inertial></link>
<joint name="pitch" type="revolute"><parent link="base_link"/><child link="ring"/>
<axis xyz="0 1 0"/><limit lower="-0.5" upper="0.7" effort="10" velocity="1"/></joint>
<joint name="roll" type="{second}"><parent link="ring"/><child link="plate"/>
<axis xyz="1 0 0"/><limit lower="-0.4" upper="0.4" effort="10" velocity="1"/></joint></robot>"""
SAME = '<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>'


@pytest.mark.parametrize(("second", "expected"), [("revolute", 1.2 * 0.8), ("fixed", 1.2)])
def test_orientations_about_one_or_two_axes_are_a_range_or_an_area(second, expected):
    """Ry(pitch) Rx(roll) of the motors is a pitch and a roll without yaw."""
    m = rd.load(GIMBAL.format(inertia=SAME, second=second))
    found = rd.workspace(m, resolution=8)
    both = second == "revolute"
    assert (found.kind, found.dimensions) == ("orientation", 2 if both else 1)
    assert found.angles == (("roll", "pitch") if both else ("pitch",))
    assert found.unit == ("rad^2" if both else "rad")
    assert abs(found.volume - expected) < found.volume_error < 0.1 * expected
    assert found.contains([[0.3 * both, 0.65, 0.0], [0.3 * both, 0.75, 0.0]]).tolist() == [1, 0]
    assert set(found.reasons) == {f"position of {joint}" for joint in m.joint_names}
    assert sum(found.reasons.values()) == pytest.approx(1.0)
    assert found.unit in found.text
    np.testing.assert_array_equal(found.box[2], 0.0)
    points, names = found.ends
    beyond = abs(points - [0.0, 0.1, 0.0]) - [0.4, 0.6, 0.0]
    for name, outside in zip(("position of roll", "position of pitch"), beyond.T, strict=False):
        there = outside[[each == name for each in names]]
        assert ((there > 0.0) & (there < 1.5 * found.cell)).all()


def test_orientations_of_a_seat_are_those_of_its_motors(tmp_path, rng):
    """Two legs and a center leg: the area is that of the motors' positions, as the angles turn."""
    file = tmp_path / "seat.yaml"
    assert CliRunner().invoke(app, ["new", "pitch-roll-seat", str(file)]).exit_code == 0
    m = rd.load(file)
    found = rd.workspace(m, "orientation", resolution=10)
    lower, upper = m.position_limits.T
    reached = m.assemble(rng.uniform(lower, upper, (300, 2)))
    pitch = rd.rpy_from_pose(m.body_pose(reached))[1][:, 1]
    # whatever yaw follows: it turns about z, and roll's axis is foreshortened by cos(pitch)
    rates = np.abs(np.linalg.det(m.jacobian(reached)[:, 3:5])) / np.cos(pitch)
    assert found.angles == ("roll", "pitch")
    assert abs(found.volume - np.prod(upper - lower) * rates.mean()) < found.volume_error
    assert set(found.reasons) == {"position of leg1", "position of leg2"}
    pytest.importorskip("matplotlib")
    assert area_image(found, ["roll", "pitch", "yaw"]).count("data:image/png") == 1


def test_a_workspace_that_goes_on_for_ever_is_refused_when_the_budget_is_spent():
    """Sliding motors without limits are named; between bounds it is filled."""
    glide = rd.load(LOOPS / "hexaglide.yaml")
    ends = np.array([-np.inf, np.inf])
    loop = rd.ClosedLoop(
        replace(
            glide.model, joints=tuple(replace(one, position=ends) for one in glide.model.joints)
        )
    )
    message = r"still grows after 0\.2 s: .* have no position limits"
    with pytest.raises(rd.InvalidInput, match=message):
        rd.workspace(loop, budget=0.2)
    box = loop.body_pose(loop.home)[:3, None] + 0.2 * loop.size * np.array([-1.0, 1.0])
    found = rd.workspace(loop, bounds=box, resolution=4, budget=np.inf)
    assert found.volume > 0.0
    assert not found.cut_short


def test_the_cells_of_a_loop_are_what_a_budget_allows():
    """Coarse ones at least, and progress is reported meanwhile."""
    reported = []
    found = rd.workspace(rd.load("delta"), resolution=300, budget=2.0, progress=reported.append)
    # coarser than the 300 cells; a slow machine may not come to the end of the coarse ones either
    assert "budget of 2 s" in found.text
    assert found.volume > 0.0
    assert len(reported) > 3
    assert reported == sorted(reported)
    assert reported[0] < 0.1


def test_the_mirror_image_below_the_base_does_not_count(platform, region, rng):
    """The legs are long enough for it, but no way within their limits leads there."""
    below = platform.home * [1, 1, -1, 1, 1, 1, 1]
    assert within(platform, below[None])[0]
    assert not region.contains(below)
    assert region.box[2, 0] > 0.0
    # by brute force above the base, where the legs' formula has one part
    low, high = [-0.6, -0.6, 0.0], [0.6, 0.6, 1.3]
    points = rng.uniform(low, high, (300_000, 3))
    fraction = within(platform, at_home_turn(platform, points)).mean()
    whole = np.prod(np.subtract(high, low))
    noise = whole * np.sqrt(fraction / len(points))
    assert abs(region.volume - whole * fraction) < region.volume_error + 4.0 * noise
    both = rd.workspace(platform, error=0.05, bounds=[[-0.6, 0.6], [-0.6, 0.6], [-1.3, 1.3]])
    assert both.volume == pytest.approx(region.volume, rel=0.1)
    assert not both.contains(below)
    # an orientation workspace continues beyond half a turn of roll and yaw
    yawed = rd.workspace(travel.with_cones(platform, body_cone=0.3), "orientation", error=0.1)
    assert 0.0 < yawed.volume < 1.0


def test_cells_are_connected_round_a_turn():
    filled = np.zeros((12, 12, 12), dtype=bool)
    filled[[0, 1, 11, 10, 5], 6, 6] = True
    box, home = np.array([[-1.0, 1.0]] * 3), np.array([-0.99, 0.05, 0.05])
    round_ = connected_cells(filled, box, home, (True, False, False))
    assert sorted(np.argwhere(round_)[:, 0]) == [0, 1, 10, 11]
    straight = connected_cells(filled, box, home, (False, False, False))
    assert sorted(np.argwhere(straight)[:, 0]) == [0, 1]


def test_configurations_have_the_least_stiffness_and_frequency(rng):
    m = rd.load("motion_platform").with_drive_stiffness(1e8)
    points = m.home[:3] + rng.uniform(-0.2, 0.2, (40, 3))
    poses = np.concatenate([points, np.broadcast_to(m.home[3:], (40, 4))], axis=1)
    free = Requirements(m, WorkspaceSettings()).margins(poses) >= 0.0
    for name, found in (
        ("natural_frequency", m.modes(poses).frequencies[:, 0]),
        ("stiffness", smallest_stiffness(m, poses)),
    ):
        limit = float(np.median(found[free]))
        needs = Requirements(m, WorkspaceSettings(**{name: limit}))
        np.testing.assert_array_equal(needs.margins(poses) >= 0.0, free & (found >= limit))
        softest = poses[np.argmin(np.where(free, found, np.inf))]
        assert needs.name(softest) == name.replace("_", " ")
        assert "the minimum allowed is" in needs.worst(softest)
    with pytest.raises(rd.InvalidInput, match=r"the drives of leg1_actuator, .* are rigid"):
        rd.workspace(rd.load("motion_platform"), stiffness=1e6)
