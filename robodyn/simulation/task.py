# SPDX-License-Identifier: Apache-2.0

"""A simulation in progress: from its arguments to its histories, row by row."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.base_motion import BaseMotion, rows_of
from robodyn.checks import as_exact, as_scalar
from robodyn.control.computed_torque import Controller
from robodyn.errors import InvalidInput, SimulationFailed
from robodyn.simulation import control_loop
from robodyn.simulation.compiled_controller import as_called
from robodyn.simulation.plant import Plant
from robodyn.trajectories.base import Trajectory

WrenchOfTime = Callable[[float], ArrayLike]
WrenchOfState = Callable[[float, FloatArray, FloatArray], ArrayLike]

INTEGRATORS = ("rk4", "dop853")


class SimulationTask:
    """Histories of a plant that a controller drives, filled row by row.

    Args:
        plant: in the state to start from.
        controller, trajectory, control_dt, wrench, integrator, base: as for `simulate`.
        end: [s].

    Attributes:
        time: (N,) [s] of each row.
        configuration, velocity: (N, ...).
        wanted, applied: (N - 1, n) [N or N m] efforts before and after limits.
        load: the wrench, constant or a function of time, or of time and state.
        load_knows_state: whether it is the last of these.
        base: motion of the base at a time [s], None if it is at rest.
        row: the last one that is filled.

    Raises:
        InvalidInput: arguments out of range.
    """

    def __init__(
        self,
        plant: Plant,
        controller: Controller,
        trajectory: Trajectory,
        control_dt: float | None,
        end: float,
        wrench: ArrayLike | WrenchOfTime | WrenchOfState | None = None,
        integrator: str = "rk4",
        base: BaseMotion | Callable[[float], BaseMotion] | None = None,
    ) -> None:
        if integrator not in INTEGRATORS:
            raise InvalidInput(
                f"integrator is {integrator!r}, expected one of {', '.join(INTEGRATORS)}",
                value=integrator,
            )
        self.plant, self.trajectory = plant, trajectory
        self.controller = as_called(controller)
        self.load, self.load_knows_state = _as_load(wrench), _knows_state(wrench)
        self.base = _of_time(base)
        self.is_sampled = control_dt is not None
        self._marks: FloatArray | None = None
        if control_dt is None:
            # the acceleration jumps where it comes to rest, as at switching times
            jumps = {t for t in (*trajectory.switching_times, trajectory.duration) if 0.0 < t < end}
            self.time = _grid([0.0, *sorted(jumps), end], plant.dt)
            if integrator == "dop853":
                self._marks = np.array([*sorted(jumps), end])
        else:
            if integrator != "rk4":
                raise InvalidInput(
                    f"integrator is {integrator!r}, which needs control_dt=None: held efforts jump "
                    "at every control instant",
                    value=integrator,
                )
            self.time = _periods(end, as_scalar("control_dt", control_dt, "s", above=0.0))
        rows, size = len(self.time), len(plant.effort)
        self.configuration = np.empty((rows, len(plant.configuration)))
        self.velocity = np.empty((rows, len(plant.velocity)))
        self.wanted, self.applied = np.empty((rows - 1, size)), np.empty((rows - 1, size))
        self.configuration[0], self.velocity[0] = plant.configuration, plant.velocity
        self.row = 0

    @property
    def has_fixed_steps(self) -> bool:
        """Whether the integrator's steps are known beforehand."""
        return self._marks is None

    def finish(self, progress: Callable[[float], None] | None = None) -> None:
        """Fill the remaining rows in Python; `progress` is told the time [s] now and then.

        Raises:
            InvalidInput: the controller, or the wrench, gives no effort, or no wrench.
            SimulationFailed: no finite state follows, with the time it happened.
        """
        plant = self.plant
        plant.configuration = self.configuration[self.row].copy()
        plant.velocity = self.velocity[self.row].copy()
        advance = self._advance()
        for row in range(self.row, len(self.time) - 1):
            now, then = float(self.time[row]), float(self.time[row + 1])
            if progress is not None:
                progress(now)
            try:
                self.wanted[row], self.applied[row] = advance(now, then)
            except SimulationFailed as error:
                time = now + error.time
                raise SimulationFailed(
                    f"at {time:.6g} s: {error}", time=time, value=error.value
                ) from error
            self.configuration[row + 1] = plant.configuration
            self.velocity[row + 1] = plant.velocity
            self.row = row + 1

    def _advance(self) -> control_loop.Advance:
        given, load = self.load, None
        if self.load_knows_state:
            load = given
        elif given is not None:
            load = lambda t, _q, _v: given(t) if callable(given) else given  # noqa: E731
        what = self.plant, self.controller, self.trajectory, load, self.base
        return (
            control_loop.sampled_advance(*what)
            if self.is_sampled
            else control_loop.continuous(*what, self._marks)
        )


def _grid(marks: list[float], period: float) -> FloatArray:
    """Times from mark to mark, each stretch in equal steps of at most `period`."""
    stretches: Iterator[FloatArray] = (
        np.linspace(a, b, int(control_loop.steps_between(a, b, period)) + 1)[:-1]
        for a, b in zip(marks[:-1], marks[1:], strict=True)
    )
    return np.append(np.concatenate(list(stretches)), marks[-1])


def _periods(end: float, period: float) -> FloatArray:
    """Times 0, period, 2 period, ... and `end`, whole period or not."""
    whole = np.arange(0.0, end, period)
    return np.append(whole[whole < end * (1.0 - 1e-12)], end)


def _as_load(wrench: Any) -> Any:
    if wrench is None or callable(wrench):
        return wrench
    return as_exact("wrench", wrench, (6,), "N, N m")


def _of_time(
    base: BaseMotion | Callable[[float], BaseMotion] | None,
) -> Callable[[float], BaseMotion] | None:
    if base is None or (callable(base) and not isinstance(base, BaseMotion)):
        return base
    if rows_of(base).shape != (9,):
        raise InvalidInput(
            f"base is a batch of {rows_of(base).shape[:-1]} motions, expected a single one, or a "
            "function of time that answers one",
            value=base,
        )
    return lambda _: base


def _knows_state(wrench: Any) -> bool:
    """Whether a function is one of time, configuration and velocity, not of time alone."""
    try:
        parameters = inspect.signature(wrench).parameters.values() if callable(wrench) else ()
    except ValueError:  # of compiled functions that do not tell
        return False
    by_place = {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD}
    return sum(p.kind in by_place and p.default is p.empty for p in parameters) == 3
