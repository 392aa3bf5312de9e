# SPDX-License-Identifier: Apache-2.0

"""Packages of the extra `sweep`, imported when a sweep runs."""

from __future__ import annotations

import importlib
from typing import Any

from robodyn.extras import needing


def package(name: str) -> Any:
    """Import a module of the extra `sweep` by its full name.

    Raises:
        MissingExtra: it is not installed.
    """
    with needing("sweep", f"a sweep needs the package {name.split('.')[0]}", name):
        return importlib.import_module(name)
