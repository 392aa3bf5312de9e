# SPDX-License-Identifier: Apache-2.0

"""Set-points stay within every limit for any targets, and lose no time."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.errors import InvalidInput
from robodyn.motion_base.machine import DriveLimits, SetPoints

DT = 0.004


def limits(n, position=2.0, rate=1.0, acceleration=4.0, jerk=40.0):
    return DriveLimits(
        np.tile([-position, position], (n, 1)),
        np.full(n, rate),
        np.full(n, acceleration),
        np.full(n, jerk),
    )


def differences(positions, dt=DT):
    """Largest rate, acceleration and jerk, as a drive sees them in positions (k, n)."""
    return [np.abs(np.diff(positions, k, axis=0)).max() / dt**k for k in (1, 2, 3)]


@pytest.mark.slow
def test_random_targets_break_no_limit(rng):
    own = limits(6)
    joints, seen = SetPoints(own, DT, np.zeros(6)), [np.zeros(6)]
    for _ in range(120):
        target = np.zeros((3, 6))
        target[0] = rng.uniform(-2.5, 2.5, 6)
        target[1:] = rng.uniform(-1.2, 1.2, (2, 6)) * rng.integers(0, 2, (2, 1)) * [[1.0], [3.0]]
        for _ in range(rng.integers(1, 300)):
            if rng.random() < 0.01:
                joints.brake()
            else:
                joints.take(*joints.next_state(target, pace=rng.choice([1.0, 0.3])))
            seen.append(joints.state[0])
            assert (np.abs(joints.rest) <= 2.0 + 1e-9).all()
    rate, acceleration, jerk = differences(np.array(seen))
    assert np.abs(seen).max() <= 2.0 + 1e-9
    assert rate <= 1.0 + 1e-9
    assert acceleration <= 4.0 + 1e-8
    assert jerk <= 40.0 + 1e-5


@pytest.mark.slow
@pytest.mark.parametrize("dt", [0.001, 0.005, 0.02])
def test_thousands_of_random_lives_stay_inside_whatever_targets_and_paces_do(dt, rng):
    """1,000 lives, a joint each, whose limits span many decades; ticks are coarse for most."""
    n = 1000
    rate, acceleration, jerk = 10.0 ** rng.uniform([[-2], [-2], [-2]], [[2], [4], [6]], (3, n))
    width = 10.0 ** rng.uniform(-3, 1, n)
    ends = np.stack([-rng.uniform(0.0, 1.0, n) * width, width], axis=1)
    joints = SetPoints(DriveLimits(ends, rate, acceleration, jerk), dt, np.zeros(n))
    seen = np.full((4, n), -np.inf)
    for _ in range(60):
        kind, target = rng.integers(0, 5), np.zeros((3, n))
        if kind == 0:
            target[0] = rng.uniform(-1.5, 1.5, n) * width
        elif kind == 1:
            target[0] = joints.state[0] + rng.normal(0.0, 1e-6, n)
        elif kind == 2:
            target = rng.normal(0.0, 1.0, (3, n)) * [width, rate, acceleration]
        elif kind == 3:
            target = rng.normal(0.0, 1.0, (3, n)) * 10.0 ** rng.uniform(-3, 300, (3, n))
            target[rng.integers(0, 3), rng.random(n) < 0.1] = rng.choice([np.nan, np.inf, -np.inf])
        pace = rng.choice([1.0, 0.2, 0.01])
        for _ in range(rng.integers(1, 40)):
            before = joints.state
            if kind == 4:
                joints.brake()
            else:
                joints.take(*joints.next_state(target, pace))
            p, v, a = joints.state
            now = np.maximum(ends[:, 0] - p, p - ends[:, 1]), np.abs(v) - rate
            change = np.abs(a - before[2]) / dt
            now = np.array([*now, np.abs(a) - acceleration, change - jerk])
            seen = np.maximum(seen, now)
    assert (seen[0] <= 1e-9 * (1.0 + width)).all()
    assert (seen[1] <= 1e-9 * (1.0 + rate)).all()
    assert (seen[2] <= 1e-9 * (1.0 + acceleration)).all()
    assert (seen[3] <= 1e-6 * (1.0 + jerk)).all()


def test_a_target_that_is_not_finite_is_a_brake():
    joints = SetPoints(limits(2), DT, np.zeros(2))
    for _ in range(100):
        joints.take(*joints.next_state(np.array([[1.0, 1.0], [0.0, 0.0], [0.0, 0.0]])))
    assert joints.state[1, 0] > 0.1
    for _ in range(400):
        joints.take(*joints.next_state(np.array([[np.nan, 1.0], [0.0, 0.0], [0.0, 0.0]])))
    assert joints.state[1, 0] == 0.0
    assert 0.0 < joints.state[0, 0] < 1.0
    assert joints.state[0, 1] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("way", "rate"),
    [(1.5, 1.0), (0.02, 1.0), (0.4, 5.0)],
    ids=["all three limits", "jerk alone", "without the rate"],
)
def test_from_rest_to_rest_it_takes_the_least_time(way, rate):
    """The closed forms of a symmetric motion (Biagiotti and Melchiorri 2008, section 3.4)."""
    a, j = 4.0, 40.0
    if way == 0.02:
        least = 4.0 * (way / (2.0 * j)) ** (1.0 / 3.0)
    elif rate == 1.0:
        least = way / rate + rate / a + a / j
    else:
        ramp = a / j
        least = ramp + np.sqrt(ramp**2 + 4.0 * way / a)
    joints, ticks = SetPoints(limits(1, rate=rate), DT, [0.0]), 0
    target = np.array([[way], [0.0], [0.0]])
    while abs(joints.state[0, 0] - way) > 1e-9:
        joints.take(*joints.next_state(target))
        ticks += 1
    assert least - 1e-3 <= ticks * DT < least + DT + 1e-9  # at 1e-9 it has nearly come to rest


def test_a_smooth_motion_is_followed_without_lag_once_it_is_caught():
    joints, late = SetPoints(limits(1), DT, [0.0]), []
    for k in range(1, 600):
        t, w, size = k * DT, 2.0, 0.3
        target = size * np.array([np.sin(w * t + 1.0), w * np.cos(w * t + 1.0), 0.0])
        target[2] = -(w**2) * target[0]
        joints.take(*joints.next_state(target[:, None]))
        late.append(abs(joints.state[0, 0] - target[0]))
    assert late[0] > 0.2
    assert max(late[300:]) < 1e-12


def test_from_rest_all_joints_arrive_together_in_a_straight_line():
    joints, goal = SetPoints(limits(3), DT, np.zeros(3)), np.array([1.0, -0.5, 0.1])
    target, seen = np.array([goal, 0 * goal, 0 * goal]), []
    while np.abs(joints.state[0] - goal).max() > 1e-9:
        joints.take(*joints.next_state(target))
        seen.append(joints.state[0])
    fractions = np.array(seen) / goal
    assert np.ptp(fractions, axis=1).max() < 1e-9


def test_a_joint_found_outside_its_range_is_brought_back():
    joints = SetPoints(limits(1), DT, [2.5])
    for _ in range(600):
        joints.take(*joints.next_state(np.array([[3.0], [0.0], [0.0]])))
    assert joints.state[0, 0] == pytest.approx(2.0, abs=1e-9)


def test_limits_that_a_description_lacks_are_asked_for():
    arm = rd.load("puma560")
    with pytest.raises(InvalidInput, match="rates: joint1 has the limit inf"):
        DriveLimits.of(arm, rates=np.inf)
    with pytest.raises(InvalidInput, match="expected 1 value or 6 values, got 5"):
        DriveLimits.of(arm, jerks=np.ones(5))
    assert (DriveLimits.of(arm, accelerations=3.0).jerks == 60.0).all()
