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

"""What tests of every part share: the paper's manipulator, an arm, reference data."""

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
