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

"""Base of what decides whether an action is executed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .launch_context import LaunchContext


class Condition:
    """A predicate on the launch context."""

    def __init__(self, *, predicate: Callable[[LaunchContext], bool] | None = None) -> None:
        """Keep the predicate; a subclass may override `_predicate_func` by passing its own."""
        self._predicate = predicate

    def describe(self) -> str:
        """Return a readable form."""
        return repr(self)

    def evaluate(self, context: LaunchContext) -> bool:
        """Return whether the condition holds."""
        return True if self._predicate is None else self._predicate(context)
