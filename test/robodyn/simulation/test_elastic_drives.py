# SPDX-License-Identifier: Apache-2.0

"""Simulations of mechanisms with elastic drives, whose motors move by themselves."""

import math

import numpy as np
import pytest

import robodyn as rd
from robodyn.algorithms import stepping
from robodyn.poses import pose_difference
from robodyn.trajectories import AtRest

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
NAMES = ("motion_platform", "delta", "fivebar", "hexapod_rotary", "puma560")
SLIDER = """
<robot name="slider">
  <link name="base"/>
  <link name="block"><inertial><mass value="3"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="slide" type="prismatic"><parent link="base"/><child link="block"/><axis xyz="1 0 0"/>
    <limit lower="-3" upper="3" effort="100" velocity="10"/></joint>
</robot>
"""
MOTOR = {"rotor_inertia": 2.0, "stiffness": 1e3}


def slider(**motor):
    """Return a block of 3 kg that slides horizontally, with a motor of 2 kg."""
    arm = rd.load(SLIDER)
    return rd.SerialArm(arm.model.driven_by({"slide": rd.Actuator(**(MOTOR | motor))}))


def elastic(name, frequency, ratio=0.0):
    """Return a bundled mechanism without friction, whose rotors swing so often [Hz] when free."""
    m = rd.load(name).without_friction()
    k = np.array([a.reflected_inertia for a in m.actuators]) * (2.0 * np.pi * frequency) ** 2
    return m.with_drive_stiffness(k, 2.0 * ratio * k / (2.0 * np.pi * frequency))


def free_plant(m, dt, **options):
    return rd.Plant(m, dt=dt, end_stops=None, limit_efforts=False, **options)


def test_two_masses_swing_as_the_formula_says():
    plant = free_plant(slider(), 1e-4)
    plant.motor_positions = np.array([0.01])
    w, times, found = math.sqrt(1e3 * (1 / 2 + 1 / 3)), [], []
    for k in range(1, 11):
        plant.hold(np.zeros(1), 300)
        times.append(300 * k * 1e-4)
        found.append([plant.configuration[0], plant.motor_positions[0]])
    # the center of mass rests, and the two swing against each other
    swing = 0.01 * np.cos(w * np.array(times))
    expected = 0.01 * 2 / 5 + np.outer(swing, [-2 / 5, 3 / 5])
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-11)


def test_a_damped_drive_decays_as_the_formula_says():
    """The strong damping is integrated implicitly."""
    reduced = 1 / (1 / 2 + 1 / 3)
    for damping, dt, tolerance in ((5.0, 1e-3, 1e-9), (4e3, 1e-3, 2e-5)):
        plant = free_plant(slider(stiffness_damping=damping), dt)
        plant.motor_positions = np.array([0.01])
        plant.hold(np.zeros(1), 400)
        roots = np.roots([reduced, damping, 1e3])
        twist = np.real(
            0.01 * (roots[1] * np.exp(roots[0] * 0.4) - roots[0] * np.exp(roots[1] * 0.4))
            / (roots[1] - roots[0])
        )  # fmt: skip
        found = plant.motor_positions[0] - plant.configuration[0]
        assert abs(found - twist) < tolerance


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_energy_is_conserved_over_ten_thousand_steps(name):
    m = rd.with_gravity(elastic(name, 5.0), [0.0, 0.0, 0.0])
    plant = free_plant(m, 0.03 / (2.0 * np.pi * _frequencies(m).max()))
    n = len(m.joint_names)
    plant.motor_positions = plant.motor_positions + 0.01 * np.random.default_rng(3).normal(size=n)
    bare, (k, _, inertia) = m.without_actuators(), m.drives.elasticity.T

    def energy():
        wound = plant.motor_positions - m.joint_positions(plant.configuration)
        kinetic, potential = bare.energy(plant.configuration, plant.velocity)
        rotors = 0.5 * inertia @ plant.motor_velocities**2
        return kinetic, kinetic + potential + rotors + 0.5 * k @ wound**2

    moved, start = [], energy()[1]
    for _ in range(10):
        plant.hold(np.zeros(n), 1000)
        kinetic, total = energy()
        moved.append(kinetic)
        assert abs(total - start) < 1e-6 * start
    assert max(moved) > 1e-3 * start


def _frequencies(m):
    """Return frequencies [Hz] of small vibrations with free motors."""
    J, M = m.joint_jacobian(m.home), m.without_actuators().mass_matrix(m.home)
    k, _, inertia = m.drives.elasticity.T
    A = np.diag(k / inertia) + (k * (J @ np.linalg.solve(M, J.T)).T).T
    return np.sqrt(np.abs(np.linalg.eigvals(A))) / (2.0 * np.pi)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_stiff_drives_move_as_rigid_ones(name):
    rigid = rd.load(name).without_friction()
    bent = []
    for frequency in (50.0, 200.0):
        m = elastic(name, frequency, 0.5)
        effort = 0.9 * m.gravity(m.home)
        plants = [free_plant(each, 2e-5) for each in (rigid, m)]
        for plant in plants:
            plant.hold(effort, 2000)
        moved = rigid.difference(m.home, plants[0].configuration)
        apart = rigid.difference(plants[0].configuration, plants[1].configuration)
        bent.append(np.abs(apart).max() / np.abs(moved).max())
    assert bent[1] < 0.1 * bent[0]
    assert bent[1] < 0.02


@pytest.mark.slow
@pytest.mark.parametrize(("name", "side"), [("motion_platform", 2), ("delta", 0), ("puma560", 2)])
def test_responses_are_those_of_a_simulated_sweep(name, side):
    """Under computed torque with feedback from the motors, of a force on the body."""
    m = elastic(name, 20.0, 0.2)
    kp, kv = 400.0, 40.0
    hertz = np.arange(1.0, 41.0)
    expected = rd.frequency_response(m, m.home, hertz, "wrench", kp=kp, kv=kv)[:, :, side]
    # all lines at once, with phases after Schroeder, which keep the sum small
    phases = -np.pi * np.arange(len(hertz)) * np.arange(1, len(hertz) + 1) / len(hertz)
    size = 1e-6 / np.abs(expected).max()
    wrench = size * np.eye(6)[side]
    result = rd.simulate(
        m, rd.ComputedTorque(m, kp, kv), AtRest(m, rd.Plant(m).measured()[0]), dt=5e-4,
        control_dt=None, initial=(m.home, np.zeros(m.coordinates.velocity_size)), duration=3.0,
        wrench=lambda t: wrench * np.cos(2.0 * np.pi * hertz * t + phases).sum(),
        end_stops=None, limit_efforts=False,
    )  # fmt: skip
    last = result.time > 2.0 + 1e-9  # a period of all lines, once the start has decayed
    moved = pose_difference(m.body_pose(m.home), m.body_pose(result.configuration[last]))
    turns = np.exp(-2j * np.pi * hertz[:, None] * result.time[last])
    found = np.exp(-1j * phases)[:, None] * (turns @ moved) * 2.0 / (last.sum() * size)
    assert (np.abs(found - expected).max(axis=1) < 0.005 * np.abs(expected).max(axis=1)).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["motion_platform", "puma560"])
def test_feedback_from_the_joints_holds_the_load_where_motors_let_it_sag(name):
    m = elastic(name, 20.0, 0.3)
    load = np.array([0.0, 0.0, -0.01 * m.mass_matrix(m.home)[2, 2] * 9.81, 0.0, 0.0, 0.0])
    own = m.with_payload(0.0)
    motors_at = {}
    for side in ("motor", "joint"):
        result = rd.simulate(
            m, rd.ComputedTorque(own, 100.0, 20.0), dt=5e-4, control_dt=1e-3, duration=2.0,
            wrench=load, feedback=side,
        )  # fmt: skip
        motors_at[side] = result.motor_positions[-1] - result.motor_positions[0]
        held = m.difference(m.home, result.configuration[-1])
        # the law has no integrator: M kp e = the load's efforts, at the measured side
        pushed = m.mass_matrix(m.home) @ (100.0 * held) - m.twist_jacobian(m.home).T @ load
        off = np.abs(pushed).max() / np.abs(m.twist_jacobian(m.home).T @ load).max()
        assert off < 0.02 if side == "joint" else off > 0.05
    assert np.abs(motors_at["motor"] - motors_at["joint"]).max() > 0.0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["motion_platform", "delta", "puma560"])
@pytest.mark.parametrize("side", ["motor", "joint"])
def test_a_controller_in_python_moves_the_motors_as_a_compiled_one(name, side):
    m = elastic(name, 20.0, 0.1)
    control = rd.ComputedTorque(m, 200.0, 25.0)
    start = m.advance(m.home, 0.01 * np.ones(m.coordinates.velocity_size))
    options = {"duration": 0.1, "initial": (start, np.zeros(m.coordinates.velocity_size))}
    runs = [
        rd.simulate(m, law, dt=5e-4, control_dt=2e-3, feedback=side, **options)
        for law in (control, lambda t, q, v, plan: control(t, q, v, plan))
    ]
    for field in ("configuration", "velocity", "motor_positions", "motor_velocities", "effort"):
        ours, theirs = (getattr(run, field) for run in runs)
        assert np.abs(ours - theirs).max() < 1e-8 * max(1.0, np.abs(theirs).max())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["motion_platform", "delta", "puma560"])
def test_rows_of_a_batch_are_plants_of_their_own(name, rng):
    m = elastic(name, 20.0, 0.1)
    rows = [m.with_payload(mass) for mass in (0.1, 0.5)]
    plants = rd.BatchPlant(rows, dt=2e-4)
    efforts = m.gravity(m.home) * rng.uniform(0.9, 1.1, (2, len(m.joint_names)))
    wrenches = rng.normal(size=(2, 6))
    plants.step(efforts, 20, wrenches)
    for k, row in enumerate(rows):
        alone = rd.Plant(row, dt=2e-4)
        alone.hold(efforts[k], 20, wrenches[k])
        for field in ("configuration", "velocity", "motor_positions", "motor_velocities"):
            assert getattr(plants, field)[k].tobytes() == getattr(alone, field).tobytes()
    plants.reset(rows=[1])
    np.testing.assert_array_equal(plants.motor_velocities[1], 0.0)
    assert plants.motor_velocities[0].any()


def test_a_motor_that_sticks_stays_while_its_joint_swings():
    plant = free_plant(slider(coulomb=50.0), 1e-4)
    plant.configuration = np.array([0.01])
    at, w = plant.motor_positions.copy(), math.sqrt(1e3 / 3.0)
    plant.hold(np.zeros(1), 1234)
    np.testing.assert_allclose(plant.motor_positions, at, rtol=0.0, atol=1e-15)
    assert plant.configuration[0] == pytest.approx(0.01 * math.cos(w * 0.1234), abs=1e-11)


def test_motors_stand_where_they_hold_the_load():
    m = elastic("puma560", 20.0)
    plant = free_plant(m, 1e-4)
    plant.hold(m.gravity(m.home), 200)
    assert np.abs(m.difference(m.home, plant.configuration)).max() < 1e-12


def test_a_motor_is_limited_by_its_own_speed():
    """Not by that of its joint, which stands."""
    plant = rd.Plant(slider(velocity_limit=1.0), dt=1e-4)
    plant.motor_velocities = np.array([2.0])
    plant.hold([10.0], 1)
    assert plant.effort[0] == 0.0
    plant.motor_velocities, plant.velocity = np.array([0.5]), np.array([2.0])
    plant.hold([10.0], 1)
    assert plant.effort[0] == 10.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rotor_inertia": 0.0}, "the actuator of slide has no rotor_inertia"),
        ({}, "integrator is 'dop853', which does not support elastic drives"),
        ({}, "feedback is 'both', expected one of motor, joint"),
    ],
)
def test_elastic_drives_without_a_simulation_are_refused(change, message):
    m = slider(**change)
    options = {"feedback": "both"} if "feedback" in message else {"integrator": "dop853"}
    with pytest.raises(rd.InvalidInput, match=message):
        rd.simulate(m, rd.ConstantEffort([0.0]), control_dt=None, duration=1.0, **options)
    with pytest.raises(rd.InvalidInput):
        stepping.step(m, m.home, np.zeros(1), np.zeros(1), np.zeros(6), 1e-3, 1)
