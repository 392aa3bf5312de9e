# SPDX-License-Identifier: Apache-2.0

"""The last check of commands before they reach drives."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.motion_base.machine import CommandGate, CommandRefused, DriveLimits

DT = 0.005


@pytest.fixture(scope="module")
def platform():
    return rd.load("stewart_symmetric")


@pytest.fixture
def gate(platform):
    return CommandGate(platform, DriveLimits.of(platform), DT)


def changed(values, joint, value):
    return np.where(np.arange(len(values)) == joint, value, values)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e300])
@pytest.mark.parametrize("field", ["position", "velocity", "effort", "twist", "current"])
def test_command_gate_rejects_nonfinite_numbers_in_every_field(gate, platform, field, value):
    command = {
        "position": platform.joint_positions(platform.home),
        **{each: np.zeros(6) for each in ("velocity", "effort", "twist", "current")},
    }
    gate.check(**command)
    with pytest.raises(CommandRefused, match=field) as caught:
        gate.check(**command | {field: changed(command[field], 2, value)})
    assert caught.value.value == value or np.isnan(value)


def test_limits_of_position_rate_and_effort_name_the_joint(gate, platform):
    at, rest = platform.joint_positions(platform.home), np.zeros(6)
    upper, rate = platform.position_limits[4, 1], platform.velocity_limits[4]
    effort = platform.effort_limits[4]
    for field, most in (("position", upper), ("velocity", rate), ("effort", effort)):
        command = {"position": at, "velocity": rest, "effort": rest}
        own = CommandGate(platform, DriveLimits.of(platform), DT)
        own.check(**command | {field: changed(command[field], 4, most)})
        own = CommandGate(platform, DriveLimits.of(platform), DT)
        with pytest.raises(CommandRefused, match=f"{field} of leg5_actuator"):
            own.check(**command | {field: changed(command[field], 4, most * 1.001)})


def test_a_command_that_does_not_continue_the_one_before_is_refused(gate, platform):
    at, rest = platform.joint_positions(platform.home), np.zeros(6)
    limits = DriveLimits.of(platform)
    gate.check(at, rest)
    with pytest.raises(CommandRefused, match="jump of position of leg1_actuator"):
        gate.check(changed(at, 0, at[0] + 0.002), rest)
    with pytest.raises(CommandRefused, match="change of velocity of leg2_actuator"):
        gate.check(at, changed(rest, 1, 2.0 * DT * limits.accelerations[1]))
    quicker = 0.9 * DT * limits.accelerations
    gate.check(at + 0.5 * DT * quicker, quicker)
    gate.begin(limits.positions)  # after a restart: from anywhere
    gate.check(at - 0.05, rest)


def test_efforts_alone_are_limited_without_limits_of_the_motion(platform):
    gate = CommandGate(platform)
    gate.check(effort=platform.effort_limits)
    gate.check(position=np.full(6, 99.0), velocity=np.full(6, -99.0))
    with pytest.raises(CommandRefused, match="effort of leg1_actuator"):
        gate.check(effort=-1.01 * platform.effort_limits)
