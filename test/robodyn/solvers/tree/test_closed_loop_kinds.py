# SPDX-License-Identifier: Apache-2.0

"""The other kinds of mechanism as closed loops: the same numbers from other equations."""

from dataclasses import replace

import numpy as np
import pytest

import robodyn as rd
from robodyn.algorithms import motions, stepping
from robodyn.solvers.stewart.drawing import platform_urdf

pytestmark = pytest.mark.filterwarnings("ignore::robodyn.errors.UnphysicalInertiaWarning")


@pytest.fixture(params=["stewart_symmetric", "stewart_dasgupta"])
def platform(request):
    return rd.load(request.param)


@pytest.fixture
def loop(platform):
    return rd.load(platform.name, kind="closed_loop")


def relative(a, b):
    return float(np.abs(np.asarray(a) - b).max() / np.abs(b).max())


@pytest.fixture
def pair(platform, loop, rng):
    """A state of both: pose, twist, acceleration, wrench; configuration and motion of the legs."""
    pose = platform.advance(platform.home, rng.normal(0.0, 0.03, 6))
    twist, change, wrench = rng.normal(size=6), rng.normal(size=6), 50.0 * rng.normal(size=6)
    legs = motions.driven_motion(platform, pose, twist, change)
    sign = platform.drives.signs
    q = loop.assemble(pose=pose)
    return (pose, twist, change, wrench), (q, sign * legs.velocities, sign * legs.accelerations)


@pytest.mark.slow
def test_a_platform_is_recognized_and_may_be_read_as_a_closed_loop(platform, loop):
    assert rd.load(platform_urdf(platform)).kind == "stewart"
    assert loop.kind == "closed_loop"
    assert loop.mobility == 6
    assert loop.joint_names == tuple(f"leg{n}_actuator" for n in range(1, 7))


@pytest.mark.slow
@pytest.mark.parametrize("gravity", [[3.0, 1.0, -9.0], [0.0, 0.0, -1.62]])
def test_a_platform_that_is_mounted_askew_has_the_same_gravity_as_a_loop(gravity, tmp_path):
    given = rd.load("stewart_symmetric").model
    platform = rd.StewartPlatform(replace(given, gravity=np.array(gravity)))
    rest = np.zeros(6)
    expected = platform.inverse_dynamics(platform.home, rest, rest)
    for ending in ("yaml", "urdf"):
        rd.save(platform, tmp_path / f"askew.{ending}")
        loop = rd.load(tmp_path / f"askew.{ending}", kind="closed_loop")
        assert relative(loop.inverse_dynamics(loop.home, rest, rest), expected) < 1e-9


def test_small_motions_of_a_platform_do_not_depend_on_its_coordinates(platform, loop):
    """Legs or pose: the same eigenvalues, and the same motion of the legs for the same efforts."""
    wrench, sign = np.array([30.0, -20.0, 50.0, 5.0, 9.0, -7.0]), platform.drives.signs
    pose = platform.home
    ours, theirs = platform.linearize(pose, wrench=wrench), loop.linearize(loop.home, wrench=wrench)
    assert relative(sign * theirs.efforts, ours.efforts) < 1e-9
    twists = loop.jacobian(loop.home) @ theirs.input_matrix[6:]
    assert relative(twists * sign, ours.input_matrix[6:]) < 1e-9
    largest = np.abs(ours.eigenvalues).max()
    for value in theirs.eigenvalues:
        assert np.abs(ours.eigenvalues - value).min() < 1e-7 * largest


def test_a_platforms_efforts_mass_matrix_and_accelerations(platform, loop, pair):
    (pose, twist, change, wrench), (q, u, u_change) = pair
    sign = platform.drives.signs
    expected = platform.inverse_dynamics(pose, twist, change, wrench)
    efforts = loop.inverse_dynamics(q, u, u_change, wrench)
    assert relative(sign * efforts, expected) < 1e-9
    J = loop.jacobian(q)
    assert relative(J @ u, twist) < 1e-9
    assert relative(loop.mass_matrix(q), J.T @ platform.mass_matrix(pose) @ J) < 1e-9
    assert relative(loop.forward_dynamics(q, u, efforts, wrench), u_change) < 1e-9


def test_a_platforms_passive_joints(platform, loop, pair):
    (pose, twist, _, _), (q, u, _) = pair
    expected, found = platform.joint_states(pose, twist), loop.joint_states(q, u)
    at = [found.names.index(name) for name in expected.names]
    assert np.abs(found.positions[at] - expected.positions).max() < 1e-9
    assert relative(found.velocities[at], expected.velocities) < 1e-9


def test_a_platforms_simulation(platform, loop):
    """Falling from home on efforts that hold two thirds of its weight; dry friction aside."""
    platform, loop = platform.without_actuators(), loop.without_actuators()
    rest = np.zeros(6)
    efforts = platform.inverse_dynamics(platform.home, rest, rest) / 1.5
    sign, load = platform.drives.signs, np.array([5.0, 0.0, -20.0, 1.0, 0.0, 2.0])
    pose, twist = stepping.step(platform, platform.home, rest, efforts, load, 1e-4, 500)
    q, u = stepping.step(
        loop, loop.assemble(pose=platform.home), rest, sign * efforts, load, 1e-4, 500
    )
    # both to the order of the step; coordinates differ, so the last digits do
    assert np.abs(platform.difference(pose, loop.body_pose(q))).max() < 1e-9
    assert np.abs(loop.jacobian(q) @ u - twist).max() < 1e-8


def test_a_platforms_legs_stick_alike():
    """Two legs are pushed; some of the others give way, and friction holds the rest."""
    platform, rest = rd.load("stewart_symmetric"), np.zeros(6)
    loop = rd.load("stewart_symmetric", kind="closed_loop")
    assert (platform.solver.friction.rows[:, :7] == loop.solver.friction.rows[:, :7]).all()
    efforts = platform.inverse_dynamics(platform.home, rest, rest)
    efforts += np.array([0.0, -300.0, 0.0, 0.0, 300.0, 0.0])
    sign, load = platform.drives.signs, np.array([5.0, 0.0, -20.0, 1.0, 0.0, 2.0])
    pose, twist = stepping.step(platform, platform.home, rest, efforts, load, 1e-4, 500)
    q, u = stepping.step(
        loop, loop.assemble(pose=platform.home), rest, sign * efforts, load, 1e-4, 500
    )
    assert np.abs(platform.difference(pose, loop.body_pose(q))).max() < 1e-9
    assert np.abs(loop.jacobian(q) @ u - twist).max() < 1e-9
    stuck = np.abs(u) < 1e-12
    assert 0 < stuck.sum() < 6
    assert (np.abs(platform.joint_velocities(pose, twist)[stuck]) < 1e-12).all()


@pytest.mark.parametrize("name", ["puma560", "stanford_arm"])
def test_an_arm_without_closures(name, rng):
    """A chain is a tree that closes no loop."""
    arm = rd.load(name)
    loop = rd.load(name, kind="closed_loop")
    assert loop.mobility == arm.n
    q = rng.uniform(-0.5, 0.5, arm.n) + arm.home
    qd, qdd, wrench = rng.normal(size=arm.n), rng.normal(size=arm.n), rng.normal(size=6)
    expected = arm.inverse_dynamics(q, qd, qdd, wrench)
    assert relative(loop.inverse_dynamics(q, qd, qdd, wrench), expected) < 1e-9
    assert relative(loop.mass_matrix(q), arm.mass_matrix(q)) < 1e-9
    assert relative(loop.jacobian(q), arm.jacobian(q)) < 1e-9
    assert relative(loop.forward_kinematics(q), arm.forward_kinematics(q)) < 1e-9
    forward = arm.forward_dynamics(q, qd, expected, wrench)
    assert relative(loop.forward_dynamics(q, qd, expected, wrench), forward) < 1e-9
    # joints come to rest, stick, and turn back at different times
    for steps in (30, 100):
        after = stepping.step(arm, q, 0.3 * qd, arm.gravity(q), wrench, 1e-3, steps)
        ours = stepping.step(loop, q, 0.3 * qd, arm.gravity(q), wrench, 1e-3, steps)
        np.testing.assert_allclose(ours, after, rtol=1e-9, atol=1e-9)
