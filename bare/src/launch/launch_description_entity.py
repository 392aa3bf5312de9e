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

"""Base of everything a launch description may contain."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .launch_context import LaunchContext


class LaunchDescriptionEntity:
    """Something that can be visited, and may yield further entities when it is."""

    def describe(self) -> str:
        """Return a readable form."""
        return repr(self)

    def describe_sub_entities(self) -> list[LaunchDescriptionEntity]:
        """Return the entities this one always yields, without launching."""
        return []

    def describe_conditional_sub_entities(
        self,
    ) -> list[tuple[str, Iterable[LaunchDescriptionEntity]]]:
        """Return the entities this one yields under some condition, without launching."""
        return []

    def visit(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Do what there is to do and return the entities to visit next."""
        return None

    def get_asyncio_future(self) -> asyncio.Future[None] | None:
        """Return a future that is done when this entity is, if it takes time."""
        return None
