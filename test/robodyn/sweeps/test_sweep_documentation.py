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

"""docs/sweeps.md names what there is."""

import re
from pathlib import Path

from robodyn.sweeps.quantities import QUANTITIES
from robodyn.sweeps.states import sweep_variables

PAGE = (Path(__file__).parents[3] / "docs" / "sweeps.md").read_text(encoding="utf-8")


def test_every_quantity_is_described():
    described = set(re.findall(r"^\| `(\w+)` \|", PAGE, flags=re.MULTILINE))
    assert set(QUANTITIES) <= described


def test_every_coordinate_is_described(symmetric):
    named = set(re.findall(r"`(\w+)`", PAGE))
    for name in sweep_variables(symmetric):
        first_of_three = re.sub("_[yz]$", "_x", name)
        assert {name, first_of_three} & named, name
