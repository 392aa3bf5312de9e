# SPDX-License-Identifier: Apache-2.0

"""The equations that are solved: rows of all recordings, linear in parameters and friction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robodyn.arrays import FloatArray, IntArray
from robodyn.identification.base_parameters import BaseColumns, find_base
from robodyn.identification.columns import Columns
from robodyn.identification.friction import LOAD, Term, friction_columns
from robodyn.identification.motors import Motors
from robodyn.identification.samples import Samples, that_move

# States for the search of base parameters, and rows of the regressor made at a time.
STATES, AT_A_TIME = 400, 4000
# Parts of the recordings in time, for cross-validation.
FOLDS = 5


@dataclass(frozen=True)
class Regression:
    """Efforts of all recordings and motors, filtered and on as few instants as they need.

    Attributes:
        columns: what is fitted besides friction; they know mechanism and motors.
        stretches: of the recordings.
        base: which combinations of the columns these show.
        regressors: of each stretch Y (K, n, b) of base parameters and joints' efforts, not
            filtered.
        A: (M, n, b) of base parameters and motors' efforts.
        effort: (M, n) of the motors.
        weight: (M, n) 1 for what was measured in motion, 0 for what was cut off or at rest.
        fold: (M,) of `FOLDS` parts.
        colour: how many rows say as much as one independent one where noise was white, for the
            filter leaves less than the rate of the rows could carry.
    """

    columns: Columns
    stretches: Sequence[Samples]
    base: BaseColumns
    regressors: Sequence[FloatArray]
    A: FloatArray
    effort: FloatArray
    weight: FloatArray
    fold: IntArray
    colour: float

    @property
    def motors(self) -> Motors:
        """Which joints each motor turns with."""
        return self.columns.motors

    @cached_property
    def near(self) -> FloatArray:
        """(b,) base parameters of the given model."""
        return np.asarray(self.base.matrix @ self.columns.given)

    @cached_property
    def moves(self) -> list[bool]:
        """(n,) of each motor whether it moves."""
        return that_move(self.motors, self.stretches)

    def friction(
        self, terms: Sequence[Sequence[Term]], loaded: FloatArray | None = None
    ) -> list[FloatArray]:
        """For each motor (M, k) of its terms of friction.

        Args:
            terms: of each motor.
            loaded: (b,) base parameters of what the bodies need, for friction that grows with it.
        """
        F: list[list[FloatArray]] = [[] for _ in terms]
        for samples, Y in zip(self.stretches, self.regressors, strict=True):
            load = np.zeros(samples.effort.shape)
            if loaded is not None and any(term.kind == LOAD for own in terms for term in own):
                load = self.motors.efforts(Y @ loaded)
            for j, own in enumerate(terms):
                table = friction_columns(samples, own, self.motors.turns[j], load[:, j])
                F[j].append(samples.smooth(table)[samples.rows] if own else table[samples.rows])
        return [np.concatenate(part) for part in F]


def regression_of(columns: Columns, stretches: Sequence[Samples]) -> Regression:
    """The equations of stretches of recordings."""
    motors = columns.motors
    base = find_base(_some_states(columns, stretches))
    Y, A, effort, weight = [], [], [], []
    for samples in stretches:
        Y.append(_base_columns(columns, samples, base.kept))
        A.append(motors.rows(samples.smooth(Y[-1])[samples.rows]))
        effort.append(motors.efforts(samples.smooth(samples.effort)[samples.rows]))
        known = motors.all_of(samples.usable) & samples.moving(motors)
        weight.append(known[samples.rows].astype(float))
    count = sum(len(part) for part in effort)
    return Regression(
        columns,
        stretches,
        base,
        Y,
        np.concatenate(A),
        np.concatenate(effort),
        np.concatenate(weight),
        np.minimum(np.arange(count) * FOLDS // max(count, 1), FOLDS - 1),
        float(np.mean([samples.colour_of_white for samples in stretches])),
    )


def _some_states(columns: Columns, stretches: Sequence[Samples]) -> FloatArray:
    """Rows (S, p) of the regressor at states that are spread over recordings.

    Of motors that move: what only efforts at standstill would show is not seen.
    """
    total = sum(len(samples.time) for samples in stretches)
    step = max(1, total // STATES)
    found = []
    for samples in stretches:
        Y = columns.of(samples, np.arange(0, len(samples.time), step))
        moves = that_move(columns.motors, [samples])
        found.append(columns.motors.rows(Y)[:, moves].reshape(-1, len(columns.names)))
    return np.concatenate(found)


def _base_columns(columns: Columns, samples: Samples, kept: Sequence[int]) -> FloatArray:
    """Y (K, n, b) of base parameters and joints' efforts, not filtered; made in parts."""
    parts = [
        columns.of(samples, slice(first, first + AT_A_TIME))[..., list(kept)]
        for first in range(0, len(samples.time), AT_A_TIME)
    ]
    return np.concatenate(parts)
