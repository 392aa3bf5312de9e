# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.
"""Friction that repeats with a motor's position."""

import numpy as np

from robodyn.identification.ripple import _fits


def test_a_motor_that_stands_shows_no_wave():
    """No sine of it moves in that part of a recording, so none explains anything there."""
    gains, factors = _fits(np.zeros((3, 5)))
    np.testing.assert_array_equal(gains, 0.0)
    np.testing.assert_array_equal(factors, 0.0)
