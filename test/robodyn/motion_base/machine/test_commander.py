# SPDX-License-Identifier: Apache-2.0

"""The commander stays within limits and moves to its target."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.algorithms import conditioning, motions, travel
from robodyn.errors import InvalidInput, NoSolution
from robodyn.motion_base.machine import (
    DriveLimits,
    PoseStream,
    PositionCommander,
    TrajectorySource,
    Workspace,
    goal,
)
from robodyn.poses import pose_difference
from robodyn.trajectories import AtRest

DT, TICK = 0.004, 4_000_000
REST = np.array([0.0, 0.0, 9.81])


@pytest.fixture(scope="module")
def platform():
    return rd.load("stewart_symmetric")


def run(commander, ticks, start=0, stream=None):
    """Set-points of so many ticks; `stream` is called with each time [ns] before."""
    points = []
    for k in range(start, start + ticks):
        if stream is not None:
            stream((k + 1) * TICK)
        points.append(commander.step((k + 1) * TICK))
    return points


def assert_within_limits(points, limits):
    positions = np.array([point.positions for point in points])
    assert (positions >= limits.positions[:, 0] - 1e-9).all()
    assert (positions <= limits.positions[:, 1] + 1e-9).all()
    for k, most in enumerate((limits.rates, limits.accelerations, limits.jerks), start=1):
        assert (np.abs(np.diff(positions, k, axis=0)) / DT**k <= most * (1.0 + 1e-6)).all()
    assert all(np.isfinite(point.efforts).all() for point in points)


def test_a_trajectory_is_followed_with_its_own_efforts(platform):
    home = platform.home
    aside = rd.pose_from_rpy(home[:3] + np.array([0.05, -0.03, 0.02]), [0.05, 0.0, 0.1])
    path = rd.plan_line(home, aside, duration=2.0)
    commander = PositionCommander(platform, DT)
    commander.motion_source = TrajectorySource(path, 0)
    points = run(commander, 250)
    for k, point in enumerate(points, start=1):
        motion = path.sample(k * DT)
        assert np.abs(point.positions - platform.joint_positions(motion.configuration)).max() < 1e-4
    steady = points[124]  # at t = 0.5 s
    expected = platform.inverse_dynamics(*path.sample(0.5))
    np.testing.assert_allclose(steady.efforts, expected, rtol=2e-3)
    assert_within_limits(points, commander.limits)
    assert commander.has_arrived


def test_a_stream_that_falls_silent_ends_at_rest(platform):
    commander, stream = PositionCommander(platform, DT), PoseStream(platform, 0.1)
    commander.motion_source = stream

    def send(time):
        t = time * 1e-9
        pose = rd.pose_from_rpy([0.05 * np.sin(3 * t), 0.0, platform.home[2]], [0, 0, 0])
        twist = [0.15 * np.cos(3 * t), 0, 0, 0, 0, 0]
        assert stream.take(time, time, pose, twist, commander.configuration) == ""

    points = run(commander, 300, stream=send)
    assert commander.has_arrived
    assert np.abs(points[-1].velocities).max() > 0.01
    points += run(commander, 100, start=300)
    assert_within_limits(points, commander.limits)
    assert (points[-1].velocities == 0.0).all()


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"pose": [np.nan] * 7}, "pose"),
        ({"twist": [np.inf, 0, 0, 0, 0, 0]}, "twist"),
        ({"pose": [0, 0, 0.8, 0, 0, 0, 0]}, "quaternion"),
        ({"now": 2_005_000_000}, "is 1 s old"),
        ({"stamp": 999_000_000}, "older than the previous"),
    ],
)
def test_pose_stream_rejects_invalid_samples_and_is_unchanged(platform, change, complaint):
    stream, home = PoseStream(platform, 0.1), platform.home
    reported = {"stamp": 1_000_000_000, "now": 1_000_000_000, "pose": home, "twist": np.zeros(6)}
    stream.take(**reported, here=home)
    before = stream.at(1_010_000_000)
    with pytest.raises(InvalidInput, match=complaint):
        stream.take(**(reported | {"stamp": 1_005_000_000} | change), here=home)
    np.testing.assert_array_equal(stream.at(1_010_000_000).configuration, before.configuration)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["stewart_symmetric", "hexapod_rotary", "delta", "fivebar"])
def test_wishes_far_outside_lead_to_the_edge_and_no_further(name):
    m = rd.load(name)
    commander, stream = PositionCommander(m, DT), PoseStream(m, 0.1)
    commander.motion_source, reported = stream, set()
    pose = m.body_pose(m.home)
    side, beyond = conditioning.side(m, m.home), pose.copy()
    beyond[0] += m.size

    def send(time):
        near = commander.configuration if commander.target is None else commander.target
        reported.add(
            stream.take(time, time, beyond if time < 150 * TICK else pose, np.zeros(6), near)
        )

    points = run(commander, 150, stream=send)
    assert any(point.problem for point in points) or any(reported)
    assert m.body_pose(commander.configuration)[0] > pose[0] + 0.02 * m.size
    points += run(commander, 300, start=150, stream=send)
    assert_within_limits(points, commander.limits)
    assert conditioning.side(m, commander.configuration) * side > 0.0
    if points[-1].problem:  # in between the condition number is too large, which is reported
        assert (name, "blocked" in points[-1].problem) == ("fivebar", True)
    else:
        missed = pose_difference(m.body_pose(commander.configuration), pose)
        assert np.abs(missed).max() < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "cones", "there"),
    [
        ("stewart_symmetric", {"base_cone": 0.1}, [1.157, 1.353, 0.992, 1.352, 1.067, 1.117]),
        ("delta", {"body_cone": 0.1}, [0.359, 0.691, 0.081]),
    ],
)
def test_limits_of_passive_joints_are_kept_wherever_a_target_leads(name, cones, there):
    """Legs that bend by 0.1 rad at most; without that limit the same target bends them further."""
    free = rd.load(name)
    bends = []
    for m in (free, travel.with_cones(free, **cones)):
        commander = PositionCommander(m, DT)
        commander.motion_source = goal(m, there, m.home)
        points, largest = [], 0.0
        for k in range(1, 400):
            points.append(commander.step(k * TICK))
            bend = travel.leg_bends(m, commander.configuration)[int("body_cone" in cones)]
            largest = max(largest, bend.max())
        assert_within_limits(points, commander.limits)
        bends.append(largest)
    assert bends[0] > 0.12
    assert 0.09 < bends[1] <= 0.1 + 1e-9
    assert "beyond its upper limit" in points[-1].problem or "blocked" in points[-1].problem


def test_the_nearest_pose_inside_satisfies_the_conditions_of_an_optimum(platform):
    """The remaining error is a positive combination of the active limits' normals."""
    limits = platform.position_limits
    workspace = Workspace(platform, limits)
    motion_source = platform.advance(platform.home, [0.3, 0.1, 0.2, 0.1, 0.1, 0.0])
    nearest = platform.home
    for _ in range(30):
        nearest = workspace.nearest(motion_source, nearest)
    left = platform.difference(nearest, motion_source)
    L = platform.characteristic_length
    gradient = np.array([1, 1, 1, L**2, L**2, L**2]) * left
    lengths = platform.joint_positions(nearest)
    active = np.abs(limits[:, 1] - lengths) < 1e-6
    normals = platform.joint_velocities(nearest, np.eye(6))[:, active]
    multipliers = np.linalg.lstsq(normals, gradient, rcond=None)[0]
    assert 0 < active.sum() < 6
    assert (multipliers > 0.0).all()
    np.testing.assert_allclose(normals @ multipliers, gradient, atol=1e-3 * np.abs(gradient).max())


def test_garbage_of_a_trajectory_stops_the_machine_in_words(platform):
    class Garbage:
        def at(self, time):
            rest = np.zeros(6)
            return rd.trajectories.Motion(np.full(7, np.nan), rest, rest)

    commander = PositionCommander(platform, DT)
    commander.motion_source = Garbage()
    assert "not finite" in commander.step(TICK).problem
    commander.motion_source = goal(
        platform, platform.joint_positions(platform.home) + 0.01, platform.home
    )
    assert run(commander, 200)[-1].problem == ""
    assert commander.has_arrived


def test_joints_that_determine_the_motion_must_be_driven():
    class Other(rd.ClosedLoop):
        independent_joints = ("elbow",)

    with pytest.raises(InvalidInput, match="independent but not driven: elbow"):
        PositionCommander(Other(rd.load("fivebar").model), DT)


def assert_drives_agree(m, points, limits):
    """The loops close, so that no post works against the others, and every limit holds."""
    p, v, a = (np.array(each) for each in list(zip(*points, strict=True))[:3])
    assert (p >= limits.positions[:, 0] - 1e-9).all()
    assert (p <= limits.positions[:, 1] + 1e-9).all()
    assert (np.abs(v) <= limits.rates).all()
    assert (np.abs(a) <= limits.accelerations).all()
    assert (np.abs(np.diff(a, axis=0)) <= DT * limits.jerks).all()
    for positions in p[::25]:
        near = motions.assemble_near(m, positions, m.home)
        np.testing.assert_allclose(m.joint_positions(near), positions, atol=1e-9)
    change = np.abs(np.diff(p, axis=0) - 0.5 * DT * (v[1:] + v[:-1]))
    assert change.max() < 0.5 * DT**2 * limits.accelerations.max()
    return p, v


@pytest.mark.slow
def test_redundant_drives_close_their_loops_whatever_the_target(corners, rng):
    """Goals that change at any moment, some of them out of reach of one post."""
    commander, points, arrived = PositionCommander(corners, DT), [], 0
    for k in range(30):
        near = motions.assemble_near(corners, rng.uniform(0.35, 0.45, 4), corners.home)
        source = TrajectorySource(AtRest(corners, near), 0)
        commander.motion_source = source if k % 5 else None
        points += run(commander, int(rng.integers(5, 300)), start=len(points))
        arrived += commander.has_arrived
    p, v = assert_drives_agree(corners, points, commander.limits)
    assert np.abs(v).max() > 0.9 * commander.limits.rates[0]
    assert np.ptp(p, axis=0).min() > 0.05
    assert arrived > 5
    commander.motion_source = None
    assert (run(commander, 150)[-1].velocities == 0.0).all()


@pytest.mark.slow
def test_redundant_drives_follow_what_cueing_asks_for(corners, rng):
    """It plans for all posts, but not with their limits of jerk: there the commander lags."""
    washout = rd.ClassicalWashout(corners, DT)
    commander, stream = PositionCommander(corners, DT), PoseStream(corners, 0.1)
    commander.motion_source, points, errors = stream, [], []
    values = rng.uniform(-1.0, 1.0, (12, 6)) * ([8.0] * 3 + [0.5] * 3)
    for k in range(1200):
        time = (k + 1) * TICK
        given = values[k // 100]
        cue = washout.step(REST + given[:3], given[3:])
        stream.take(time, time, cue.pose, cue.twist, commander.configuration)
        points.append(commander.step(time))
        errors.append(np.abs(points[-1].positions - washout.joints.positions).max())
    p, _ = assert_drives_agree(corners, points, commander.limits)
    assert np.median(errors) < 2e-3 * np.ptp(p)
    assert max(errors) < 0.1 * np.ptp(p)


def test_readings_of_redundant_drives_need_not_agree_to_rounding(corners, rng):
    """Drives lag and encoders have noise: the body is where it fits them best; far off, nowhere."""
    near = motions.assemble_near(corners, np.array([0.44, 0.43, 0.42, 0.41]), corners.home)
    positions = corners.joint_positions(near)
    noise = rng.normal(0.0, 1e-5, (50, 4))
    motion = motions.motion_of_joints(corners, positions + noise, 0.1 * noise, None, near)
    left = positions + noise - corners.joint_positions(motion.configuration)
    J = corners.joint_jacobian(motion.configuration)
    assert np.abs(left).max() > 1e-6
    np.testing.assert_allclose(np.einsum("kij,ki->kj", J, left), 0.0, atol=1e-9)
    with pytest.raises(NoSolution):
        motions.motion_of_joints(corners, positions + 0.02 * np.eye(4)[0], np.zeros(4))


def test_one_post_moves_as_fast_as_all_of_them_can(corners):
    """Pure heave uses the limits of each: redundancy costs no time."""
    commander = PositionCommander(corners, DT)
    up = motions.assemble_near(corners, np.full(4, 0.44), corners.home)
    commander.motion_source = TrajectorySource(AtRest(corners, up), 0)
    rows = commander.limits.rows[:, 0]
    ticks = next(k for k in range(500) if run(commander, 1, start=k) and commander.has_arrived)
    # with limited jerk: to full rate, along, and to rest
    least = 0.04 / rows[0] + rows[0] / rows[1] + rows[1] / rows[2]
    assert ticks * DT < 1.05 * least + 2 * DT


def test_on_a_base_that_falls_nothing_has_to_be_borne(platform):
    commander = PositionCommander(platform, DT)
    assert np.abs(commander.step(TICK).efforts).min() > 100.0
    commander.base = rd.BaseMotion([0.0, 0.0, 0.0])
    assert np.abs(commander.step(2 * TICK).efforts).max() < 1e-9


def test_the_commander_stays_at_rest_before_a_blocked_path():
    """With a share of the limits it must not hunt: to and fro, further and further."""
    m = rd.load("fivebar")
    commander = PositionCommander(m, DT, positions=[2.32, 2.12])
    commander.motion_source = goal(m, m.joint_positions(m.home), m.home)
    points = [commander.step(k * TICK, pace=0.2) for k in range(300)]
    assert "blocked" in points[-1].problem
    assert np.abs([point.velocities for point in points]).max() < 0.2 * commander.limits.rates[0]
    np.testing.assert_array_equal(points[-1].positions, points[-50].positions)


@pytest.mark.slow
def test_drives_that_come_near_their_efforts_are_slowed_down(rng):
    m = rd.load("motion_platform")
    commander = PositionCommander(m, 0.005)
    strain = 0.0
    for k in range(800):
        if k % 40 == 0:
            aside = rng.uniform(-0.05, 0.05, 6)
            commander.motion_source = goal(m, m.joint_positions(m.home) + aside, m.home)
        point = commander.step(k * 5_000_000)
        most = m.drives.effort_limits_at(point.velocities)
        strain = max(strain, np.abs(point.efforts / most).max())
    assert 0.7 < strain < 1.2  # more than 2 with all of the limits
    weak = PositionCommander(m.with_payload(20_000.0), 0.005)
    weak.motion_source = goal(m, m.joint_positions(m.home), m.home)
    assert "times its effort" in weak.step(0).problem


def test_efforts_beyond_limits_keep_the_direction_of_the_acceleration():
    """As feedforward, those of the largest share of it for which the drives have efforts."""
    m = rd.load("fivebar").without_friction()
    limits = DriveLimits.of(m)
    quick = DriveLimits(limits.positions, 10.0 * limits.rates, 20.0 * limits.accelerations,
                        400.0 * limits.jerks)  # fmt: skip
    commander, turned = PositionCommander(m, DT, quick), 0
    commander.motion_source = goal(m, m.joint_positions(m.home) + np.array([0.4, -0.2]), m.home)
    for k in range(40):
        point = commander.step((k + 1) * TICK)
        assert (np.abs(point.efforts) <= m.effort_limits).all()
        q, v, a = commander.configuration, point.velocities, point.accelerations
        needed = [m.inverse_dynamics(q, v, each) for each in (a, 0.0 * a)]
        exceeds, without = (np.abs(needed) > m.effort_limits).any(axis=1)
        if exceeds and not without:
            caused = m.forward_dynamics(q, v, point.efforts)
            fraction = (caused @ a) / (a @ a)
            assert fraction < 1.0
            np.testing.assert_allclose(caused, fraction * a, atol=1e-6 * np.abs(a).max())
            turned += 1
    assert turned > 5


@pytest.mark.slow
@pytest.mark.parametrize("name", ["stewart_symmetric", "delta", "puma560"])
@pytest.mark.parametrize("end", [0, 1])
def test_the_ends_of_all_joints_are_reached_without_a_complaint(name, end):
    mechanism = rd.load(name)
    ends = mechanism.position_limits[:, end]
    commander = PositionCommander(mechanism, DT)
    commander.motion_source = goal(mechanism, ends, mechanism.home)
    points = run(commander, 3000)
    assert commander.has_arrived
    np.testing.assert_allclose(points[-1].positions, ends, atol=1e-9)
    assert not any("beyond its" in point.problem for point in points)
    assert_within_limits(points, commander.limits)
