# SPDX-License-Identifier: Apache-2.0

"""Dry friction that holds: joints of every kind that rest, break away, stick and slip, and stop."""

import math
from collections import namedtuple
from dataclasses import replace

import numpy as np
import pytest
from numba import types
from six_legs import six_legs, with_legs

import robodyn as rd
from robodyn.actuators import Actuator
from robodyn.algorithms import Motion
from robodyn.control import ComputedTorque
from robodyn.dynamics.kernels.hybrid_step import Bracket, judge_trial
from robodyn.model import Joint, Link
from robodyn.numerics.array_arguments import VECTOR_OUT, borrowed_array, direct
from robodyn.numerics.compiler import entry_kernel
from robodyn.simulation import Plant, is_compiled
from robodyn.solvers.serial.chain import model_of_chain


def rubbing_platform():
    m = rd.load("stewart_symmetric").without_actuators()
    screw = Actuator(coulomb=60.0, coulomb_backward=70.0, static=90.0, stribeck_velocity=2e-3)
    legs = tuple(replace(leg, actuator=screw) for leg in six_legs(m).legs)
    return with_legs(m, legs)


def rubbing_loop(name="fivebar", motors=(0.3, 0.25), others=(0.05, 0.05)):
    """A mechanism that rubs in its motors and in one joint that no motor drives."""
    m = rd.load(name)
    rubs = dict.fromkeys(m.joint_names, motors) | {m.passive_joint_names[0]: others}
    joints = (
        replace(joint, friction=np.array(rubs.get(joint.name, (0.0, 0.0))))
        for joint in m.model.joints
    )
    return rd.ClosedLoop(replace(m.model, joints=tuple(joints)))


@pytest.fixture(scope="module", params=("arm", "platform", "loop"))
def rubbing(request, puma):
    if request.param == "arm":
        return puma
    return rubbing_platform() if request.param == "platform" else rubbing_loop()


def holding(mechanism):
    """Home, and the efforts that carry it."""
    home = mechanism.home
    rest = np.zeros(mechanism.coordinates.velocity_size)
    return home, rest, mechanism.inverse_dynamics(home, rest, rest)


def energy(mechanism, plant):
    return float(sum(mechanism.energy(plant.configuration, plant.velocity)[:2]))


def slider(**friction):
    """A mass of 2 kg on a level slide."""
    joint = Joint("slide", "prismatic", "base", "mass").driven_by(Actuator(**friction))
    mass = Link("mass", 2.0, inertia=np.eye(3) * 0.01)
    return rd.SerialArm(model_of_chain("slider", "base", [(joint, mass)], np.eye(4), "mass"))


class Pull:
    """A motion at constant speed."""

    duration, switching_times = 3.0, ()

    def __init__(self, speed):
        self.speed = speed

    def sample(self, t):
        t = np.asarray(t, dtype=np.float64)[..., None]
        return Motion(self.speed * t, self.speed + 0.0 * t, 0.0 * t)


def test_joint_held_by_friction_does_not_move_at_all(rubbing):
    """Sixty seconds in steps of a millisecond, its actuators short of what carries it."""
    home, rest, weight = holding(rubbing)
    levels = rubbing.solver.friction.rows[: len(weight)]
    plant = Plant(rubbing, home, rest)
    plant.hold(weight - 0.9 * levels[:, 6], 60_000)
    np.testing.assert_array_equal(plant.configuration, home)
    np.testing.assert_array_equal(plant.velocity, 0.0)


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_joint_breaks_away_at_the_static_force_and_not_before(rubbing, way):
    home, rest, weight = holding(rubbing)
    rows = rubbing.solver.friction.rows[: len(weight)]
    level = rows[:, 5] if way > 0.0 else rows[:, 6]
    if len(rubbing.solver.friction.rows) > len(weight):
        # a joint that no motor drives helps to hold: without it
        rubbing = rubbing_loop(others=(0.0, 0.0))
    plant = Plant(rubbing, home, rest)
    plant.hold(weight + way * level * (1.0 - 1e-6), 50)
    np.testing.assert_array_equal(plant.configuration, home)
    plant.hold(weight + way * level * (1.0 + 1e-4), 1)
    rates = rubbing.joint_velocities(plant.configuration, plant.velocity)
    assert (way * rates > 0.0).any()
    assert (way * rates > -1e-9).all()


def test_friction_only_takes_energy_and_stops_what_it_can_hold(rubbing, rng):
    n = rubbing.coordinates.velocity_size
    home, _, weight = holding(rubbing)
    plant = Plant(rubbing, home, 0.2 * rng.normal(size=n), end_stops=None)
    before = energy(rubbing, plant)
    for _ in range(60):
        plant.hold(np.zeros(len(weight)), 1)
        after = energy(rubbing, plant)
        assert after <= before + 1e-9 * abs(before)
        before = after


def test_joints_that_come_to_rest_stay_there(rubbing, rng):
    """From a slow motion, under efforts that carry it: at rest within a while, then for good."""
    home, rest, weight = holding(rubbing)
    plant = Plant(rubbing, home, 0.02 * rng.normal(size=len(rest)))
    plant.hold(weight, 400)
    stopped = plant.configuration.copy()
    np.testing.assert_array_equal(plant.velocity, 0.0)
    plant.hold(weight, 1000)
    np.testing.assert_array_equal(plant.configuration, stopped)


def stick_slip(arm, speed, stiffness, period):
    """Positions (N, 1) of the mass that a spring pulls, and when."""
    smooth = arm.without_dry_friction()
    control = ComputedTorque(smooth, stiffness / 2.0, 1e-9)
    assert is_compiled(arm, control)
    run = rd.simulate(
        arm, control, Pull(speed), 1e-3, None, duration=period,
        initial=([0.0], [0.0]), limit_efforts=False,
    )  # fmt: skip
    return run.time, run.configuration[:, 0], run.velocity[:, 0]


def test_stick_slip_of_a_mass_on_a_spring(rng):
    """A spring pulls a mass that sticks and slips, in closed form: slipping is harmonic.

    With w^2 = k/m and y0 = (static - coulomb) / k the extension swings about coulomb / k with the
    amplitude A = sqrt(y0^2 + (V/w)^2), for (2/w) (pi - atan(y0 w / V)); sticking lasts 2 y0 / V.
    """
    static, coulomb, k, speed = 12.0, 7.0, 300.0, 0.05
    time, position, rate = stick_slip(slider(coulomb=coulomb, static=static), speed, k, 3.0)
    w, y0 = math.sqrt(k / 2.0), (static - coulomb) / k
    amplitude = math.hypot(y0, speed / w)
    period = 2.0 * y0 / speed + 2.0 / w * (math.pi - math.atan(y0 * w / speed))
    starts = time[1:][(rate[1:] > 0.0) & (rate[:-1] == 0.0)]
    assert starts[0] == pytest.approx(static / k / speed, abs=2e-3)
    np.testing.assert_allclose(np.diff(starts), period, rtol=0.01)
    extension = speed * time - position
    assert extension.max() == pytest.approx(coulomb / k + amplitude, rel=1e-3)
    after = time > starts[0] + 0.1
    assert extension[after].min() == pytest.approx(coulomb / k - amplitude, rel=0.01, abs=1e-4)
    assert rate.min() == 0.0


def test_stick_slip_with_stribecks_curve_as_steps_of_a_microsecond_have_it():
    """One cycle by a loop of its own, in steps of 1 us."""
    static, coulomb, bend, k, speed, mass, h = 12.0, 7.0, 0.02, 300.0, 0.05, 2.0, 1e-6
    arm = slider(coulomb=coulomb, static=static, stribeck_velocity=bend)
    time, position, rate = stick_slip(arm, speed, k, 2.2)
    start = static / k / speed
    x, v, t, slips = 0.0, 1e-9, start, []
    while v > 0.0:  # until it sticks again
        resist = coulomb + (static - coulomb) / (1.0 + (v / bend) ** 2)
        v += h * (k * (speed * t - x) - resist) / mass
        x += h * v
        t += h
    slips = t - start
    sticks = static / k / speed + x / speed - t
    starts = time[1:][(rate[1:] > 0.0) & (rate[:-1] == 0.0)]
    ends = time[1:][(rate[1:] == 0.0) & (rate[:-1] > 0.0)]
    np.testing.assert_allclose(np.diff(starts), slips + sticks, rtol=0.01)
    assert ends[0] - starts[0] == pytest.approx(slips, rel=0.02)
    landed = position[(time > ends[0] + 1e-3) & (time < starts[1] - 1e-3)]
    np.testing.assert_allclose(landed, x, rtol=0.01)


def test_a_joint_that_turns_back_goes_through_zero_without_a_pause():
    """Thrown against a force above friction: two parabolas, met at the instant of the turn."""
    arm = slider(coulomb=4.0)
    plant = Plant(arm, [0.0], [0.5])
    plant.hold([-10.0], 100)
    back, turned = (10.0 + 4.0) / 2.0, 0.5 / 7.0
    far = 0.5 * turned * 0.5
    rest = 0.1 - turned
    assert plant.velocity[0] == pytest.approx(-(10.0 - 4.0) / 2.0 * rest, rel=1e-9)
    assert plant.configuration[0] == pytest.approx(far - 1.5 * rest**2, rel=1e-9)
    assert back == 7.0


OneJoint = namedtuple("OneJoint", "mode speed first_speed")


@entry_kernel
def search(place, curve, jumps, mode, speed, out):
    """Write the number of trials, and the end of the piece, for a rate that crosses zero."""
    j = OneJoint(borrowed_array(mode), borrowed_array(speed), borrowed_array(mode))
    result, end = borrowed_array(out), 1.0
    bracket = Bracket(0.0, 1.0, 2.0, 0.0, 0.0, False)
    for trial in range(200):
        j.speed[0] = (1.0 - end / place) * (1.0 + curve * end)
        if jumps > 0.0:
            j.speed[0] = 0.9 if end < place else -0.2 - curve * end
        accepted, _, bracket, end = judge_trial(j, 1e-12, True, bracket, 0.0, end)
        if accepted:
            result[0], result[1], result[2] = trial + 1.0, end, j.speed[0]
            return True
    return False


def trials_until_rest(*given):
    out, numbers = np.empty(3), (types.float64,) * 3
    entry = direct(search, *numbers, VECTOR_OUT, VECTOR_OUT, VECTOR_OUT)
    assert entry(*given, np.ones(1), np.ones(1), out)
    return out


@pytest.mark.parametrize("place", [0.02, 0.37, 0.99])
@pytest.mark.parametrize("curve", [0.0, 0.3, 2.0])
def test_the_instant_of_rest_is_found_in_few_trials(place, curve):
    """Also where the rate jumps, as in steps that hit an end stop: there the piece ends behind."""
    trials, end, rate = trials_until_rest(place, curve, 0.0)
    assert end == pytest.approx(place, abs=1e-8)
    assert abs(rate) <= 1e-8
    assert trials <= 8
    trials, end, rate = trials_until_rest(place, curve, 1.0)
    assert place <= end <= place + 1e-6
    assert trials <= 25


def test_held_and_continuous_control_of_your_own_stick_alike():
    arm = slider(coulomb=4.0)

    def push(time, configuration, velocity, trajectory):
        return np.array([3.9 * math.sin(5.0 * time)])

    for period in (0.01, None):
        run = rd.simulate(arm, push, Pull(0.0), 1e-3, period, duration=1.0, initial=([0.2], [0.0]))
        np.testing.assert_array_equal(run.configuration, 0.2)
