# SPDX-License-Identifier: Apache-2.0

"""The linters that ROS 2 packages pass; `make lint` has its own on machines without ROS 2."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CODE = [str(ROOT / name) for name in ("robodyn", "robodyn_ros", "launch", "test", "setup.py")]
SETTINGS = str(ROOT / "setup.cfg")


def checked(linter: str, *arguments: str) -> None:
    """Run an ament linter on the package."""
    main = pytest.importorskip(f"ament_{linter}.main", reason="only where ROS 2 is").main
    assert main(argv=[*arguments]) == 0, f"{linter} found errors"


@pytest.mark.linter
@pytest.mark.flake8
def test_flake8():
    checked("flake8", "--config", SETTINGS, *CODE)


@pytest.mark.linter
@pytest.mark.pep257
def test_pep257():
    # ruff checks missing docstrings; the names of tests describe them
    missing = [f"D10{number}" for number in range(8)]
    ignored = [*missing, "D402", "D403", "D417"]
    checked("pep257", *CODE, "--convention", "google", "--add-ignore", *ignored)


@pytest.mark.linter
@pytest.mark.xmllint
def test_xmllint():
    checked("xmllint", str(ROOT / "package.xml"), str(ROOT / "urdf"))
