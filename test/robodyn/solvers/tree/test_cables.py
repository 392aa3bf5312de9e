# SPDX-License-Identifier: Apache-2.0

"""Cables, which pull and do not push: forces with a pretension, slack, and where they hold."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from machines import HEAD, LEAST, MOST, written
from scipy.optimize import linprog

import robodyn as rd
from robodyn.analysis import margins
from robodyn.errors import InvalidInput, ModelError
from robodyn.numerics.nearest_in_box import nearest_in_box

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cables(tmp_path_factory):
    return rd.load(written(tmp_path_factory.mktemp("cables")))


def poses(m, rng, count, reach=0.3):
    """Configurations around home."""
    pose = m.body_pose(m.home)
    out = []
    for _ in range(count):
        turn = np.array([*rng.uniform(-0.1, 0.1, 3), 1.0])
        goal = np.array([*(pose[:3] + rng.uniform(-reach, reach, 3)), *turn / np.linalg.norm(turn)])
        out.append(m.configuration_at(goal, m.home))
    return np.array(out)


def polygon(B, low, high, start):
    """Corners (k, 2) of what y of two numbers keeps start + N y within limits, and N (n, 2).

    As Gouttefarde, Lamaury, Reichert and Bruckmann (IEEE T-RO 31, 2015) do for n + 2 cables:
    along a line of the plane to the next one that stops, and on along that.
    """
    N = np.linalg.svd(B.T)[2][B.shape[1] :].T
    # every corner is where two lines meet, and keeps to all limits
    lines = [(N[j], end - start[j]) for j in range(len(B)) for end in (low, high)]
    corners = []
    for i, (a, p) in enumerate(lines):
        for b, q in lines[i + 1 :]:
            pair = np.array([a, b])
            if abs(np.linalg.det(pair)) > 1e-9:
                y = np.linalg.solve(pair, [p, q])
                x = start + N @ y
                if (x >= low - 1e-9).all() and (x <= high + 1e-9).all():
                    corners.append(y)
    return np.array(corners), N


def shortest(corners):
    """The point (2,) of a convex polygon nearest to the origin, which is outside."""
    best = min(corners, key=np.linalg.norm)
    for a in corners:
        for b in corners:
            along = b - a
            if along @ along > 1e-18:
                y = a + np.clip(-(a @ along) / (along @ along), 0.0, 1.0) * along
                best = min(best, y, key=np.linalg.norm)
    return best


def test_forces_are_the_least_of_the_polygon_of_all(cables, rng):
    """Of all that hold a wrench, within limits, those of least sum of squares; or there are none.

    A linear program decides whether there are any.
    """
    rest, seen = np.zeros(6), set()
    least = cables.without_actuators()
    for q in poses(cables, rng, 15):
        wrench = rng.uniform(-1, 1, 6) * [500, 500, 500, 60, 60, 60]
        A = cables.joint_jacobian(q)
        asked = cables.free_efforts(q, rest, rest, wrench)
        found = cables.inverse_dynamics(q, rest, rest, wrench)
        np.testing.assert_allclose(A.T @ found, asked, atol=1e-9)
        start = least.inverse_dynamics(q, rest, rest, wrench)
        corners, N = polygon(A, LEAST, MOST, start)
        there_are = linprog(np.zeros(8), A_eq=A.T, b_eq=asked, bounds=(LEAST, MOST)).status == 0
        assert there_are == bool(len(corners))
        inside = (found >= LEAST - 1e-9).all() and (found <= MOST + 1e-9).all()
        assert inside == there_are
        seen.add(there_are)
        if there_are:
            expected = start if (start <= MOST).all() and (start >= LEAST).all() else (
                start + N @ shortest(corners)
            )  # fmt: skip
            np.testing.assert_allclose(found, expected, atol=1e-6)
    assert seen == {True, False}


@pytest.mark.parametrize("extra", [1, 2, 4])
def test_any_number_of_spare_drives(rng, extra):
    """The result has the same effect, and no direction within the limits is shorter."""
    reported = set()
    for _ in range(60):
        n = 6 + extra
        A, weights = rng.normal(size=(n, 6)), rng.uniform(0.5, 2.0, n)
        limits = np.stack([rng.uniform(-3.0, 0.1, n), rng.uniform(0.2, 3.0, n)])
        asked = A.T @ (rng.uniform(*limits) * rng.choice([1.0, 1.6]))
        x = weights * (A @ np.linalg.solve(A.T @ (weights[:, None] * A), asked))
        found = nearest_in_box(A, weights, limits, x)
        bounds = list(zip(*limits, strict=True))
        program = linprog(np.zeros(n), A_eq=A.T, b_eq=asked, bounds=bounds)
        assert found == (program.status == 0)
        reported.add(found)
        if found:
            np.testing.assert_allclose(A.T @ x, asked, atol=1e-10)
            assert (x >= limits[0] - 1e-12).all()
            assert (x <= limits[1] + 1e-12).all()
            # the least of 2 x.z / w over all z is that of x itself: Karush, Kuhn and Tucker
            slope = 2.0 * x / weights
            lowest = linprog(slope, A_eq=A.T, b_eq=asked, bounds=bounds)
            assert slope @ x <= lowest.fun + 1e-9 * max(1.0, abs(lowest.fun))
    assert reported == {True, False}


def test_forces_are_continuous_along_a_motion(cables):
    """Though which cables are at their limits changes on the way."""
    way, rest, jumps, pose = (
        np.array([0.8, 0.5, 0.4]),
        np.zeros(6),
        [],
        cables.body_pose(cables.home),
    )
    for count in (200, 800):
        q, places = [cables.home], np.linspace(-1.0, 1.0, count)
        for fraction in places:
            goal = np.array([*(pose[:3] + fraction * way), *pose[3:]])
            q.append(cables.configuration_at(goal, q[-1]))
        forces = cables.inverse_dynamics(np.array(q[1:]), rest, rest)
        assert forces.max() <= MOST
        assert forces.min() >= LEAST
        jumps.append(np.abs(np.diff(forces, axis=0)).max())
    at_limit = {tuple(row) for row in forces == MOST}
    assert len(at_limit) > 2
    assert jumps[1] < 0.4 * jumps[0]  # a jump would stay as large


def test_computed_torque_keeps_cables_taut(cables):
    path = rd.load_path("demo", cables)
    run = rd.simulate(cables, rd.ComputedTorque(cables), path, dt=1e-3, control_dt=5e-3,
                      duration=2.0)  # fmt: skip
    assert run.effort.max() <= MOST * (1.0 - 1e-9)
    expected = cables.body_pose(path.sample(run.time).configuration)
    assert np.abs(cables.body_pose(run.configuration) - expected)[:, :3].max() < 1e-3


def test_slack_cables_do_not_push(cables):
    """Under pushing commands they hang: the platform falls as if they were not there."""
    rest = np.zeros(6)
    run = rd.simulate(cables, rd.ConstantEffort(np.full(8, 50.0)), duration=0.1, dt=1e-3)
    assert not run.effort.any()
    free = cables.forward_dynamics(cables.home, rest, np.zeros(8))
    fallen = cables.body_pose(run.configuration[-1])[2] - cables.body_pose(cables.home)[2]
    drop = (cables.jacobian(cables.home) @ free)[2]
    assert fallen == pytest.approx(0.5 * drop * 0.1**2, rel=0.05)
    assert drop < -8.0
    plant = rd.Plant(cables)
    plant.hold(np.full(8, 50.0), 100)
    np.testing.assert_allclose(plant.configuration, run.configuration[-1], atol=1e-12)
    side = rd.BatchPlant(cables, 2)
    side.step(np.full(8, 50.0), 100)
    np.testing.assert_allclose(side.configuration[0], plant.configuration, atol=1e-12)


def test_cables_hold_where_a_linear_programme_says_so(cables, rng):
    """The wrench-feasible workspace: margins are negative where no forces within limits hold."""
    from robodyn.planning.workspace import Requirements

    push = np.array([0.0, 0.0, -150.0, 0.0, 0.0, 0.0])
    needs = Requirements(cables, rd.WorkspaceSettings(effort_limits=True, wrench=push))
    q = poses(cables, rng, 30, 1.0)
    held = needs.margins(q) >= 0.0
    rest = np.zeros(6)
    for k, one in enumerate(q):
        asked = cables.free_efforts(one, rest, rest, push)
        found = linprog(
            np.zeros(8), A_eq=cables.joint_jacobian(one).T, b_eq=asked, bounds=(LEAST, MOST)
        )
        assert held[k] == (found.status == 0)
    assert 0 < held.sum() < len(q)
    assert re.search("needs -?[0-9.]+ N to hold", needs.worst(q[np.argmin(held)]))


@pytest.mark.parametrize("push", [0.0, 40.0])
def test_time_optimal_motions_use_all_that_cables_can(cables, push):
    """At every time a rate is at its limit, or a linear program finds no room for the forces."""
    path, wrench = rd.load_path("demo", cables), [push, 0.0, 0.0, 0.0, 0.0, 0.0]
    fast = rd.time_optimal(cables, path, wrench=wrench)
    t = np.linspace(0.0, fast.duration, 62)[1:-1]
    motion = fast.sample(t)
    state = motion.configuration, motion.velocity, motion.acceleration, wrench
    forces = cables.inverse_dynamics(*state)
    assert forces.max() <= MOST + 1e-9
    assert forces.min() >= LEAST - 1e-9
    asked, A = cables.free_efforts(*state), cables.joint_jacobian(motion.configuration)
    rates = np.abs(cables.joint_velocities(*state[:2])).max(axis=-1) / 2.0
    one, room = np.ones((8, 1)), []
    for matrix, expected in zip(A, asked, strict=True):
        within = linprog(
            -np.eye(9)[8], np.block([[np.eye(8), one], [-np.eye(8), one]]),
            np.repeat([MOST, -LEAST], 8), np.hstack([matrix.T, np.zeros((6, 1))]), expected,
            (None, None),
        )  # fmt: skip
        room.append(-within.fun)
    assert min(room) > -1e-6
    used = (np.array(room) < 0.05 * (MOST - LEAST)) | (rates > 0.98)
    assert used.mean() > 0.95


def test_motions_that_cables_cannot_are_refused(cables):
    path = rd.load_path("demo", cables)
    with pytest.raises(
        rd.InfeasibleTrajectory, match=r"no efforts of c.* move the mechanism slowly at .* %"
    ):
        rd.time_optimal(cables, path, wrench=[0.0, 0.0, -2000.0, 0.0, 0.0, 0.0])
    with pytest.raises(InvalidInput, match="effort_rate_limits are not supported with more drives"):
        rd.time_optimal(cables, path, effort_rate_limits=1e3)


def test_limits_tell_cables_that_push(cables):
    path = rd.load_path("demo", cables)
    assert rd.check_limits(cables, path, quantities=("effort",)) is None
    still, pushing = np.full((2, 1, 8), 0.2), np.full((1, 8), 20.0)
    first = margins(cables, [0.0], *still, pushing, np.ones(1)).first
    assert first is not None
    assert first[0].quantity == "effort"


@pytest.mark.parametrize("ending", [".urdf", ".yaml", ".sdf", ".xml"])
def test_every_file_says_it(cables, ending, tmp_path, rng):
    if ending == ".xml":
        pytest.importorskip("mujoco")
    rd.save(cables, tmp_path / f"m{ending}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = rd.load(tmp_path / f"m{ending}", kind="closed_loop")
    np.testing.assert_allclose(again.drives.effort_ranges, cables.drives.effort_ranges)
    rest = np.zeros(6)
    np.testing.assert_allclose(
        again.inverse_dynamics(again.home, rest, rest),
        cables.inverse_dynamics(cables.home, rest, rest), rtol=1e-9,
    )  # fmt: skip


def test_mjcf_has_motors_of_one_sign():
    pytest.importorskip("mujoco")
    text = """<mujoco><worldbody><body><joint name="a" type="slide"/><geom size=".1"/></body>
      </worldbody><actuator><motor joint="a" gear="-80" ctrllimited="true" ctrlrange="0 1"/>
      </actuator></mujoco>"""
    m = rd.load(text)
    np.testing.assert_allclose(m.drives.effort_ranges, [[-80.0, 0.0]])
    np.testing.assert_allclose(m.drives.cut_efforts(np.array([[-90.0], [30.0]])), [[-80.0], [0.0]])


@pytest.mark.parametrize("effort", ["[-5, -300]", "[-5]", "[-.inf, -5, 1]"])
def test_limits_that_contradict_are_refused(effort, tmp_path):
    with pytest.raises(ModelError, match="effort"):
        rd.load(written(tmp_path, head=HEAD.replace("[-300, -5]", effort)))
