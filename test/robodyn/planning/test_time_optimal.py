# SPDX-License-Identifier: Apache-2.0

"""Time-optimal motions: limits between points, a known optimum, another solver, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.interpolate import CubicSpline
from scipy.optimize import linprog
from scipy.spatial.transform import Rotation, RotationSpline

import robodyn as rd
from robodyn.actuators import Actuator
from robodyn.algorithms import motions
from robodyn.planning.time_optimal import (
    Constraints,
    PathPieces,
    ReachableMotion,
    SpeedSpline,
    WaypointSpline,
    reachable_motion,
    sample_path,
    spacing,
    time_optimal_from,
)
from robodyn.presentation import presentation

FINER = 50
POINTS = 200


@pytest.fixture(scope="module")
def platform():
    return rd.load("stewart_symmetric")


@pytest.fixture(scope="module")
def arm():
    return rd.load("puma560")


@pytest.fixture(scope="module")
def curve(platform):
    values = presentation.values_of(platform, platform.home)
    offsets = [
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.06, 0.03, 0.04, 0.1, 0.0, 0.1],
        [0.0, 0.08, -0.03, 0.0, 0.1, 0.0],
        [-0.05, 0.0, 0.02, -0.1, 0.0, 0.0],
    ]
    return presentation.configuration_of(platform, values + np.array(offsets))


JOINTS = np.array(
    [[0.0, 0.3, 0.2, 0, 0.4, 0], [0.7, -0.4, 0.5, 0.5, 0, 1], [0.2, 0.2, -0.4, 1, 1, 0]]
)


def between(motion):
    """The motion on a grid that is finer than its own by a factor."""
    nodes = np.array([0.0, *motion.switching_times, motion.duration])
    fractions = np.linspace(0.0, 1.0, FINER, endpoint=False)
    times = nodes[:-1, None] + np.diff(nodes)[:, None] * fractions
    return motion.sample(np.append(times, motion.duration))


def utilized(mechanism, motion, wrench=None):
    """Largest shares of the limits of efforts and rates that a motion uses anywhere."""
    samples = between(motion)
    effort = mechanism.inverse_dynamics(*samples, wrench) / mechanism.effort_limits
    rates = mechanism.joint_velocities(*samples[:2]) / mechanism.velocity_limits
    return float(np.abs(effort).max()), float(np.abs(rates).max())


class Slider:
    """Bang-bang with friction: a mass on a rail, in numbers that can be worked out by hand."""

    mass, damping, coulomb, force = 2.0, 3.0, 1.0, 10.0

    def arm(self, **more):
        link = {
            "joint": "prismatic", "theta": 0.0, "a": 0.0, "alpha": 0.0, "mass": self.mass,
            "com": [0, 0, 0], "inertia": [[1e-3, 0, 0], [0, 1e-3, 0], [0, 0, 1e-3]],
            "damping": self.damping, "friction": self.coulomb,
            "limits": {"position": [-5.0, 5.0], "effort": self.force},
        }  # fmt: skip
        return {name: value for name, value in (link | more).items() if value is not None}


def load_slider(tmp_path, **more):
    import yaml

    text = {"type": "serial", "name": "slider", "gravity": [0, 0, 0], "convention": "standard_dh"}
    file = tmp_path / "slider.yaml"
    file.write_text(yaml.safe_dump(text | {"links": [Slider().arm(**more)]}), encoding="utf-8")
    return rd.load(file)


def test_a_mass_on_a_rail_with_friction_is_as_fast_as_the_equations_say(tmp_path):
    slider = load_slider(tmp_path)
    motion = rd.time_optimal(slider, [[0.0], [1.0]])
    m, c, dry, force = Slider.mass, Slider.damping, Slider.coulomb, Slider.force
    # m v' = force - dry - c v, then m v' = -force - dry - c v, from rest to rest over 1 m
    push, brake = force - dry, force + dry

    def distance(switch):
        v = push / c * (1.0 - np.exp(-c * switch / m))
        gone = push / c * switch - m / c * v
        stop = m / c * np.log1p(c * v / brake)
        return gone + m / c * v - brake / c * stop, switch + stop

    low, high = 0.0, 5.0
    for _ in range(100):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if distance(middle)[0] < 1.0 else (low, middle)
    shortest = distance(low)[1]
    assert shortest * (1.0 - 1e-6) < motion.duration < shortest * (1.0 + 1e-3)
    assert utilized(slider, motion)[0] <= 1.0 + 1e-9


def test_a_motor_that_weakens_with_speed_is_taken_at_its_word(tmp_path):
    curve = [[0.0, 10.0], [0.5, 9.0], [1.0, 2.0], [1.2, 0.0]]
    slider = load_slider(
        tmp_path,
        damping=0.5,
        friction=None,
        actuator={"lead": 2.0 * np.pi, "handed": "left", "coulomb": 0.2, "torque_speed": curve},
    )
    motor = slider.actuators[0]
    assert isinstance(motor, Actuator)
    motion = rd.time_optimal(slider, [[0.0], [1.5]])
    samples = between(motion)
    rate = slider.joint_velocities(*samples[:2])[:, 0]
    effort = slider.inverse_dynamics(*samples)[:, 0]
    available = np.interp(np.abs(rate), *np.array(curve).T)
    assert (np.abs(effort) <= available * (1.0 + 1e-6) + 1e-6).all()
    # it accelerates as hard as the motor can, at every speed
    pushing = samples.acceleration[1:, 0] > 1e-3
    used = (effort / available)[1:][pushing]
    assert used.min() > 0.95
    assert np.quantile(used, 0.1) > 0.99


def test_limits_hold_between_the_points_too(platform, arm, curve):
    for mechanism, points in ((platform, curve), (arm, JOINTS)):
        motion = rd.time_optimal(mechanism, points, points=POINTS)
        effort, rate = utilized(mechanism, motion)
        assert max(effort, rate) <= 1.0 + 1e-6
        # and one of them is used up
        assert max(effort, rate) >= 1.0 - 1e-3
        for end, place in ((0.0, 0), (motion.duration, -1)):
            at = motion.sample(end)
            np.testing.assert_allclose(at.velocity, 0.0, atol=1e-9)
            np.testing.assert_allclose(
                mechanism.difference(at.configuration, points[place]), 0.0, atol=1e-9
            )


def test_all_other_limits_hold_too(platform, curve):
    loaded = platform.with_payload(300.0, com=[0.0, 0.05, 0.2])
    wrench = np.array([200.0, 0.0, -500.0, 0.0, 30.0, 0.0])
    motion = rd.time_optimal(
        loaded,
        curve,
        acceleration_limits=2.0,
        tip_speed=0.4,
        velocity_limits=0.5,
        reserve=0.1,
        wrench=wrench,
        points=POINTS,
    )
    samples = between(motion)
    driven = motions.driven_motion(loaded, *samples)
    assert np.abs(driven.accelerations).max() <= 2.0 * (1.0 + 1e-6)
    assert np.abs(driven.velocities).max() <= 0.5 * (1.0 + 1e-6)
    assert np.linalg.norm(samples.velocity[:, :3], axis=1).max() <= 0.4 * (1.0 + 1e-6)
    assert utilized(loaded, motion, wrench)[0] <= 0.9 * (1.0 + 1e-6)


def shortest(mechanism, points, near, count=300):
    """A lower bound [s] on the time along a path, and that of a motion that comes close to it.

    A convex program over x = s'^2 at the ends of `count` intervals (Verscheure et al., 2009),
    with efforts and rates limited in the middle of each. The time 2 h / (sqrt(x) + sqrt(x')) of an
    interval is convex, so its tangents are below it: HiGHS finds the least sum of their maxima, and
    tangents at what it finds are added (Kelley, 1960) until that is the time. `near` [s] is the
    unit of time.
    """
    h = 1.0 / count
    pushed, turned, D = geometry(mechanism, points, count)
    most = mechanism.effort_limits
    a, b = ((term - D) / near**2 for term in (pushed, turned))
    first, second = 0.5 * b - 0.5 * a / h, 0.5 * b + 0.5 * a / h
    ones = sparse.identity(count)
    pair = [ones.tocsr(), ones.tocsr()]
    pair = [
        sparse.hstack([pair[0], sparse.csr_matrix((count, 1))]),
        sparse.hstack([sparse.csr_matrix((count, 1)), pair[1]]),
    ]
    efforts = sparse.vstack(
        [
            sparse.diags(first[:, j]) @ pair[0] + sparse.diags(second[:, j]) @ pair[1]
            for j in range(len(most))
        ]
    )
    q, u, _ = WaypointSpline(mechanism, points).sample((np.arange(count) + 0.5) * h)
    rates = np.abs(mechanism.joint_velocities(q, u)) / mechanism.velocity_limits
    fastest = (near / rates.max(axis=1)) ** 2
    above, below = ((most + sign * D).T.ravel() for sign in (-1.0, 1.0))
    of_x = sparse.vstack([efforts, -efforts, 0.5 * (pair[0] + pair[1])])
    matrix = sparse.hstack([of_x, sparse.csr_matrix((of_x.shape[0], count))])
    bound = np.concatenate([above, below, fastest])
    ends = np.full(count + 1, np.inf)
    ends[[0, -1]] = 0.0
    limits = [*((0.0, end) for end in ends), *((0.0, None) for _ in range(count))]
    cost = np.concatenate([np.zeros(count + 1), np.ones(count)])
    x = np.full(count + 1, 1.0)
    x[[0, -1]] = 0.0
    for _ in range(30):
        v = np.sqrt(x)
        whole = v[:-1] + v[1:]
        time = 2.0 * h / whole
        with np.errstate(divide="ignore"):
            slopes = [np.where(w > 0.0, -h / (w * whole**2), 0.0) for w in (v[:-1], v[1:])]
        tangents = sparse.hstack(
            [sum(sparse.diags(d) @ p for d, p in zip(slopes, pair, strict=True)), -ones]
        )
        matrix = sparse.vstack([matrix, tangents])
        bound = np.concatenate([bound, slopes[0] * x[:-1] + slopes[1] * x[1:] - time])
        found = linprog(cost, A_ub=matrix.tocsr(), b_ub=bound, bounds=limits)
        assert found.success, found.message
        x = np.maximum(found.x[: count + 1], 1e-6)
        x[[0, -1]] = 0.0
        v = np.sqrt(x)
        longest = float((2.0 * h / (v[:-1] + v[1:])).sum())
        if longest < 1.001 * found.fun:
            break
    return found.fun * near, longest * near


def geometry(mechanism, points, count):
    """Efforts (count, n) in the middle of intervals: at rest with s'' = 1, at s' = 1, at rest."""
    q, u, w = WaypointSpline(mechanism, points).sample((np.arange(count) + 0.5) / count)
    rest = 0.0 * u
    return tuple(mechanism.inverse_dynamics(q, *move) for move in ((rest, u), (u, w), (rest, rest)))


@pytest.mark.parametrize("name", ["puma560", "stewart_symmetric", "fivebar"])
def test_time_optimal_motion_is_as_fast_as_that_of_a_convex_program(name, rng):
    # neither friction nor curves of motors, which are not convex
    ideal = rd.load(name).without_actuators().without_friction()
    home = presentation.values_of(ideal, ideal.home)
    spread = np.array([0.05 if unit == "m" else 0.15 for unit in ideal.coordinates.units])
    points = presentation.configuration_of(
        ideal, home + spread * rng.uniform(-1.0, 1.0, (3, len(home)))
    )
    motion = rd.time_optimal(ideal, points, points=500)
    least, found = shortest(ideal, points, motion.duration)
    assert found < 1.001 * least
    # it is limited everywhere, they in the middle of their intervals only
    assert 0.998 * least < motion.duration < 1.005 * least
    assert max(utilized(ideal, motion)) <= 1.0 + 1e-6


@pytest.mark.parametrize("draw", [3, 5])
def test_limits_that_are_nearly_kept_are_not_tightened_for_ever(arm, draw):
    """Along these paths a rate's excess between points fell by a third each time, down to 1e-16."""
    ideal, random = arm.without_friction(), np.random.default_rng(draw)
    count = int(random.integers(2, 6))
    points = ideal.home + 0.8 * random.uniform(-1.0, 1.0, (count, 6))
    motion = rd.time_optimal(ideal, points, points=1000)
    # else the intervals are halved
    assert len(motion.switching_times) < 1000
    assert max(utilized(ideal, motion)) <= 1.0 + 1e-6


def test_points_go_where_limits_would_be_left_unused(arm):
    """If an effort at its limit changes fast, intervals are shorter, and less is lost."""
    ideal = arm.without_friction()
    random = np.random.default_rng(3)
    points = ideal.home + 0.8 * random.uniform(-1.0, 1.0, (int(random.integers(2, 6)), 6))
    path = PathPieces(ideal, WaypointSpline(ideal, points))
    limits = Constraints(ideal, rd.TimeOptimalSettings())
    coarse = path.cut(100)[0]
    problem = limits.intervals(sample_path(ideal, coarse), (0.0, 0.0))
    places = spacing(problem, reachable_motion(problem, (0.0, 0.0)))
    times = []
    for spread in (places, None):
        piece = path.cut(400, [spread])[0]
        assert len(piece.nodes) == 401
        assert (np.diff(piece.nodes) > 0.0).all()
        fine = limits.intervals(sample_path(ideal, piece), (0.0, 0.0))
        times.append(SpeedSpline(np.diff(piece.nodes), 2).time(reachable_motion(fine, (0.0, 0.0))))
    assert times[0] < times[1]


@pytest.mark.parametrize("rubs", [False, True])
def test_motion_unaffected_by_changed_limits_is_not_searched_again(arm, rng, rubs):
    """Found again where limits have changed, a motion is that found from the start."""
    mechanism = arm if rubs else arm.without_friction()
    limits = Constraints(mechanism, rd.TimeOptimalSettings())
    piece = PathPieces(mechanism, WaypointSpline(mechanism, JOINTS)).cut(150)[0]
    ends = 0.0, 0.0
    problem = limits.intervals(sample_path(mechanism, piece), ends)
    motion = ReachableMotion(problem, ends)
    motion.find()
    for _ in range(5):
        before = motion.x
        changed = rng.choice(len(problem.steps), 4, replace=False)
        problem.upper[changed] *= 0.97
        problem.caps[changed[:2]] *= 0.9
        motion.stale[changed] = True
        motion.find()
        assert (motion.x != before).any()
        np.testing.assert_array_equal(motion.x, reachable_motion(problem, ends))


def test_a_path_through_poses_is_what_scipys_splines_are(platform, curve, rng):
    path = WaypointSpline(platform, curve)
    steps = platform.difference(curve[:-1], curve[1:])
    steps[:, :3] /= platform.size
    # centripetal knots, no curvature at the ends
    places = np.concatenate([[0.0], np.cumsum(np.sqrt(np.linalg.norm(steps, axis=1)))])
    places /= places[-1]
    line = CubicSpline(places, curve[:, :3], bc_type="natural")
    turns = RotationSpline(places, Rotation.from_quat(curve[:, 3:]))
    t = np.sort(rng.uniform(0.0, 1.0, 50))
    found = path.sample(t)
    turned = turns(t)
    np.testing.assert_allclose(found.configuration[:, :3], line(t), atol=1e-13)
    apart = turned.inv() * Rotation.from_quat(found.configuration[:, 3:])
    np.testing.assert_allclose(apart.magnitude(), 0.0, atol=1e-12)
    for order, values in ((1, found.velocity), (2, found.acceleration)):
        np.testing.assert_allclose(values[:, :3], line(t, order), atol=1e-10)
        np.testing.assert_allclose(values[:, 3:], turned.apply(turns(t, order)), atol=1e-10)
    np.testing.assert_array_equal(path.velocity(t), found.velocity)


def test_corners_are_rounded_by_a_rest_and_nothing_else_is(platform):
    home = platform.home
    there = platform.advance(home, np.array([0.05, 0.0, 0.03, 0.0, 0.0, 0.0]))
    aside = platform.advance(there, np.array([0.0, 0.05, 0.0, 0.0, 0.0, 0.0]))
    from robodyn.trajectories import Sequence

    corner = Sequence(
        (rd.plan_line(home, there, duration=1.0), rd.plan_line(there, aside, duration=1.0))
    )
    motion = rd.time_optimal(platform, corner, points=POINTS)
    speeds = np.linalg.norm(motion.sample(np.linspace(0, motion.duration, 4001)).velocity, axis=1)
    assert speeds[1000:3000].min() < 0.01 * speeds.max()
    straight = Sequence(
        tuple(
            rd.plan_line(
                platform.advance(home, k * step), platform.advance(home, (k + 1) * step), 1.0
            )
            for step in [np.array([0.03, 0.0, 0.0, 0.0, 0.0, 0.0])]
            for k in (0, 1)
        )
    )
    passed = rd.time_optimal(platform, straight, points=POINTS)
    whole = rd.time_optimal(
        platform,
        np.array([home, platform.advance(home, np.array([0.06, 0, 0, 0, 0, 0]))]),
        points=POINTS,
    )
    assert passed.duration == pytest.approx(whole.duration, rel=1e-3)


def test_a_new_goal_is_taken_up_from_the_present_velocity(arm):
    motion = rd.time_optimal(arm, JOINTS, reserve=0.2, points=POINTS)
    state = motion.sample(0.4 * motion.duration)
    onward = time_optimal_from(arm, state.configuration, state.velocity, JOINTS[0], points=POINTS)
    start, end = onward.sample(0.0), onward.sample(onward.duration)
    np.testing.assert_allclose(start.velocity, state.velocity, atol=1e-6)
    np.testing.assert_allclose(start.configuration, state.configuration, atol=1e-9)
    np.testing.assert_allclose(end.configuration, JOINTS[0], atol=1e-9)
    np.testing.assert_allclose(end.velocity, 0.0, atol=1e-9)
    assert max(utilized(arm, onward)) <= 1.0 + 1e-6


def test_time_optimal_motion_is_followed_without_saturation(platform, curve):
    motion = rd.time_optimal(platform, curve, reserve=0.05, points=POINTS)
    flown = rd.simulate(platform, rd.ComputedTorque(platform), motion, dt=1e-3, control_dt=1e-3)
    assert flown.events == []
    at_end = platform.difference(flown.configuration[-1], curve[-1])
    assert np.abs(at_end).max() < 2e-3


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({"effort_limits": 500.0}, ["leg", "to move slowly at", "% of the path", "limit is 500"]),
        ({"condition_limit": 1.5}, ["condition number", "limit of 1.5", "% of the path"]),
        ({"effort_limits": [[5.0, -5.0]] * 6}, ["leg1_actuator", "contradict"]),
        ({"velocity_limits": -1.0}, ["velocity_limits", "above 0"]),
        ({"reserve": 1.0}, ["reserve is 1", "below 1"]),
        ({"start_velocity": [1, 2, 3, 4, 5, 6]}, ["start_velocity", "direction"]),
        ({"wrench": [0, 0, -1e6, 0, 0, 0]}, ["leg", "N to move slowly at", "its limit is"]),
    ],
)  # fmt: skip
def test_impossible_wishes_are_refused_with_limit_place_and_number(platform, curve, options, parts):
    with pytest.raises(rd.RobodynError) as refused:
        rd.time_optimal(platform, curve, points=POINTS, **options)
    for part in parts:
        assert part in str(refused.value)
    assert "\n" not in str(refused.value)


def test_motions_that_nothing_limits_are_refused(platform, curve):
    """Of motors whose curves limit them, and of joints with limits, there is a fastest one."""
    unlimited = {"effort_limits": np.inf, "velocity_limits": np.inf}
    ideal = platform.without_actuators()
    with pytest.raises(rd.InfeasibleTrajectory, match=r"nothing limits how fast .*_limits"):
        rd.time_optimal(ideal, curve, points=POINTS, **unlimited)
    bounded = rd.time_optimal(ideal, curve, points=POINTS, **unlimited, acceleration_limits=1.0)
    assert 0.1 < bounded.duration < 10.0


def test_paths_that_cannot_be_are_refused(platform, arm):
    high = platform.advance(platform.home, np.array([0.0, 0, 0.8, 0, 0, 0]))
    with pytest.raises(
        rd.InfeasibleTrajectory, match=r"leg\d_actuator is at .* its limit is 1.4 m"
    ):
        rd.time_optimal(platform, [platform.home, high])
    with pytest.raises(rd.InvalidInput, match="expected 6 joint positions"):
        rd.time_optimal(arm, rd.paper_path("I"))
    with pytest.raises(rd.InvalidInput, match="all configurations of the path are the same"):
        rd.time_optimal(arm, [JOINTS[0], JOINTS[0]])
    singular = rd.load("stewart_dasgupta")
    with pytest.raises(rd.InfeasibleTrajectory, match=r"singularity at 66\.\d+ % of the path"):
        rd.time_optimal(singular, rd.paper_path("III"))


@pytest.mark.parametrize("fraction", [0.1, 0.25, 0.3, 0.34, 0.6, 0.7])
def test_a_motion_at_its_limits_of_rates_is_taken_over(fraction):
    """It uses between its points what a plan leaves at its own."""
    platform = rd.load("stewart_symmetric")
    ahead = rd.pose_from_rpy([0.05, 0.0, 1.0], [0.0, 0.05, 0.0])
    back = rd.pose_from_rpy([-0.05, 0.03, 1.0], [0.05, 0.0, 0.0])
    first = rd.time_optimal(platform, rd.plan_line(platform.home, ahead, duration=1.0), points=300)
    pose, twist, _ = first.sample(fraction * first.duration)
    used = np.abs(platform.joint_velocities(pose, twist) / platform.velocity_limits).max()
    assert used == pytest.approx(1.0, abs=1e-4)
    onward = time_optimal_from(platform, pose, twist, back, points=300)
    np.testing.assert_allclose(onward.sample(0.0).velocity, twist, atol=1e-9)
    rates = platform.joint_velocities(*onward.sample(np.linspace(0.0, onward.duration, 2001))[:2])
    assert (np.abs(rates) < platform.velocity_limits).all()
