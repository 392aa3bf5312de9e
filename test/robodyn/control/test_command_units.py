# SPDX-License-Identifier: Apache-2.0

"""Commands in efforts of the joints, torques of their motors, or currents."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.control import COMMAND_UNITS, CommandUnit


@pytest.fixture(scope="module")
def platform():
    return rd.load("motion_platform")


@pytest.mark.parametrize("unit", COMMAND_UNITS)
def test_commands_turn_back_into_efforts(platform, unit, rng):
    efforts, rates = rng.normal(0.0, 1e3, (2, 30, 6))
    reported = CommandUnit(platform, unit)
    assert reported.to_efforts(reported.of_efforts(efforts, rates), rates) == pytest.approx(efforts)
    assert reported.to_efforts(reported.of_efforts(efforts)) == pytest.approx(efforts)


def test_command_unit_converts_efforts_to_torques_and_currents(platform):
    """2 kN on a right-handed screw of 20 mm, a tenth of the work lost, 0.573 N m/A."""
    push = np.full(6, 2000.0)
    torque = -2000.0 * 0.02 / (2.0 * np.pi) / 0.9
    assert CommandUnit(platform, "torque").of_efforts(push) == pytest.approx([torque] * 6)
    assert CommandUnit(platform, "current").of_efforts(push) == pytest.approx([torque / 0.573] * 6)


def test_command_unit_rejects_units_without_the_necessary_data(platform):
    with pytest.raises(rd.InvalidInput, match="'newton', expected one of effort, torque"):
        CommandUnit(platform, "newton")
    with pytest.raises(rd.InvalidInput, match="no lead"):
        CommandUnit(rd.load("stewart_symmetric").without_actuators(), "torque")
    with pytest.raises(rd.InvalidInput, match="torque_constant"):
        CommandUnit(rd.load("puma560"), "current")
    with pytest.raises(rd.InvalidInput, match="in units of torque, expected effort"):
        CommandUnit(platform, "effort").refuse_other("torque")
    CommandUnit(platform, "effort").refuse_other("")
    CommandUnit(platform, "effort").refuse_other("base_link")
