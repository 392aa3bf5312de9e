# SPDX-License-Identifier: Apache-2.0

"""Motions along one coordinate whose fastest speeds a formula knows, and rows of their limits."""

import numpy as np
import pytest
from scipy.optimize import linprog

from robodyn.planning.kernels import (
    Intervals,
    can_rest,
    limit_at,
    linear_rows,
    maximize_first,
    peaks,
)
from robodyn.planning.time_optimal import reachable_motion

COUNT = 40


def line(terms=(1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0), upper=2.0, lower=-2.0, cap=1e6, curve=()):
    """Intervals of a path from 0 to 1 with one limited quantity, the same everywhere."""
    speeds, efforts = (np.array([part]) for part in (curve or ([0.0], [0.0])))
    return Intervals(
        np.full(COUNT, 1.0 / COUNT),
        np.tile(np.array(terms), (COUNT, 3, 1, 1)),
        np.full((COUNT, 1), upper),
        np.full((COUNT, 1), lower),
        np.full((COUNT, 3), np.inf),
        np.full(COUNT + 1, cap),
        speeds,
        efforts,
        np.array([len(speeds[0]) if curve else 0]),
        bool(terms[2] or terms[4] or curve),
    )


S = np.linspace(0.0, 1.0, COUNT + 1)


@pytest.mark.parametrize("limit", [0.5, 2.0])
@pytest.mark.parametrize("mass", [1.0, 3.0])
def test_a_mass_is_pushed_halfway_and_braked_halfway(limit, mass):
    """v^2 = 2 a s, a = F / m, until the middle: the textbook's bang-bang motion."""
    x = reachable_motion(line((mass, 0, 0, 0, 0, 0, 1.0), limit, -limit), (0.0, 0.0))
    np.testing.assert_allclose(x, 2.0 * limit / mass * np.minimum(S, 1.0 - S), atol=1e-9)


def test_a_mass_on_a_slope_is_slower_uphill():
    """The weight along the slope is a constant D: acceleration (F - D) / m, braking (F + D) / m."""
    x = reachable_motion(line((1.0, 0, 0, 0.5, 0, 0, 1.0)), (0.0, 0.0))
    np.testing.assert_allclose(x, 2.0 * np.minimum(1.5 * S, 2.5 * (1.0 - S)), atol=0.03)
    assert np.abs(x - 2.0 * np.minimum(1.5 * S, 2.5 * (1.0 - S))).max() < 2.5 / COUNT


def test_a_speed_limit_is_kept_between_the_pushes():
    x = reachable_motion(line(cap=0.3), (0.0, 0.0))
    np.testing.assert_allclose(x, np.minimum(4.0 * np.minimum(S, 1.0 - S), 0.3), atol=1e-9)


@pytest.mark.parametrize("ends", [(0.2, 0.0), (0.0, 0.3), (0.5, 0.1)])
def test_given_speeds_at_the_ends(ends):
    """From x0 as fast as possible, and so that x1 can still be reached."""
    first, last = (end**2 for end in ends)
    x = reachable_motion(line(), (first, last))
    expected = np.minimum(first + 4.0 * S, last + 4.0 * (1.0 - S))
    tolerance = 4.0 / COUNT  # the switch lies within an interval
    np.testing.assert_allclose(x, expected, atol=tolerance)
    assert (x <= expected + 1e-9).all()
    assert (x[0], x[-1]) == (pytest.approx(first), pytest.approx(last))


def test_a_centrifugal_term_bounds_the_speed():
    """A light body on a bend: x can be at most limit / B, which it soon reaches."""
    x = reachable_motion(line((1e-4, 8.0, 0, 0, 0, 0, 1.0)), (0.0, 0.0))
    np.testing.assert_allclose(x[2:-2], 0.25, atol=1e-6)


def test_viscous_friction_slows_as_its_equation_says():
    """Of dx/ds = 2 (F - c sqrt(x)) / m, a numerical solution, in the first third of the way.

    Friction slows the start and helps to brake at the end.
    """
    friction = 1.5
    x = reachable_motion(line((1.0, 0, friction, 0, 0, 0, 1.0)), (0.0, 0.0))
    exact, step = [0.0], 1e-5
    for _ in range(round(1.0 / step / 3)):
        middle = exact[-1] + step * (2.0 - friction * np.sqrt(exact[-1]))
        exact.append(exact[-1] + 2.0 * step * (2.0 - friction * np.sqrt(middle)))
    here = S <= 1.0 / 3.0
    expected = np.interp(S[here], step * np.arange(len(exact)), exact)
    np.testing.assert_allclose(x[here], expected, atol=0.02)
    assert (x[1:5] < 4.0 * S[1:5]).all()
    assert (x[-5:-1] > 4.0 * (1.0 - S[-5:-1])).all()


def test_a_motor_that_weakens_reaches_no_more_than_its_curve_allows():
    """Torque falls from 2 at speed 0.2 to 0 at 0.6: no speed beyond 0.6 is reached."""
    curve = [0.0, 0.2, 0.6], [2.0, 2.0, 0.0]
    x = reachable_motion(line(curve=curve), (0.0, 0.0))
    assert x.max() < 0.6**2 + 1e-9
    early = (x < 0.2**2)[1 : COUNT // 2]
    np.testing.assert_allclose(x[1 : COUNT // 2][early], 4.0 * S[1 : COUNT // 2][early], rtol=1e-6)


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.2, 0.35, 0.6, 2.0])
def test_a_curve_of_torques_is_interpolated(rate):
    speeds, efforts = np.array([0.0, 0.2, 0.6]), np.array([2.0, 1.5, 0.0])
    value, slope = limit_at(speeds, efforts, 3, rate)
    assert value == pytest.approx(np.interp(rate, speeds, efforts))
    if 0.0 < rate < 0.6 and rate != 0.2:
        h = 1e-6
        ends = np.interp([rate - h, rate + h], speeds, efforts)
        assert slope == pytest.approx((ends[1] - ends[0]) / (2.0 * h))


@pytest.mark.parametrize(("weight", "holds"), [(1.9, True), (2.1, False), (-2.1, False)])
def test_a_place_that_efforts_cannot_hold_is_no_rest(weight, holds):
    assert can_rest(line((1.0, 0, 0, weight, 0, 0, 1.0)), 0) == holds


def test_rows_are_the_limits_in_the_squares_of_speeds(rng):
    """Whether rows are kept is whether both limits are, at both ends and in the middle."""
    rows = np.empty((7, 3))
    seen = set()
    for _ in range(50):
        terms = (*rng.normal(size=2), 0.0, rng.normal(), 0.0, 0.0, 1.0)
        problem = line(terms, upper=1.5, lower=-1.0)
        count = linear_rows(problem, 0, 1.0, 1.0, rows)
        assert count == 6
        np.testing.assert_allclose(np.hypot(rows[:6, 0], rows[:6, 1]), 1.0)
        for y, z in rng.uniform(0.0, 1.0, (20, 2)):
            x = np.array([y, 0.5 * (y + z), z])
            quantity = terms[0] * (z - y) * COUNT / 2.0 + terms[1] * x + terms[3]
            kept = bool(((quantity <= 1.5) & (quantity >= -1.0)).all())
            assert kept == bool((rows[:6, 0] * y + rows[:6, 1] * z <= rows[:6, 2]).all())
            seen.add(kept)
    assert seen == {True, False}


def test_programs_of_two_unknowns_are_solved_as_scipy_solves_them(rng):
    found_all = []
    for _ in range(60):
        angle = rng.uniform(0.0, 2.0 * np.pi, 5)
        rows = np.stack([np.cos(angle), np.sin(angle), rng.uniform(-0.3, 1.0, 5)], axis=1)
        found, y, z = maximize_first(rows, 5, 0.0, 1.0, 0.0, 1.0)
        best = linprog([-1.0, 0.0], A_ub=rows[:, :2], b_ub=rows[:, 2], bounds=[(0, 1), (0, 1)])
        assert found == (best.status == 0)
        found_all.append(found)
        if found:
            assert y == pytest.approx(-best.fun, abs=1e-8)
            assert (rows[:, :2] @ [y, z] <= rows[:, 2] + 1e-8).all()
    assert set(found_all) == {True, False}


def test_peaks_of_parabolas_between_samples_are_found(rng):
    """Of c - a (t - p)^2 sampled at five places, the top; of a rising line, its end."""
    places = np.array([0.0, 0.2, 0.5, 0.7, 1.0])
    tops, at = rng.normal(size=4), rng.uniform(0.25, 0.75, 4)
    curves = tops - rng.uniform(1.0, 9.0, 4) * (places[:, None] - at) ** 2
    values = np.stack([curves, np.tile(places[:, None], (1, 4))])
    out = np.empty((2, 4))
    peaks(values, places, out)
    np.testing.assert_allclose(out, [tops, np.ones(4)], atol=1e-12)
