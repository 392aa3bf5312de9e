# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Time-optimal motions: limits between points, a known optimum, another solver, refusals."""

from __future__ import annotations

import numpy as np
import pytest

import robodyn as rd
from robodyn.actuators import Actuator
from robodyn.planning.time_optimal_limits import limits_of
from robodyn.planning.time_optimal_online import time_optimal_from
from robodyn.planning.time_optimal_path import pieces_of
from robodyn.planning.time_optimal_terms import along, intervals_of
from robodyn.planning.time_optimal_through import Through

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
    values = platform.values_of(platform.home)
    offsets = [
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.06, 0.03, 0.04, 0.1, 0.0, 0.1],
        [0.0, 0.08, -0.03, 0.0, 0.1, 0.0],
        [-0.05, 0.0, 0.02, -0.1, 0.0, 0.0],
    ]
    return platform.configuration_of(values + np.array(offsets))


JOINTS = np.array(
    [[0.0, 0.3, 0.2, 0, 0.4, 0], [0.7, -0.4, 0.5, 0.5, 0, 1], [0.2, 0.2, -0.4, 1, 1, 0]]
)


def between(motion):
    """The motion on a grid that is finer than its own by a factor."""
    nodes = np.array([0.0, *motion.switching_times, motion.duration])
    shares = np.linspace(0.0, 1.0, FINER, endpoint=False)
    times = nodes[:-1, None] + np.diff(nodes)[:, None] * shares
    return motion.sample(np.append(times, motion.duration))


def utilised(mechanism, motion, wrench=None):
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
    assert utilised(slider, motion)[0] <= 1.0 + 1e-9


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
        effort, rate = utilised(mechanism, motion)
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
    driven = loaded.driven_motion(*samples)
    assert np.abs(driven.accelerations).max() <= 2.0 * (1.0 + 1e-6)
    assert np.abs(driven.velocities).max() <= 0.5 * (1.0 + 1e-6)
    assert np.linalg.norm(samples.velocity[:, :3], axis=1).max() <= 0.4 * (1.0 + 1e-6)
    assert utilised(loaded, motion, wrench)[0] <= 0.9 * (1.0 + 1e-6)


def test_it_is_as_fast_as_another_solver_finds(platform, curve):
    """A linear programme over x = s'^2, linearised time, solved by HiGHS to convergence."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_matrix

    ideal = platform.without_friction()
    motion = rd.time_optimal(ideal, curve, points=POINTS)
    piece = pieces_of(ideal, Through(ideal, curve), 2 * POINTS)[0]
    limits = limits_of(ideal, None, None, None, None, None, 1.0, 0.0)
    path = along(ideal, piece, tip=False)
    problem = intervals_of(ideal, path, limits, None, (0.0, 0.0))
    h, middle = path.steps, problem.terms[:, 1]
    count, joints = len(h), middle.shape[1]
    rows = np.arange(count * joints)
    interval = np.repeat(np.arange(count), joints)
    a = (middle[..., 0] * 0.5 / h[:, None]).ravel()
    b, d = middle[..., 1].ravel(), middle[..., 3].ravel()
    ends = (np.tile(rows, 2), np.concatenate([interval, interval + 1]))
    effort = coo_matrix((np.concatenate([0.5 * b - a, 0.5 * b + a]), ends)).tocsr()
    most = np.tile(ideal.effort_limits, count)
    from scipy.sparse import vstack

    matrix, bound = vstack([effort, -effort]), np.concatenate([most - d, most + d])
    caps = np.append(problem.bounds[:, 0], 0.0)
    caps[0] = 0.0
    # the sum of x orders motions as their times do where one is faster everywhere
    found = linprog(
        -np.ones(count + 1), A_ub=matrix, b_ub=bound, bounds=np.stack([0 * caps, caps], 1)
    )
    assert found.success
    speed = np.sqrt(np.maximum(found.x, 0.0))
    time = float((2.0 * h / (speed[1:] + speed[:-1])).sum())
    assert motion.duration == pytest.approx(time, rel=5e-3)
    assert motion.gap < 1e-3


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
    assert max(utilised(arm, onward)) <= 1.0 + 1e-6


def test_it_is_flown_without_saturation(platform, curve):
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


def test_paths_that_cannot_be_are_refused(platform, arm):
    high = platform.advance(platform.home, np.array([0.0, 0, 0.8, 0, 0, 0]))
    with pytest.raises(
        rd.InfeasibleTrajectory, match=r"leg\d_actuator is at .* its limit is 1.4 m"
    ):
        rd.time_optimal(platform, [platform.home, high])
    with pytest.raises(rd.InvalidInput, match="expected 6 joint positions"):
        rd.time_optimal(arm, rd.paper_path("I"))
    with pytest.raises(rd.InvalidInput, match="same configuration"):
        rd.time_optimal(arm, [JOINTS[0], JOINTS[0]])
    singular = rd.load("stewart_dasgupta")
    with pytest.raises(rd.InfeasibleTrajectory, match=r"singularity at 66\.\d+ % of the path"):
        rd.time_optimal(singular, rd.paper_path("III"))
