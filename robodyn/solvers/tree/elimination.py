# SPDX-License-Identifier: Apache-2.0

"""Elimination order of the closure equations, found from samples of their Jacobian K."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from robodyn.arrays import BoolArray, FloatArray, IntArray

# Smallest accepted pivots, relative to the largest in their column, tried in this order.
PIVOTS = (0.1, 0.01, 1e-3, 0.0)
# Size of a pivot, relative to that in the samples, below which another one is sought.
LEAST = 1e-3
# Entries below this are rounding errors, for entries of the order of 1.
ZERO = 1e-9


@dataclass(frozen=True)
class Pivot:
    """Step of an elimination: one equation eliminates a coordinate from other equations.

    Attributes:
        row, rate: indices of the pivot in the closures' Jacobian K.
        size: smallest absolute value of the pivot in the samples of K.
        below: rows from which the coordinate is eliminated.
        right: remaining coordinates of the pivot's row.
    """

    row: int
    rate: int
    size: float
    below: tuple[int, ...]
    right: tuple[int, ...]


@dataclass(frozen=True)
class Elimination:
    """Sparsity of the closures' Jacobian K, and the elimination order of its coordinates.

    Attributes:
        entries: (rows, rates) index of each entry of K; `count` - 1 for those that are always zero.
        count: number of entries.
        pivots: pivots in order.
        present: (rows, rates) whether an entry of K may differ from zero.
    """

    entries: IntArray
    count: int
    pivots: tuple[Pivot, ...]
    present: BoolArray

    def scaled(self, rows: FloatArray, columns: FloatArray) -> Elimination:
        """Return this elimination for a Jacobian with scaled rows and columns.

        Only the sizes of the pivots differ.
        """
        pivots = (
            replace(pivot, size=pivot.size * float(rows[pivot.row] * columns[pivot.rate]))
            for pivot in self.pivots
        )
        return replace(self, pivots=tuple(pivots))

    def pivots_at(self, K: FloatArray) -> FloatArray:
        """Eliminate in a Jacobian K; return its pivots relative to those of the samples.

        Args:
            K: (rows, rates) Jacobian of the closures; it is not changed.

        Returns:
            (pivots,) absolute value of each pivot, divided by its smallest absolute value in the
            samples, `Pivot.size`.
        """
        K, sizes = K.copy(), []
        for pivot in self.pivots:
            size = K[pivot.row, pivot.rate]
            sizes.append(abs(size) / pivot.size)
            for row in pivot.below if size else ():
                K[row] -= K[row, pivot.rate] / size * K[pivot.row]
        return np.array(sizes)

    def put(
        self, free: Sequence[int], head: dict[str, int], plan: list[int], numbers: list[float]
    ) -> None:
        """Append the records of this elimination to the packed arrays of a mechanism.

        Integers are appended to `plan`, the smallest permitted pivots to `numbers`; their counts
        and start indices are written to `head`. `free` are the rate indices of the independent
        coordinates.
        """
        head["at_free_entries"] = len(plan)
        records = [
            [int(row), k, int(self.entries[row, rate])]
            for k, rate in enumerate(free)
            for row in np.flatnonzero(self.present[:, rate])
        ]
        head["free_entries"] = len(records)
        for record in records:
            plan += record
        head["pivots"], head["at_pivots"] = len(self.pivots), len(plan)
        head["at_thresholds"] = len(numbers)
        numbers += [LEAST * pivot.size for pivot in self.pivots]
        starts = len(plan)
        plan += [0] * len(self.pivots)
        at = self.entries
        for n, pivot in enumerate(self.pivots):
            plan[starts + n] = len(plan)
            plan += [int(at[pivot.row, pivot.rate]), pivot.row, pivot.rate]
            plan += [len(pivot.below), len(pivot.right)]
            for rate in pivot.right:
                plan += [rate, int(at[pivot.row, rate])]
            for row in pivot.below:
                plan += [row, int(at[row, pivot.rate])]
                plan += [int(at[row, rate]) for rate in pivot.right]


def find_elimination(
    samples: Sequence[FloatArray], present: BoolArray, free: Sequence[int]
) -> Elimination | None:
    """Find an elimination order of the dependent coordinates that suits all samples.

    Markowitz's rule selects, among the sufficiently large pivots, the one with least fill-in.

    Args:
        samples: Jacobians K (rows, rates) of the closures at some closed configurations, with
            entries of the order of 1.
        present: (rows, rates) whether an entry may differ from zero.
        free: rate indices of the independent coordinates.

    Returns:
        The elimination; None if a coordinate has no pivot.
    """
    K = np.array(samples)
    dependent = [rate for rate in range(K.shape[2]) if rate not in free]
    pattern = present.copy()
    rows, columns = set(range(K.shape[1])), set(dependent)
    pivots = []
    for _ in dependent:
        found = _choose(K, pattern, rows, columns)
        if found is None:
            return None
        row, rate = found
        below = tuple(int(i) for i in sorted(rows - {row}) if pattern[i, rate])
        right = tuple(int(j) for j in sorted(columns - {rate}) if pattern[row, j])
        pivots.append(Pivot(row, rate, float(np.abs(K[:, row, rate]).min()), below, right))
        for i in below:
            ratio = K[:, i, rate] / K[:, row, rate]
            K[:, i, list(right)] -= ratio[:, None] * K[:, row, list(right)]
            pattern[i, list(right)] = True
        rows.discard(row)
        columns.discard(rate)
    kept = present | pattern
    entries = np.full(present.shape, int(kept.sum()), dtype=np.int64)
    entries[kept] = np.arange(int(kept.sum()))
    return Elimination(entries, int(kept.sum()) + 1, tuple(pivots), present)


def _choose(
    K: FloatArray, pattern: BoolArray, rows: set[int], columns: set[int]
) -> tuple[int, int] | None:
    active, left = np.array(sorted(rows)), np.array(sorted(columns))
    here = np.ix_(active, left)
    size = np.abs(K[:, active[:, None], left])
    largest = size.max(axis=1, initial=0.0)
    may_differ = pattern[here]
    fit = may_differ & (size > ZERO).all(axis=0) & (largest > ZERO).all(axis=0)
    ratio = (size / np.maximum(largest, ZERO)[:, None]).min(axis=0)
    cost = (may_differ.sum(axis=0) - 1) * may_differ.sum(axis=1)[:, None]
    for fraction in PIVOTS:
        row, column = np.nonzero(fit & (ratio > fraction))
        if len(row):
            best = np.lexsort((-ratio[row, column], cost[row, column]))[0]
            return int(active[row[best]]), int(left[column[best]])
    return None
