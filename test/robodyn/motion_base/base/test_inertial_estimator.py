# SPDX-License-Identifier: Apache-2.0

"""States from joints' sensors and an IMU on the body: near the truth, as near as they claim."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.algorithms import motions
from robodyn.motion_base.base import ImuNoise
from robodyn.poses import rotation_matrix

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
DT, ROUGH = 5e-3, 2e-4  # [s], [m or rad]
IMU = ImuNoise(accelerometer=2e-3, gyroscope=2e-4)
BIAS = np.array([0.05, -0.08, 0.06, 0.004, -0.006, 0.005])


@pytest.mark.parametrize("name", ["stewart_symmetric", "puma560", "delta"])
def test_errors_are_small_and_as_the_covariance_says(name, rng):
    m = rd.load(name)
    m = m.with_frame(
        "imu", rd.link_names(m)[-1], rd.pose_from_rpy([0.02, 0.01, 0.03], [0.3, 0.2, 0.1])
    )
    path = rd.load_path("demo", m)
    estimator = rd.InertialEstimator(m, "imu", DT, ROUGH, jerk=20.0, noise=IMU)
    nv = m.coordinates.velocity_size
    estimator.configuration = path.sample(0.0).configuration
    deviations = np.repeat([2e-3, 2e-4], 3) / np.sqrt(2.0 * DT)
    ratios, errors, differences, last = [], [], [], None
    for k in range(1, 161):
        q, v, a = path.sample(k * DT)
        turned = rotation_matrix(m.link_pose(q, "imu")).T
        force = turned @ (m.link_acceleration(q, v, a, "imu")[:3] - m.model.gravity)
        felt = np.append(force, turned @ m.link_twist(q, v, "imu")[3:]) + BIAS
        felt = felt + deviations * rng.normal(size=6)
        read = m.joint_positions(q)
        read = read + ROUGH * rng.normal(size=read.shape)
        estimator.step(read, felt[:3], felt[3:])
        here = motions.motion_of_joints(m, read, 0.0 * read, None, q).configuration
        if k > 60:
            off = np.concatenate([m.difference(q, estimator.configuration), estimator.velocity - v])
            claimed = estimator.covariance[: 2 * nv, : 2 * nv]
            ratios.append(off @ np.linalg.solve(claimed, off) / (2 * nv))
            errors.append(off[nv:])
            differences.append(m.difference(last, here) / DT - v)
        last = here
    # less than a third of what differences of the readings have
    assert np.std(errors) < 0.3 * np.std(differences)
    assert 0.2 < np.mean(ratios) < 2.0


def test_inertial_estimator_rejects_invalid_settings():
    m = rd.load("delta")
    with pytest.raises(rd.InvalidInput, match="nowhere"):
        rd.InertialEstimator(m, "nowhere", DT)
    with pytest.raises(rd.InvalidInput, match="jerk"):
        rd.InertialEstimator(m, rd.link_names(m)[-1], DT, jerk=0.0)
    estimator = rd.InertialEstimator(m, rd.link_names(m)[-1], DT)
    before = estimator.covariance.copy()
    with pytest.raises(rd.InvalidInput, match="specific_force"):
        estimator.step(m.joint_positions(m.home), [0.0, np.nan, 9.81], np.zeros(3))
    np.testing.assert_array_equal(estimator.covariance, before)
