# SPDX-License-Identifier: Apache-2.0


"""Torque-speed curves: what a motor has at its present speed, in checks, control and simulation."""

from dataclasses import replace

import numpy as np
import pytest
from six_legs import six_legs, with_legs

import robodyn as rd
from robodyn.analysis import margins
from robodyn.control import TrajectoryFollower
from robodyn.dynamics.kernels.end_stops import motor_effort

# A stall torque, and a straight line down to no torque at the no-load speed.
STALL, NO_LOAD, GEAR, ARM = 0.5, 200.0, 20.0, 0.8
HINGE = """<robot name="one"><link name="base"/><link name="tip"><inertial><mass value="2"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="hinge" type="continuous"><parent link="base"/><child link="tip"/>
<axis xyz="0 0 1"/></joint></robot>"""


def params(**values):
    lines = "".join(f'<param name="{name}">{value}</param>' for name, value in values.items())
    return HINGE.replace(
        "</robot>",
        f'<ros2_control name="c" type="system"><joint name="hinge">{lines}</joint></ros2_control>'
        "</robot>",
    )


@pytest.fixture(params=["serial", "closed_loop"])
def hinge(request):
    """A wheel of 0.1 + 1e-3 20^2 = 0.5 kg m^2."""
    text = params(
        rotor_inertia=1e-3, gear_ratio=GEAR, torque_speed=f"0 {STALL} {NO_LOAD} 0",
    )  # fmt: skip
    return rd.load(text, kind=request.param)


def test_a_motor_runs_up_to_its_no_load_speed(hinge):
    """J w' = g T (1 - g w / w0) from rest: w = w0 / g (1 - exp(-t / tau)), tau = J w0 / (g^2 T)."""
    tau = 0.5 * NO_LOAD / (GEAR**2 * STALL)
    path = rd.plan_joints([0.0], [1.0], duration=0.4)
    result = rd.simulate(hinge, rd.ConstantEffort([1e3]), path, initial=([0.0], [0.0]))
    rate = NO_LOAD / GEAR * (1.0 - np.exp(-result.time / tau))
    assert result.velocity[:, 0] == pytest.approx(rate, rel=1e-9, abs=1e-9)
    # the reported effort is that of the motor at that moment
    given = GEAR * STALL * (1.0 - GEAR * rate / NO_LOAD)
    assert result.effort[:-1, 0] == pytest.approx(given[:-1], rel=1e-6)
    assert [event.kind for event in result.events] == ["saturation"]
    free = rd.simulate(
        hinge, rd.ConstantEffort([1e3]), path, initial=([0.0], [0.0]), limit_efforts=False
    )
    assert free.velocity[-1, 0] == pytest.approx(1e3 / 0.5 * 0.4, rel=1e-9)


def test_the_first_violation_is_where_the_curve_is_met(hinge):
    """At constant acceleration a the wheel needs J a; the curve gives it until w* = a t*."""
    path = rd.plan_joints([0.0], [8.0], duration=2.0, profile="lspb")
    start = float(path.sample(0.05).acceleration[0])
    needed = 0.5 * start
    fall = NO_LOAD / GEAR * (1.0 - needed / (GEAR * STALL))
    found = rd.check_limits(hinge, path)
    assert (found.joint, found.quantity) == ("hinge", "effort")
    assert found.time == pytest.approx(fall / start, rel=1e-6)
    assert found.value == pytest.approx(needed)
    assert found.limit < needed
    slow = rd.plan_joints([0.0], [8.0], duration=20.0, profile="lspb")
    assert rd.check_limits(hinge, slow) is None
    times = np.linspace(0.0, path.duration, 400)
    q, v, a = path.sample(times)
    reported = margins(hinge, times, q, v, hinge.inverse_dynamics(q, v, a), np.ones(400))
    row, when = reported.first
    assert (row.joint, row.quantity) == ("hinge", "effort")
    assert when == pytest.approx(found.time, abs=path.duration / 399)


def test_a_follower_commands_what_the_motor_has(hinge):
    follower = TrajectoryFollower(hinge, kp=400.0)
    follower.follow(rd.plan_joints([0.0], [3.0], duration=1.0), 0)
    follower.command(0, np.array([0.0]), np.array([0.0]))
    for rate in (0.0, 4.0, 9.0, 11.0):
        command = follower.command(800_000_000, np.array([0.0]), np.array([rate]))
        assert command.required[0] > 100.0
        has = GEAR * STALL * (1.0 - GEAR * rate / NO_LOAD)
        assert command.effort == pytest.approx([max(has, 0.0)])
    assert follower.saturated[0] > 0


def test_effort_limit_of_a_motor_at_a_rate():
    motor = rd.Actuator(
        gear_ratio=-2.0, torque_limit=3.0, efficiency=0.5,
        torque_speed=((0.0, 4.0), (10.0, 2.0), (20.0, 1.0)), velocity_limit=15.0,
    )  # fmt: skip
    found = motor.effort_limit_at([0.0, 2.0, -5.0, 6.0, 7.5, 7.6, -8.0])
    assert found == pytest.approx([3.0, 3.0, 2.0, 1.8, 1.5, 0.0, 0.0])


def test_compiled_code_and_python_know_the_same_motor(rng):
    curve = ((0.0, 4.0), (100.0, 3.5), (300.0, 1.0), (400.0, 0.2))
    motors = [
        rd.Actuator(gear_ratio=40.0, torque_limit=3.0, torque_speed=curve, efficiency=0.8),
        rd.Actuator(gear_ratio=-7.0, torque_limit=2.0, velocity_limit=20.0),
        rd.Actuator(gear_ratio=9.0, torque_speed=curve, velocity_limit=250.0),
        rd.Actuator(),
        rd.Actuator(torque_limit=9.0, torque_speed=curve),
        rd.Actuator(torque_limit=9.0),
    ]
    arm = rd.load("puma560")
    driven = dict(zip(arm.joint_names, motors, strict=True))
    arm = rd.SerialArm(arm.model.driven_by(driven))
    table = arm.drives.motor_table
    rates = rng.uniform(-60.0, 60.0, (200, 6)) * rng.choice([1.0, 0.1, 0.0], size=(200, 1))
    alone = [motor.effort_limit_at(rates[:, j]) for j, motor in enumerate(motors)]
    limits = np.minimum(np.transpose(alone), arm.effort_limits)
    assert arm.drives.effort_limits_at(rates) == pytest.approx(limits)
    for sign in (-1.0, 1.0):
        found = np.array(
            [
                [motor_effort(sign * 1e6, row[j], table[j], table.shape[1]) for j in range(6)]
                for row in rates
            ]
        )
        # limits of the joints are applied elsewhere
        found = np.clip(found, -arm.effort_limits, arm.effort_limits)
        assert sign * found == pytest.approx(limits)


@pytest.fixture(params=["stewart", "closed_loop"])
def machine(request):
    if request.param == "stewart":
        screw = rd.Actuator(
            rotor_inertia=1e-4,
            lead=0.01,
            torque_limit=6.0,
            torque_speed=((0.0, 8.0), (60.0, 8.0), (250.0, 2.0)),
        )
        m = rd.load("stewart_symmetric")
        return with_legs(m, [replace(leg, actuator=screw) for leg in six_legs(m).legs])
    gear = rd.Actuator(rotor_inertia=1e-5, gear_ratio=-40.0, torque_speed=((0, 0.4), (300, 0)))
    delta = rd.load("delta")
    return rd.ClosedLoop(delta.model.driven_by(dict.fromkeys(delta.joint_names, gear)))


class Own(rd.ComputedTorque):
    """Controller with the same law that compiled code does not support."""


def test_no_motor_leaves_its_curve_in_a_simulation(machine):
    """A jump that requires more than is available; in compiled code as in Python."""
    path = rd.load_path("demo", machine)
    start = machine.advance(machine.home, np.full(machine.coordinates.velocity_size, 0.05))
    state = start, np.zeros(machine.coordinates.velocity_size)
    results = [
        rd.simulate(machine, law(machine, 4e3, 60.0), path, duration=0.3, initial=state)
        for law in (rd.ComputedTorque, Own)
    ]
    found, own = results
    assert np.array_equal(found.configuration, own.configuration)
    assert np.array_equal(found.effort, own.effort)
    assert any(event.kind == "saturation" for event in found.events)
    rates = machine.joint_velocities(found.configuration, found.velocity)[:-1]
    torques = machine.motor_torques(found.effort[:-1], rates)
    for i, motor in enumerate(machine.actuators):
        has = motor.torque_at(motor.ratio * rates[:, i])
        assert (np.abs(torques[:, i]) <= has * (1.0 + 1e-9)).all()
        slow = has > 0.0  # beyond the end of its curve a motor has nothing
        assert np.abs(torques[slow, i] / has[slow]).max() > 0.99
