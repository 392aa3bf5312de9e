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

"""The tables of docs/stewart.md are those that the library makes."""

import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parents[4] / "docs"


def test_the_tables_are_up_to_date():
    command = [sys.executable, str(DOCS / "make_stewart.py"), "--check"]
    done = subprocess.run(command, cwd=DOCS.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr or "run python docs/make_stewart.py"
