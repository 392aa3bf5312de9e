# SPDX-License-Identifier: Apache-2.0

"""Many mechanisms side by side, in compiled code on all threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from robodyn.arrays import ArrayLike, BoolArray, FloatArray
from robodyn.base_motion import BaseMotion, rows_of
from robodyn.checks import as_array, as_scalar
from robodyn.errors import InvalidInput, SimulationFailed
from robodyn.mechanisms.common.compiled_run import BatchSteps, Rollout, held
from robodyn.mechanisms.common.end_stops import EndStops
from robodyn.mechanisms.mechanism import Mechanism
from robodyn.simulation.plant import DEFAULT_STOPS
from robodyn.threads import each, get_threads

# Rows below which a thread costs more than it saves.
SMALLEST_SHARE = 16


class BatchPlant:
    """Mechanisms of one structure in motion, each a row that moves as a `Plant` of its own does.

    A row from which no finite state follows keeps its last good one, is marked as failed, and is
    skipped until it is reset; the others go on. Results do not depend on the number of threads.

    Args:
        mechanism: what moves in every row; or one for each row, with payloads, friction or
            dimensions of its own.
        count: number of rows; as many as there are mechanisms if several are given.
        dt: [s] length of an integration step.
        end_stops: at the position limits; None to let joints pass them.
        limit_efforts: cut efforts to the actuators' limits, and to what motors with torque-speed
            curves have at their present speeds.

    Attributes:
        failed: (count,) rows that are skipped.
        problem: why, for each of them: its number and a line.

    Raises:
        InvalidInput: no rows, mechanisms of different sizes, or a step that is not positive.
    """

    def __init__(
        self,
        mechanism: Mechanism | Sequence[Mechanism],
        count: int | None = None,
        *,
        dt: float = 1e-3,
        end_stops: EndStops | None = DEFAULT_STOPS,
        limit_efforts: bool = True,
    ) -> None:
        self.mechanisms, self._limits_efforts = _rows_of(mechanism, count), limit_efforts
        self.dt = as_scalar("dt", dt, "s", above=0.0)
        first, count = self.mechanisms[0], len(self.mechanisms)
        nv, n = first.coordinates.velocity_size, len(first.joint_names)
        self._ends = np.multiply.outer([-np.inf, np.inf], np.ones((count, n)))
        if limit_efforts:
            self._ends = np.stack([each.effort_ends for each in self.mechanisms], axis=1)
        # the row of a state before a step and that after it
        self._q, self._v = np.empty((count, 2, len(first.home))), np.empty((count, 2, nv))
        self._efforts, self._loads = np.zeros((count, 1, 1, n)), np.zeros((count, 1, 1, 15))
        # how many steps each row is to take: none, and these
        self._steps, self._end_stops = np.tile([0.0, 1.0], (count, 1)), end_stops
        # of each row on a base at rest, and on one that moves
        self._rollouts: list[Rollout] = []
        self._moving: list[Rollout] = []
        self._advance = []
        self._curves = limit_efforts and any(m.has_torque_speed_curve for m in self.mechanisms)
        for one, q, v, efforts, steps, loads in zip(
            self.mechanisms, self._q, self._v, self._efforts, self._steps, self._loads, strict=True
        ):
            advance = one.compiled_simulation(one)
            if advance is None:
                raise InvalidInput(
                    f"{one.name}: mechanisms of the kind {one.kind!r} have no compiled simulation; "
                    "use a Plant for each",
                    value=one,
                )
            self._advance.append(advance)
            curves, rest = limit_efforts and one.has_torque_speed_curve, loads[..., :6]
            once = held(q[0], v[0], efforts[0, 0], rest[0, 0], self.dt, 1, end_stops, curves)
            lent = replace(once, plan=efforts, offset=steps, configuration=q, velocity=v)
            self._rollouts.append(replace(lent, loads=rest))
            self._moving.append(replace(lent, loads=loads))
        self.failed: BoolArray = np.zeros(count, dtype=np.bool_)
        self.problem: dict[int, str] = {}
        self._homes = np.array([self._checked(k, m.home) for k, m in enumerate(self.mechanisms)])
        self.reset()

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy or pickle what the plant is made of and its state, not its views and kernels."""
        state = self.configuration, self.velocity, self.failed.copy(), dict(self.problem)
        made_of = self.mechanisms, self.dt, self._end_stops, self._limits_efforts
        return _restored, (type(self), made_of, state)

    @property
    def count(self) -> int:
        """Number of rows."""
        return len(self.mechanisms)

    @property
    def configuration(self) -> FloatArray:
        """(count, nq), as in the mechanism's protocol."""
        return np.array(self._q[:, 0])

    @property
    def velocity(self) -> FloatArray:
        """(count, nv), as in the mechanism's protocol."""
        return np.array(self._v[:, 0])

    def reset(
        self,
        configuration: ArrayLike | None = None,
        velocity: ArrayLike | None = None,
        rows: ArrayLike | None = None,
    ) -> None:
        """Put rows into a state, each into its home and at rest by default, failed ones too.

        Args:
            configuration: (nq,) or one for each of the rows.
            velocity: (nv,) or one for each of the rows.
            rows: numbers of rows, or whether for each of all (count,); all by default.

        Raises:
            InvalidInput: wrong shapes, not finite, or rows that there are not.
            KinematicsError: a configuration without geometry. No row has changed then.
        """
        numbers = self._numbers(rows)
        q = self._homes[numbers]
        if configuration is not None:
            wanted = zip(numbers, _each("configuration", configuration, q), strict=True)
            q = np.array([self._checked(*each) for each in wanted])
        v = np.zeros((len(numbers), self._v.shape[2]))
        if velocity is not None:
            v = _each("velocity", velocity, v)
        if len(numbers):
            self._q[numbers, 0], self._v[numbers, 0] = q, v
        self.failed[numbers] = False
        for row in numbers.tolist():
            self.problem.pop(row, None)

    def step(
        self,
        efforts: ArrayLike,
        steps: int = 1,
        wrench: ArrayLike | None = None,
        base: BaseMotion | None = None,
    ) -> None:
        """Advance every row by `steps` of dt, efforts, wrenches and the base's motion held.

        Args:
            efforts: (n,) or (count, n) [N or N m]; cut to the limits.
            steps: how many.
            wrench: (6,) or (count, 6) [N, N m] on the body, base frame; none by default.
            base: how the bases move, one for all or each (count,); at rest by default.

        Raises:
            InvalidInput: wrong shapes, not finite, or no step to take. No row has moved then.
        """
        if steps < 1 or steps != int(steps):
            raise InvalidInput(f"steps is {steps!r}, must be a whole number from 1", value=steps)
        wanted = _each("efforts", efforts, self._efforts[:, 0, 0])
        load = np.zeros(6) if wrench is None else _each("wrench", wrench, self._loads[:, 0, 0, :6])
        self._efforts[:, 0, 0] = np.clip(wanted, *self._ends)
        self._loads[:, 0, 0, :6], self._steps[:, 1] = load, steps
        if base is not None:
            self._loads[:, 0, 0, 6:] = _each("base", rows_of(base), self._loads[:, 0, 0, 6:])
        rollouts = self._rollouts if base is None else self._moving
        going = np.flatnonzero(~self.failed)
        before = self._q[:, 0].copy(), self._v[:, 0].copy()
        if self._lanes is not None:
            self._run_lanes(self._lanes, base is not None)
        left = going[self._steps[going, 1] > 0.0]
        self._shared(lambda part: self._run(rollouts, part.tolist()), left, SMALLEST_SHARE)
        moved = left[~self.failed[left]]
        self._q[moved, 0], self._v[moved, 0] = self._q[moved, 1], self._v[moved, 1]
        lost = left[self.failed[left]]
        self._q[lost, 0], self._v[lost, 0] = before[0][lost], before[1][lost]
        self._steps[:, 1] = steps
        for row in lost.tolist():
            self.problem[row] = self._why(rollouts[row], row)

    def _checked(self, row: int, configuration: FloatArray) -> FloatArray:
        """A configuration of a row on its manifold; raises where the geometry is undefined."""
        one = self.mechanisms[row]
        one.joint_positions(configuration)
        return one.advance(configuration, np.zeros(self._v.shape[2]))

    @cached_property
    def _lanes(self) -> BatchSteps | None:
        """What takes many rows on at once, if there is such a thing."""
        first = self.mechanisms[0]
        return first.batch_steps(self.mechanisms, self.dt, limit_motors=self._curves)

    def _run_lanes(self, lanes: BatchSteps, moves: bool) -> None:
        """Take rows on as far as that goes, the same whatever others have failed."""
        q, v = self._q[:, 0].copy(), self._v[:, 0].copy()
        left = np.where(self.failed, 0.0, self._steps[:, 1])[:, None]
        stiffness, damping, _ = self._rollouts[0].stops
        settings, state = (self.dt, float(stiffness), float(damping)), (q, v, left)
        loads = self._efforts[:, 0, 0], self._loads[:, 0, 0], moves
        self._shared(
            lambda part: lanes.run(settings, loads, state, (int(part[0]), int(part[-1]) + 1)),
            np.arange(len(lanes.numbers)),
            1,
        )
        self._q[:, 0], self._v[:, 0], self._steps[:, 1] = q, v, left[:, 0]

    def _shared(self, work: Callable[[Any], None], what: Any, least: int) -> None:
        """Call for shares of what is to be done, on all threads."""
        if len(what):
            shares = np.array_split(what, max(1, min(get_threads(), len(what) // least)))
            for _ in each(lambda share: work(shares[share]), len(shares)):
                pass

    def _run(self, rollouts: list[Rollout], rows: list[int]) -> None:
        for row in rows:
            self.failed[row] = bool(self._advance[row](rollouts[row], 0, 1).status)

    def _why(self, rollout: Rollout, row: int) -> str:
        """What the same step says where it is taken alone."""
        efforts, load = self._efforts[row, 0, 0], rollout.loads[0, 0]
        steps, curves = int(self._steps[row, 1]), bool(rollout.stops[2])
        try:
            self.mechanisms[row].step(
                self._q[row, 0], self._v[row, 0], efforts, load, self.dt, steps,
                self._end_stops, limit_motors=curves,
            )  # fmt: skip
        except SimulationFailed as error:
            return str(error)
        return "no finite state follows"

    def _numbers(self, rows: ArrayLike | None) -> np.ndarray:
        if rows is None:
            return np.arange(self.count)
        given = np.atleast_1d(np.asarray(rows))
        if given.dtype == np.bool_ and given.shape == (self.count,):
            return np.flatnonzero(given)
        if given.size == 0:
            return np.arange(0)
        known = given.dtype.kind in "iu" and given.ndim == 1
        if not known or given.min() < 0 or given.max() >= self.count:
            raise InvalidInput(
                f"rows are {rows!r}, expected numbers from 0 to {self.count - 1}", value=rows
            )
        return given


def _restored(kind: type[BatchPlant], made_of: tuple[Any, ...], state: Any) -> BatchPlant:
    """Return a plant with the state of another, to the last bit."""
    mechanisms, dt, stops, limited = made_of
    plant = kind(mechanisms, dt=dt, end_stops=stops, limit_efforts=limited)
    plant._q[:, 0], plant._v[:, 0], failed, problem = state
    plant.failed, plant.problem = np.array(failed), dict(problem)
    return plant


def _rows_of(mechanism: Mechanism | Sequence[Mechanism], count: int | None) -> list[Mechanism]:
    given = list(mechanism) if isinstance(mechanism, Sequence) else [mechanism] * (count or 0)
    if not given or count not in (None, len(given)):
        raise InvalidInput(
            f"count is {count} for {len(given) or 'one'} mechanism(s): say how many rows there are "
            "of one, or give one for each",
            value=count,
        )
    sizes = [(type(each), len(each.home), each.joint_names) for each in given]
    for row, size in enumerate(sizes):
        if size != sizes[0]:
            raise InvalidInput(
                f"row {row}, {given[row].name}, is not of the structure of the first, "
                f"{given[0].name}: all need the same kind and driven joints",
                value=given[row],
            )
    return given


def _each(name: str, value: ArrayLike, like: FloatArray) -> FloatArray:
    """One for each row (k, size), of one for all or one for each."""
    values = as_array(name, value, like.shape[1:])
    if values.shape not in (like.shape[1:], like.shape):
        raise InvalidInput(
            f"{name} has shape {values.shape}, expected {like.shape[1:]} or {like.shape}",
            value=value,
        )
    return np.broadcast_to(values, like.shape)
