# SPDX-License-Identifier: Apache-2.0

"""Closing loops along a path, many configurations at a time, and what is found of them all."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.algorithms import conditioning, motions
from robodyn.presentation import presentation
from robodyn.solvers.tree.closing import joint_motion

MODELS = ["fivebar", "delta", "hexapod_rotary"]
COUNT = 61


@pytest.fixture(scope="module", params=MODELS)
def mechanism(request):
    return rd.load(request.param)


def wave(mechanism, rng, size=0.15):
    """Smooth positions (COUNT, mobility) of the independent joints, from home's on."""
    t = np.linspace(0.0, 1.0, COUNT)[:, None]
    turns = rng.uniform(0.5, 1.5, mechanism.mobility)
    swing = size * rng.uniform(-1.0, 1.0, mechanism.mobility)
    return presentation.values_of(mechanism, mechanism.home) + swing * np.sin(
        2.0 * np.pi * turns * t
    )


def followed(mechanism, values, start):
    """Configurations (N, nq), each from the one before it by a call of its own."""
    found = [start]
    for expected in values:
        found.append(
            mechanism.advance(found[-1], expected - presentation.values_of(mechanism, found[-1]))
        )
    return np.array(found[1:])


def assert_closed(mechanism, configurations):
    for q in configurations:
        assert mechanism.structure.equations.relative_residual(q) <= 1e-11


def assert_same(mechanism, found, expected):
    """Sizes are of meters and radians, or of parts of a quaternion."""
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("size", [0.15, 0.5])
def test_a_path_is_closed_as_it_is_point_by_point(mechanism, rng, size):
    # of the longer swing the points lie too far apart to be closed together
    values = wave(mechanism, rng, size if mechanism.name == "fivebar" else 0.15)
    still = np.zeros_like(values)
    found = motions.motion_of_independent(mechanism, values, still, still).configuration
    assert_closed(mechanism, found)
    np.testing.assert_allclose(
        presentation.values_of(mechanism, found), values, rtol=0.0, atol=1e-13
    )
    assert_same(mechanism, found, followed(mechanism, values, mechanism.home))


def test_displacements_of_a_batch_are_those_of_single_configurations(mechanism, rng):
    starts = followed(mechanism, wave(mechanism, rng), mechanism.home)
    steps = rng.uniform(-0.05, 0.05, (COUNT, mechanism.mobility))
    steps[::7] = 0.0
    # some are gone in several pieces
    steps[::5, 0] = 0.12
    found = mechanism.advance(starts, steps)
    assert_closed(mechanism, found)
    single = [mechanism.advance(q, step) for q, step in zip(starts, steps, strict=True)]
    assert_same(mechanism, found, np.array(single))
    np.testing.assert_allclose(mechanism.difference(starts, found), steps, rtol=0.0, atol=1e-13)


def test_determinants_of_a_batch_are_those_of_single_configurations(mechanism, rng):
    q = followed(mechanism, wave(mechanism, rng), mechanism.home)
    single = np.array([float(conditioning.determinant(mechanism, each)) for each in q])
    np.testing.assert_allclose(conditioning.determinant(mechanism, q), single, rtol=1e-8)
    assert (np.sign(single) == np.sign(single[0])).all()


def test_driven_joints_move_as_the_joints_of_the_tree_do(mechanism, rng):
    q = followed(mechanism, wave(mechanism, rng)[:9], mechanism.home)
    u, change = rng.normal(size=(2, 9, mechanism.mobility))
    found = motions.driven_motion(mechanism, q, u, change)
    rates, changes = joint_motion(mechanism, q, u, change)
    at = [mechanism.structure.rate_names.index(name) for name in mechanism.joint_names]
    np.testing.assert_allclose(found.velocities, rates[:, at], atol=1e-12)
    np.testing.assert_allclose(found.accelerations, changes[:, at], atol=1e-12)
    np.testing.assert_array_equal(found.positions, mechanism.joint_positions(q))
