# SPDX-License-Identifier: Apache-2.0

"""Predictive cueing lets more be perceived than the washout; its model is the platform's."""

import numpy as np
import pytest
from scipy.optimize import minimize

import robodyn as rd
from robodyn.motion_base.cueing.perception import CANALS, OTOLITHS
from robodyn.motion_base.kernels.soft_limits import newton_step

pytestmark = pytest.mark.slow

REST = np.array([0.0, 0.0, 9.81])


@pytest.fixture(scope="module")
def platform():
    return rd.load("motion_platform")


def test_predictive_cueing_lets_more_be_perceived_than_the_washout(platform):
    """A brake of three seconds; the washout with the best of several scales."""
    time = np.arange(0.0, 9.0, 0.02)
    force = np.tile(REST, (len(time), 1))
    force[:, 0] -= 3.0 * np.clip((time - 1.0) / 0.2, 0.0, 1.0) * (time < 4.0)
    vehicle = rd.VehicleMotion(time, force, np.zeros_like(force))
    errors = [
        rd.ride(platform, vehicle, parameters, head=[0.0, 0.0, 1.1], dt=0.02).perceived_force_error
        for parameters in (
            rd.PredictiveParameters(),
            *(rd.WashoutParameters(force_gain=gain, tilt_rate=0.06) for gain in (0.3, 0.5, 0.8)),
        )
    ]
    predictive, *washouts = (np.linalg.norm(error) for error in errors)
    assert predictive < 0.8 * min(washouts)


def test_a_lasting_force_is_felt_by_tilt(platform):
    cueing = rd.PredictiveCueing(platform, 0.02)
    for _ in range(600):
        cue = cueing.step([1.5, 0.0, 9.81], np.zeros(3))
    _, rpy = rd.rpy_from_pose(cue.pose)
    assert -9.81 * np.sin(rpy[1]) == pytest.approx(1.5, rel=0.1)
    np.testing.assert_allclose(cue.twist, 0.0, atol=1e-2)


def test_predictive_cueing_jacobians_are_the_mechanisms(platform, rng):
    """Of joints' positions by displacement, of rates by rates, and so on: by differences."""
    # where the plan rests, dry friction has no derivative
    smooth = platform.without_dry_friction()
    cueing = rd.PredictiveCueing(smooth, 0.02, head=[0.2, 0.1, 1.0])
    for _ in range(40):
        cueing.step(REST + np.array([2.0, 1.0, 0.5]), [0.1, -0.1, 0.2])
    examiner, plan, nodes = cueing._examiner, cueing._plan, cueing._horizon.nodes
    of_joints, _, by_change = cueing._jacobians(plan)
    # efforts by displacements leave out what motion adds
    near = plan.motion.configuration
    still = examiner.plan(plan.place * [[[1.0]], [[0.0]], [[0.0]]], near)
    _, by_place, _ = cueing._jacobians(still)
    for begun, row, quantity, J in (
        (plan, 0, 0, of_joints), (plan, 1, 1, of_joints), (plan, 2, 2, of_joints),
        (still, 0, 3, by_place), (plan, 2, 3, by_change),
    ):  # fmt: skip
        for axis in range(6):
            pair = []
            for sign in (-1e-6, 1e-6):
                place = begun.place.copy()
                place[row, :, axis] += sign
                pair.append(examiner.plan(place, near).values[quantity, nodes])
            expected = J[:, :, axis]
            np.testing.assert_allclose(
                (pair[1] - pair[0]) / 2e-6, expected, atol=2e-6 * max(1.0, np.abs(expected).max())
            )


def test_newtons_steps_find_the_minimum(rng):
    n, rows = 6, 8
    root = rng.normal(size=(n, n))
    H, g = root @ root.T + np.eye(n), 20.0 * rng.normal(size=n)
    A, limits = rng.normal(size=(n, rows)), rng.uniform(0.2, 1.0, (3, rows))

    def objective(x):
        values = x @ A
        beyond = np.maximum(values - limits[1], 0.0) + np.minimum(values + limits[0], 0.0)
        return 0.5 * x @ H @ x + g @ x + 50.0 * ((beyond / limits[2]) ** 2).sum()

    x = np.zeros(n)
    for _ in range(30):
        newton_step(H, g, A, limits, 100.0, x)
    best = minimize(objective, np.zeros(n), method="BFGS", options={"gtol": 1e-9})
    assert objective(x) <= best.fun + 1e-7 * abs(best.fun)
    assert objective(np.linalg.solve(H, -g)) > 1.1 * abs(best.fun)  # limits are passed without them


@pytest.mark.parametrize("organ", [OTOLITHS, CANALS])
@pytest.mark.parametrize("frequency", [0.1, 1.0, 6.0])
def test_organs_respond_as_published(organ, frequency):
    dt = 0.005
    times = np.arange(0.0, 600.0 if frequency < 1.0 else 250.0, dt)
    found = organ.perceived(np.sin(frequency * times), dt)
    late = times > times[-1] - 8.0 * np.pi / frequency
    basis = np.column_stack([np.sin(frequency * times), np.cos(frequency * times)])[late]
    a, b = np.linalg.lstsq(basis, found[late], rcond=None)[0]
    assert a + 1j * b == pytest.approx(organ.response(np.array([frequency]))[0], rel=2e-3)


def test_otoliths_and_canals_respond_as_measured():
    """A lasting force at two fifths, its onset at twice that; of a lasting turn nothing."""
    assert OTOLITHS.response(np.array([0.0]))[0] == pytest.approx(0.4)
    assert abs(OTOLITHS.response(np.array([2.0]))[0]) == pytest.approx(0.8, rel=0.02)
    assert CANALS.response(np.array([0.0]))[0] == 0.0
    assert abs(CANALS.response(np.array([1.0]))[0]) == pytest.approx(1.0, rel=0.02)


def test_predictive_cueing_comes_to_rest_at_the_edge(platform):
    """With a weak return, a lasting force drives it to its limits, where it rests."""
    near = rd.PredictiveParameters(position_weight=1.0)
    cueing = rd.PredictiveCueing(platform, 0.02, near, [0.0, 0.0, 1.1])
    cues = [cueing.step(REST + np.array([-5.0, 1.0, 0.0]), np.zeros(3)) for _ in range(400)]
    legs = platform.joint_positions(cues[-1].pose)
    low, high = platform.position_limits.T
    assert (np.minimum(legs - low, high - legs) / (high - low)).min() < 0.1
    assert np.abs([cue.accel for cue in cues[300:]]).max() < 0.1
