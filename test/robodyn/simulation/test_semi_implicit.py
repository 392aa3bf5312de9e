# SPDX-License-Identifier: Apache-2.0

"""Steps of the semi-implicit method: order, energy, damping, sticking, end stops, refusals."""

from dataclasses import replace
from importlib import resources

import numpy as np
import pytest
import yaml

import robodyn as rd
from robodyn.actuators import Actuator
from robodyn.control import ComputedTorque
from robodyn.model import Joint, Link
from robodyn.simulation import Plant
from robodyn.solvers.serial.chain import model_of_chain
from robodyn.trajectories import AtRest

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.fixture(scope="module", params=["stanford_arm", "stewart_dasgupta", "fivebar"])
def smooth(request):
    return rd.load(request.param).without_friction()


def one_joint(kind, damping=0.0, **friction):
    """A mass of 2 kg, 0.5 m below a hinge or on a level slide."""
    joint = Joint("joint", kind, "base", "mass", damping=damping)
    joint = joint.driven_by(Actuator(**friction))
    mass = Link("mass", 2.0, com=[0.0, 0.0, -0.5], inertia=np.eye(3) * 0.01)
    return rd.SerialArm(model_of_chain("one", "base", [(joint, mass)], np.eye(4), "mass"))


def slider(**friction):
    return one_joint("prismatic", **friction)


def thrown(mechanism, integrator, steps, duration=0.08):
    """Plant after a motion from home with the efforts that hold it there."""
    nv = mechanism.coordinates.velocity_size
    plant = Plant(
        mechanism,
        velocity=0.2 * np.cos(np.arange(nv) + 0.3),
        dt=duration / steps,
        end_stops=None,
        integrator=integrator,
    )
    rest = np.zeros(nv)
    plant.hold(mechanism.inverse_dynamics(mechanism.home, rest, rest), steps)
    return plant


def test_halving_the_step_halves_the_error(smooth):
    exact = thrown(smooth, "rk4", 1600)
    errors = []
    for steps in (40, 80, 160):
        plant = thrown(smooth, "semi_implicit", steps)
        moved = smooth.difference(exact.configuration, plant.configuration)
        errors.append(max(np.abs(moved).max(), np.abs(plant.velocity - exact.velocity).max()))
    np.testing.assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), 1.0, atol=0.15)


@pytest.mark.parametrize(
    ("name", "base_joint"), [("stewart_dasgupta", "universal"), ("stewart_symmetric", "spherical")]
)
def test_the_implicit_damping_of_a_platform_is_that_of_its_bias(name, base_joint):
    """M a + h D a = f(q, v), and D a is the part of the bias that is odd in the velocity."""
    file = resources.files("robodyn") / "bundled" / f"{name}.yaml"
    document = yaml.safe_load(file.read_text(encoding="utf-8"))
    document["leg_defaults"].pop("actuator", None)  # it has dry friction
    document["leg_defaults"]["damping"] = {"universal": 7.0, "prismatic": 100.0, "spherical": 3.0}
    m, h = rd.StewartPlatform(rd.load(document).model, base_joint=base_joint), 0.01
    q, v = m.home, 0.2 * np.cos(np.arange(6) + 0.3)
    plant = Plant(m, velocity=v, dt=h, end_stops=None, integrator="semi_implicit")
    effort = m.inverse_dynamics(q, np.zeros(6), np.ones(6))
    plant.hold(effort, 1)
    a = (plant.velocity - v) / h
    damping = m.mass_matrix(q) @ (m.forward_dynamics(q, v, effort) - a) / h
    expected = 0.5 * (m.bias(q, a) - m.bias(q, -a))
    assert np.abs(expected).min() > 0.1
    np.testing.assert_allclose(damping, expected, rtol=1e-8)


def test_loops_stay_closed():
    plant = thrown(rd.load("delta"), "semi_implicit", 50)
    again = plant.mechanism.advance(plant.configuration, np.zeros(3))
    np.testing.assert_allclose(plant.configuration, again, rtol=0.0, atol=1e-12)


def test_the_energy_of_a_pendulum_oscillates_with_the_step_and_does_not_drift():
    """A symplectic method: no larger error in a hundred swings than in the first."""
    m = one_joint("revolute")
    worst = {}
    for h in (2e-3, 1e-3):
        plant = Plant(m, [1.0], dt=h, end_stops=None, integrator="semi_implicit")
        energies = []
        for _ in range(400):
            plant.hold([0.0], round(0.4 / h / 4))
            energies.append(sum(m.energy(plant.configuration, plant.velocity)[:2]))
        off = np.abs(np.array(energies) - sum(m.energy([1.0], [0.0])[:2]))
        assert off[200:].max() < 1.2 * off[:40].max()
        worst[h] = off.max()
    assert worst[1e-3] == pytest.approx(0.5 * worst[2e-3], rel=0.1)


def test_a_mass_slows_down_as_implicit_damping_says():
    """v' = -d v / m by the implicit Euler method, at forty times the time constant."""
    d, h = 80.0, 1.0
    plant = Plant(slider(damping=d), velocity=[1.0], dt=h, integrator="semi_implicit")
    for k in range(1, 6):
        plant.hold([0.0], 1)
        np.testing.assert_allclose(plant.velocity, (1.0 + h * d / 2.0) ** -k, rtol=1e-12)


@pytest.mark.parametrize("name", ["stewart_dasgupta", "fivebar", "puma560"])
def test_strong_damping_only_slows_down_at_any_step(name):
    m = rd.load(name)
    joints = (
        replace(joint, damping=1e7 if joint.name in m.joint_names else joint.damping)
        for joint in m.model.joints
    )
    m = type(m)(replace(m.model, joints=tuple(joints)))
    nv = m.coordinates.velocity_size
    rest = np.zeros(nv)
    weight = m.inverse_dynamics(m.home, rest, rest)
    plant = Plant(m, velocity=0.1 * np.ones(nv), dt=0.02, integrator="semi_implicit")
    joints = [np.abs(m.joint_velocities(plant.configuration, plant.velocity)).max()]
    for _ in range(4):
        plant.hold(weight, 1)
        joints.append(np.abs(m.joint_velocities(plant.configuration, plant.velocity)).max())
    assert joints[1] < 1e-3 * joints[0]
    assert max(joints[2:]) < 1e-3 * joints[0]


def test_a_sliding_mass_stops_and_stays_until_the_force_exceeds_friction():
    """Friction takes h mu / m off the rate in each step, and in the last one all that is left."""
    force, h, start = 3.0, 0.01, 0.1
    plant = Plant(slider(coulomb=force), velocity=[start], dt=h, integrator="semi_implicit")
    for k in range(1, 9):
        plant.hold([0.0], 1)
        expected = max(start - k * h * force / 2.0, 0.0)
        np.testing.assert_allclose(plant.velocity, expected, rtol=0.0, atol=1e-15)
    position = plant.configuration
    plant.hold([0.99 * force], 1000)
    assert plant.configuration.tobytes() == position.tobytes()
    assert plant.velocity[0] == 0.0
    plant.hold([1.01 * force], 1)
    np.testing.assert_allclose(plant.velocity, 0.01 * force * h / 2.0, rtol=1e-12)


def test_a_platform_that_sticks_does_not_move_at_all():
    m = rd.load("stewart_symmetric")
    rest = np.zeros(6)
    weight = m.inverse_dynamics(m.home, rest, rest)
    level = m.solver.friction.rows[:, 0].min()
    plant = Plant(m, integrator="semi_implicit")
    plant.hold(weight + 0.9 * level * np.cos(np.arange(6)), 500)
    assert not plant.velocity.any()
    assert plant.configuration.tobytes() == Plant(m).configuration.tobytes()
    plant.hold(weight + 1.5 * level, 5)
    assert plant.velocity[2] > 0.0


def test_a_joint_driven_into_its_end_stop_comes_to_rest():
    m = rd.load("stewart_symmetric")
    plant = Plant(m, dt=5e-3, integrator="semi_implicit")
    plant.hold(m.effort_limits, 1000)
    beyond = m.joint_positions(plant.configuration) - m.position_limits[:, 1]
    assert (beyond > 0.0).all()
    assert beyond.max() < 0.05
    assert np.abs(plant.velocity).max() < 1e-6


@pytest.mark.parametrize("control_dt", [1e-2, None])
def test_compiled_simulations_equal_those_in_python(control_dt):
    m = rd.load("stanford_arm")
    controller = ComputedTorque(m)
    options = {"control_dt": control_dt, "duration": 0.25, "initial": (m.home + 0.1, np.zeros(6))}
    goal = AtRest(m, m.home)
    found, order_four = (
        rd.simulate(m, controller, goal, integrator=integrator, **options)
        for integrator in ("semi_implicit", "rk4")
    )
    plain = rd.simulate(
        m, lambda *state: controller(*state), goal, integrator="semi_implicit", **options
    )
    np.testing.assert_allclose(found.configuration, plain.configuration, rtol=0.0, atol=1e-12)
    off = np.abs(found.configuration - order_four.configuration).max()
    assert 1e-6 < off < 1e-2


def test_what_has_no_such_steps_is_refused():
    arm = rd.load("puma560")
    for made in (Plant, lambda m, **options: rd.BatchPlant(m, 1, **options)):
        with pytest.raises(rd.InvalidInput, match=r"is 'euler', expected one of rk4, s"):
            made(arm, integrator="euler")
    elastic = arm.with_drive_stiffness(1e4, 1.0)
    with pytest.raises(rd.InvalidInput, match="requires rigid drives, but"):
        Plant(elastic, integrator="semi_implicit")
