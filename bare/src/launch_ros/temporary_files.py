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
