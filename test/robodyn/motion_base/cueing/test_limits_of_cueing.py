# SPDX-License-Identifier: Apache-2.0

"""Lengths, rates, accelerations and forces of the legs stay within limits for any input."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.algorithms import motions
from robodyn.motion_base.machine import DriveLimits

pytestmark = pytest.mark.slow

REST = np.array([0.0, 0.0, 9.81])
HEAD = [0.1, 0.0, 1.1]
DT = 0.02
VIOLENT = rd.WashoutParameters(
    force_gain=1.0, rotation_gain=1.0, tilt_rate=0.3, force_highpass=1.0, force_washout=0.5
)


@pytest.fixture(scope="module")
def platform():
    """With a payload of 1000 kg, which the forces of six legs are short for."""
    return rd.load("motion_platform")


def washout(m):
    return rd.ClassicalWashout(m, DT, VIOLENT, HEAD)


def predictive(m):
    return rd.PredictiveCueing(m, DT, head=HEAD)


def jumps(random, count):
    """Specific forces beside gravity and angular velocities (count, 6) that jump at full scale."""
    corners = np.cumsum(random.integers(2, 150, count))
    values = random.uniform(-1.0, 1.0, (count, 6)) * ([10.0] * 3 + [1.0] * 3)
    return values[np.searchsorted(corners, np.arange(count), side="right")]


def saw_teeth(random, count):
    phase = np.arange(count)[:, None] * DT / random.uniform(0.5, 5.0, 6) + random.uniform(size=6)
    return (2.0 * (phase % 1.0) - 1.0) * ([10.0] * 3 + [1.0] * 3)


def assert_within_limits(m, cues):
    pose, twist, accel = (np.array(each) for each in zip(*cues, strict=True))
    motion = motions.motion_of_body(m, np.arange(len(pose)) * DT, pose, twist, accel, m.home)
    lengths, rates, accelerations = motions.driven_motion(m, *motion)
    limits = DriveLimits.of(m)
    assert ((lengths >= limits.positions[:, 0]) & (lengths <= limits.positions[:, 1])).all()
    assert (np.abs(rates) <= limits.rates).all()
    assert (np.abs(accelerations) <= limits.accelerations * (1.0 + 1e-9)).all()
    assert (np.abs(m.inverse_dynamics(*motion)) <= m.drives.effort_limits_at(rates)).all()
    # they are derivatives of each other, so it is a motion and not a series of allowed states
    half = 0.5 * DT
    np.testing.assert_allclose(
        np.diff(pose[:, :3], axis=0), half * (twist[1:, :3] + twist[:-1, :3]), atol=2e-3
    )
    np.testing.assert_allclose(np.diff(twist, axis=0), half * (accel[1:] + accel[:-1]), atol=0.15)


@pytest.mark.parametrize("cueing", [washout, predictive])
@pytest.mark.parametrize("inputs", [jumps, saw_teeth])
def test_no_limit_is_broken(platform, rng, cueing, inputs):
    made = cueing(platform)
    given = inputs(rng, 600)
    cues = [made.step(REST + row[:3], row[3:]) for row in given]
    assert_within_limits(platform, cues)
    moved = np.ptp([cue.pose[:3] for cue in cues], axis=0)
    assert moved[:2].min() > 0.02
    # and at rest it comes back
    for _ in range(1000):
        cue = made.step(REST, np.zeros(3))
    np.testing.assert_allclose(cue.pose[:3], made.neutral[:3], atol=0.06)
    # yaw slowly, as the semicircular canals remember
    np.testing.assert_allclose(cue.twist, 0.0, atol=0.1)


def test_a_drive_that_turns_back_at_the_edge(platform):
    """The force that has driven it there turns round just when it brakes."""
    made, force, cues = washout(platform), 9.0, []
    for _ in range(800):
        cues.append(made.step(REST + np.array([force, 0.0, 0.0]), np.zeros(3)))
        lengths = platform.joint_positions(cues[-1].pose)
        low, high = platform.position_limits.T
        if min((high - lengths).min(), (lengths - low).min()) < 0.02:
            force = -9.0 * np.sign(cues[-1].twist[0] or 1.0)
    assert_within_limits(platform, cues)


def test_without_time_it_keeps_the_last_plan_and_then_washes_out(platform):
    """With a clock that a step takes too long by, or not at all."""
    force = REST + np.array([3.0, 0.0, 0.0])
    cueing = rd.PredictiveCueing(platform, DT, budget=0.005)
    now, taken = [0.0], [0.0]

    def clock():
        now[0] += taken[0]
        return now[0]

    cueing._clock = clock
    cues = [cueing.step(force, np.zeros(3)) for _ in range(30)]
    assert cueing.late == 0
    taken[0] = 0.01
    planned = cueing._plan
    for k in range(1, 11):  # 0.2 s
        cues.append(cueing.step(force, np.zeros(3)))
        np.testing.assert_array_equal(cues[-1].pose, planned.cue.pose[k])
    cues += [cueing.step(force, np.zeros(3)) for _ in range(405)]
    assert cueing.late == 415
    # the washout's, of its default gain: the lasting force is felt by tilt
    _, rpy = rd.rpy_from_pose(cues[-1].pose)
    assert -9.81 * np.sin(rpy[1]) == pytest.approx(1.5, rel=0.01)
    taken[0] = 0.0
    cues += [cueing.step(force, np.zeros(3)) for _ in range(400)]
    assert 415 < cueing.late <= 415 + 1.0 / DT
    _, rpy = rd.rpy_from_pose(cues[-1].pose)
    assert -9.81 * np.sin(rpy[1]) > 2.0
    assert_within_limits(platform, cues)


def test_limited_washout_passes_motions_within_the_limits_unchanged(platform, rng):
    given = np.cumsum(rng.normal(size=(400, 6)), axis=0) * ([0.01] * 3 + [0.001] * 3)
    pair = [rd.ClassicalWashout(platform, DT, head=HEAD, limited=each) for each in (True, False)]
    for row in given:
        limited, free = (each.step(REST + row[:3], row[3:]) for each in pair)
        for one, other in zip(limited, free, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-12)
