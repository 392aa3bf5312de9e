# SPDX-License-Identifier: Apache-2.0

"""The tables of docs/stewart.md are those that the library makes."""

import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[4] / "docs"


@pytest.mark.slow
def test_the_tables_are_up_to_date():
    command = [sys.executable, str(DOCS / "make_stewart.py"), "--check"]
    done = subprocess.run(command, cwd=DOCS.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr or "run python docs/make_stewart.py"
