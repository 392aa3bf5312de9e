"""The packages of the extra `sweep`, imported when a sweep is run and not before."""

from __future__ import annotations

import importlib
from typing import Any

from robodyn.errors import MissingExtra

HOW_TO_INSTALL = "pip install 'robodyn[sweep]'"


def package(name: str) -> Any:
    """A module of the extra `sweep`, by its full name.

    Raises:
        MissingExtra: it is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingExtra(
            f"a sweep needs the package {name.split('.')[0]}: {HOW_TO_INSTALL}", value=name
        ) from error
