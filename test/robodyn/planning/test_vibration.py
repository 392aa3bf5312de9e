# SPDX-License-Identifier: Apache-2.0

"""Time-optimal motions that hardly excite the natural modes of elastic drives."""

import math
from functools import partial

import numpy as np
import pytest

import robodyn as rd
from robodyn.algorithms import Motion
from robodyn.trajectories.base import RowTrajectory

pytestmark = [pytest.mark.filterwarnings("ignore::UserWarning"), pytest.mark.slow]
STIFFNESS = np.array([2e5, 2e5, 1e5, 3e3, 3e3, 1e3])


@pytest.fixture(scope="module")
def arm():
    return rd.load("puma560").without_friction().with_drive_stiffness(STIFFNESS, 5e-5 * STIFFNESS)


@pytest.fixture(scope="module")
def path(arm):
    goal = arm.home + np.array([1.2, -0.6, 0.7, 0.5, 0.3, 0.2])
    return rd.plan_straight(arm, arm.home, goal, duration=2.0)


@pytest.fixture(scope="module")
def fastest(arm, path):
    return rd.time_optimal(arm, path)


@pytest.fixture(scope="module")
def calm(arm, path):
    return rd.time_optimal(arm, path, vibration=0.1)


class Stretched(RowTrajectory):
    """A motion that takes another time."""

    def __init__(self, motion, duration):
        self.motion, self.duration = motion, duration
        self.slower = duration / motion.duration
        self.switching_times = tuple(self.slower * t for t in motion.switching_times)

    def _rows(self, t):
        q, v, a = self.motion.sample(t / self.slower)
        return Motion(q, v / self.slower, a / self.slower**2)


def vibration(m, motion, dt, kp=4e5):
    """Largest distance [m] of the tip from rest after the motion; motors follow it closely."""
    result = rd.simulate(
        m, rd.ComputedTorque(m, kp, 1.8 * math.sqrt(kp)), motion, dt=dt, control_dt=None,
        duration=motion.duration + 0.15, limit_efforts=False, end_stops=None,
    )  # fmt: skip
    tip = m.body_pose(result.configuration[result.time > motion.duration])[:, :3]
    return np.linalg.norm(tip - tip[-round(0.05 / dt) :].mean(axis=0), axis=1).max()


def test_a_tenth_of_the_vibration_is_left_for_a_twentieth_of_the_time(arm, fastest, calm):
    left = [vibration(arm, motion, 1e-4) for motion in (fastest, calm)]
    assert calm.duration < 1.05 * fastest.duration
    assert left[1] < 0.1 * left[0]
    assert left[0] > 1e-4


@pytest.mark.parametrize(
    ("name", "stiffness", "move", "dt"),
    [
        ("motion_platform", 4.8e7, [0.2, -0.1, 0.1, 0.1, 0.1, 0.1], 2e-5),  # 20 Hz
        ("delta", 4e4, [0.9, -0.5, 0.8], 5e-5),  # 80 Hz
    ],
)
def test_a_tenth_is_left_of_that_of_an_unshaped_motion_as_long(name, stiffness, move, dt):
    """Of the fastest motion, stretched until the shaped one takes 5 % longer."""
    m = rd.load(name).without_friction().with_drive_stiffness(stiffness, 5e-5 * stiffness)
    goal = m.advance(m.home, move)
    plan = rd.plan_line if name == "motion_platform" else partial(rd.plan_straight, m)
    path = plan(m.home, goal, duration=1.0)
    fastest, calm = (rd.time_optimal(m, path, **limit) for limit in ({}, {"vibration": 0.1}))
    unshaped = Stretched(fastest, calm.duration / 1.05)
    left = [vibration(m, motion, dt) for motion in (unshaped, calm)]
    assert unshaped.duration > fastest.duration
    assert left[1] < 0.1 * left[0]
    assert left[0] > 1e-4


def test_the_motion_stays_on_the_path_within_its_limits(arm, path, calm):
    t = np.linspace(0.0, calm.duration, 2001)
    q, v, a = calm.sample(t)
    start, goal = (path.sample(time).configuration for time in (0.0, path.duration))
    fraction = (q - start) @ (goal - start) / np.sum((goal - start) ** 2)
    np.testing.assert_allclose(q, start + np.outer(fraction, goal - start), atol=1e-9)
    assert (np.diff(fraction) >= 0.0).all()
    assert abs(fraction[-1] - 1.0) < 1e-12
    efforts = arm.inverse_dynamics(q, v, a)
    assert (np.abs(efforts) <= arm.effort_limits * (1.0 + 1e-4)).all()
    assert (np.abs(v) <= arm.velocity_limits * (1.0 + 1e-4)).all()
    assert np.abs(np.concatenate([v[[0, -1]], a[[0, -1]]])).max() < 1e-6
    # the derivatives belong to the motion
    step = t[1] - t[0]
    assert np.abs((q[2:] - q[:-2]) / (2.0 * step) - v[1:-1]).max() < 1e-3 * np.abs(v).max()
    assert np.abs((v[2:] - v[:-2]) / (2.0 * step) - a[1:-1]).max() < 1e-2 * np.abs(a).max()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vibration": 1.5}, "vibration is 1.5, expected a number between 0 and 1"),
        ({"vibration": 0.1, "jerk_limits": 1e3}, "jerk_limits"),
    ],
)
def test_invalid_limits_of_vibration_are_refused(arm, path, options, message):
    with pytest.raises(rd.InvalidInput, match=message):
        rd.time_optimal(arm, path, points=50, **options)
