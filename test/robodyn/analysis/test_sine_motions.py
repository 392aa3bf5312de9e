# SPDX-License-Identifier: Apache-2.0

"""Capability of drives: the largest sines are followed, larger ones are not."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

import robodyn as rd
from robodyn.algorithms import motions
from robodyn.analysis import AXES, FREQUENCIES, sine_motions
from robodyn.poses import advance_pose
from robodyn.solvers.tree.closing import global_search


def strain(m, axis, amplitude, frequency):
    """Largest share of range, rate and effort that a sine of the body takes, at 200 instants.

    By the poses' own configurations, rates from differences of these.
    """
    times = np.linspace(0.0, 1.0 / frequency, 201)
    step = np.eye(6)[AXES.index(axis)] * amplitude
    phase = 2.0 * np.pi * frequency * times[:, None]
    q, here = [], m.home
    for s in np.sin(phase):
        here = m.configuration_at(advance_pose(m.body_pose(m.home), s * step), here)
        q.append(here)
    q, dt = np.array(q), times[1]
    moved = np.array([m.difference(a, b) for a, b in itertools.pairwise(q)])
    velocity, change = (moved[1:] + moved[:-1]) / (2.0 * dt), np.diff(moved, axis=0)
    positions, rates, _ = motions.driven_motion(m, q[1:-1], velocity, change / dt**2)
    efforts = np.abs(m.inverse_dynamics(q[1:-1], velocity, change / dt**2))
    lower, upper = m.position_limits.T
    fractions = (
        np.abs(2.0 * positions - lower - upper) / (upper - lower),
        np.abs(rates) / m.velocity_limits,
        efforts / m.drives.effort_limits_at(rates),
    )
    return max(each.max() for each in fractions)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["motion_platform", "delta"])
def test_the_largest_sine_uses_a_limit_up(name):
    m = rd.load(name)
    rows = sine_motions(m)
    assert [row["axis"] for row in rows] == list(AXES[: len(rows)])
    assert len(rows) == m.coordinates.velocity_size if name != "delta" else 3
    for row in rows[::2]:
        for frequency, amplitude in list(zip(FREQUENCIES, row["amplitudes"], strict=True))[2:]:
            assert strain(m, row["axis"], amplitude, frequency) == pytest.approx(1.0, abs=0.02)


@pytest.mark.slow
def test_amplitudes_are_those_of_the_body():
    """The body of a machine with cranks goes less far than its motion at home suggests."""
    m = rd.load("hexapod_rotary")
    for row in sine_motions(m):
        axis, amplitude = AXES.index(row["axis"]), row["amplitudes"][0]
        for sense in (1.0, -1.0):
            here = m.home
            for fraction in np.linspace(0.0, 1.0, 20):
                moved = 0.999 * sense * fraction * amplitude * np.eye(6)[axis]
                here = m.configuration_at(advance_pose(m.body_pose(m.home), moved), here)
                assert m.drives.within_position_limits(m.joint_positions(here)).all()
        assert amplitude < (0.07 if axis < 3 else 0.65)


@pytest.mark.slow
def test_long_strokes_take_no_search(monkeypatch):
    """Sines that lead out of reach fail where they do, and no starts far away are tried."""
    searches = []
    monkeypatch.setattr(
        global_search.GlobalAssemblySearch, "near", lambda *given, **more: searches.append(given)
    )
    rows = sine_motions(rd.load("hexapod_rotary"))
    assert len(rows) == 6
    assert not searches


@pytest.mark.slow
def test_a_motor_that_is_weak_at_speed_follows_less():
    m = rd.load("motion_platform")

    def amplitudes(curve):
        drives = [replace(actuator, torque_speed=curve) for actuator in m.actuators]
        made = m._made(m.model.driven_by(dict(zip(m.joint_names, drives, strict=True))))
        return np.array(sine_motions(made)[2]["amplitudes"])

    less, more = amplitudes(((0.0, 29.4), (250.0, 2.0))), amplitudes(None)
    assert (less <= more).all()
    assert less[2] < 0.9 * more[2]


@pytest.mark.slow
def test_the_data_sheet_ends_where_a_limit_is_reached_alone_and_beside_another_axis():
    m = rd.load("motion_platform")
    lower, upper = m.position_limits.T
    rows, home = sine_motions(m), m.body_pose(m.home)

    def stroke(*moves):
        moved = sum(np.eye(6)[axis] * size for axis, size in moves)
        lengths = m.joint_positions(advance_pose(home, moved))
        return np.abs((2.0 * lengths - lower - upper) / (upper - lower)).max()

    rest, efforts = np.zeros(6), m.drives.effort_limits_at(np.zeros(6))

    def speed(*moves):
        twist = sum(np.eye(6)[axis] * size for axis, size in moves)
        return (np.abs(m.joint_velocities(m.home, twist)) / m.velocity_limits).max()

    for i, row in enumerate(rows):
        for sense, end in enumerate(row["excursion"]):
            assert stroke((i, end)) == pytest.approx(1.0, abs=1e-5)
            beside = row["beside"]["excursion"][sense]
            worst = [
                stroke((i, beside), (j, 0.5 * half))
                for j, other in enumerate(rows) if j != i for half in other["excursion"]
            ]  # fmt: skip
            assert max(worst) == pytest.approx(1.0, abs=5e-3)
            assert max(worst) < 1.0 + 1e-9
        assert speed((i, row["velocity"])) == pytest.approx(1.0, rel=1e-9)
        worst = [
            speed((i, row["beside"]["velocity"]), (j, sign * 0.5 * other["velocity"]))
            for j, other in enumerate(rows) if j != i for sign in (1.0, -1.0)
        ]  # fmt: skip
        assert max(worst) == pytest.approx(1.0, rel=1e-9)
        used = [
            np.abs(m.inverse_dynamics(m.home, rest, sign * row["acceleration"] * np.eye(6)[i]))
            for sign in (1.0, -1.0)
        ]
        assert (used / efforts).max() == pytest.approx(1.0, rel=1e-3)
        assert (used / efforts).max() < 1.0 + 1e-9
