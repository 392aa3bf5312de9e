# SPDX-License-Identifier: Apache-2.0

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
