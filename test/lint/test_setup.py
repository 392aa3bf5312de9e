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

"""setup.py as colcon runs it."""

import subprocess
import sys
from pathlib import Path

SETUP = Path(__file__).parents[2] / "setup.py"


def test_a_link_to_it_elsewhere_is_enough(tmp_path):
    """`colcon build --symlink-install` runs it so, beside links to the packages."""
    (tmp_path / "setup.py").symlink_to(SETUP)
    run = subprocess.run(
        [sys.executable, "setup.py", "--quiet", "--name", "--long-description"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("robodyn\n# robodyn")
