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

"""When a motion is singular: path III of the 1998 paper, and its condition number there."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.analysis.singularity import singular_times, threshold_crossings
from robodyn.errors import InvalidInput, UnphysicalInertiaWarning

# Found outside this project, by root finding on det H of a 13-body model: test/reference.
SINGULAR = 3.670504110006


@pytest.fixture(scope="module")
def platform():
    with pytest.warns(UnphysicalInertiaWarning):
        return rd.load("stewart_dasgupta")


def test_path_three_is_singular_once(platform):
    times = singular_times(platform, rd.paper_path("III"))
    np.testing.assert_allclose(times, [SINGULAR], rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("samples", [1, 7, 100])
def test_a_coarse_grid_finds_the_same_time(samples, platform):
    times = singular_times(platform, rd.paper_path("III"), samples)
    np.testing.assert_allclose(times, [SINGULAR], rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("name", ["I", "II", "P1"])
def test_the_other_paths_are_not(name, platform):
    assert singular_times(platform, rd.paper_path(name)).shape == (0,)


def test_condition_number_at_a_crossing_is_the_threshold(platform):
    path = rd.paper_path("I")
    rising, *more = threshold_crossings(platform, path, 45.0)
    assert not more
    assert rising.upward
    pose = path.sample(rising.time).configuration
    assert platform.condition_number(pose) == pytest.approx(45.0, rel=1e-9)


def test_even_the_narrowest_peak_is_seen(platform):
    """At 1e9 the condition number is up for a microsecond; the grid's step is 6 ms."""
    up, down = threshold_crossings(platform, rd.paper_path("III"), 1e9)
    assert up.upward
    assert not down.upward
    assert up.time < SINGULAR < down.time
    assert down.time - up.time < 1e-5


def test_what_makes_no_sense_is_refused(platform):
    path = rd.paper_path("III")
    with pytest.raises(InvalidInput, match="threshold"):
        threshold_crossings(platform, path, 0.5)
    with pytest.raises(InvalidInput, match="samples"):
        singular_times(platform, path, 0)
