# SPDX-License-Identifier: Apache-2.0

"""Simulations on a base that moves."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.errors import InvalidInput

pytestmark = pytest.mark.filterwarnings("ignore::robodyn.errors.UnphysicalInertiaWarning")


def at_sea(t):
    """Return the motion of a ship's deck that rolls, pitches and heaves."""
    roll, pitch = 0.2 * np.sin(1.1 * t), 0.1 * np.sin(0.9 * t + 0.5)
    rate = np.array([0.22 * np.cos(1.1 * t), 0.09 * np.cos(0.9 * t + 0.5), 0.0])
    change = np.array([-0.242 * np.sin(1.1 * t), -0.081 * np.sin(0.9 * t + 0.5), 0.0])
    force = (9.81 + 1.5 * np.sin(0.8 * t)) * np.array([-pitch, roll, 1.0])
    return rd.BaseMotion(force, rate, change)


def planned(m):
    """From home a little way off, in half a second."""
    goal = m.advance(m.home, 0.03 * np.ones(m.coordinates.velocity_size))
    return rd.plan_straight(m, m.home, goal, duration=0.5, profile="quintic")


class Unknown(rd.ComputedTorque):
    """Controller with the same law, unknown to compiled code, without a parameter `base`."""

    def __call__(self, time, configuration, velocity, trajectory):
        return super().__call__(time, configuration, velocity, trajectory)


class WithCall(rd.ComputedTorque):
    """Controller with the same law, unknown to compiled code."""


@pytest.mark.slow
@pytest.mark.parametrize("control_dt", [5e-3, None])
@pytest.mark.parametrize("name", ["stewart_symmetric", "puma560", "delta"])
def test_compiled_code_and_python_agree_and_the_controller_makes_up_for_it(name, control_dt):
    m = rd.load(name).without_friction()
    trajectory, how = planned(m), {"dt": 2.5e-3, "control_dt": control_dt, "duration": 0.4}
    compiled, python, ignorant = (
        rd.simulate(m, law(m, 400.0, 40.0), trajectory, base=at_sea, **how)
        for law in (rd.ComputedTorque, WithCall, Unknown)
    )
    np.testing.assert_allclose(compiled.configuration, python.configuration, rtol=0.0, atol=1e-10)
    np.testing.assert_allclose(
        compiled.effort, python.effort, rtol=0.0, atol=1e-8 * np.abs(python.effort).max()
    )
    still = rd.simulate(m, rd.ComputedTorque(m, 400.0, 40.0), trajectory, **how)
    errors = [
        np.abs(m.difference(run.configuration, run.desired.configuration)).max()
        for run in (compiled, still, ignorant)
    ]
    assert errors[0] < 2.0 * errors[1] + 1e-6
    assert errors[2] > 20.0 * errors[0]


def test_turning_base_gives_the_motion_seen_from_a_turntable():
    """Joint 1 of the arm turns about the axis of the table; rotors would turn in the arm only."""
    arm = rd.load("puma560").without_friction().without_actuators()
    efforts = rd.ConstantEffort([30.0, -10.0, 8.0, 0.5, -0.3, 0.1])

    def table(t):
        return rd.BaseMotion([0.0, 0.0, 9.81], [0.0, 0.0, 0.4 + 1.2 * t], [0.0, 0.0, 1.2])

    start, rate = np.array([0.1, 0.4, 0.2, 0.3, -0.2, 0.0]), np.full(6, 0.5)
    turning = rate - 0.4 * np.eye(6)[0]
    how = {"dt": 1e-3, "control_dt": 1e-2, "duration": 0.5, "end_stops": None}
    fixed = rd.simulate(arm, efforts, initial=(start, rate), **how)
    moved = rd.simulate(arm, efforts, initial=(start, turning), base=table, **how)
    seen = fixed.configuration.copy()
    seen[:, 0] -= 0.4 * fixed.time + 0.6 * fixed.time**2
    np.testing.assert_allclose(moved.configuration, seen, rtol=0.0, atol=1e-9)


def test_dry_friction_holds_a_slide_until_the_base_leans_too_far():
    """A wagon of 2 kg on a level rail, Coulomb friction 5 N: it slips above 2.5 m/s^2."""
    wagon = rd.load(WAGON)
    for push, slips in ((2.4, False), (2.6, True)):
        base = rd.BaseMotion([push, 0.0, 9.81])
        run = rd.simulate(wagon, rd.ConstantEffort([0.0]), duration=0.5, base=base, dt=1e-2)
        assert (run.configuration[-1, 0] < -1e-3) == slips
        assert slips or run.configuration[-1, 0] == 0.0
        if slips:
            expected = -0.5 * (push - 2.5) * 0.5**2
            assert run.configuration[-1, 0] == pytest.approx(expected, rel=1e-9)


WAGON = """
<robot name="wagon">
  <link name="base"/>
  <link name="wagon"><inertial><mass value="2.0"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="rail" type="prismatic"><parent link="base"/><child link="wagon"/>
    <axis xyz="1 0 0"/><dynamics friction="5.0"/>
    <limit lower="-10" upper="10" effort="100" velocity="10"/></joint>
</robot>
"""


def test_a_plant_that_is_held_goes_where_the_simulation_goes():
    m = rd.load("delta")
    base, effort = at_sea(0.3), m.gravity(m.home)
    plant = rd.Plant(m)
    plant.hold(effort, 10, base=base)
    run = rd.simulate(m, rd.ConstantEffort(effort), duration=0.01, dt=1e-3, base=base)
    assert np.abs(plant.configuration - m.home).max() > 1e-6
    np.testing.assert_allclose(plant.configuration, run.configuration[-1], rtol=0.0, atol=1e-14)


def test_bases_that_are_none_are_refused():
    m = rd.load("puma560")
    law = rd.ConstantEffort(np.zeros(6))
    for wrong in ([0.0, 0.0, 9.81], rd.BaseMotion(np.ones((2, 3))), lambda t: t):
        with pytest.raises(InvalidInput, match=r"base (is|has)"):
            rd.simulate(m, law, duration=0.01, base=wrong)
