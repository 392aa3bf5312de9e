# SPDX-License-Identifier: Apache-2.0

"""Rate of the condition number, and the speed scale that follows from it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import robodyn as rd
from robodyn.algorithms import conditioning
from robodyn.control import condition_rate, speed_scale, weakest_direction
from robodyn.errors import InvalidInput
from robodyn.model import Joint, Link, Placement
from robodyn.solvers.serial.chain import model_of_chain


def by_difference(mechanism, path, t, length, h=1e-4):
    numbers = mechanism.condition_number(
        path.sample(t + h * np.array([-1, 1])).configuration, length
    )
    return (numbers[1] - numbers[0]) / (2 * h)


@pytest.mark.parametrize("length", [1.0, 0.3])
def test_the_rate_is_that_along_the_motion(dasgupta, puma, rng, length):
    arm_path = rd.plan_joints([0.1, 0.4, 0.5, 0.1, 0.9, 0.2], rng.normal(size=6), 2.0)
    for mechanism, path, t in ((dasgupta, rd.paper_path("I"), 2.0), (puma, arm_path, 0.1)):
        motion = path.sample(t)
        rate = condition_rate(mechanism, *motion[:2], length)
        expected = by_difference(mechanism, path, t, length)
        assert rate == pytest.approx(expected, rel=1e-4, abs=1e-5)


def test_condition_rate_is_odd_in_the_velocity_and_proportional_to_it(dasgupta, rng):
    twist = rng.normal(size=6)
    rate = condition_rate(dasgupta, dasgupta.home, twist)
    assert condition_rate(dasgupta, dasgupta.home, -2.5 * twist) == pytest.approx(
        -2.5 * rate, rel=1e-6, abs=1e-7
    )


@pytest.mark.parametrize(("before", "direction"), [(1e-3, 1), (1e-6 + 1e-5, 1), (-1e-3, -1)])
def test_path_three_approaches_its_singularity_and_leaves_it(dasgupta, before, direction):
    motion = rd.paper_path("III").sample(3.670504110 - before)
    assert (condition_rate(dasgupta, *motion[:2]) > 0.0) == (direction > 0)
    assert (condition_rate(dasgupta, motion[0], -motion[1]) > 0.0) == (direction < 0)


def test_at_rest_nothing_is_approached(dasgupta):
    assert condition_rate(dasgupta, dasgupta.home, np.zeros(6)) == 0.0


def test_an_infinite_condition_number_has_no_rate(dasgupta, monkeypatch):
    monkeypatch.setattr(type(dasgupta), "condition_number", lambda *_: np.float64(np.inf))
    assert np.isnan(condition_rate(dasgupta, dasgupta.home, np.ones(6)))


def test_a_number_whose_square_is_none_has_a_rate(dasgupta):
    """As next to where an arm's wrist is straight: a zero that rounding spared is not quite one."""
    twist = np.ones(6)
    growing = condition_rate(dasgupta, dasgupta.home, twist)
    for number in (1e155, 3e200, 1e308):
        rate = condition_rate(dasgupta, dasgupta.home, twist, number=number)
        assert np.sign(rate) == np.sign(growing)
        assert abs(rate) > 1e300
        assert (rate > 0.0) == (growing > 0.0)


@pytest.mark.parametrize(
    ("number", "approaching", "scale"),
    [
        (1.0, True, 1.0),
        (100.0, True, 1.0),
        (325.0, True, 0.75),
        (1000.0, True, 0.0),
        (np.inf, True, 0.0),
        (325.0, False, 1.0),
        (np.inf, False, 1.0),
        (np.nan, True, 0.0),
        (np.nan, False, 0.0),
    ],
)
def test_slower_towards_and_free_away(number, approaching, scale):
    assert speed_scale(number, 100.0, 1000.0, approaching) == scale


@given(st.floats(1.0), st.floats(1.0, 1e6), st.floats(1e-3, 1e6), st.booleans())
def test_a_scale_is_from_zero_to_one(number, warn, more, approaching):
    assert 0.0 <= speed_scale(number, warn, warn + more, approaching) <= 1.0


@pytest.mark.parametrize("thresholds", [(100.0, 100.0), (0.5, 100.0), (100.0, np.nan)])
def test_thresholds_out_of_order_are_refused(thresholds):
    with pytest.raises(InvalidInput):
        speed_scale(10.0, *thresholds, True)


def two_links():
    """A planar arm of two links of 1 m in the plane of x and y."""

    def part(name, along):
        at = Placement(translation=[along, 0.0, 0.0])
        link = Link(f"after {name}", 1.0, [0.5, 0, 0], np.eye(3))
        return Joint(name, "revolute", "", "", at, axis=[0, 0, 1]), link

    tip = np.eye(4)
    tip[0, 3] = 1.0
    parts = part("shoulder", 0.0), part("elbow", 1.0)
    return rd.SerialArm(model_of_chain("planar", "base", parts, tip, "tip"))


@pytest.mark.parametrize("length", [1e-3, 1.0])
def test_an_arm_of_two_joints_is_weakest_within_its_plane(length):
    arm, q = two_links(), [0.5 * np.pi, 0.3]
    direction, text = weakest_direction(arm, q, length)
    J = arm.jacobian(q)
    J[3:] *= length
    values = conditioning.singular_values(arm, q, length)
    assert np.linalg.norm(direction @ J) == pytest.approx(values[-1], abs=1e-12)
    assert direction[2:5] == pytest.approx(0.0, abs=1e-12)  # where it never moves
    assert text in {"translation along x", "translation along y", "rotation about z"}
