# SPDX-License-Identifier: Apache-2.0

"""The packages of the extra `sweep`, imported when a sweep is run."""

from __future__ import annotations

import importlib
from typing import Any

from robodyn.errors import MissingExtra
from robodyn.extras import how_to_install


def package(name: str) -> Any:
    """A module of the extra `sweep`, by its full name.

    Raises:
        MissingExtra: it is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingExtra(
            f"a sweep needs the package {name.split('.')[0]}: {how_to_install('sweep')}",
            value=name,
        ) from error
