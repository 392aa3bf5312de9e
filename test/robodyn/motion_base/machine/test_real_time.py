# SPDX-License-Identifier: Apache-2.0

"""After the start nothing searches globally, and what a step examines does not grow."""

import subprocess
import sys
from contextlib import suppress

import numpy as np
import pytest

import robodyn as rd
from robodyn.algorithms import conditioning, motions, travel
from robodyn.errors import InvalidInput, NoSolution
from robodyn.motion_base.cueing.plan import NODES
from robodyn.motion_base.machine import DriveLimits, PoseStream, PositionCommander, Workspace
from robodyn.poses import advance_pose, pose_difference
from robodyn.solvers.tree.closing import global_search

REST = np.array([0.0, 0.0, 9.81])
VIOLENT = rd.WashoutParameters(force_gain=1.0, rotation_gain=1.0, tilt_rate=0.3)
TICK = 4_000_000


@pytest.fixture(scope="module")
def rotary():
    return rd.load("hexapod_rotary")


@pytest.fixture
def searches(monkeypatch):
    """The starts of global searches; each finds nothing."""
    found = []

    def near(self, q, *given, **more):
        found.append(q)

    monkeypatch.setattr(global_search.GlobalAssemblySearch, "near", near)
    monkeypatch.setattr(
        global_search.GlobalAssemblySearch,
        "loop_by_loop",
        lambda *given: (found.append(0), "")[::-1],
    )
    return found


def jumps(random, count):
    """Specific forces beside gravity and angular velocities (count, 6) that jump at full scale."""
    values = random.uniform(-1.0, 1.0, (count, 6)) * ([10.0] * 3 + [1.0] * 3)
    return values[np.arange(count) // 40 * 40]


@pytest.mark.slow
def test_a_washout_searches_nothing_and_keeps_the_limits(rotary, searches, rng, monkeypatch):
    m, dt = rotary, 0.01
    washout = rd.ClassicalWashout(m, dt, VIOLENT)
    examined, asked = [], motions.motions_of_body

    def counted(mechanism, poses, *given):
        examined[-1] += len(poses)
        return asked(mechanism, poses, *given)

    monkeypatch.setattr(motions, "motions_of_body", counted)
    cues = []
    for row in jumps(rng, 400):
        examined.append(0)
        cues.append(washout.step(REST + row[:3], row[3:]))
    assert not searches
    assert max(examined) <= 5 * NODES
    pose, twist, accel = (np.array(each) for each in zip(*cues, strict=True))
    motion = motions.motion_of_body(m, np.arange(len(pose)) * dt, pose, twist, accel, m.home)
    positions, rates, changes = motions.driven_motion(m, *motion)
    limits = DriveLimits.of(m)
    assert ((positions >= limits.positions[:, 0]) & (positions <= limits.positions[:, 1])).all()
    assert (np.abs(rates) <= limits.rates).all()
    assert (np.abs(changes) <= limits.accelerations).all()
    assert np.ptp(pose[:, :3], axis=0).max() > 0.01


def test_a_washout_keeps_the_limits_of_passive_joints(rng):
    free = rd.load("stewart_symmetric")
    bends = []
    for m in (free, travel.with_cones(free, base_cone=0.1)):
        washout = rd.ClassicalWashout(m, 0.01, VIOLENT)
        poses = [washout.step(REST + row[:3], row[3:])[0] for row in jumps(rng, 400)]
        bends.append(travel.leg_bends(m, np.array(poses))[:, 0].max())
    assert bends[0] > 0.12
    assert 0.05 < bends[1] <= 0.1


FIRST = """
import numpy as np
from numba.core.dispatcher import Dispatcher
import robodyn as rd

washout = rd.ClassicalWashout(rd.load("delta"), 0.01)
loaded, compile = [], Dispatcher.compile
Dispatcher.compile = lambda self, *given: (loaded.append(self), compile(self, *given))[1]
for row in np.random.default_rng(0).uniform(-5.0, 5.0, (50, 6)):
    washout.step([*row[:2], 9.81 + row[2]], row[3:])
print(len(loaded))
"""


@pytest.mark.slow
def test_the_first_step_of_a_washout_loads_no_kernel():
    """All are loaded when it is made; of a process that has loaded nothing before."""
    command = [sys.executable, "-W", "ignore", "-c", FIRST]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout) == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hexapod_rotary", "delta"])
def test_a_set_point_out_of_reach_searches_nothing(name, searches, rng):
    m = rd.load(name)
    commander, stream = PositionCommander(m, 1e-9 * TICK), PoseStream(m, 0.5)
    commander.motion_source = stream
    home = m.body_pose(m.home)
    for k in range(1, 200):
        far = np.append(rng.uniform(-3.0, 3.0, 3) * m.size, rng.uniform(-0.5, 0.5, 3))
        problem = stream.take(
            k * TICK, k * TICK, advance_pose(home, far), np.zeros(6), commander.configuration
        )
        assert "out of reach" in problem
        point = commander.step(k * TICK)
        assert np.isfinite(point.positions).all()
    assert not searches


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hexapod_rotary", "fivebar"])
def test_a_set_point_is_found_by_one_search_and_one_attempt(name, rng, monkeypatch):
    """Also for a target out of reach whose way is blocked; and it goes on along the edge."""
    m = rd.load(name)
    counts = {}

    def count(of, method):
        original = getattr(of, method)

        def counted(*given):
            counts[method] += 1
            return original(*given)

        monkeypatch.setattr(of, method, counted)

    count(Workspace, "nearest")
    count(PositionCommander, "_path_violation")
    commander, stream = PositionCommander(m, 1e-9 * TICK), PoseStream(m, 0.5)
    commander.motion_source = stream
    home, blocked, moved = m.body_pose(m.home), 0, 0
    for k in range(1, 1500):
        if k % 150 == 1:
            far = np.append(rng.uniform(-0.6, 0.6, 3) * m.size, rng.uniform(-0.5, 0.5, 3))
        counts.update(nearest=0, _path_violation=0)
        with suppress(InvalidInput):
            stream.take(
                k * TICK, k * TICK, advance_pose(home, far), np.zeros(6), commander.configuration
            )
        point = commander.step(k * TICK)
        assert max(counts.values()) <= 1
        blocked += "blocked" in point.problem
        moved += "blocked" in point.problem and np.abs(point.velocities).max() > 1e-6
    assert blocked > 20
    assert moved > 10


def test_a_pose_is_found_where_a_displacement_leads(rotary, rng):
    """Of Newton's method to a pose: the configuration that the independent joints have there."""
    m = rotary
    for _ in range(20):
        q = motions.advance_near(m, m.home, rng.uniform(-0.3, 0.3, m.mobility))
        found = m.configuration_at(m.body_pose(q))
        np.testing.assert_allclose(found, q, atol=1e-9)


def test_a_motion_of_the_body_is_the_one_of_its_joints(rotary, rng):
    """Rates and accelerations of poses are those from which the poses were made."""
    m = rotary
    q = np.array(
        [motions.advance_near(m, m.home, step) for step in rng.uniform(-0.2, 0.2, (20, 6))]
    )
    rates, changes = rng.normal(size=(2, 20, 6))
    twists = np.einsum("kij,kj->ki", m.twist_jacobian(q), rates)
    h = 1e-5
    ends = [
        np.array([motions.advance_near(m, at, s * h * (v + 0.5 * s * h * a)) for at, v, a in
                  zip(q, rates, changes, strict=True)])
        for s in (-1.0, 1.0)
    ]  # fmt: skip
    moved = [
        np.einsum("kij,kj->ki", m.twist_jacobian(end), rates + s * h * changes)
        for s, end in zip((-1.0, 1.0), ends, strict=True)
    ]
    accels = (moved[1] - moved[0]) / (2.0 * h)
    starts = np.tile(m.home, (20, 1))
    for motion in (
        motions.motions_of_body(m, m.body_pose(q), twists, accels, starts),
        motions.motion_of_body(m, np.arange(20.0), m.body_pose(q), twists, accels, m.home),
    ):
        np.testing.assert_allclose(motion.configuration, q, atol=1e-6)
        np.testing.assert_allclose(motion.velocity, rates, atol=1e-5)
        np.testing.assert_allclose(motion.acceleration, changes, atol=1e-3)


def test_a_sample_out_of_reach_fails_at_once(rotary, searches):
    m = rotary
    poses = np.array(
        [advance_pose(m.body_pose(m.home), [0.0, 0.0, z, 0.0, 0.0, 0.0]) for z in (0.0, 0.01, 2.0)]
    )
    still = np.zeros((3, 6))
    with pytest.raises(NoSolution) as failed:
        motions.motion_of_body(m, np.arange(3.0), poses, still, still, m.home)
    assert failed.value.index == (2,)
    assert not searches
    found = motions.motions_of_body(m, poses, still, still, np.tile(m.home, (3, 1)))
    np.testing.assert_array_equal(np.isnan(found.configuration).any(axis=1), [False, False, True])


@pytest.mark.parametrize("name", ["hexapod_rotary", "delta"])
def test_the_nearest_configuration_is_one(name):
    """Loops are closed, and no small displacement leads nearer to the pose."""
    m = rd.load(name)
    rows = np.repeat([1.0, m.characteristic_length], 3)
    goal = advance_pose(m.body_pose(m.home), [0.1 * m.size, 0.05 * m.size, 3.0 * m.size, 0, 0, 0])
    found = motions.configuration_near(m, goal, m.home)

    def distance(q):
        return np.linalg.norm(rows * pose_difference(m.body_pose(q), goal))

    assert distance(found) < distance(m.home)
    for way in np.eye(m.coordinates.velocity_size):
        for sense in (-1.0, 1.0):
            try:
                beside = motions.advance_near(m, found, 1e-3 * sense * way)
            except NoSolution:
                continue
            assert distance(beside) > distance(found) - 2e-4 * m.size


def test_sides_are_those_of_determinants(rotary, rng):
    """Of the closures' Jacobian by the passive rates, over the root of the Gram determinant."""
    m = rotary
    found = m.structure
    passive = np.setdiff1d(np.arange(found.tree.rates), m.solver.rates_at)
    rows = np.flatnonzero(found.present.any(axis=1))
    for step in rng.uniform(-0.3, 0.3, (5, 6)):
        q = motions.advance_near(m, m.home, step)
        K = found.equations.at(q)[1][rows]
        expected = np.linalg.det(K[:, passive]) / np.sqrt(np.linalg.det(K @ K.T))
        assert float(conditioning.side(m, q)) == pytest.approx(expected, rel=1e-8)


def test_many_condition_numbers_are_those_of_one(rotary, rng):
    q = np.array(
        [motions.advance_near(rotary, rotary.home, s) for s in rng.uniform(-0.3, 0.3, (9, 6))]
    )
    length = rotary.characteristic_length
    one = [float(rotary.condition_number(each, length)) for each in q]
    np.testing.assert_allclose(rotary.condition_number(q, length), one, rtol=1e-10)
