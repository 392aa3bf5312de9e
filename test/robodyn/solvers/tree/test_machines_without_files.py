# SPDX-License-Identifier: Apache-2.0

"""Machines of docs/machines_without_files.md, compared with their makers' own code."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import robodyn as rd

ROOT = Path(__file__).parents[4]
BLOCKS = re.findall(
    r"```yaml\n(.*?)```", (ROOT / "docs/machines_without_files.md").read_text(), re.DOTALL
)
MACHINES = {re.search(r"name: (\w+)", text).group(1): text for text in BLOCKS}
THEIRS = json.loads((ROOT / "test/reference/machines_without_files.json").read_text())


def test_page_has_six_machines_in_few_lines():
    assert MACHINES.keys() == THEIRS.keys()
    assert len(MACHINES) == 6
    assert max(len(text.splitlines()) for text in BLOCKS) < 25


@pytest.mark.parametrize("name", THEIRS)
def test_kinematics_are_those_of_the_makers_code(name, tmp_path):
    file = tmp_path / f"{name}.yaml"
    file.write_text(MACHINES[name])
    m = rd.load(file)
    for row in THEIRS[name]:
        q = m.assemble(row["positions"], m.home)
        np.testing.assert_allclose(m.body_pose(q)[:3], row["pose"][:3], atol=1e-9)
        if m.mobility > 2:  # of a five-bar's tool the orientation follows
            found = m.joint_positions(m.configuration_at(row["pose"], m.home))
            np.testing.assert_allclose(found, row["positions"], atol=1e-9)
