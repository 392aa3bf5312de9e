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
