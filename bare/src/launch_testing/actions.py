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

"""Actions that a launch test adds to a launch description."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from launch import Action, LaunchContext


class ReadyToTest(Action):
    """From here on the tests may run."""

    def __init__(self, **kwargs: Any) -> None:
        """Take what every action takes."""
        super().__init__(**kwargs)
        self._ready: Callable[[], object] | None = None

    def _add_callback(self, ready: Callable[[], object]) -> None:
        self._ready = ready

    def execute(self, context: LaunchContext) -> None:
        """Let the tests begin."""
        if self._ready is not None:
            self._ready()
