# SPDX-License-Identifier: Apache-2.0

"""docs/sweeps.md names what there is."""

import re
from pathlib import Path

from robodyn.sweeps import QUANTITIES, sweep_variables

PAGE = (Path(__file__).parents[3] / "docs" / "sweeps.md").read_text(encoding="utf-8")


def test_every_quantity_is_described():
    described = set(re.findall(r"^\| `(\w+)` \|", PAGE, flags=re.MULTILINE))
    assert set(QUANTITIES) <= described


def test_every_coordinate_is_described(symmetric):
    named = set(re.findall(r"`(\w+)`", PAGE))
    for name in sweep_variables(symmetric):
        first_of_three = re.sub("_[yz]$", "_x", name)
        assert {name, first_of_three} & named, name
