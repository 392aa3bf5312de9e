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

"""docs/nodes.md says what the running nodes have."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from ros_harness import free_domain

pytestmark = pytest.mark.ros
SCRIPT = Path(__file__).parents[2] / "docs" / "make_nodes.py"


@pytest.mark.skipif(not SCRIPT.exists(), reason="an installed package has no docs")
def test_the_page_of_the_nodes_is_up_to_date():
    done = subprocess.run(
        [sys.executable, SCRIPT, "--check"],
        env={**os.environ, "ROS_DOMAIN_ID": str(free_domain())},
        capture_output=True,
        text=True,
        timeout=300.0,
    )
    assert done.returncode == 0, done.stdout + done.stderr
