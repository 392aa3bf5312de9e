# SPDX-License-Identifier: Apache-2.0

"""Random mechanisms, new ones each run (`--seed` replays one)."""

import pytest
from stewart_mechanisms import dasgupta, random_platform


@pytest.fixture
def platform(rng):
    return random_platform(rng)


@pytest.fixture(scope="session")
def paper_platform():
    return dasgupta()
