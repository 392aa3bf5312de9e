# SPDX-License-Identifier: Apache-2.0

"""Spaces, curves, bounds and surfaces that planning is made of, against geometry."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import robodyn as rd
from robodyn.algorithms import conditioning
from robodyn.planning.paths import (
    Bounds,
    Budget,
    Curve,
    PlanningProblem,
    PoseCurve,
    Space,
    Spline,
    curve_along,
    densify,
    shortcut,
    space_of,
)
from robodyn.planning.workspace import Requirements, WorkspaceSettings, level_surface

S = np.linspace(0.0, 1.0, 21)
STEP = 0.05


@pytest.fixture(scope="module")
def arm():
    return rd.load("puma560")


@pytest.fixture(scope="module")
def platform():
    return rd.load("stewart_symmetric")


def some(mechanism, rng, count, reach):
    """Configurations around home, and the space of the first two."""
    size = mechanism.coordinates.velocity_size
    found = mechanism.advance(mechanism.home, rng.uniform(-reach, reach, (count, size)))
    return found, Space(mechanism, found[0], found[1])


def test_a_spline_begins_and_ends_at_its_outer_controls(rng):
    controls = rng.normal(size=(9, 3))
    spline = Spline(controls)
    np.testing.assert_allclose(spline(np.array([0.0, 1.0])), controls[[0, -1]], atol=1e-12)
    low, high = controls.min(axis=0), controls.max(axis=0)  # it stays in the hull
    assert ((spline(S) >= low - 1e-12) & (spline(S) <= high + 1e-12)).all()


@pytest.mark.parametrize("order", [1, 2])
def test_derivatives_of_a_spline_are_its_slopes(rng, order):
    spline, h, inner = Spline(rng.normal(size=(9, 3))), 1e-4, S[1:-1]
    slope = (spline(inner + h, order - 1) - spline(inner - h, order - 1)) / (2.0 * h)
    scale = np.abs(slope).max()
    np.testing.assert_allclose(spline(inner, order), slope, atol=1e-5 * scale)


def test_equal_controls_in_a_row_make_a_straight_line():
    ends = np.array([[0.0, 1.0], [2.0, -1.0]])
    controls = ends[0] + np.linspace(0.0, 1.0, 9)[:, None] * (ends[1] - ends[0])
    along = Curve(controls).configurations(S)
    off = np.cross(along - ends[0], ends[1] - ends[0])
    np.testing.assert_allclose(off, 0.0, atol=1e-12)


def test_a_curve_of_poses_turns_as_its_orientations_do(rng):
    """Its angular velocity and acceleration, from differences of rotations."""
    quaternions = Rotation.from_rotvec(rng.uniform(-0.6, 0.6, (8, 3))).as_quat()
    curve = PoseCurve(np.hstack([rng.normal(size=(8, 3)), quaternions]))
    h, inner = 1e-4, S[2:-2]
    motion = curve.motion(inner)
    np.testing.assert_allclose(np.linalg.norm(motion.configuration[:, 3:], axis=1), 1.0)

    def turn(s):
        return Rotation.from_quat(curve.configurations(s)[:, 3:])

    here = turn(inner)
    before, after = ((turn(inner + at) * here.inv()).as_rotvec() for at in (-h, h))
    np.testing.assert_allclose(motion.velocity[:, 3:], (after - before) / (2 * h), atol=1e-5)
    np.testing.assert_allclose(motion.acceleration[:, 3:], (after + before) / h**2, atol=1e-3)


@pytest.mark.parametrize("name", ["arm", "platform"])
def test_a_segment_is_straight_and_its_steps_are_short(name, request, rng):
    mechanism = request.getfixturevalue(name)
    (start, goal), space = some(mechanism, rng, 2, 0.3)
    way = space.segment(start, goal, STEP)
    np.testing.assert_array_equal(way[0], start)
    assert np.abs(mechanism.difference(way[-1], goal)).max() < 1e-12
    lengths = space.lengths(way)
    assert lengths.max() <= STEP * (1.0 + 1e-9)
    np.testing.assert_allclose(lengths, lengths[0], rtol=1e-9)
    direct = mechanism.difference(start, goal) * space.weights
    assert space.length(way) == pytest.approx(np.linalg.norm(direct))


@pytest.mark.parametrize("name", ["arm", "platform"])
def test_distances_are_those_of_a_metric(name, request, rng):
    mechanism = request.getfixturevalue(name)
    found, space = some(mechanism, rng, 12, 0.4)
    places = space.embed(found)
    table = np.array([space.distances(place, places) for place in places])
    np.testing.assert_allclose(table, table.T, atol=1e-12)
    np.testing.assert_allclose(np.diag(table), 0.0, atol=1e-7)
    assert (table[:, None] <= table[:, :, None] + table[None] + 1e-9).all()
    near = mechanism.advance(found[0], 1e-3 * rng.normal(size=len(space.weights)))
    length = space.length(np.stack([found[0], near]))
    assert space.distances(places[0], space.embed(near[None]))[0] == pytest.approx(length, rel=1e-3)


def test_either_sign_of_a_quaternion_is_the_same_place(platform, rng):
    found, space = some(platform, rng, 2, 0.3)
    other = found[1] * [1, 1, 1, -1, -1, -1, -1]
    both = space.embed(np.stack([found[1], other]))
    distances = space.distances(space.embed(found[:1])[0], both)
    assert distances[0] == pytest.approx(distances[1], abs=1e-12)


def test_samples_lie_within_their_radius_and_fill_it(arm, rng):
    (start, goal), space = some(arm, rng, 2, 0.1)
    middle = 0.5 * (start + goal)
    samples = np.array([space.sample(rng, 0.7) for _ in range(300)])
    away = np.linalg.norm((samples - middle) * space.weights, axis=1)
    assert away.max() <= 0.7 * (1.0 + 1e-9)
    # uniform in a ball of six dimensions: the share within r is (r / R)^6
    assert np.mean(away < 0.7 * 0.5 ** (1.0 / 6.0)) == pytest.approx(0.5, abs=0.12)


def test_a_step_towards_a_target_goes_as_far_as_its_reach(arm, rng):
    (start, goal), space = some(arm, rng, 2, 0.5)
    whole = space.length(np.stack([start, goal]))
    part = space.steer(start, goal, 0.25 * whole, STEP)
    np.testing.assert_allclose(part[-1], start + 0.25 * (goal - start), atol=1e-12)
    np.testing.assert_allclose(space.steer(start, goal, 9.0, STEP)[-1], goal, atol=1e-12)


def test_a_path_is_filled_and_its_detour_is_cut(arm, rng):
    (start, goal, aside), space = some(arm, rng, 3, 0.2)
    path = densify(space, np.stack([start, aside, goal]), STEP)
    assert space.lengths(path).max() <= STEP * (1.0 + 1e-9)
    for q in (start, aside, goal):
        assert np.abs(path - q).max(axis=1).min() < 1e-12
    bounds = Bounds(arm)
    question = PlanningProblem(space, bounds, start, goal, STEP)
    least = np.zeros(bounds.size)
    short = shortcut(question, least, path, rng, Budget(np.inf, 100))
    assert space.length(short) == pytest.approx(space.length(np.stack([start, goal])))
    np.testing.assert_allclose(short[[0, -1]], np.stack([start, goal]), atol=1e-12)


@pytest.mark.parametrize("name", ["arm", "platform"])
def test_a_curve_along_a_path_keeps_near_it(name, request, rng):
    mechanism = request.getfixturevalue(name)
    found, space = some(mechanism, rng, 3, 0.2)
    path = densify(space, found, STEP)
    curve = curve_along(mechanism, space, path, 40)
    along = space.embed(curve.configurations(S))
    gaps = [space.distances(place, space.embed(path)).min() for place in along]
    assert max(gaps) < 2.0 * STEP
    for place, end in zip(along[[0, -1]], found[[0, -1]], strict=True):
        assert space.distances(place, space.embed(end[None]))[0] < 1e-6


def test_bounds_name_the_joint_that_is_beyond_its_limit(arm):
    q = np.array(arm.home)
    q[2] = arm.position_limits[2, 1] + 0.1
    bounds = Bounds(arm)
    assert bounds.find_violation(arm.home) is None
    broken = bounds.find_violation(q)
    assert (broken.quantity, broken.joint) == ("position", arm.joint_names[2])
    assert broken.value == pytest.approx(broken.limit + 0.1)
    margins = bounds.margins(np.stack([arm.home, q]))
    assert margins.shape == (2, bounds.size)
    np.testing.assert_array_equal(bounds.are_satisfied(np.stack([arm.home, q])), [True, False])


@pytest.mark.parametrize(
    ("given", "quantity"),
    [
        ({"condition_limit": 1.5}, "condition number"),
        ({"singular_value_limit": 1e3}, "singular value"),
        ({"side": 1.0}, "singular surface"),
    ],
)
def test_bounds_of_conditioning_are_named_with_their_numbers(platform, given, quantity):
    sign = np.sign(conditioning.side(platform, platform.home))
    given = {"side": -sign} if "side" in given else given
    broken = Bounds(platform, **given).find_violation(platform.home)
    assert broken.quantity == quantity
    number = {
        "condition number": platform.condition_number(platform.home),
        "singular value": np.linalg.svd(platform.jacobian(platform.home), compute_uv=False)[-1],
        "singular surface": conditioning.side(platform, platform.home),
    }[quantity]
    assert broken.value == pytest.approx(number)


@pytest.mark.parametrize("fraction", [0.5, 0.99, 1.01, 2.0])
def test_efforts_that_hold_it_decide_by_their_share_of_the_limit(platform, fraction):
    rest = np.zeros(6)
    held = np.abs(platform.inverse_dynamics(platform.home, rest, rest)).max()
    needs = Requirements(platform, WorkspaceSettings(effort_limits=held / fraction))
    margin = needs.margins(platform.home[None])[0]
    assert margin == pytest.approx(
        1.0 - fraction if fraction < 1.0 else 1.0 / fraction - 1.0, abs=0.5
    )
    assert (margin >= 0.0) == (fraction <= 1.0)
    if fraction > 1.0:
        assert f"needs {held:.4g} N to hold the mechanism at rest" in needs.worst(platform.home)


def test_a_weight_on_the_body_counts_as_an_effort(platform):
    rest = np.zeros(6)
    held = np.abs(platform.inverse_dynamics(platform.home, rest, rest)).max()
    for wrench, kept in ((None, True), ([0, 0, -20.0 * held, 0, 0, 0], False)):
        asked = WorkspaceSettings(effort_limits=1.2 * held, wrench=wrench)
        assert (Requirements(platform, asked).margins(platform.home[None])[0] >= 0.0) == kept


@pytest.mark.parametrize("cells", [24, 48])
def test_the_surface_of_a_torus_has_its_volume_area_and_hole(cells):
    """2 pi^2 R r^2 and 4 pi^2 R r; vertices - edges + faces of a torus is 0."""
    R, r = 1.0, 0.4
    axis = np.linspace(-1.6, 1.6, cells + 1)
    x, y, z = np.meshgrid(axis, axis, axis, indexing="ij")
    surface = level_surface((axis, axis, axis), r - np.hypot(np.hypot(x, y) - R, z))
    close = 12.0 / cells**2
    assert surface.volume == pytest.approx(2.0 * np.pi**2 * R * r**2, rel=3.0 * close)
    a, b, c = (surface.vertices[surface.triangles[:, k]] for k in range(3))
    area = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()
    assert area == pytest.approx(4.0 * np.pi**2 * R * r, rel=3.0 * close)
    edges = np.sort(surface.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    unique, counts = np.unique(edges, axis=0, return_counts=True)
    assert (counts == 2).all()  # closed
    assert len(surface.vertices) - len(unique) + len(surface.triangles) == 0


def test_a_surface_faces_where_the_function_is_negative():
    axis = np.linspace(-1.0, 1.0, 9)
    plane = np.broadcast_to(0.3 - axis[:, None, None], (9, 9, 9))
    surface = level_surface((axis, axis, axis), plane)
    np.testing.assert_allclose(surface.vertices[:, 0], 0.3, atol=1e-12)
    a, b, c = (surface.vertices[surface.triangles[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    assert (normal[:, 0] > 0.0).all()
    assert 0.5 * normal[:, 0].sum() == pytest.approx(4.0)


@pytest.mark.slow
def test_the_space_of_a_closed_loop_joins_its_sheet(rng):
    """A way on the loop's surface: every configuration on it closes the loop."""
    loop = rd.load("delta")
    goal = loop.advance(loop.home, rng.uniform(-0.1, 0.1, 3))
    space = space_of(loop, loop.home, goal)
    way = space.segment(loop.home, goal, STEP)
    assert way is not None
    again = loop.assemble(loop.joint_positions(way), guess=loop.home)
    np.testing.assert_allclose(again, way, atol=1e-7)
