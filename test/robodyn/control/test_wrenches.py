# SPDX-License-Identifier: Apache-2.0

"""Estimated pushes and impedance control, for every kind of mechanism."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.algorithms import motions
from robodyn.poses import pose_difference

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
MODELS = ("stewart_symmetric", "puma560", "delta")
DT = 1e-3
PUSH = {"stewart_symmetric": 500.0, "puma560": 20.0, "delta": 5.0}  # [N]
STIFFNESS = {"stewart_symmetric": 1e4, "puma560": 500.0, "delta": 500.0}  # [N/m]


@pytest.fixture(params=MODELS)
def mechanism(request):
    return rd.load(request.param).without_friction()


class Held:
    """A plan that stands still."""

    def __init__(self, m):
        path = rd.load_path("demo", m)
        motions = [path.sample(t) for t in np.linspace(0.0, path.duration, 50)]
        # away from singular wrists, which turn freely
        self.motion = min(
            motions, key=lambda each: np.linalg.cond(m.twist_jacobian(each.configuration))
        )

    def sample(self, t):
        rest = np.zeros_like(self.motion.velocity)
        return self.motion._replace(velocity=rest, acceleration=rest)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_a_push_is_reported_in_motion_despite_the_noise_of_encoders(name, rng):
    """To 1 % of it with encoders of 0.1 um, or 0.1 urad, read at 1 kHz."""
    m = rd.load(name).without_friction()
    path, control = rd.load_path("demo", m), rd.ComputedTorque(m)
    plant = rd.Plant(m, *path.sample(0.0)[:2], dt=DT)
    observer = rd.WrenchObserver(m, DT, bandwidth=15.0)
    push = PUSH[name] * np.array([1.0, -0.5, 0.8, 0.0, 0.0, 0.0])
    seen, wrenches, last = [], [], None
    for k in range(1500):
        wrench = push * (k >= 500)
        efforts = control(k * DT, plant.configuration, plant.velocity, path, wrench)
        plant.hold(efforts, 1, wrench)
        read = m.joint_positions(plant.configuration)
        read = read + 1e-7 * rng.normal(size=read.shape)
        rates = np.zeros_like(read) if last is None else (read - last) / DT
        measured = motions.motion_of_joints(m, read, rates, None, plant.configuration)
        if last is not None:
            wrenches.append(observer.update(*measured[:2], plant.effort))
            J = m.twist_jacobian(plant.configuration)
            seen.append(observer.generalized - J.T @ wrench)
        last = read
    size = np.linalg.norm(J.T @ push)
    assert np.abs(seen[300:490]).max() < 0.05 * size
    np.testing.assert_allclose(np.mean(seen[-200:], axis=0), 0.0, atol=0.01 * size)
    # as a wrench: the smallest that moves the body so
    smallest = np.linalg.lstsq(J.T, J.T @ push, rcond=1e-2)[0]
    assert np.linalg.norm(np.mean(wrenches[-20:], axis=0) - smallest) < 0.03 * np.linalg.norm(push)


@pytest.mark.slow
def test_pushed_it_yields_as_its_spring_does(mechanism):
    m = mechanism
    plan, stiffness = Held(m), STIFFNESS[m.name] * np.array([4.0, 2.0, 3.0, 0.8, 0.6, 0.5])
    law = rd.Impedance(m, stiffness, 0.1 * stiffness)
    plant = rd.Plant(m, plan.motion.configuration, dt=DT, end_stops=None, limit_efforts=False)
    push = np.array([20.0, -30.0, 40.0, 3.0, 2.0, -1.0])
    for _ in range(4000):
        plant.hold(law(0.0, plant.configuration, plant.velocity, plan), 1, push)
    np.testing.assert_allclose(plant.velocity, 0.0, atol=1e-3)
    home, here = m.body_pose(plan.motion.configuration), m.body_pose(plant.configuration)
    # what moves the body is in balance
    J = m.twist_jacobian(plant.configuration)
    pull = law.wrench(
        plant.configuration, plant.velocity, plan.motion.configuration, plant.velocity
    )
    np.testing.assert_allclose(J.T @ (pull + push), 0.0, atol=1e-2 * np.abs(J.T @ push).max())
    assert np.abs(pose_difference(home, here)).max() > 1e-4


@pytest.mark.slow
def test_whatever_it_touches_no_energy_comes_of_it(mechanism, rng):
    """Kinetic energy and that of the springs never exceed what was there at first."""
    assert sum(touches(mechanism, rng) for _ in range(11)) > 0


def touches(m, rng):
    """One random contact with a wall of random stiffness; whether there was one."""
    plan = Held(m)
    start = plan.motion.configuration
    # of unequal stiffnesses, also in turning
    K, D = 10.0 ** rng.uniform(2.5, 4.0, 6), 10.0 ** rng.uniform(0.0, 2.0, 6)
    law = rd.Impedance(m, K, D)
    wall, away = 10.0 ** rng.uniform(3.0, 5.0), 1e-3 * rng.normal()
    direction = rng.normal(size=3)
    direction /= np.linalg.norm(direction)
    velocity = 0.2 * rng.normal(size=m.coordinates.velocity_size)
    plant = rd.Plant(m, start, velocity, dt=1e-4, end_stops=None, limit_efforts=False)
    home = m.body_pose(start)

    def depth():
        return max(0.0, direction @ (m.body_pose(plant.configuration)[:3] - home[:3]) - away)

    def energy():
        M = m.mass_matrix(plant.configuration)
        error = pose_difference(m.body_pose(plant.configuration), home)
        stored = 0.5 * error @ (K * error) + 0.5 * wall * depth() ** 2
        return 0.5 * plant.velocity @ M @ plant.velocity + stored

    first, touched = energy(), False
    for _ in range(550):
        touched = touched or depth() > 0.0
        contact = np.concatenate([-wall * depth() * direction, np.zeros(3)])
        plant.hold(law(0.0, plant.configuration, plant.velocity, plan), 1, contact)
        # efforts and contact are held over a step, which gives a share that falls as its square
        assert energy() < 1.005 * first
    return touched


def test_along_a_plan_it_is_computed_torque_where_nothing_pushes(mechanism):
    path = rd.load_path("demo", mechanism)
    law = rd.Impedance(mechanism, 100.0, 10.0)
    for time in (0.7, 1.9, 3.3):
        at = path.sample(time)
        np.testing.assert_allclose(
            law(time, *at[:2], path), mechanism.inverse_dynamics(*at), rtol=1e-8, atol=1e-7
        )


def test_impedance_and_observer_reject_invalid_settings():
    m = rd.load("delta")
    with pytest.raises(rd.InvalidInput, match="stiffness"):
        rd.Impedance(m, -1.0, 1.0)
    with pytest.raises(rd.InvalidInput, match=r"damping has shape \(3,\)"):
        rd.Impedance(m, 1.0, np.ones(3))
    for given in ({"dt": 0.0}, {"dt": DT, "bandwidth": 0.0}):
        with pytest.raises(rd.InvalidInput):
            rd.WrenchObserver(m, **given)
    observer = rd.WrenchObserver(m, DT)
    rest = np.zeros(3)
    observer.update(m.home, rest, rest)
    with pytest.raises(rd.InvalidInput, match="efforts"):
        observer.update(m.home, rest, [0.0, np.nan, 0.0])
    assert not observer.generalized.any()
