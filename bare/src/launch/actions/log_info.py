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

"""The action that says something."""

from __future__ import annotations

from ..action import Action
from ..condition import Condition
from ..launch_context import LaunchContext
from ..logging import get_logger
from ..some_types import SomeSubstitutionsType
from ..utilities import normalize_to_list_of_substitutions, perform_substitutions


class LogInfo(Action):
    """Logs a message as `[INFO] [launch.user]: ...`."""

    def __init__(self, *, msg: SomeSubstitutionsType, condition: Condition | None = None) -> None:
        """Keep the message."""
        super().__init__(condition=condition)
        self.msg = normalize_to_list_of_substitutions(msg)

    def execute(self, context: LaunchContext) -> None:
        """Log it."""
        get_logger("launch.user").info("%s", perform_substitutions(context, self.msg))
