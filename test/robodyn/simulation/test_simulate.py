# SPDX-License-Identifier: Apache-2.0

"""Simulations against what is known of them: orders of convergence, balances, bounds."""

from dataclasses import replace

import numpy as np
import pytest
from six_legs import SixLegs, six_legs, with_legs

import robodyn as rd
from robodyn.errors import InvalidInput
from robodyn.poses import advance_pose, pose_from_rpy
from robodyn.simulation import Event, find_events
from robodyn.trajectories import plan_line_rpy

REST = np.zeros(6)


def retraced(mechanism, steps, **options):
    path = rd.paper_path("II")
    result = rd.simulate(
        mechanism, rd.Feedforward(mechanism), path, dt=0.6 / steps, control_dt=None, **options
    )
    return np.linalg.norm(result.error[:, :3], axis=1).max()


def test_path_two_is_retraced_open_loop_with_order_four(dasgupta):
    errors = [retraced(dasgupta, steps) for steps in (120, 240, 480)]
    np.testing.assert_allclose(errors, [3.0e-4, 1.9e-5, 1.24e-6], rtol=0.05)
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4.0, abs=0.2)
    assert np.log2(errors[1] / errors[2]) == pytest.approx(4.0, abs=0.2)


@pytest.mark.slow
def test_the_adaptive_reference_retraces_path_two_to_rounding(dasgupta):
    assert retraced(dasgupta, 12, integrator="dop853") < 1e-9


def test_the_adaptive_reference_agrees_with_small_fixed_steps(puma):
    path = rd.plan_joints(np.zeros(6), [0.4, -0.3, 0.5, 0.2, 0.1, -0.6], duration=0.5)
    free = puma.without_friction()  # Coulomb friction jumps where a joint turns back
    start = path.sample(0.0).configuration + 0.01, np.zeros(6)
    ends = [
        rd.simulate(
            free,
            rd.ComputedTorque(free),
            path,
            dt=dt,
            control_dt=None,
            initial=start,
            integrator=integrator,
        )
        for dt, integrator in ((1e-3, "rk4"), (0.1, "dop853"))
    ]
    np.testing.assert_allclose(ends[0].configuration[-1], ends[1].configuration[-1], atol=1e-9)
    assert len(ends[1].time) < 20 < len(ends[0].time)


def test_the_error_dies_out_as_designed(dasgupta):
    """Exact model, continuous control: e(t) = e0 (1 + 10 t) exp(-10 t) for Kp = 100, Kv = 20."""
    path = rd.paper_path("I")
    start = advance_pose(path.sample(0.0).configuration, [0.01, -0.02, 0.005, 0, 0, 0]), REST
    result = rd.simulate(
        dasgupta,
        rd.ComputedTorque(dasgupta),
        path,
        control_dt=None,
        dt=0.05,
        duration=0.5,
        initial=start,
        integrator="dop853",
    )
    decay = (1 + 10 * result.time) * np.exp(-10 * result.time)
    expected = np.outer(decay, [0.01, -0.02, 0.005])
    np.testing.assert_allclose(result.error[:, :3], expected, atol=1e-10)


def test_path_one_under_computed_torque_at_200_hz(dasgupta):
    result = rd.simulate(
        dasgupta, rd.ComputedTorque(dasgupta), rd.paper_path("I"), control_dt=1 / 200
    )
    assert np.linalg.norm(result.error[:, :3], axis=1).max() < 1e-3
    assert np.linalg.norm(result.error[:, 3:], axis=1).max() < 2e-3
    assert result.events == []
    assert len(result.time) == 1201
    np.testing.assert_allclose(np.diff(result.time), 0.005)
    peak = np.abs(dasgupta.inverse_dynamics(*rd.paper_path("I").sample(result.time))).max(axis=0)
    np.testing.assert_allclose(result.peak_effort, peak, rtol=0.02)


def test_a_held_command_becomes_a_continuous_one(dasgupta):
    path = rd.paper_path("II")
    control = rd.ComputedTorque(dasgupta)
    reference = rd.simulate(dasgupta, control, path, dt=0.6 / 600, control_dt=None)
    errors = []
    for period in (4e-3, 2e-3, 1e-3):
        held = rd.simulate(dasgupta, control, path, dt=5e-4, control_dt=period)
        end = held.configuration[-1], reference.configuration[-1]
        errors.append(np.linalg.norm(dasgupta.difference(*end)))
    assert errors[0] > 1.7 * errors[1] > 2.9 * errors[2]
    assert errors[2] < 2e-3


def test_two_runs_are_identical(dasgupta):
    runs = [
        rd.simulate(dasgupta, rd.ComputedTorque(dasgupta), rd.paper_path("II"), control_dt=0.005)
        for _ in range(2)
    ]
    for name in ("time", "configuration", "velocity", "effort"):
        np.testing.assert_array_equal(getattr(runs[0], name), getattr(runs[1], name))


@pytest.mark.slow
@pytest.mark.parametrize("control_dt", [None, 0.01])
def test_a_wrench_of_time_that_is_known_is_cancelled(dasgupta, control_dt):
    """A load met by inverse dynamics at the same time leaves the motion as it was."""

    def load(t):
        return np.array([50 * np.sin(3 * t), 0.0, -100 * t, 0.0, 5.0 * t, 0.0])

    def control(time, configuration, velocity, trajectory):
        middle = 0.0 if control_dt is None else 0.5 * control_dt
        motion = trajectory.sample(time)
        return dasgupta.inverse_dynamics(*motion, load(time + middle))

    home = dasgupta.home
    path = plan_line_rpy([home[:3]] * 2, [[0, 0, -0.2]] * 2, 0.2)
    result = rd.simulate(dasgupta, control, path, dt=1e-3, control_dt=control_dt, wrench=load)
    without = rd.simulate(dasgupta, control, path, dt=1e-3, control_dt=control_dt)
    left = np.abs(result.error).max() / np.abs(without.error).max()
    assert left < (1e-7 if control_dt is None else 0.02)


def test_a_constant_wrench_may_be_given_as_numbers(dasgupta):
    path = rd.paper_path("II")
    control = rd.ComputedTorque(dasgupta)
    wrench = [0.0, 0.0, -200.0, 0.0, 0.0, 0.0]
    given = rd.simulate(dasgupta, control, path, wrench=wrench, duration=0.1)
    of_time = rd.simulate(dasgupta, control, path, wrench=lambda t: wrench, duration=0.1)
    np.testing.assert_array_equal(given.configuration, of_time.configuration)


def test_steps_end_on_switching_times_and_on_the_end_of_the_path(dasgupta):
    path = rd.paper_path("II")
    result = rd.simulate(
        dasgupta, rd.ComputedTorque(dasgupta), path, dt=0.03, control_dt=None, duration=0.7
    )
    for t in (*path.switching_times, 0.6, 0.7):
        assert t in result.time
    assert np.diff(result.time).max() <= 0.03 * (1 + 1e-9)


def test_a_period_that_does_not_divide_the_duration_ends_with_the_rest(dasgupta):
    result = rd.simulate(
        dasgupta, rd.ComputedTorque(dasgupta), rd.paper_path("I"), control_dt=0.03, duration=0.1
    )
    np.testing.assert_allclose(result.time, [0.0, 0.03, 0.06, 0.09, 0.1])


def test_energy_along_a_free_fall_is_constant(puma):
    free = puma.without_friction()
    path = rd.plan_joints(np.zeros(6), np.ones(6), duration=0.2)
    result = rd.simulate(
        free, lambda *_: np.zeros(6), path, control_dt=0.01, dt=1e-4, end_stops=None
    )
    np.testing.assert_allclose(result.energy, result.energy[0], rtol=1e-9)
    assert np.abs(result.velocity[-1]).max() > 0.5


def with_limits(platform, length, effort):
    legs = tuple(
        type(leg)(
            leg.base, leg.platform, leg.universal_axis, leg.lower, leg.upper, leg.damping,
            type(leg.limits)(length, np.inf, effort),
        )
        for leg in six_legs(platform).legs
    )  # fmt: skip
    return rd.StewartPlatform(SixLegs("weak", six_legs(platform).platform, legs).model())


def test_events_of_one_time_are_in_order_of_kind_and_joint(dasgupta):
    """End stops before saturations, and each of them by joint."""
    short = dasgupta.inverse_kinematics(dasgupta.home)
    legs = [
        replace(leg, limits=replace(leg.limits, length=(0.0, bound)))
        for leg, bound in zip(
            six_legs(dasgupta).legs, short * [2.0, 0.9, 2.0, 2.0, 0.9, 0.9], strict=True
        )
    ]
    platform = with_legs(dasgupta, legs)
    expected = np.zeros((2, 6))
    expected[0, [5, 0, 3]] = 1.0
    expected[1, [1, 4]] = 1.0
    poses = np.tile(dasgupta.home, (3, 1))
    events = find_events(platform, np.arange(3.0), poses, expected, np.zeros((2, 6)))
    names = platform.joint_names
    assert [(event.time, event.kind, names.index(event.joint)) for event in events] == [
        *((0.0, "end_stop", joint) for joint in (1, 4, 5)),
        *((0.0, "saturation", joint) for joint in (0, 3, 5)),
        *((1.0, "saturation", joint) for joint in (1, 4)),
    ]
    assert [event.value for event in events[:3]] == [short[1], short[4], short[5]]


def test_saturation_and_end_stops_are_events_with_time_joint_and_value(dasgupta):
    path = rd.paper_path("I")
    weak = with_limits(dasgupta, (0.2, 0.75), 900.0)
    result = rd.simulate(weak, rd.ComputedTorque(dasgupta), path, control_dt=0.01, duration=0.5)
    kinds = {event.kind for event in result.events}
    assert kinds == {"saturation", "end_stop"}
    assert [event.time for event in result.events] == sorted(event.time for event in result.events)
    assert (np.abs(result.effort) <= 900.0).all()
    lengths = weak.joint_positions(result.configuration)
    for event in result.events:
        row = int(np.flatnonzero(result.time == event.time)[0])
        leg = weak.joint_names.index(event.joint)
        if event.kind == "saturation":
            assert abs(event.value) > 900.0
            assert abs(result.effort[row, leg]) == 900.0
        else:
            assert event.value == lengths[row, leg]
            assert not 0.2 <= event.value <= 0.75
            assert row == 0 or 0.2 <= lengths[row - 1, leg] <= 0.75


def test_a_joint_that_starts_beyond_its_stop_is_an_event_at_time_zero(dasgupta):
    lengths = dasgupta.joint_positions(dasgupta.home)
    weak = with_limits(dasgupta, (0.2, float(np.sort(lengths)[-2])), 1e5)
    result = rd.simulate(weak, rd.Feedforward(weak), rd.paper_path("I"), duration=0.01)
    longest = int(lengths.argmax())
    name = f"leg{longest + 1}_actuator"
    assert result.events[0] == Event(0.0, "end_stop", name, lengths[longest])


def test_limits_can_be_lifted(dasgupta):
    weak = with_limits(dasgupta, (0.2, 3.0), 10.0)
    options = {"control_dt": 0.01, "duration": 0.1, "limit_efforts": False}
    result = rd.simulate(weak, rd.ComputedTorque(dasgupta), rd.paper_path("I"), **options)
    assert np.abs(result.effort).max() > 100.0
    assert result.events == []


@pytest.mark.parametrize(
    ("options", "after"),
    [
        ({"control_dt": 0.1}, 0.0),
        ({"control_dt": 0.1, "wrench": lambda t: np.zeros(6)}, 0.0),
        ({"control_dt": None}, 0.0),
        ({"control_dt": None, "integrator": "dop853"}, 0.0),
    ],
)
def test_a_failure_carries_its_time(dasgupta, options, after):
    """Forces that push ever harder the farther the platform is away: no state follows for long."""

    def runaway(time, configuration, velocity, trajectory):
        return np.full(6, 1e5) * (1.0 + 1e3 * np.linalg.norm(velocity))

    with pytest.raises(rd.SimulationFailed, match=r"^at [0-9.e-]+ s: ") as caught:
        rd.simulate(
            dasgupta,
            runaway,
            rd.paper_path("I"),
            dt=0.01,
            end_stops=None,
            limit_efforts=False,
            **options,
        )
    assert after <= caught.value.time < 6.0


def test_a_failure_between_two_loads_counts_the_steps_before_it(dasgupta):
    """The load explodes after 0.05 s, within one control period of 0.1 s."""

    def load(t):
        return np.full(6, 1e300 if t > 0.05 else 0.0)

    control = rd.Feedforward(dasgupta)
    with pytest.raises(rd.SimulationFailed) as caught:
        rd.simulate(dasgupta, control, rd.paper_path("I"), dt=0.01, control_dt=0.1, wrench=load)
    assert caught.value.time == pytest.approx(0.05)


def test_flying_path_three_open_loop_fails_where_it_is_singular(dasgupta):
    def control(time, *_):
        if time > 3.67:
            raise rd.SingularConfiguration("too near", smallest_singular_value=0.0, direction=None)
        return dasgupta.inverse_dynamics(*rd.paper_path("III").sample(time))

    with pytest.raises(rd.SimulationFailed, match="no command: too near") as caught:
        rd.simulate(dasgupta, control, rd.paper_path("III"), control_dt=0.005, end_stops=None)
    assert caught.value.time == pytest.approx(3.675)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"dt": 0.0}, "dt is 0.0, must be above 0"),
        ({"control_dt": -1.0}, "control_dt is -1.0"),
        ({"duration": 0.0}, "duration is 0.0"),
        ({"duration": np.nan}, "duration is nan"),
        ({"integrator": "euler"}, "integrator is 'euler', expected one of rk4, semi"),
        ({"integrator": "dop853"}, "needs control_dt=None"),
        ({"wrench": [0.0, 1.0]}, r"wrench has shape \(2,\)"),
        ({"wrench": lambda t: [np.nan] * 6}, r"wrench\[0\] is nan"),
        ({"initial": (np.zeros(7), np.zeros(6))}, "quaternion"),
    ],
)
def test_arguments_out_of_range_are_refused(dasgupta, options, text):
    with pytest.raises(InvalidInput, match=text):
        rd.simulate(dasgupta, rd.Feedforward(dasgupta), rd.paper_path("I"), **options)


@pytest.mark.parametrize("control_dt", [None, 0.01])
@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ([np.nan] * 6, r"the controller's efforts at 0 s\[0\] is nan"),
        (None, "the controller's efforts at 0 s"),
        ("full", "the controller's efforts at 0 s must be numbers"),
        ([1.0, 2.0], r"effort has shape \(2,\)"),
    ],
)
def test_controllers_that_answer_nonsense_are_named(dasgupta, control_dt, answer, text):
    with pytest.raises(InvalidInput, match=text):
        rd.simulate(dasgupta, lambda *_: answer, rd.paper_path("I"), control_dt=control_dt)


def test_progress_is_reported(dasgupta):
    seen = []
    rd.simulate(
        dasgupta,
        rd.Feedforward(dasgupta),
        plan_line_rpy([[0.1, 0, 0.4]] * 2, np.zeros((2, 3)), 1.0),
        control_dt=0.1,
        progress=seen.append,
        initial=(pose_from_rpy([0.1, 0, 0.4], [0, 0, 0]), REST),
        duration=0.35,
    )
    np.testing.assert_allclose(seen, [0.0, 0.1, 0.2, 0.3])
