# SPDX-License-Identifier: Apache-2.0

"""States of closed loops from rounded readings of their motors, against the motion they are of."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import robodyn as rd
from robodyn.algorithms import Encoders, state_estimator
from robodyn.errors import InvalidInput, NoSolution, UnderActuated
from robodyn.poses import pose_difference
from robodyn.presentation import presentation
from robodyn.solvers.tree.estimation import LoopEstimator

REDUNDANT = Path(__file__).parents[3] / "reference" / "closed_loops" / "redundant_3rrr.urdf"
STEP = 10_000_000  # [ns]
ENCODERS = Encoders(angle=1e-4, angular_rate=1e-3)


def flight(mechanism, count=100):
    """Stamps, the motion, and what its encoders read."""
    path = rd.load_path(presentation.default_path(mechanism) or "demo", mechanism)
    motion = path.sample(0.31 + 1e-9 * STEP * np.arange(count))
    positions = mechanism.joint_positions(motion.configuration)
    rates = mechanism.joint_velocities(motion.configuration, motion.velocity)
    stamps = (10**9 + STEP * np.arange(count)).tolist()
    return (
        stamps,
        motion,
        np.round(positions / ENCODERS.angle) * ENCODERS.angle,
        np.round(rates / ENCODERS.angular_rate) * ENCODERS.angular_rate,
    )


def load(name):
    if name == "redundant_3rrr":
        return rd.load(REDUNDANT)
    return rd.load(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["delta", "fivebar", "hexapod_rotary", "redundant_3rrr"])
def test_errors_are_as_large_as_the_covariances_say(name):
    """Squared errors, each in units of its variance, are on average as many as the freedoms."""
    mechanism = load(name)
    stamps, (q, u, _), positions, rates = flight(mechanism)
    estimator = LoopEstimator(mechanism, q[0], ENCODERS)
    squares = []
    for k, stamp in enumerate(stamps):
        found = estimator.update(stamp, positions[k], rates[k])
        assert mechanism.structure.equations.relative_residual(found.configuration) < 1e-11
        displacement = pose_difference(mechanism.body_pose(q[k]), found.pose)
        change = found.twist - mechanism.jacobian(q[k]) @ u[k]
        squares.append(
            [
                error @ np.linalg.pinv(covariance, rcond=1e-8) @ error
                for error, covariance in (
                    (displacement, found.pose_covariance),
                    (change, found.twist_covariance),
                )
            ]
        )
    assert estimator.counts.accepted == len(stamps)
    assert estimator.counts.acquisitions == 1
    place, motion = np.mean(squares, axis=0) / mechanism.mobility
    assert 0.4 < place < 1.8
    assert 0.4 < motion < 1.8


@pytest.mark.parametrize("name", ["hexapod_rotary", "redundant_3rrr"])
def test_how_errors_of_positions_reach_the_twist_is_the_derivative_of_it(name, rng):
    """The twist at given driven rates, in a configuration a little aside: central differences."""
    mechanism = load(name)
    nu, step = mechanism.mobility, 1e-6
    q, u = mechanism.home, rng.normal(size=nu)
    of_rates, of_twist = LoopEstimator(mechanism)._sensitivities(q, u, mechanism.jacobian(q))
    for map_, found in ((mechanism.jacobian, of_twist), (mechanism.joint_jacobian, of_rates)):
        aside = [
            [map_(mechanism.advance(q, side * step * unit)) @ u for side in (1.0, -1.0)]
            for unit in np.eye(nu)
        ]
        expected = np.array([(ahead - backward) / (2.0 * step) for ahead, backward in aside]).T
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-7 * mechanism.size)


def test_without_rates_the_twist_is_the_change_of_the_readings():
    mechanism = rd.load("delta")
    stamps, (q, u, _), _, _ = flight(mechanism)
    estimator = LoopEstimator(mechanism, encoders=ENCODERS)
    exact = mechanism.joint_positions(q)
    assert (estimator.update(stamps[0], exact[0]).twist == 0.0).all()
    twists = np.array([estimator.update(stamps[k], exact[k]).twist for k in range(1, 100)])
    expected = np.einsum("kij,kj->ki", mechanism.jacobian(q), u)
    # of first order: that of half a step before
    middle = 0.5 * (expected[1:] + expected[:-1])
    assert np.abs(twists - middle).max() < 0.02 * np.abs(expected).max()


def test_a_jump_is_seen_and_the_state_is_found_from_home():
    mechanism = rd.load("delta")
    stamps, _, positions, rates = flight(mechanism, 4)
    estimator = LoopEstimator(mechanism, encoders=ENCODERS)
    estimator.update(stamps[0], positions[0], rates[0])
    moved = positions[0] + [0.3, -0.1, 0.2]
    found = estimator.update(stamps[1], moved, 0.0 * rates[1])
    assert found.acquired
    assert estimator.counts.jumps == 1
    np.testing.assert_allclose(mechanism.joint_positions(found.configuration), moved, atol=1e-12)
    assert not estimator.update(stamps[2], moved, 0.0 * rates[2]).acquired


def test_readings_that_no_assembly_has_name_the_closure_that_stays_open():
    mechanism = rd.load("delta")
    stamps, (q, _, _), positions, rates = flight(mechanism, 3)
    estimator = LoopEstimator(mechanism, encoders=ENCODERS)
    estimator.update(stamps[0], positions[0], rates[0])
    with pytest.raises(NoSolution, match=r"'rod[123][ab]_tip' stays open by .* m"):
        estimator.update(stamps[1], [3.1, 0.0, 0.0], rates[1])  # out of the rods' reach
    assert estimator.last is None
    assert estimator.counts.failures == 1
    found = estimator.update(stamps[2], positions[2], rates[2])
    assert found.acquired
    assert np.abs(pose_difference(mechanism.body_pose(q[2]), found.pose)).max() < 1e-3


def test_redundant_readings_that_contradict_each_other_are_reported():
    mechanism = load("redundant_3rrr")
    reading = mechanism.joint_positions(mechanism.home)
    estimator = LoopEstimator(mechanism, encoders=Encoders(angular_jump=0.05))
    reading[-1] += 0.3
    with pytest.raises(NoSolution, match="contradict each other"):
        estimator.update(1, reading)
    rounded = mechanism.joint_positions(mechanism.home) + 1e-5 * np.array([1, -1, 1, -1])
    assert estimator.update(2, rounded).acquired


@pytest.mark.slow
def test_a_motor_without_end_may_count_its_turns_from_anywhere():
    bounded = rd.load("hexapod_rotary")
    joints = [
        replace(joint, kind="continuous", position=(-np.inf, np.inf))
        if joint.name == "servo2"
        else joint
        for joint in bounded.model.joints
    ]
    mechanism = rd.ClosedLoop(replace(bounded.model, joints=tuple(joints)))
    estimator = LoopEstimator(mechanism)
    reading = mechanism.joint_positions(mechanism.home)
    for stamp, turns in enumerate((0.0, 1.0, -1.0), start=1):
        turned = reading + 2.0 * np.pi * turns * (np.arange(6) == 1)
        found = estimator.update(stamp * STEP, turned, np.zeros(6))
        np.testing.assert_allclose(found.configuration, mechanism.home, atol=1e-11)
    assert estimator.counts.jumps == 0


def test_freedoms_that_the_motors_do_not_determine_are_refused_by_name():
    whole = rd.load("fivebar")
    lacking = rd.ClosedLoop(replace(whole.model, driven=whole.joint_names[:1]))
    with pytest.raises(UnderActuated, match=r"fivebar: .*right_motor.* move; measure more joints"):
        LoopEstimator(lacking)
    for bad in ({"angle": 0.0}, {"angular_jump": np.nan}):
        with pytest.raises(InvalidInput, match="encoders"):
            LoopEstimator(whole, encoders=Encoders(**bad))


def test_the_search_may_begin_at_a_pose_of_the_tip():
    mechanism = rd.load("delta")
    away = mechanism.advance(mechanism.home, [0.3, 0.1, -0.2])
    estimator = state_estimator(mechanism, mechanism.body_pose(away), ENCODERS)
    found = estimator.update(1, mechanism.joint_positions(away), np.zeros(3))
    np.testing.assert_allclose(found.configuration, away, atol=1e-9)
