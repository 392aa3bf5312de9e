# SPDX-License-Identifier: Apache-2.0

"""Arms to test with: those of the reference data, the bundled ones, and new ones each run."""

import json
import warnings
from pathlib import Path

import pytest
from serial_arms import arm_from_yaml, golden_document, random_arm

from robodyn.errors import UnphysicalInertiaWarning
from robodyn.formats import read_yaml

ROOT = Path(__file__).parents[4]


@pytest.fixture(scope="session")
def golden():
    return json.loads((ROOT / "test" / "reference" / "golden.json").read_text())["serial"]


@pytest.fixture(params=["puma560", "stanford", "random_RPRRPRR"])
def reference(request, golden):
    """The arm of a reference entry, through its YAML document, and the states."""
    entry = golden[request.param]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnphysicalInertiaWarning)
        return arm_from_yaml(golden_document(entry["links"])), entry["states"]


@pytest.fixture
def arm(rng):
    """A random arm of 2 to 7 joints of mixed kinds, with motors and friction."""
    return random_arm(rng, int(rng.integers(2, 8)))


@pytest.fixture
def state(arm, rng):
    return rng.uniform(-1.5, 1.5, (3, arm.n))


@pytest.fixture(scope="session")
def bundled():
    def load(name):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnphysicalInertiaWarning)
            return arm_from_yaml(read_yaml(ROOT / "robodyn" / "bundled" / f"{name}.yaml"))

    return load
