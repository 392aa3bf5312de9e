# SPDX-License-Identifier: Apache-2.0

"""Common fixtures of tests: the paper's manipulator, an arm, reference data."""

import json
import warnings
from pathlib import Path

import pytest

import robodyn as rd
from robodyn.errors import UnphysicalInertiaWarning


@pytest.fixture(scope="session")
def golden():
    return json.loads((Path(__file__).parents[1] / "reference" / "golden.json").read_text())


@pytest.fixture(scope="session")
def dasgupta():
    return _load("stewart_dasgupta")


@pytest.fixture(scope="session")
def puma():
    return _load("puma560")


def _load(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnphysicalInertiaWarning)
        return rd.load(name)
