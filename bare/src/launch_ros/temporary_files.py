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

"""Temporary parameter files that are gone when the launch is."""

from __future__ import annotations

import atexit
import contextlib
from pathlib import Path
from tempfile import NamedTemporaryFile


def write_temporary(text: str) -> Path:
    """Write text to a new file and return its path."""
    with NamedTemporaryFile(
        "w", prefix="launch_params_", suffix=".yaml", delete=False, encoding="utf-8"
    ) as file:
        file.write(text)
    path = Path(file.name)
    atexit.register(_remove, path)
    return path


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()
