# SPDX-License-Identifier: Apache-2.0

"""The body's twist for every kind of mechanism."""

import warnings

import numpy as np
import pytest

import robodyn as rd
from robodyn.poses import pose_difference

STEP = 1e-6


@pytest.mark.parametrize("name", rd.models())
def test_twist_jacobian_is_the_derivative_of_body_pose(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mechanism = rd.load(name)
    steps = STEP * np.eye(mechanism.coordinates.velocity_size)
    backward, ahead = (
        mechanism.body_pose(mechanism.advance(mechanism.home, sign * steps)) for sign in (-1, 1)
    )
    found = mechanism.twist_jacobian(np.tile(mechanism.home, (2, 1)))
    assert np.allclose(found, (pose_difference(backward, ahead) / (2.0 * STEP)).T, atol=1e-7)
