# SPDX-License-Identifier: Apache-2.0
"""Friction that repeats with a motor's position."""

import numpy as np

from robodyn.identification.ripple import _fit_sinusoids


def test_a_motor_that_stands_shows_no_wave():
    """No sine of it moves in that part of a recording, so none explains anything there."""
    gains, factors = _fit_sinusoids(np.zeros((3, 5)))
    np.testing.assert_array_equal(gains, 0.0)
    np.testing.assert_array_equal(factors, 0.0)
