# SPDX-License-Identifier: Apache-2.0

"""Time-optimal motions with limits of jerk and of the efforts' rates of change."""

from __future__ import annotations

import json

import numpy as np
import pytest
import yaml
from typer.testing import CliRunner

import robodyn as rd
from robodyn.algorithms import motions
from robodyn.cli import app
from robodyn.planning.time_optimal import (
    Easing,
    PathPieces,
    SmoothCurve,
    WaypointSpline,
    cubic_to_goal,
    time_fractions,
)
from robodyn.presentation import presentation

FINER = 50
POINTS = 200
MASS = 2.0


@pytest.fixture(scope="module")
def platform():
    return rd.load("stewart_symmetric").without_friction()


@pytest.fixture(scope="module")
def arm():
    return rd.load("puma560").without_friction()


def rail(folder, **more):
    """A mass on a rail without friction or weight."""
    link = {
        "joint": "prismatic", "theta": 0.0, "a": 0.0, "alpha": 0.0, "mass": MASS,
        "com": [0, 0, 0], "inertia": [[1e-3, 0, 0], [0, 1e-3, 0], [0, 0, 1e-3]],
        "limits": {"position": [-5.0, 5.0], "effort": 1e6},
    }  # fmt: skip
    text = {"type": "serial", "name": "rail", "gravity": [0, 0, 0], "convention": "standard_dh"}
    file = folder / "rail.yaml"
    file.write_text(yaml.safe_dump(text | {"links": [link | more]}), encoding="utf-8")
    return rd.load(file)


def between(motion):
    """Times on a grid that is finer than a motion's own by a factor."""
    nodes = np.array([0.0, *motion.switching_times, motion.duration])
    fractions = np.linspace(0.0, 1.0, FINER, endpoint=False)
    times = nodes[:-1, None] + np.diff(nodes)[:, None] * fractions
    return np.unique(np.append(times, motion.duration))


def changes(mechanism, motion):
    """The largest jerks and rates of effort (n,), of differences on a fine grid."""
    times = between(motion)
    samples = motion.sample(times)
    steps = np.diff(times)[:, None]
    # what neighboring nodes of two pieces are apart by may be rounding
    apart = steps[:, 0] > 1e-9
    values = (
        motions.driven_motion(mechanism, *samples).accelerations,
        mechanism.inverse_dynamics(*samples),
    )
    return tuple(np.abs(np.diff(v, axis=0) / steps)[apart].max(axis=0) for v in values)


@pytest.mark.slow
def test_a_mass_on_a_rail_takes_the_time_of_four_equal_phases_of_jerk(tmp_path):
    slider, jerk, way = rail(tmp_path), 3.0, 1.5
    # J, -J, -J, J for a quarter of the time each: d = J t^3 / 32
    shortest = (32.0 * way / jerk) ** (1.0 / 3.0)
    limited = rd.time_optimal(slider, [[0.0], [way]], jerk_limits=jerk)
    assert shortest < limited.duration < shortest * (1.0 + 2e-3)
    assert list(time_fractions(limited)) == ["jerk of joint1"]
    # half way the acceleration turns round, at the speed of d J t^2 / 2 after two phases
    middle = limited.sample(0.5 * limited.duration)
    assert middle.velocity[0] == pytest.approx(jerk * shortest**2 / 16.0, rel=2e-3)
    # where the force is the mass times the acceleration, its rate is the mass times the jerk
    pushed = rd.time_optimal(slider, [[0.0], [way]], effort_rate_limits=MASS * jerk)
    assert pushed.duration == pytest.approx(limited.duration, rel=1e-6)
    assert list(time_fractions(pushed)) == ["effort rate of joint1"]


def test_with_all_limits_a_straight_motion_has_seven_phases(tmp_path):
    slider = rail(tmp_path)
    speed, acceleration, jerk, way = 0.5, 1.0, 4.0, 1.0
    motion = rd.time_optimal(
        slider,
        [[0.0], [way]],
        velocity_limits=speed,
        acceleration_limits=acceleration,
        jerk_limits=jerk,
    )
    shortest = way / speed + speed / acceleration + acceleration / jerk
    assert shortest < motion.duration < shortest * (1.0 + 1e-3)
    phases = [part.what.split(" of ")[0] for part in motion.limiting]
    ramp = ["jerk", "acceleration", "jerk"]
    assert phases == [*ramp, "rate", *ramp]
    # the way there and the way back are the same
    times = np.linspace(0.0, motion.duration, 101)
    gone = motion.progress(times)
    np.testing.assert_allclose(gone + gone[::-1], 1.0, atol=1e-9)


def test_rests_have_no_acceleration_and_nothing_jumps_between(tmp_path):
    slider = rail(tmp_path)
    there = rd.time_optimal(slider, [[0.0], [1.0]], jerk_limits=2.0, points=POINTS)
    times = np.linspace(0.0, there.duration, 20_001)
    q, v, a = (values[:, 0] for values in there.sample(times))
    assert v[0] == a[0] == v[-1] == a[-1] == 0.0
    assert (q[0], q[-1]) == (0.0, 1.0)
    # velocities and accelerations are the derivatives of what is sampled
    step = times[1]
    np.testing.assert_allclose(np.diff(q) / step, 0.5 * (v[1:] + v[:-1]), atol=1e-7)
    np.testing.assert_allclose(np.diff(v) / step, 0.5 * (a[1:] + a[:-1]), atol=2.0 * step)
    assert np.abs(np.diff(a)).max() <= 2.0 * step * (1.0 + 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("puma560", {"jerk_limits": 150.0, "effort_rate_limits": [1500, 2000, 1000, *[150] * 3]}),
        ("stewart_symmetric", {"jerk_limits": 30.0, "effort_rate_limits": 2e4}),
        ("delta", {"jerk_limits": 4000.0, "acceleration_limits": 60.0}),
        ("fivebar", {"effort_rate_limits": 60.0}),
    ],
)  # fmt: skip
def test_all_limits_hold_between_the_points(name, options):
    mechanism = rd.load(name).without_friction()
    home = presentation.values_of(mechanism, mechanism.home)
    spread = np.array([0.03 if unit == "m" else 0.15 for unit in mechanism.coordinates.units])
    offsets = np.random.default_rng(7).uniform(-1.0, 1.0, (3, len(home)))
    points = presentation.configuration_of(mechanism, home + spread * offsets)
    motion = rd.time_optimal(mechanism, points, points=POINTS, **options)
    free = {key: v for key, v in options.items() if key == "acceleration_limits"}
    assert motion.duration > rd.time_optimal(mechanism, points, points=POINTS, **free).duration
    jerk, rate = changes(mechanism, motion)
    used = [
        jerk / options.get("jerk_limits", np.inf),
        rate / options.get("effort_rate_limits", np.inf),
    ]
    samples = motion.sample(between(motion))
    driven = motions.driven_motion(mechanism, *samples)
    used += [
        np.abs(mechanism.inverse_dynamics(*samples) / mechanism.effort_limits).max(axis=0),
        np.abs(driven.velocities / mechanism.velocity_limits).max(axis=0),
        np.abs(driven.accelerations / options.get("acceleration_limits", np.inf)).max(axis=0),
    ]
    assert np.max(used) <= 1.0 + 1e-6
    # and the limits of changes are used up
    assert np.max(used[:2]) > 0.99
    np.testing.assert_allclose(samples.velocity[[0, -1]], 0.0, atol=1e-9)
    np.testing.assert_allclose(samples.acceleration[[0, -1]], 0.0, atol=1e-9)


@pytest.mark.slow
def test_without_need_for_them_limits_of_changes_cost_nothing(arm):
    path = [arm.home, arm.home + np.array([0.8, -0.4, 0.5, 0.5, 0.0, 1.0])]
    free = rd.time_optimal(arm, path, points=POINTS).duration
    times = [
        rd.time_optimal(arm, path, points=POINTS, jerk_limits=jerk).duration
        for jerk in (1e2, 1e3, 1e4, 1e7)
    ]
    assert (np.diff(times) < 0.0).all()
    # that without them is not quite the shortest on these intervals
    assert times[-1] == pytest.approx(free, rel=3e-3)


@pytest.mark.slow
def test_a_corner_is_a_rest_without_acceleration(platform):
    from robodyn.trajectories import Sequence

    home = platform.home
    there = platform.advance(home, np.array([0.05, 0.0, 0.03, 0.0, 0.0, 0.0]))
    aside = platform.advance(there, np.array([0.0, 0.05, 0.0, 0.0, 0.1, 0.0]))
    corner = Sequence(
        (rd.plan_line(home, there, duration=1.0), rd.plan_line(there, aside, duration=1.0))
    )
    motion = rd.time_optimal(platform, corner, jerk_limits=20.0, points=POINTS)
    assert changes(platform, motion)[0].max() <= 20.0 * (1.0 + 1e-6)
    samples = motion.sample(between(motion))
    speed = np.linalg.norm(samples.velocity, axis=1)
    resting = np.flatnonzero(speed[1:-1] < 1e-6 * speed.max()) + 1
    middle = resting[np.abs(resting - 0.5 * len(speed)) < 0.4 * len(speed)]
    assert middle.size
    assert np.abs(samples.acceleration[middle]).max() < 1e-2 * np.abs(samples.acceleration).max()


@pytest.mark.slow
def test_a_smooth_motion_continues_from_the_present_velocity(arm):
    goal = arm.home + np.array([0.3, -0.2, 0.2, 0.1, 0.0, 0.2])
    velocity = np.array([0.4, 0.3, -0.2, 0.0, 0.5, 0.0])
    path = cubic_to_goal(arm, arm.home, velocity, goal, 0.5)
    motion = rd.time_optimal(arm, path, start_velocity=velocity, jerk_limits=100.0, points=POINTS)
    np.testing.assert_allclose(motion.sample(0.0).velocity, velocity, atol=1e-6)
    at_end = motion.sample(motion.duration)
    np.testing.assert_allclose(at_end.configuration, goal, atol=1e-9)
    np.testing.assert_allclose(at_end.velocity, 0.0, atol=1e-9)
    np.testing.assert_allclose(at_end.acceleration, 0.0, atol=1e-9)
    assert changes(arm, motion)[0].max() <= 100.0 * (1.0 + 1e-6)
    # too fast to stop on so short a way with so little jerk
    with pytest.raises(
        rd.InfeasibleTrajectory, match=r"found that begins or ends at .* limits of jerk"
    ):
        rd.time_optimal(arm, path, start_velocity=velocity, jerk_limits=0.1, points=40)


@pytest.mark.slow
def test_a_motor_that_weakens_with_speed_is_taken_at_its_word(tmp_path):
    curve = [[0.0, 10.0], [0.5, 9.0], [1.0, 2.0], [1.2, 0.0]]
    slider = rail(tmp_path, actuator={"lead": 2.0 * np.pi, "handed": "left", "torque_speed": curve})
    motion = rd.time_optimal(slider, [[0.0], [1.5]], effort_rate_limits=200.0, points=POINTS)
    samples = motion.sample(between(motion))
    rate = slider.joint_velocities(*samples[:2])[:, 0]
    effort = slider.inverse_dynamics(*samples)[:, 0]
    available = np.interp(np.abs(rate), *np.array(curve).T)
    assert (np.abs(effort) <= available * (1.0 + 1e-6) + 1e-6).all()
    # once the effort has risen it is all that the motor has
    pushing = (samples.acceleration[:, 0] > 1e-2) & (samples.configuration[:, 0] > 0.1)
    assert np.median((effort / available)[pushing]) > 0.99
    assert changes(slider, motion)[1].max() <= 200.0 * (1.0 + 1e-6)


def test_a_smooth_curve_has_one_curvature_at_its_knots(platform):
    """Of the orientation, too, whose coordinates change from knot to knot."""
    offsets = [[0, 0, 0, 0, 0, 0], [0.06, 0.03, 0.04, 0.3, 0, 0.4], [0, 0.08, 0, 0, 0.3, 0]]
    points = presentation.configuration_of(
        platform, presentation.values_of(platform, platform.home) + np.array(offsets)
    )
    piece = PathPieces(platform, WaypointSpline(platform, points)).cut(60)[0]
    knots = piece.curve.knots
    curve = SmoothCurve(platform, piece.nodes, knots.configuration, knots.velocity)
    at, step = piece.nodes[1:-1], 1e-9
    before, after = curve.sample(at - step), curve.sample(at + step)
    size = np.abs(after.acceleration).max()
    np.testing.assert_allclose(before.acceleration, after.acceleration, atol=1e-5 * size)
    # that of a cubic jumps
    rough = piece.curve.sample(at - step).acceleration - piece.curve.sample(at + step).acceleration
    assert np.abs(rough).max() > 1e-4 * size
    # what is sampled are derivatives
    s = np.linspace(0.01, 0.99, 40)
    _, u, w = curve.sample(s)
    ahead, behind = curve.sample(s + 1e-5), curve.sample(s - 1e-5)
    moved = platform.difference(behind.configuration, ahead.configuration) / 2e-5
    np.testing.assert_allclose(moved, u, atol=1e-6 * np.abs(u).max())
    turned = (ahead.velocity - behind.velocity) / 2e-5
    np.testing.assert_allclose(turned, w, atol=1e-5 * np.abs(w).max())


@pytest.mark.parametrize("rests", [(True, True), (True, False), (False, True), (False, False)])
def test_easing_leaves_rests_with_the_cube(rests):
    easing = Easing(*rests)
    r = np.linspace(0.0, 1.0, 1001)
    g, first, second, _ = easing.at(r)
    assert (g[0], g[-1]) == pytest.approx((0.0, 1.0), abs=1e-15)
    for end, resting in zip((0, -1), rests, strict=True):
        assert (first[end] == second[end] == 0.0) == resting
    middle = 0.5 * (r[1:] + r[:-1])
    for lower, higher in ((0, 1), (1, 2), (2, 3)):
        slope = np.diff(easing.at(r)[lower]) / np.diff(r)
        size = max(np.abs(easing.at(r)[higher]).max(), 1.0)
        np.testing.assert_allclose(slope, easing.at(middle)[higher], atol=2e-4 * size)
    np.testing.assert_allclose(easing.at(easing.inverse(g))[0], g, atol=1e-14)


@pytest.mark.slow
def test_progress_is_reported_and_may_end_the_search(arm):
    path, reported = [arm.home, arm.home + 0.3], []
    rd.time_optimal(arm, path, jerk_limits=100.0, points=POINTS, progress=reported.append)
    assert len(reported) > 10
    assert (np.diff(reported) >= -1e-12).all()
    assert reported[0] >= 0.0
    assert reported[-1] == 1.0

    def unwanted(fraction):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rd.time_optimal(arm, path, jerk_limits=100.0, points=POINTS, progress=unwanted)


@pytest.mark.parametrize("name", ["jerk_limits", "effort_rate_limits"])
@pytest.mark.parametrize(
    ("value", "part"),
    [(0.0, "above 0"), (-1.0, "above 0"), (np.nan, "expected numbers"), ([1.0, 2.0], "shape")],
)
def test_an_invalid_limit_is_refused(arm, name, value, part):
    with pytest.raises(rd.InvalidInput, match=name) as refused:
        rd.time_optimal(arm, [arm.home, arm.home + 0.3], **{name: value})
    assert part in str(refused.value)
    assert "\n" not in str(refused.value)


def test_weight_beyond_the_limits_is_named(platform):
    path = [platform.home, platform.advance(platform.home, np.array([0, 0, 0.05, 0, 0, 0]))]
    with pytest.raises(rd.InfeasibleTrajectory, match=r"leg.* to move slowly at .* limit is 500"):
        rd.time_optimal(platform, path, effort_limits=500.0, jerk_limits=20.0, points=POINTS)


@pytest.mark.slow
def test_the_command_takes_both_limits():
    words = ["plan", "stanford_arm", "--joints", "0.5 0.3 0.6 0 0.2 0", "--points", str(POINTS)]
    answers = [
        CliRunner().invoke(app, [*words, *more, "--json"])
        for more in ([], ["--jerk", "50"], ["--jerk", "50", "--effort-rate", "100"])
    ]
    assert [answer.exit_code for answer in answers] == [0, 0, 0]
    found = [json.loads(answer.stdout) for answer in answers]
    assert found[0]["duration"] < found[1]["duration"] < found[2]["duration"]
    assert any(what.startswith("jerk of") for what in found[1]["limited_by"])
    assert any(what.startswith("effort rate of") for what in found[2]["limited_by"])
    # no bound is known
    assert found[1]["gap"] is None
    refused = CliRunner().invoke(app, [*words, "--jerk", "0"])
    assert refused.exit_code == 1
    assert refused.stderr == "error: jerk_limits is 0.0, must be above 0\n"
