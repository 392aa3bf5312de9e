# SPDX-License-Identifier: Apache-2.0

"""Packages of the extra `sweep`, imported when a sweep runs."""

from __future__ import annotations

import importlib
from typing import Any

from robodyn.extras import require_extra


def package(name: str) -> Any:
    """Import and return a module of the extra `sweep`, given its full name.

    Raises:
        MissingExtra: the module is not installed.
    """
    with require_extra("sweep", f"a sweep needs the package {name.split('.')[0]}", name):
        return importlib.import_module(name)
