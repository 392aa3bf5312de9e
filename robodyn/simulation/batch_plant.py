# SPDX-License-Identifier: Apache-2.0

"""Simulation of many mechanisms in parallel, in compiled code on all threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from robodyn.algorithms.elasticity import motors_in_equilibrium
from robodyn.algorithms.stepping import step
from robodyn.arrays import ArrayLike, BoolArray, FloatArray
from robodyn.base_motion import BaseMotion, rows_of
from robodyn.checks import as_array, as_integer, as_scalar
from robodyn.dynamics.compiled_run import (
    BatchSteps,
    Outcome,
    Rollout,
    StepSettings,
    constant_effort_rollout,
    stop_numbers,
)
from robodyn.dynamics.end_stops import EndStops
from robodyn.dynamics.payload_variants import PayloadVariants, representative_mechanisms
from robodyn.errors import InvalidInput, SimulationFailed
from robodyn.mechanism.mechanism import Mechanism
from robodyn.simulation.plant import DEFAULT_STOPS, StepMethod, is_semi_implicit
from robodyn.threads import each, get_threads

# Number of rows below which a thread costs more than it saves.
SMALLEST_SHARE = 16


class BatchPlant:
    """Batch of plants with equal structure, simulated in parallel.

    Each row of the batch is one mechanism, and behaves exactly like a `Plant` of its own. If the
    next state of a row would not be finite, the row keeps its last finite state, is marked as
    failed, and is skipped until it is reset; the other rows continue. Results do not depend on the
    number of threads.

    Args:
        mechanism: mechanism of all rows, or a sequence with one mechanism for each row, with its
            own payload, friction or dimensions. The mechanisms of `PayloadVariants` are created
            only for rows that the SIMD code does not support.
        count: number of rows; by default the number of given mechanisms.
        dt: length [s] of an integration step.
        end_stops: end stops at the position limits; None for no end stops.
        limit_efforts: limit efforts to those of the actuators, and to the torque-speed curves of
            their motors at the current velocities.
        integrator: `rk4` or `semi_implicit`, as for `Plant`.

    Attributes:
        failed: (count,) whether each row has failed and is skipped.
        problem: reason of each failure, by the index of the row.

    Raises:
        InvalidInput: there are no rows, the mechanisms differ in size, or the step is not positive.
    """

    def __init__(
        self,
        mechanism: Mechanism | Sequence[Mechanism],
        count: int | None = None,
        *,
        dt: float = 1e-3,
        end_stops: EndStops | None = DEFAULT_STOPS,
        limit_efforts: bool = True,
        integrator: StepMethod = "rk4",
    ) -> None:
        self.mechanisms, self._limits_efforts = _rows_of(mechanism, count), limit_efforts
        self.integrator: StepMethod = integrator
        self._is_semi_implicit = is_semi_implicit(
            representative_mechanisms(self.mechanisms)[0], integrator
        )
        self.dt = as_scalar("dt", dt, "s", above=0.0)
        first, count = representative_mechanisms(self.mechanisms)[0], len(self.mechanisms)
        self._sizes = len(first.home), first.coordinates.velocity_size
        n = len(first.joint_names)
        motors = n if first.drives.elasticity is not None else 0
        self._ends = np.multiply.outer([-np.inf, np.inf], np.ones((count, n)))
        # rows of the state before and after a step
        nq, nv = self._sizes
        self._q = np.empty((count, 2, nq + motors))
        self._v = np.empty((count, 2, nv + motors))
        self._efforts, self._loads = np.zeros((count, 1, 1, n)), np.zeros((count, 1, 1, 15))
        # number of steps of each row: none, and these
        self._steps, self._end_stops = np.tile([0.0, 1.0], (count, 1)), None
        if end_stops is not None:
            self._end_stops = end_stops.for_step(self.dt)
        # for rows outside the lanes
        self._simulations: dict[int, _Row] = {}
        self._homes = np.empty((count, nq))
        self._bind(np.arange(count))
        self.failed: BoolArray = np.zeros(count, dtype=np.bool_)
        self.problem: dict[int, str] = {}
        self.reset()

    def __repr__(self) -> str:
        return f"BatchPlant({len(self.mechanisms)} of {self.mechanisms[0]!r}, dt={self.dt:g})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Return constructor arguments and state for copies and pickles."""
        state = self._q[:, 0].copy(), self._v[:, 0].copy(), self.failed.copy(), dict(self.problem)
        made_of = (
            self.mechanisms, self.dt, self._end_stops, self._limits_efforts, self.integrator
        )  # fmt: skip
        return _restore, (type(self), made_of, state)

    @property
    def count(self) -> int:
        """Number of rows, each a mechanism of the batch."""
        return len(self.mechanisms)

    @property
    def configuration(self) -> FloatArray:
        """Configurations (count, nq) of all rows."""
        return np.array(self._q[:, 0, : self._sizes[0]])

    @property
    def velocity(self) -> FloatArray:
        """Velocities (count, nv) of all rows."""
        return np.array(self._v[:, 0, : self._sizes[1]])

    @property
    def motor_positions(self) -> FloatArray:
        """Positions (count, n) of elastic drives' motors; (count, 0) for rigid drives.

        They are in [m or rad], converted to the joint side of the transmission.
        """
        return np.array(self._q[:, 0, self._sizes[0] :])

    @property
    def motor_velocities(self) -> FloatArray:
        """Velocities (count, n) of elastic drives' motors; (count, 0) for rigid drives.

        They are in [m/s or rad/s], converted to the joint side of the transmission.
        """
        return np.array(self._v[:, 0, self._sizes[1] :])

    def replace_mechanisms(
        self, mechanism: Mechanism | Sequence[Mechanism], rows: ArrayLike | None = None
    ) -> None:
        """Replace the mechanisms of some rows, and reset these rows to home.

        Args:
            mechanism: mechanism of these rows, or a sequence with one for each of them.
            rows: indices of rows, or a mask (count,); all rows by default.

        Raises:
            InvalidInput: a mechanism differs in structure, or rows do not exist. No row is changed.
        """
        numbers = self._row_indices(rows)
        if not len(numbers):
            return
        given = _rows_of(mechanism, len(numbers), like=self.mechanisms[0])
        if len(numbers) == self.count:
            self.mechanisms = given
        else:
            mechanisms = list(self.mechanisms)
            for row, one in zip(numbers.tolist(), given, strict=True):
                mechanisms[row] = one
            self.mechanisms = mechanisms
        self._bind(numbers)
        self.__dict__.pop("_lanes", None)
        self.reset(rows=numbers)

    def _bind(self, rows: np.ndarray) -> None:
        """Store the home configurations and effort limits of the mechanisms of given rows."""
        first = representative_mechanisms(self.mechanisms)[0]
        if first.solver.compiled_simulation(first) is None:
            raise InvalidInput(
                f"{first.name}: mechanisms of the kind {first.kind!r} have no compiled simulation; "
                "use a Plant for each mechanism",
                value=first,
            )
        self._curves = self._limits_efforts and any(
            m.drives.has_torque_speed_curve for m in representative_mechanisms(self.mechanisms)
        )
        if isinstance(self.mechanisms, PayloadVariants):
            self._homes[rows] = self._project(0, first.home)
            if self._limits_efforts:
                self._ends[:, rows] = first.drives.effort_ends[:, None]
        for k in rows.tolist():
            self._simulations.pop(k, None)
            if not isinstance(self.mechanisms, PayloadVariants):
                one = self.mechanisms[k]
                repeats = k > 0 and one is self.mechanisms[k - 1]
                self._homes[k] = self._homes[k - 1] if repeats else self._project(k, one.home)
                if self._limits_efforts:
                    self._ends[:, k] = one.drives.effort_ends

    def _row(self, k: int) -> _Row:
        """Return the compiled simulation of a single row, for use outside of SIMD lanes."""
        if k not in self._simulations:
            one, advance = self._simulation(k)
            q, v, steps = self._q[k], self._v[k], self._steps[k]
            efforts, loads = self._efforts[k], self._loads[k]
            curves = self._limits_efforts and one.drives.has_torque_speed_curve
            rest = loads[..., :6]
            settings = StepSettings(self._end_stops, curves, self._is_semi_implicit)
            once = constant_effort_rollout(
                q[0], v[0], efforts[0, 0], rest[0, 0], self.dt, 1, settings
            )
            arguments = replace(once, plan=efforts, offset=steps, configuration=q, velocity=v)
            self._simulations[k] = _Row(
                advance, replace(arguments, loads=rest), replace(arguments, loads=loads)
            )
        return self._simulations[k]

    def _simulation(self, k: int) -> tuple[Mechanism, Any]:
        """Return a mechanism with the motors of a row, and the row's compiled simulation."""
        if isinstance(self.mechanisms, PayloadVariants):
            own = self.mechanisms.mechanism
            # how stiff damping is depends on the payload
            if not own.solver.friction.may_be_stiff(self.dt):
                run = own.solver.variant_run(self.mechanisms.tip_link(k))
                if run is not None:
                    return own, run.advance
        one = self.mechanisms[k]
        return one, one.solver.compiled_simulation(one)

    def reset(
        self,
        configuration: ArrayLike | None = None,
        velocity: ArrayLike | None = None,
        rows: ArrayLike | None = None,
    ) -> None:
        """Reset rows to a state, by default home at rest, including failed rows.

        The motors of elastic drives hold the configurations against gravity.

        Args:
            configuration: (nq,), or one for each of the rows.
            velocity: (nv,), or one for each of the rows.
            rows: indices of rows, or a mask (count,); all rows by default.

        Raises:
            InvalidInput: shapes are wrong, values not finite, or rows do not exist.
            KinematicsError: the kinematics have no solution at a configuration. No row is changed.
        """
        numbers = self._row_indices(rows)
        q = self._homes[numbers]
        if configuration is not None:
            requested = zip(numbers, _per_row("configuration", configuration, q), strict=True)
            q = np.array([self._project(*each) for each in requested])
        v = np.zeros((len(numbers), self._sizes[1]))
        if velocity is not None:
            v = _per_row("velocity", velocity, v)
        if len(numbers):
            nq, nv = self._sizes
            self._q[numbers, 0, :nq], self._v[numbers, 0, :nv] = q, v
            if self._q.shape[2] > nq:
                for row, *state in zip(numbers.tolist(), q, v, strict=True):
                    self._q[row, 0, nq:], self._v[row, 0, nv:] = motors_in_equilibrium(
                        self.mechanisms[row], *state
                    )
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
        """Advance every row by `steps` steps with constant efforts, wrenches, base motion.

        Args:
            efforts: (n,) or (count, n) [N or N m]; they are limited to the actuators' range if the
                plant limits efforts.
            steps: number of steps.
            wrench: (6,) or (count, 6) [N, N m] on the body about its reference point, base frame;
                zero by default.
            base: motion of the base, one for all or one for each row; at rest by default.

        Raises:
            InvalidInput: shapes are wrong, values not finite, or `steps` is below 1. No row has
                moved.
        """
        steps = as_integer("steps", steps, at_least=1)
        requested = _per_row("efforts", efforts, self._efforts[:, 0, 0])
        load = (
            np.zeros(6) if wrench is None else _per_row("wrench", wrench, self._loads[:, 0, 0, :6])
        )
        self._efforts[:, 0, 0] = np.clip(requested, *self._ends)
        self._loads[:, 0, 0, :6], self._steps[:, 1] = load, steps
        if base is not None:
            self._loads[:, 0, 0, 6:] = _per_row("base", rows_of(base), self._loads[:, 0, 0, 6:])
        moves = base is not None
        going = np.flatnonzero(~self.failed)
        before = self._q[:, 0].copy(), self._v[:, 0].copy()
        if self._lanes is not None:
            self._run_lanes(self._lanes, moves)
        left = going[self._steps[going, 1] > 0.0]
        self._map_parts(lambda part: self._advance_rows(part.tolist(), moves), left, SMALLEST_SHARE)
        moved = left[~self.failed[left]]
        self._q[moved, 0], self._v[moved, 0] = self._q[moved, 1], self._v[moved, 1]
        lost = left[self.failed[left]]
        self._q[lost, 0], self._v[lost, 0] = before[0][lost], before[1][lost]
        self._steps[:, 1] = steps
        for row in lost.tolist():
            self.problem[row] = self._failure_message(row, moves)

    def _project(self, row: int, configuration: FloatArray) -> FloatArray:
        """Return a row's configuration after projection onto the constraints."""
        different = representative_mechanisms(self.mechanisms)
        one = different[row if len(different) > 1 else 0]
        one.joint_positions(configuration)
        return one.advance(configuration, np.zeros(self._sizes[1]))

    @cached_property
    def _lanes(self) -> BatchSteps | None:
        """Object that advances several rows at once in SIMD lanes; None if unsupported."""
        first = representative_mechanisms(self.mechanisms)[0]
        if first.drives.elasticity is not None:
            return None
        steps: BatchSteps | None = first.solver.batch_steps(
            self.mechanisms,
            self.dt,
            limit_motors=self._curves,
            is_semi_implicit=self._is_semi_implicit,
        )
        return steps

    def _run_lanes(self, lanes: BatchSteps, moves: bool) -> None:
        """Advance several rows at a time in SIMD lanes, as far as this is possible.

        The result of a row does not depend on failures of other rows.
        """
        q, v = self._q[:, 0].copy(), self._v[:, 0].copy()
        left = np.where(self.failed, 0.0, self._steps[:, 1])[:, None]
        stops = stop_numbers(self._end_stops, self._curves)
        settings, state = (self.dt, stops), (q, v, left)
        loads = self._efforts[:, 0, 0], self._loads[:, 0, 0], moves
        self._map_parts(
            lambda part: lanes.run(settings, loads, state, (int(part[0]), int(part[-1]) + 1)),
            np.arange(len(lanes.numbers)),
            1,
        )
        self._q[:, 0], self._v[:, 0], self._steps[:, 1] = q, v, left[:, 0]

    def _map_parts(self, work: Callable[[Any], None], what: Any, least: int) -> None:
        """Call `work` for consecutive parts of a sequence, distributed over all threads."""
        if len(what):
            fractions = np.array_split(what, max(1, min(get_threads(), len(what) // least)))
            for _ in each(lambda fraction: work(fractions[fraction]), len(fractions)):
                pass

    def _advance_rows(self, rows: list[int], moves: bool) -> None:
        for row in rows:
            advance, rest, moving = self._row(row)
            self.failed[row] = bool(advance(moving if moves else rest, 0, 1).status)

    def _failure_message(self, row: int, moves: bool) -> str:
        """Repeat the failed step of a row to obtain its error message."""
        rollout = self._row(row).moving if moves else self._row(row).rest
        efforts, load = self._efforts[row, 0, 0], rollout.loads[0, 0]
        steps, state = int(self._steps[row, 1]), (self._q[row, 0], self._v[row, 0])
        settings = StepSettings(self._end_stops, bool(rollout.stops[2]), self._is_semi_implicit)
        try:
            step(self.mechanisms[row], *state, efforts, load, self.dt, steps, settings)
        except SimulationFailed as error:
            return str(error)
        return "the next state is not finite"

    def _row_indices(self, rows: ArrayLike | None) -> np.ndarray:
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
                f"rows are {rows!r}, expected indices from 0 to {self.count - 1}", value=rows
            )
        return given


class _Row(NamedTuple):
    """Compiled simulation of one row of the batch, with arguments for a fixed and a moving base."""

    advance: Callable[[Rollout, int, int], Outcome]
    rest: Rollout
    moving: Rollout


def _restore(kind: type[BatchPlant], made_of: tuple[Any, ...], state: Any) -> BatchPlant:
    """Create a plant from pickled constructor arguments and state."""
    mechanisms, dt, stops, limited, integrator = made_of
    options = {"end_stops": stops, "limit_efforts": limited, "integrator": integrator}
    plant = kind(mechanisms, dt=dt, **options)
    plant._q[:, 0], plant._v[:, 0], failed, problem = state
    plant.failed, plant.problem = np.array(failed), dict(problem)
    return plant


def _rows_of(
    mechanism: Mechanism | Sequence[Mechanism], count: int | None, like: Mechanism | None = None
) -> Sequence[Mechanism]:
    """Return one mechanism for each row; reject mechanisms of different structure.

    All must have the same structure as `like` or, without it, as the first mechanism.
    """
    given: Sequence[Mechanism]
    if isinstance(mechanism, PayloadVariants):
        given = mechanism
    else:
        given = list(mechanism) if isinstance(mechanism, Sequence) else [mechanism] * (count or 0)
    if not len(given) or count not in (None, len(given)):
        raise InvalidInput(
            f"count is {count} for {len(given) or 'one'} mechanism(s): give the number of rows for "
            "one mechanism, or one mechanism for each row",
            value=count,
        )
    first = like or given[0]
    for row, one in enumerate(representative_mechanisms(given)):
        if _structure(one) != _structure(first):
            raise InvalidInput(
                f"row {row}, {one.name}, differs in structure from the first, {first.name}: all "
                "mechanisms need the same kind and driven joints",
                value=one,
            )
    return given


def _structure(one: Mechanism) -> tuple[Any, ...]:
    is_elastic = one.drives.elasticity is not None
    return type(one), len(one.home), one.joint_names, is_elastic


def _per_row(name: str, value: ArrayLike, like: FloatArray) -> FloatArray:
    """Broadcast a value (size,), or values (k, size), to all k rows."""
    values = as_array(name, value, like.shape[1:])
    if values.shape not in (like.shape[1:], like.shape):
        raise InvalidInput(
            f"{name} has shape {values.shape}, expected {like.shape[1:]} or {like.shape}",
            value=value,
        )
    return np.broadcast_to(values, like.shape)
