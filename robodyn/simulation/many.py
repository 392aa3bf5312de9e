# SPDX-License-Identifier: Apache-2.0

"""Many simulations in parallel, with different starts, payloads, gains, motions and loads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, NamedTuple, TypeVar

import numpy as np

from robodyn.arrays import ArrayLike, BoolArray, FloatArray, IntArray, Unpack, short_repr
from robodyn.checks import as_array, as_integer
from robodyn.control.computed_torque import Controller
from robodyn.errors import InvalidInput, RobodynError
from robodyn.mechanism.mechanism import Mechanism
from robodyn.simulation.compiled import complete, is_compiled
from robodyn.simulation.settings import SimulationOptions, SimulationSettings
from robodyn.simulation.task import SimulationTask, WrenchOfTime
from robodyn.threads import each
from robodyn.trajectories.base import Trajectory

T = TypeVar("T")
DEFAULT = SimulationSettings()
_START = "initial configuration", "initial velocity"


@dataclass(frozen=True)
class SimulationResults:
    """Result of B simulations: histories at the same K times; NaN after a failure.

    Attributes:
        time: (K,) [s] recorded times.
        configuration: (B, K, nq) configurations.
        velocity: (B, K, nv) velocities.
        effort: (B, K, n) [N or N m] effort applied from each time until the next one, after limits.
        completed: (B,) whether the simulation reached its end.
        problem: reason of each failure, by the index of the simulation.
        peak_effort: (B, n) [N or N m] largest magnitudes at all control instants or steps.
        peak_error: (B, nv) [m, rad] largest magnitudes of the displacement from the plan.
    """

    time: FloatArray
    configuration: FloatArray
    velocity: FloatArray
    effort: FloatArray
    completed: BoolArray
    problem: dict[int, str]
    peak_effort: FloatArray
    peak_error: FloatArray

    __repr__ = short_repr


def simulate_many(
    mechanism: Mechanism | Sequence[Mechanism],
    controller: Controller | Sequence[Controller],
    trajectory: Trajectory | Sequence[Trajectory],
    dt: float = 1e-3,
    control_dt: float | None = 1e-2,
    *,
    wrench: ArrayLike | WrenchOfTime | Sequence[WrenchOfTime] | None = None,
    every: int = 1,
    settings: SimulationSettings = DEFAULT,
    progress: Callable[[int], None] | None = None,
    **options: Unpack[SimulationOptions],
) -> SimulationResults:
    """Run B simulations in parallel, each with the same result as `simulate`.

    Each argument that may differ between simulations is one value for all, or B values in a
    sequence or along the first dimension. Controllers that `simulate` runs in compiled code run on
    all threads (`robodyn.set_threads`); others run one after the other. Trajectories and loads are
    evaluated from all these threads. Memory is needed for the result and one full history per
    thread.

    Args:
        mechanism: plants of the same size, such as `[m.with_payload(mass) for mass in masses]`.
        controller: controllers, with their own gains or models.
        trajectory: motions to follow. If the controller acts continuously, all must have the same
            switching times.
        wrench: external wrench on each body, as for `simulate`: constant (B, 6) or (6,) [N, N m],
            or functions of time [s].
        dt, control_dt: as for `simulate`.
        every: record every n-th control instant or step; the last one is always recorded.
        settings: as for `simulate`; the default duration is that of the longest trajectory.
        progress: called with the number of completed simulations.
        options: keyword arguments that override fields of `settings`, such as `initial`.

    Returns:
        Histories of all simulations.

    Raises:
        InvalidInput: arguments are out of range (the error names the simulation), or their counts
            differ. Failures during a simulation are reported in `problem` of the result.
    """
    settings = replace(settings, **options)
    values: dict[str, list[Any]] = {
        "mechanism": _as_list(mechanism),
        "controller": _as_list(controller),
        "trajectory": _as_list(trajectory),
        "wrench": [wrench] if callable(wrench) else _rows("wrench", wrench),
    }
    if settings.initial is not None:
        for name, given in zip(_START, settings.initial, strict=True):
            values[name] = _rows(name, given)
    count = _simulation_count(values)
    stride = as_integer("every", every, at_least=1)
    if settings.duration is None:
        settings = replace(
            settings, duration=max(float(one.duration) for one in values["trajectory"])
        )
    batch = _Batch(values, dt, control_dt, settings)
    first = batch.task(0)
    kept = np.append(np.arange(0, len(first.time) - 1, stride), len(first.time) - 1)
    results = _empty_results(first, kept, count)

    def work(number: int) -> None:
        run = batch.task(number)
        _refuse_unlike(number, run, first)
        try:
            complete(run)
            results.completed[number] = True
        except RobodynError as error:
            results.problem[number] = str(error)
        _store(results, number, run, kept)

    # a user's controller may have internal state, so its simulations run one after the other
    concurrent = [number for number in range(count) if batch.is_compiled(number)]
    sequential = sorted(set(range(count)) - set(concurrent))
    calls = chain(each(lambda item: work(concurrent[item]), len(concurrent)), map(work, sequential))
    for done, _ in enumerate(calls, start=1):
        if progress is not None:
            progress(done)
    return results


class _Batch(NamedTuple):
    """Arguments of B simulations: for each name, one value for all of them or B values."""

    values: dict[str, list[Any]]
    dt: float
    control_dt: float | None
    settings: SimulationSettings

    def arguments(self, number: int) -> dict[str, Any]:
        """Return the arguments of one simulation, by name."""
        return {name: given[number % len(given)] for name, given in self.values.items()}

    def is_compiled(self, number: int) -> bool:
        """Return whether a given simulation runs in compiled code."""
        own = self.arguments(number)
        return is_compiled(own["mechanism"], own["controller"])

    def task(self, number: int) -> SimulationTask:
        """Create the task of a given simulation."""
        own = self.arguments(number)
        start = tuple(own.pop(name) for name in _START if name in own) or None
        settings = replace(self.settings, initial=start)
        try:
            return SimulationTask(**own, dt=self.dt, control_dt=self.control_dt, settings=settings)
        except RobodynError as error:
            raise InvalidInput(f"simulation {number}: {error}", value=error.value) from error


def _simulation_count(arguments: dict[str, list[Any]]) -> int:
    """Return the number B of simulations; reject arguments with different lengths."""
    counts = {name: len(values) for name, values in arguments.items() if len(values) != 1}
    if len(set(counts.values())) > 1 or 0 in counts.values():
        raise InvalidInput(
            "expected a single value or one value for each simulation, got "
            + ", ".join(f"{count} of {name}" for name, count in counts.items()),
            value=counts,
        )
    return max(counts.values(), default=1)


def _empty_results(first: SimulationTask, kept: IntArray, count: int) -> SimulationResults:
    plant, shape = first.plant, (count, len(kept))
    return SimulationResults(
        first.time[kept],
        np.full((*shape, len(plant.configuration)), np.nan),
        np.full((*shape, len(plant.velocity)), np.nan),
        np.full((*shape, len(plant.effort)), np.nan),
        np.zeros(count, dtype=np.bool_),
        {},
        np.zeros((count, len(plant.effort))),
        np.zeros((count, len(plant.velocity))),
    )


def _refuse_unlike(number: int, run: SimulationTask, first: SimulationTask) -> None:
    """Reject a simulation whose state differs in size from the first simulation's."""
    kind, size = run.configuration.shape[1], run.velocity.shape[1]
    usual, expected = first.configuration.shape[1], first.velocity.shape[1]
    if (size, kind) != (expected, usual):
        raise InvalidInput(
            f"simulation {number}: its velocities have {size} elements and its configurations "
            f"{kind}, expected {expected} and {usual}, as in the first simulation",
            value=run.plant.mechanism,
        )
    if not np.array_equal(run.time, first.time):
        raise InvalidInput(
            f"simulation {number}: the switching times of its trajectory differ from those of the "
            "first one; give control_dt, or trajectories with equal switching times",
            value=run.trajectory.switching_times,
        )


def _store(results: SimulationResults, number: int, run: SimulationTask, kept: IntArray) -> None:
    """Copy the recorded states of a simulation, which may have ended early."""
    rows, last = kept[kept <= run.row], run.row
    results.configuration[number, : len(rows)] = run.configuration[rows]
    results.velocity[number, : len(rows)] = run.velocity[rows]
    if not results.completed[number]:  # the efforts applied at the end are unknown
        rows = rows[rows < last]
    efforts = run.applied[:last]
    results.effort[number, : len(rows)] = efforts[np.minimum(rows, last - 1)]
    planned = run.trajectory.sample(run.time[: last + 1]).configuration
    error = run.plant.mechanism.difference(planned, run.configuration[: last + 1])
    results.peak_error[number] = np.abs(error).max(axis=0)
    results.peak_effort[number] = np.abs(efforts).max(axis=0, initial=0.0)


def _as_list(values: T | Sequence[T]) -> list[T]:
    return list(values) if isinstance(values, Sequence) else [values]


def _rows(name: str, values: Any) -> list[Any]:
    if values is None or (isinstance(values, Sequence) and any(callable(v) for v in values)):
        return [None] if values is None else list(values)
    array = as_array(name, values, ())
    return list(np.atleast_2d(array)) if array.ndim < 3 else [array]
