# SPDX-License-Identifier: Apache-2.0

"""Actuators of any mechanism: transmission, losses, friction, the motor's limits."""

import math

import numpy as np
import pytest

from robodyn.actuators import Actuator, actuator_from_params, params_of
from robodyn.errors import ModelError


def test_power_goes_through_a_lossless_transmission(rng):
    """Torque times motor speed is effort times rate, whichever way the thread turns."""
    for actuator in (
        Actuator(lead=0.005),
        Actuator(lead=0.02, handed="left", gear_ratio=3.0),
        Actuator(gear_ratio=-100.0),
    ):
        effort, rate = rng.normal(size=2)
        torque = actuator.torques(effort, rate)
        assert torque * actuator.ratio * rate == pytest.approx(effort * rate)
        assert actuator.efforts(torque) == pytest.approx(effort)


def test_losses_never_add_power(rng):
    actuator = Actuator(lead=0.005, efficiency=0.8)
    effort, rate = rng.normal(size=(2, 50))
    torque = actuator.torques(effort, rate)
    from_motor = torque * actuator.ratio * rate
    lost = from_motor - effort * rate
    assert (lost > 0.0).all()
    smaller = np.minimum(np.abs(from_motor), np.abs(effort * rate))
    larger = np.maximum(np.abs(from_motor), np.abs(effort * rate))
    assert smaller == pytest.approx(0.8 * larger)
    assert actuator.efforts(torque, rate) == pytest.approx(effort)


def test_reflected_inertia_is_what_the_rotors_energy_says():
    screw = Actuator(rotor_inertia=1e-4, lead=0.005)
    speed = 2.0 * math.pi / 0.005 * 0.3  # rad/s at 0.3 m/s
    assert 0.5 * screw.reflected_inertia * 0.3**2 == pytest.approx(0.5 * 1e-4 * speed**2)
    assert screw.reflected_inertia == pytest.approx(157.9, abs=0.05)
    # a right-handed thread turns its rotor against the leg's axis
    assert screw.spin_inertia == pytest.approx(-1e-4 * 2.0 * math.pi / 0.005)
    geared = Actuator(rotor_inertia=1e-4, lead=0.005, gear_ratio=2.0)
    assert geared.reflected_inertia == pytest.approx(4.0 * screw.reflected_inertia)
    assert geared.spin_inertia == 0.0


def test_friction_opposes_motion_and_falls_to_coulombs(rng):
    actuator = Actuator(coulomb=3.0, coulomb_backward=4.0, static=6.0, stribeck_velocity=0.1)
    rate = rng.normal(size=100)
    assert (actuator.dry_friction(rate) * rate > 0.0).all()
    assert actuator.dry_friction([1e-9, -1e-9]) == pytest.approx([6.0, -6.0])
    assert actuator.dry_friction([0.1, -0.1]) == pytest.approx([4.5, -5.0])
    assert actuator.dry_friction([1e4, -1e4]) == pytest.approx([3.0, -4.0])
    assert actuator.dry_friction(0.0) == 0.0
    assert not actuator.without_friction().dry_friction(rate).any()


def test_the_motors_curve_bounds_torque_and_speed():
    actuator = Actuator(
        gear_ratio=10.0,
        efficiency=0.5,
        torque_limit=3.0,
        torque_speed=[[0.0, 4.0], [100.0, 4.0], [200.0, 1.0]],
    )
    speeds = [0.0, -120.0, 150.0, 200.0, 201.0]
    assert actuator.torque_at(speeds) == pytest.approx([3.0, 3.0, 2.5, 1.0, 0.0])
    assert actuator.effort_limit == pytest.approx(15.0)
    assert actuator.rate_limit == pytest.approx(20.0)
    assert Actuator().effort_limit == Actuator().rate_limit == math.inf


def test_parameters_read_back_as_they_were():
    actuator = Actuator(
        rotor_inertia=1.1e-4,
        lead=0.005,
        handed="left",
        coulomb=3.0,
        coulomb_backward=1.0,
        static=4.0,
        stribeck_velocity=0.1,
        torque_speed=((0.0, 2.0), (30.0, 1.5)),
        torque_constant=0.3,
    )
    assert actuator_from_params(params_of(actuator), "here") == actuator
    assert params_of(Actuator()) == {}


@pytest.mark.parametrize("text", ["nan", "inf", "1_0", "fast"])
def test_a_parameter_that_is_no_number_is_refused(text):
    with pytest.raises(ModelError, match=r"arm, joint a: .*lead"):
        actuator_from_params({"lead": text}, "arm, joint a")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"rotor_inertia": math.nan}, "rotor_inertia"),
        ({"coulomb_backward": -1.0}, "coulomb_backward is -1"),
        ({"stribeck_velocity": 0.1}, "`static` is not given"),
        ({"torque_limit": math.nan}, "torque_limit is nan"),
        ({"velocity_limit": "fast"}, "velocity_limit is 'fast'"),
        ({"efficiency": 0.0}, "efficiency is 0"),
        ({"torque_speed": [[1.0, 1.0], [2.0, 1.0]]}, "speeds increasing from 0"),
        ({"torque_speed": [[0.0, 1.0]]}, "at least two"),
        ({"torque_speed": "steep"}, "torque_speed is 'steep'"),
    ],
)
def test_an_impossible_actuator_is_refused(given, message):
    with pytest.raises(ModelError, match=message):
        Actuator(**given)
