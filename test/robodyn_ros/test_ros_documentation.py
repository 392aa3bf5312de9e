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
