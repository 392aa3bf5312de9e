# SPDX-License-Identifier: Apache-2.0

"""Levels with hysteresis, weakest directions, and what lies ahead on a path."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.algorithms import conditioning
from robodyn.control import ERROR, OK, WARN, ConditionLevel, look_ahead, weakest_direction
from robodyn.errors import InvalidInput


def test_a_level_falls_only_well_below_where_it_rose():
    level = ConditionLevel(100.0, 1000.0, 0.1)
    seen = []
    for number in (99, 100, 91, 89, 1000, 901, 899, 95, 50, 5000, 95, 5000, 85):
        changed = level.update(number)
        seen.append((level.level, changed))
    assert seen == [
        (OK, False),
        (WARN, True),
        (WARN, False),
        (OK, True),
        (ERROR, True),
        (ERROR, False),
        (WARN, True),
        (WARN, False),
        (OK, True),
        (ERROR, True),
        (WARN, True),
        (ERROR, True),
        (OK, True),
    ]


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_no_number_is_an_error(number):
    level = ConditionLevel()
    assert level.update(number)
    assert level.level == ERROR


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((1000.0, 100.0), "error is 100.0, must be above warn"),
        ((0.5, 100.0), "warn is 0.5, must be at least 1"),
        ((100.0, np.inf), "error is inf"),
        ((100.0, 1000.0, 1.0), "hysteresis is 1.0, must be below 1"),
        ((100.0, 1000.0, -0.1), "hysteresis is -0.1"),
    ],
)
def test_thresholds_out_of_order_are_refused(arguments, text):
    with pytest.raises(InvalidInput, match=text):
        ConditionLevel(*arguments)


def test_along_the_weakest_direction_the_legs_move_least(dasgupta):
    length = 0.4
    direction, text = weakest_direction(dasgupta, dasgupta.home, length)
    assert np.linalg.norm(direction) == pytest.approx(1.0)
    twist = direction / np.repeat([1.0, length], 3)
    rates = dasgupta.joint_velocities(dasgupta.home, twist)
    assert np.linalg.norm(rates) == pytest.approx(
        conditioning.singular_values(dasgupta, dasgupta.home, length)[-1]
    )
    assert text.split()[0] in {"translation", "rotation"}
    largest = "xyz"[int(np.abs(direction).argmax()) % 3]
    assert text.endswith(largest)


def test_an_arm_cannot_move_along_its_weakest_direction(puma):
    stretched = np.zeros(6)
    direction, _ = weakest_direction(puma, stretched)
    assert np.abs(direction @ puma.jacobian(stretched)).max() < 1e-12


def test_path_three_is_singular_ahead(dasgupta, golden):
    outlook = look_ahead(dasgupta, rd.paper_path("III"))
    (time,) = outlook.singular_times
    assert time == pytest.approx(3.670504110, abs=1e-6)
    assert time == pytest.approx(golden["stewart_path_III_singular_time"], abs=1e-9)
    assert outlook.warn_times == (0.0,)
    assert outlook.error_times == (pytest.approx(3.095, abs=1e-3),)
    crossing = rd.paper_path("III").sample(outlook.error_times[0]).configuration
    assert dasgupta.condition_number(crossing) == pytest.approx(1000.0, rel=1e-6)
    assert outlook.severity == 2
    assert outlook.first_critical_time == outlook.error_times[0]
    assert outlook.text.startswith("singular at t = 3.6705 s (type 2: the legs cannot hold")


def test_path_one_is_sound(dasgupta):
    outlook = look_ahead(dasgupta, rd.paper_path("I"))
    assert (outlook.warn_times, outlook.error_times, outlook.singular_times) == ((), (), ())
    assert outlook.severity == 0
    assert outlook.first_critical_time == np.inf
    assert 34.6 < outlook.lowest < 34.7
    assert 47.1 < outlook.highest < 47.2
    assert outlook.text == "condition number between 34.69 and 47.19 (at t = 6.000 s)"


def test_a_threshold_on_the_way_is_a_warning_at_its_time(dasgupta):
    outlook = look_ahead(dasgupta, rd.paper_path("I"), warn=40.0)
    (time,) = outlook.warn_times
    pose = rd.paper_path("I").sample(time).configuration
    assert dasgupta.condition_number(pose) == pytest.approx(40.0, rel=1e-6)
    assert outlook.severity == 1
    assert look_ahead(dasgupta, rd.paper_path("I"), warn=1.0).warn_times == (0.0,)


def test_an_arm_is_looked_at_by_the_same_code(puma):
    q0, q1 = [0.3, 0.4, 0.5, 0.1, 0.6, 0.2], [0.3, 0.4, 0.5, 0.1, -0.6, 0.2]
    outlook = look_ahead(puma, rd.plan_joints(q0, q1, duration=1.0))
    np.testing.assert_allclose(outlook.singular_times, [0.5], atol=1e-9)  # the wrist is straight


def test_the_condition_number_of_a_singular_configuration_is_written_as_infinite():
    arm = rd.load("puma560")
    assert conditioning.condition_text(float(arm.condition_number(np.zeros(6)))) == "infinite"
    assert conditioning.condition_text(34.6912) == "34.69"
