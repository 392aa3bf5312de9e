# SPDX-License-Identifier: Apache-2.0

"""Replacing a motion by another: no jump at the start, the new motion itself at the end."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.errors import InvalidInput
from robodyn.trajectories import Handover, Motion, plan_line_rpy


def rest_at(mechanism, configuration):
    still = mechanism.difference(configuration, configuration)
    return Motion(np.asarray(configuration), still, still)


def a_platform_case(mechanism, rng):
    far = rng.normal(scale=[0.1, 0.1, 0.1, 0.8, 0.8, 0.8])
    old = Motion(mechanism.advance(mechanism.home, far), *rng.normal(size=(2, 6)))
    xyz, rpy = rng.normal(size=(2, 2, 3))
    return old, plan_line_rpy(xyz, rpy, 1.5, profile="quintic")


def an_arm_case(mechanism, rng):
    q = rng.normal(size=(5, 6))
    return Motion(*q[:3]), rd.plan_joints(q[3], q[4], 1.5, profile="quintic")


@pytest.fixture(params=["platform", "arm"])
def case(request, dasgupta, puma, rng):
    if request.param == "platform":
        return dasgupta, *a_platform_case(dasgupta, rng)
    return puma, *an_arm_case(puma, rng)


def assert_same(mechanism, found, expected, atol):
    error = mechanism.difference(expected.configuration, found.configuration)
    np.testing.assert_allclose(error, 0.0, atol=atol)
    np.testing.assert_allclose(found.velocity, expected.velocity, atol=atol)
    np.testing.assert_allclose(found.acceleration, expected.acceleration, atol=10 * atol)


def test_handover_begins_in_the_old_state(case):
    mechanism, old, new = case
    assert_same(mechanism, Handover(mechanism, old, new, 0.5).sample(0.0), old, 1e-11)


def test_handover_in_mid_motion_begins_in_the_old_state(dasgupta, rng):
    # where the new motion turns, and accelerates at once, the composition has all of its terms
    path, turning = rd.paper_path("II"), plan_line_rpy(*rng.normal(size=(2, 2, 3)), 1.0)

    class Later:
        duration, switching_times = 0.6, ()

        def sample(self, t):
            return turning.sample(np.asarray(t) + 0.1)

    old = path.sample(0.05)
    assert_same(dasgupta, Handover(dasgupta, old, Later(), 0.3).sample(0.0), old, 1e-11)


def test_handover_rates_are_the_derivatives_of_its_configurations(case, rng):
    mechanism, old, new = case
    handover, h = Handover(mechanism, old, new, 0.7), 1e-4
    for t in rng.uniform(h, 0.7 - h, 5):
        before, here, after = (handover.sample(t + dt) for dt in (-h, 0.0, h))
        rate = mechanism.difference(before.configuration, after.configuration) / (2 * h)
        scale = 1.0 + np.abs(here.acceleration).max()
        np.testing.assert_allclose(here.velocity, rate, atol=2e-5 * scale)
        change = (after.velocity - before.velocity) / (2 * h)
        np.testing.assert_allclose(here.acceleration, change, atol=1e-4 * scale)


def test_handover_equals_the_new_motion_bit_for_bit_after_the_blend(case):
    mechanism, old, new = case
    handover = Handover(mechanism, old, new, 0.5)
    t = np.array([0.5, 0.6, 1.2, 1.5, 9.0])
    for found, expected in zip(handover.sample(t), new.sample(t), strict=True):
        np.testing.assert_array_equal(found, expected)
    almost = np.nextafter(0.5, 0.0)
    assert_same(mechanism, handover.sample(almost), new.sample(0.5), 1e-10)


def test_without_a_difference_it_is_the_new_motion_to_the_last_bit(dasgupta, puma):
    for mechanism, new in (
        (dasgupta, rd.paper_path("I")),
        (puma, rd.plan_joints([0] * 6, [1] * 6, 1)),
    ):
        handover = Handover(mechanism, new.sample(0.0), new, 0.5)
        t = np.linspace(0.0, 1.0, 33)
        for found, expected in zip(handover.sample(t), new.sample(t), strict=True):
            np.testing.assert_array_equal(found, expected)


def test_a_blend_longer_than_the_motion_goes_on_after_its_end(dasgupta):
    old, new = rest_at(dasgupta, dasgupta.home), rd.paper_path("II")
    handover = Handover(dasgupta, old, new, 2.0)
    assert handover.duration == 2.0
    assert handover.switching_times == (*new.switching_times, 0.6)
    end = new.sample(0.6).configuration
    assert np.abs(dasgupta.difference(end, handover.sample(1.0).configuration)).max() > 1e-3
    np.testing.assert_array_equal(handover.sample(2.0).configuration, end)


def test_before_it_begins_it_rests(case):
    mechanism, old, new = case
    motion = Handover(mechanism, old, new, 0.5).sample([[-1.0]])
    assert motion.velocity.shape == (1, 1, 6)
    assert_same(mechanism, Motion(*(v[0, 0] for v in motion)), rest_at(mechanism, old[0]), 1e-14)


def test_half_a_turn_is_no_obstacle(dasgupta, rng):
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    new = plan_line_rpy(np.zeros((2, 3)), np.zeros((2, 3)), 1.0)
    goal = new.sample(0.0).configuration
    old = rest_at(dasgupta, dasgupta.advance(goal, [0, 0, 0, *(3.14 * axis)]))
    t = np.linspace(0.0, 0.5, 200)
    turns = dasgupta.difference(goal, Handover(dasgupta, old, new, 0.5).sample(t)[0])
    angle = np.linalg.norm(turns[:, 3:], axis=1)
    assert (np.diff(angle) <= 1e-12).all()  # straight back, never beyond


@pytest.mark.parametrize("blend", [0.0, -1.0, np.nan])
def test_a_blend_takes_time(dasgupta, blend):
    with pytest.raises(InvalidInput, match="blend is"):
        Handover(dasgupta, rest_at(dasgupta, dasgupta.home), rd.paper_path("I"), blend)


def test_a_motion_of_another_kind_is_refused(dasgupta, puma):
    with pytest.raises(InvalidInput, match=r"old.configuration has shape \(6,\), expected"):
        Handover(dasgupta, rest_at(puma, np.zeros(6)), rd.paper_path("I"), 0.5)
