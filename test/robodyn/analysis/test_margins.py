# SPDX-License-Identifier: Apache-2.0

"""Margins: each quantity against its limit, the first violation, limits that are not there."""

from types import SimpleNamespace

import numpy as np
import pytest

import robodyn as rd
from robodyn.actuators import IDEAL
from robodyn.algorithms import Drives
from robodyn.analysis import margin_lines, margins
from robodyn.model import Joint


@pytest.fixture(scope="module")
def base():
    return rd.load("stewart_symmetric")


def histories(mechanism, count=5):
    n = len(mechanism.joint_names)
    q = np.tile(mechanism.joint_positions(mechanism.home), (count, 1))
    return (
        np.arange(count) * 0.1,
        q,
        np.zeros((count, n)),
        np.zeros((count, n)),
        np.full(count, 3.0),
    )


def row_of(found, joint, quantity):
    return next(row for row in found.rows if (row.joint, row.quantity) == (joint, quantity))


def test_each_limit_is_used_by_its_own_share(base):
    time, q, v, f, number = histories(base)
    v[2, 1], f[3, 4] = -0.5 * base.velocity_limits[1], 0.8 * base.effort_limits[4]
    found = margins(base, time, q, v, f, number, 10.0)
    rate, effort = (
        row_of(found, base.joint_names[j], k) for j, k in ((1, "velocity"), (4, "effort"))
    )
    assert (rate.used, rate.time) == (pytest.approx(0.5), pytest.approx(0.2))
    assert (effort.used, effort.time) == (pytest.approx(0.8), pytest.approx(0.3))
    assert row_of(found, "", "condition number").used == pytest.approx(0.3)
    assert found.hold
    assert found.tightest == effort


def test_the_first_violation_in_time_is_reported_not_the_worst(base):
    time, q, v, f, number = histories(base)
    v[4, 0] = 9.0 * base.velocity_limits[0]
    q[1, 3] = base.position_limits[3, 1] + 1e-3
    found = margins(base, time, q, v, f, number)
    row, when = found.first
    assert (row.joint, row.quantity, when) == (base.joint_names[3], "position", pytest.approx(0.1))
    assert not found.hold
    assert row_of(found, base.joint_names[0], "velocity").is_exceeded


def test_a_motion_along_a_limit_keeps_to_it(base):
    time, q, v, f, number = histories(base)
    q[:, 2] = base.position_limits[2, 0]
    assert margins(base, time, q, v, f, number).hold


def test_efforts_that_do_not_exist_break_the_limit(base):
    time, q, v, f, number = histories(base)
    f[2, 5] = np.nan
    row, when = margins(base, time, q, v, f, number).first
    assert (row.joint, row.quantity, when) == (base.joint_names[5], "effort", pytest.approx(0.2))


def test_power_is_effort_times_rate_and_has_no_limit(base):
    time, q, v, f, number = histories(base)
    v[1, 0], f[1, 0] = 0.1, -300.0
    power = row_of(margins(base, time, q, v, f, number), base.joint_names[0], "power")
    assert power.lowest == pytest.approx(-30.0)
    assert power.time == pytest.approx(0.1)
    assert np.isnan(power.used)


def test_without_limits_nothing_is_broken():
    class Free:
        """A mechanism that states no limits."""

        joint_names = ("a", "b")
        model = SimpleNamespace(driven_joints=[Joint(name, "revolute", "", "") for name in "ab"])
        velocity_limits = effort_limits = np.full(2, np.inf)
        position_limits = np.tile([-np.inf, np.inf], (2, 1))
        actuators = IDEAL, IDEAL

        @property
        def drives(self):
            return Drives(self)

        def effort_limits_at(self, rates):
            return np.full(np.shape(rates), np.inf)

    values = np.full((3, 2), 1e9)
    found = margins(Free(), np.arange(3.0), values, values, values, np.full(3, np.inf))
    assert found.hold
    assert found.tightest is None
    assert all(item["used"] is None for item in found.to_list())


def test_histories_of_other_shapes_are_refused(base):
    time, q, v, f, number = histories(base)
    with pytest.raises(rd.InvalidInput, match="velocities has shape"):
        margins(base, time, q, v[:, :5], f, number)


def test_an_effort_is_said_to_be_cut_only_where_it_was(base):
    """Other shares without a number: a missing value, a motor beyond its highest speed."""
    time, q, v, f, number = histories(base)
    f[3, 4] = np.nan
    missing = row_of(margins(base, time, q, v, f, number), base.joint_names[4], "effort")
    assert not missing.cut
    f[3, 4] = base.effort_limits[4]
    at_it = row_of(margins(base, time, q, v, f, number, cut=True), base.joint_names[4], "effort")
    assert at_it.cut
    fast = rd.Actuator(lead=0.005, torque_speed=((0.0, 3.0), (1000.0, 2.0), (2000.0, 0.0)))
    model = base.model.driven_by(dict.fromkeys(base.model.driven, fast))
    curve = rd.StewartPlatform(model)
    f[3, 4], v[3, 4] = 500.0, 1.7  # 2136 rad/s at the motor
    found = margins(curve, time, q, v, f, number)
    beyond = row_of(found, base.joint_names[4], "effort")
    assert (beyond.lower, beyond.upper, beyond.is_exceeded, beyond.cut) == (0.0, 0.0, True, False)
    lines = " ".join(margin_lines(found.to_dict()))
    assert "cut" not in lines
    assert "highest speed" in lines
