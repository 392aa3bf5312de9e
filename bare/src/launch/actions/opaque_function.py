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

"""The action that calls a Python function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..action import Action
from ..condition import Condition
from ..launch_context import LaunchContext
from ..launch_description_entity import LaunchDescriptionEntity


class OpaqueFunction(Action):
    """Calls `function(context, *args, **kwargs)`, which may return entities to visit."""

    def __init__(
        self,
        *,
        function: Callable[..., Iterable[LaunchDescriptionEntity] | None],
        args: Iterable[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
        condition: Condition | None = None,
    ) -> None:
        """Keep the function and its arguments."""
        super().__init__(condition=condition)
        if not callable(function):
            raise TypeError(f"OpaqueFunction expected a callable for 'function', got {function!r}")
        self._function = function
        self._args = list(args or ())
        self._kwargs = dict(kwargs or {})

    def execute(self, context: LaunchContext) -> Any:
        """Call the function."""
        return self._function(context, *self._args, **self._kwargs)
