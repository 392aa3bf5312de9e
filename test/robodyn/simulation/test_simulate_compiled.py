# SPDX-License-Identifier: Apache-2.0

"""Compiled simulations equal those with calls of Python at every stage bit by bit.

A class derived from a controller is a stranger to the compiled code, and does the same.
"""

from dataclasses import replace

import numpy as np
import pytest
from six_legs import LegLimits, six_legs, with_legs

import robodyn as rd
from robodyn.errors import InvalidInput
from robodyn.poses import advance_pose
from robodyn.simulation import EndStops, is_compiled
from robodyn.trajectories import Motion

REST = np.zeros(6)


def stranger(controller):
    """Return the controller as a class that the compiled code does not support."""
    kind = type(controller)
    twin = object.__new__(type(f"Own{kind.__name__}", (kind,), {}))
    twin.__dict__.update(controller.__dict__)
    return twin


def random_gain(rng, scale):
    root = rng.normal(size=(6, 6))
    return scale * (np.eye(6) + 0.02 * (root @ root.T))


CONTROLLERS = {
    "computed torque": lambda m, rng: rd.ComputedTorque(m, random_gain(rng, 100.0), 20.0),
    "preview": lambda m, rng: rd.ComputedTorque(m, [80.0] * 6, 18.0, preview=0.004),
    "feedforward": lambda m, rng: rd.Feedforward(m),
    "gravity": lambda m, rng: rd.GravityCompensation(m),
    "constant": lambda m, rng: rd.ConstantEffort(
        m.inverse_dynamics(m.home, REST, REST) + rng.normal(size=6)
    ),
}


def case_of(kind, dasgupta, puma):
    """A mechanism, a path for it, and how far ahead of the path's start it may begin."""
    if kind == "stewart":
        return dasgupta, rd.paper_path("II"), advance_pose
    path = rd.plan_joints([0.1, -1.0, 0.8, 0.0, 0.5, 0.0], [0.6, -0.6, 0.4, 0.5, 0.2, -0.4], 0.6)
    return puma, path, np.add


def both(mechanism, controller, path, **options):
    assert is_compiled(mechanism, controller)
    assert not is_compiled(mechanism, stranger(controller))
    return [
        rd.simulate(mechanism, one, path, **options) for one in (controller, stranger(controller))
    ]


def assert_identical(first, second):
    for name in ("time", "configuration", "velocity", "effort"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    for a, b in zip(first.desired, second.desired, strict=True):
        np.testing.assert_array_equal(a, b)
    assert first.events == second.events


@pytest.mark.parametrize("control_dt", [None, 0.007])
@pytest.mark.parametrize("law", CONTROLLERS)
@pytest.mark.parametrize("kind", ["stewart", "serial"])
def test_compiled_and_python_agree(dasgupta, puma, rng, kind, law, control_dt):
    """With a plant that is not the model, a start off the path, and a load that varies."""
    mechanism, path, moved = case_of(kind, dasgupta, puma)
    if control_dt is None:
        # where joints stick, control in Python acts once a step
        mechanism = mechanism.without_dry_friction()
    plant = mechanism.with_payload(2.0, [0.01, 0.02, 0.03])
    first = path.sample(0.0)
    start = moved(first.configuration, rng.normal(size=6) * 0.01), rng.normal(size=6) * 0.05

    def load(t):
        return [10.0 * np.sin(9.0 * t), 0.0, -20.0 * t, 0.5, 0.0, t]

    runs = both(
        plant,
        CONTROLLERS[law](mechanism, rng),
        path,
        dt=0.002 if control_dt else 0.01,
        control_dt=control_dt,
        duration=0.25,
        initial=start,
        wrench=[load, [1.0, 2.0, 3.0, 0.1, 0.2, 0.3], None][int(rng.integers(3))],
        end_stops=None,  # in another order of sums: a test of their own, below
    )
    assert_identical(*runs)


@pytest.mark.parametrize("control_dt", [None, 0.01])
@pytest.mark.parametrize("kind", ["stewart", "serial"])
def test_limits_and_end_stops_agree(dasgupta, puma, kind, control_dt):
    """Efforts that push the joints to their stops at full strength.

    At the stops the two sum a leg's rate in another order, in continuous control only.
    """
    mechanism, path, _ = case_of(kind, dasgupta, puma)
    if kind == "stewart":
        mechanism = short_and_weak(mechanism)
    push = rd.ConstantEffort(1.2 * mechanism.effort_limits)
    stops = EndStops(1e5, 1e3)
    options = {"dt": 1e-3, "control_dt": control_dt, "duration": 0.4, "end_stops": stops}
    for limited in (True, False):
        compiled, python = both(mechanism, push, path, limit_efforts=limited, **options)
        for name in ("configuration", "velocity", "effort"):
            np.testing.assert_allclose(
                getattr(compiled, name), getattr(python, name), rtol=1e-9, atol=1e-9
            )
        if control_dt is not None:
            assert_identical(compiled, python)
        kinds = {event.kind for event in compiled.events}
        assert "end_stop" in kinds
        assert ("saturation" in kinds) == limited
        assert [(e.time, e.kind, e.joint) for e in compiled.events] == [
            (e.time, e.kind, e.joint) for e in python.events
        ]


def short_and_weak(platform):
    """The platform with a centimeter of travel about home, and legs that lift it just so."""
    lengths = platform.joint_positions(platform.home)
    legs = tuple(
        replace(leg, limits=LegLimits((length - 0.005, length + 0.005), np.inf, 400.0))
        for leg, length in zip(six_legs(platform).legs, lengths, strict=True)
    )
    return with_legs(platform, legs)


def test_a_known_controller_is_not_called(dasgupta, monkeypatch):
    def refuse(*_):
        raise AssertionError("called")

    monkeypatch.setattr(rd.ComputedTorque, "__call__", refuse)
    result = rd.simulate(dasgupta, rd.ComputedTorque(dasgupta), rd.paper_path("I"), duration=0.1)
    assert np.isfinite(result.configuration).all()


def failures(mechanism, controller, path, **options):
    found = []
    for one in (controller, stranger(controller)):
        with pytest.raises(rd.SimulationFailed) as caught:
            rd.simulate(mechanism, one, path, **options)
        found.append(caught.value)
    return found


@pytest.mark.parametrize("control_dt", [None, 0.01])
def test_diverging_runs_fail_at_the_same_time_with_the_same_message(dasgupta, control_dt):
    push = rd.ConstantEffort([1e5, 0.0, 0.0, 0.0, 0.0, 0.0])
    compiled, python = failures(
        dasgupta, push, rd.paper_path("I"), dt=0.01, control_dt=control_dt,
        end_stops=None, limit_efforts=False,
    )  # fmt: skip
    assert (str(compiled), compiled.time) == (str(python), python.time)
    assert compiled.time > 0.0


def test_a_command_that_does_not_exist_is_named_when_it_is_due(dasgupta):
    """The plan passes the origin of a leg, in the middle of a batch of commands."""
    leg = six_legs(dasgupta).legs[0]
    onto = np.concatenate([leg.base - leg.platform, [0.0, 0.0, 0.0, 1.0]])

    class Collapse:
        duration = 0.1
        switching_times = ()

        def sample(self, t):
            late = np.asarray(t)[..., None] > 0.055
            pose = np.where(late, onto, dasgupta.home)
            return Motion(pose, np.zeros_like(pose[..., :6]), np.zeros_like(pose[..., :6]))

    compiled, python = failures(dasgupta, rd.Feedforward(dasgupta), Collapse(), duration=0.08)
    assert (str(compiled), compiled.time) == (str(python), python.time)
    assert compiled.time == pytest.approx(0.06)
    assert "no command: leg 1 has zero length" in str(compiled)


def test_a_path_that_takes_one_time_at_once_is_followed_all_the_same(dasgupta):
    class OneAtATime:
        duration = 0.6
        switching_times = ()

        def sample(self, t):
            if np.ndim(t) and np.size(t) != 11:
                raise TypeError("one at a time")
            return rd.paper_path("II").sample(t)

    control = rd.ComputedTorque(dasgupta)
    result = rd.simulate(dasgupta, control, OneAtATime(), duration=0.1)
    expected = rd.simulate(dasgupta, control, rd.paper_path("II"), duration=0.1)
    np.testing.assert_array_equal(result.configuration, expected.configuration)


@pytest.mark.parametrize(
    ("effort", "text"),
    [([1.0, 2.0], r"effort has shape \(2,\)"), (5.0, r"effort has shape \(\)")],
)
def test_constant_efforts_of_the_wrong_shape_are_refused(dasgupta, effort, text):
    with pytest.raises(InvalidInput, match=text):
        rd.simulate(dasgupta, rd.ConstantEffort(effort), rd.paper_path("I"))


def test_a_controller_made_for_another_mechanism_is_refused(dasgupta, puma):
    with pytest.raises(InvalidInput):
        rd.simulate(dasgupta, rd.ComputedTorque(puma), rd.paper_path("I"))


def test_gravity_compensation_leaves_a_mechanism_at_rest_where_it_is(dasgupta, puma):
    for kind in ("stewart", "serial"):
        mechanism, path, _ = case_of(kind, dasgupta, puma)
        mechanism = mechanism.without_friction()  # Coulomb's jumps about in steps at rest
        control = rd.GravityCompensation(mechanism)
        result = rd.simulate(
            mechanism, control, path, duration=1.0, initial=(mechanism.home, REST), end_stops=None
        )
        moved = mechanism.difference(mechanism.home, result.configuration)
        np.testing.assert_allclose(moved, 0.0, atol=1e-7)


def test_progress_is_reported_a_hundred_times_or_so(puma):
    path = rd.plan_joints(np.zeros(6), np.ones(6) * 0.3, duration=1.0)
    seen = []
    rd.simulate(puma, rd.ComputedTorque(puma), path, control_dt=0.002, progress=seen.append)
    assert seen[0] == 0.0
    assert len(seen) == 100
    assert np.all(np.diff(seen) > 0.0)
