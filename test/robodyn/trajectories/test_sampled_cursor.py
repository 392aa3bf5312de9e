# SPDX-License-Identifier: Apache-2.0

"""One time after another, as states come: the same as many at once, to the last bit."""

import math

import numpy as np
import pytest

import robodyn as rd
from robodyn.errors import InvalidInput
from robodyn.trajectories import Motion, SampledTrajectory, knot_times


@pytest.fixture(params=["platform", "arm"])
def knots(request, dasgupta, puma):
    """A motion that turns as well as moves, its first knot later than 0."""
    if request.param == "platform":
        mechanism, path = dasgupta, rd.paper_path("II")
    else:
        mechanism, path = puma, rd.plan_joints(puma.home, puma.home + 0.7, duration=3.0)
    times = knot_times(path.duration, path.switching_times, 0.07)[1:]
    return SampledTrajectory(mechanism, times, path.sample(times))


def times_of(knots, rng):
    """Forwards in small steps, at random, at knots and beside them, before and after the end."""
    at = rng.choice(knots.times, 5)
    return np.concatenate(
        [
            np.arange(0.0, knots.duration, 0.011),
            rng.uniform(-1.0, knots.duration + 1.0, 100),
            at,
            np.nextafter(at, -np.inf),
            np.nextafter(at, np.inf),
            [knots.times[0], knots.duration, 1e300, -1e300],
        ]
    )


def test_each_time_alone_has_the_answer_of_all_together(knots, rng):
    times = times_of(knots, rng)
    together = knots.sample(times)
    for index, t in enumerate(times.tolist()):
        for name, alone, row in zip(Motion._fields, knots.sample(t), together, strict=True):
            np.testing.assert_array_equal(alone, row[index], err_msg=f"{name} at {t!r}")


def test_an_answer_is_the_callers_own(knots, rng):
    for t in (0.0, knots.times[3], 1.23456, knots.duration + 1.0):
        before = Motion(*(values.copy() for values in knots.sample(float(t))))
        for values in knots.sample(float(t)):
            values += 1.0
        for found, expected in zip(knots.sample(float(t)), before, strict=True):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("t", [math.nan, math.inf, -math.inf])
def test_a_time_that_is_none_is_refused(knots, t):
    knots.sample(0.5)
    with pytest.raises(InvalidInput, match="t is"):
        knots.sample(t)


def test_knots_too_far_apart_for_numbers_are_refused_alone_as_together(dasgupta):
    """The cubic between them overflows; neither way hands out what is not finite."""
    home, rest = dasgupta.home, np.zeros((2, 6))
    far = np.stack([home, home])
    far[:, 0] = [-1e308, 1e308]
    with np.errstate(over="ignore", invalid="ignore"):
        knots = SampledTrajectory(dasgupta, [0.0, 1.0], Motion(far, rest, rest))
        for t in (0.25, [0.25]):
            with pytest.raises(InvalidInput, match="displacement"):
                knots.sample(t)
