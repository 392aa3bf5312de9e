# SPDX-License-Identifier: Apache-2.0

"""Many simulations at once: other starts, payloads, gains, motions and loads, on all processors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, TypeVar

import numpy as np

from robodyn.arrays import ArrayLike, BoolArray, FloatArray
from robodyn.checks import as_array, as_scalar
from robodyn.control.computed_torque import Controller
from robodyn.errors import InvalidInput, RobodynError
from robodyn.mechanisms.mechanism import Mechanism
from robodyn.simulation.compiled import complete, is_compiled
from robodyn.simulation.plant import plant_of
from robodyn.simulation.settings import SimulationSettings
from robodyn.simulation.task import SimulationTask, WrenchOfTime
from robodyn.threads import each
from robodyn.trajectories.base import Trajectory

T = TypeVar("T")
DEFAULT = SimulationSettings()


@dataclass(frozen=True)
class SimulationResults:
    """Histories of B simulations at the same K times; NaN after one has failed.

    Attributes:
        time: (K,) [s].
        configuration: (B, K, nq) as in the mechanism's protocol.
        velocity: (B, K, nv), likewise.
        effort: (B, K, n) [N or N m] applied from each time on, after limits.
        completed: (B,) whether it went to its end.
        problem: what ended it, for each that did not: its number and a line.
        peak_effort: (B, n) [N or N m] largest magnitudes, at all control instants or steps.
        peak_error: (B, nv) [m, rad] largest magnitudes of the displacement from the plan, likewise.
    """

    time: FloatArray
    configuration: FloatArray
    velocity: FloatArray
    effort: FloatArray
    completed: BoolArray
    problem: dict[int, str]
    peak_effort: FloatArray
    peak_error: FloatArray


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
    **options: Any,
) -> SimulationResults:
    """Simulate as `simulate` does, B times at once, each equal to a call of its own.

    Each of the arguments that may differ is one for all, or B of them in a sequence or along the
    first dimension. Controllers that `simulate` has compiled run on all threads
    (`robodyn.set_threads`); others run, too, one after the other. Trajectories and loads are asked
    from all these threads. Memory is that of the result, and of one full history for each thread.

    Args:
        mechanism: plants of the same size, such as `[m.with_payload(mass) for mass in masses]`.
        controller: with gains or models of their own.
        trajectory: what to follow. Where the controller acts continuously, all must switch at the
            same times.
        wrench: constant, (B, 6) or (6,) [N, N m], or functions of time [s].
        dt, control_dt: as for `simulate`.
        every: keep one row in so many, and the last.
        settings: as for `simulate`; by default the longest trajectory says the duration.
        progress: called with the number of those that are done.
        options: fields of the settings that are to be others, such as `initial`.

    Raises:
        InvalidInput: arguments out of range, with the number of the simulation; or numbers of
            them that do not agree. What goes wrong on the way is a `problem` of the result.
    """
    wanted = replace(settings, **options)
    members = _Members(mechanism, controller, trajectory, wanted.initial, wrench)
    duration = members.duration if wanted.duration is None else wanted.duration
    end = as_scalar("duration", duration, above=0.0)
    thinned = as_scalar("every", every, at_least=1.0)
    if thinned != int(thinned):
        raise InvalidInput(f"every is {every!r}, expected a whole number", value=every)

    def run_of(number: int) -> SimulationTask:
        one = members[number]
        try:
            own = replace(wanted, initial=one.initial)
            plant = plant_of(one.mechanism, one.trajectory, dt, own)
            return SimulationTask(
                plant,
                one.controller,
                one.trajectory,
                control_dt,
                end,
                one.wrench,
                wanted.integrator,
                wanted.base,
            )
        except RobodynError as error:
            raise InvalidInput(f"simulation {number}: {error}", value=error.value) from error

    results = _Results(members.count, run_of(0), int(thinned))

    def work(number: int) -> None:
        run, problem = run_of(number), ""
        results.check(number, run)
        try:
            complete(run)
        except RobodynError as error:
            problem = str(error)
        results.put(number, run, problem)

    # a user's controller may have a state, so its simulations run one after the other
    together: list[int] = []
    in_turn: list[int] = []
    for number in range(members.count):
        one = members[number]
        known = is_compiled(one.mechanism, one.controller)
        (together if known else in_turn).append(number)
    calls = chain(each(lambda item: work(together[item]), len(together)), map(work, in_turn))
    for done, _ in enumerate(calls, start=1):
        if progress is not None:
            progress(done)
    return results.given


@dataclass(frozen=True)
class _Member:
    mechanism: Mechanism
    controller: Controller
    trajectory: Trajectory
    initial: tuple[FloatArray, FloatArray] | None
    wrench: Any


class _Members:
    """The arguments of each simulation."""

    def __init__(
        self, mechanism: Any, controller: Any, trajectory: Any, initial: Any, wrench: Any
    ) -> None:
        self._parts: dict[str, list[Any]] = {
            "mechanism": _listed(mechanism),
            "controller": _listed(controller),
            "trajectory": _listed(trajectory),
            "wrench": _listed(wrench if callable(wrench) else _rows("wrench", wrench)),
        }
        if initial is not None:
            for name, values in zip(("configuration", "velocity"), initial, strict=True):
                self._parts[f"initial {name}"] = _listed(_rows(f"initial {name}", values))
        counts = {name: len(values) for name, values in self._parts.items() if len(values) != 1}
        if len(set(counts.values())) > 1 or 0 in counts.values():
            raise InvalidInput(
                "as many of each are needed as there are simulations, or one: got "
                + ", ".join(f"{count} of {name}" for name, count in counts.items()),
                value=counts,
            )
        self.count = max(counts.values(), default=1)

    @property
    def duration(self) -> float:
        """Of the longest trajectory [s]."""
        return max(float(one.duration) for one in self._parts["trajectory"])

    def __getitem__(self, number: int) -> _Member:
        part = {name: values[number % len(values)] for name, values in self._parts.items()}
        initial = None
        if "initial velocity" in part:
            initial = part["initial configuration"], part["initial velocity"]
        return _Member(
            part["mechanism"], part["controller"], part["trajectory"], initial, part["wrench"]
        )


class _Results:
    """The histories that are kept, filled by many threads, each its own."""

    def __init__(self, count: int, first: SimulationTask, every: int) -> None:
        last = len(first.time) - 1
        self._time = first.time
        self._kept = np.append(np.arange(0, last, every), last)
        rows, size = len(self._kept), len(first.plant.effort)
        nq, nv = first.configuration.shape[1], first.velocity.shape[1]
        self.given = SimulationResults(
            first.time[self._kept],
            np.full((count, rows, nq), np.nan),
            np.full((count, rows, nv), np.nan),
            np.full((count, rows, size), np.nan),
            np.zeros(count, dtype=np.bool_),
            {},
            np.zeros((count, size)),
            np.zeros((count, nv)),
        )

    def check(self, number: int, run: SimulationTask) -> None:
        """Refuse a simulation whose rows are not like the first one's."""
        size, expected = run.velocity.shape[1], self.given.velocity.shape[2]
        kind, usual = run.configuration.shape[1], self.given.configuration.shape[2]
        if (size, kind) != (expected, usual):
            raise InvalidInput(
                f"simulation {number}: its mechanism has {size} joints and configurations of "
                f"{kind} numbers, the first one's {expected} and {usual}",
                value=run.plant.mechanism,
            )
        if not np.array_equal(run.time, self._time):
            raise InvalidInput(
                f"simulation {number}: its trajectory switches at other times than the first "
                "one's; where control acts continuously they must be the same",
                value=run.trajectory.switching_times,
            )

    def put(self, number: int, run: SimulationTask, problem: str) -> None:
        """Store the histories of a run, which may have ended early."""
        given, rows = self.given, run.row + 1
        kept = self._kept[self._kept < rows]
        efforts = run.applied[: run.row]
        if not problem:
            efforts = np.concatenate([efforts, efforts[-1:]])
        held = kept[kept < len(efforts)]
        given.configuration[number, : len(kept)] = run.configuration[kept]
        given.velocity[number, : len(kept)] = run.velocity[kept]
        given.effort[number, : len(held)] = efforts[held]
        given.completed[number] = not problem
        if problem:
            given.problem[number] = problem
        planned = run.trajectory.sample(run.time[:rows]).configuration
        error = run.plant.mechanism.difference(planned, run.configuration[:rows])
        given.peak_error[number] = np.abs(error).max(axis=0)
        given.peak_effort[number] = np.abs(efforts).max(axis=0, initial=0.0)


def _listed(values: T | Sequence[T]) -> list[T]:
    return list(values) if isinstance(values, Sequence) else [values]


def _rows(name: str, values: Any) -> list[Any]:
    if values is None or (isinstance(values, Sequence) and any(callable(v) for v in values)):
        return [None] if values is None else list(values)
    array = as_array(name, values, ())
    return list(np.atleast_2d(array)) if array.ndim < 3 else [array]
