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

"""Take a simulation to its end: compiled code as far as it goes, the Python loop for the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robodyn.simulation.compiled import fast_forward

if TYPE_CHECKING:
    from collections.abc import Callable

    from robodyn.simulation.task import SimulationTask


def complete(task: SimulationTask, progress: Callable[[float], None] | None = None) -> None:
    """Fill all rows; `progress` is told the time [s] now and then.

    Raises:
        InvalidInput, SimulationFailed: as `SimulationTask.finish`.
    """
    if task.has_fixed_steps:
        fast_forward(task, progress)
    task.finish(progress)
