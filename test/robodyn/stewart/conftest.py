"""Random mechanisms, new ones each run; the seed is printed when a test fails."""

import numpy as np
import pytest
from stewart_mechanisms import dasgupta, random_platform


@pytest.fixture
def rng():
    seed = np.random.SeedSequence().entropy
    print(f"seed = {seed}")
    return np.random.default_rng(seed)


@pytest.fixture
def platform(rng):
    return random_platform(rng)


@pytest.fixture(scope="session")
def paper_platform():
    return dasgupta()
