# SPDX-License-Identifier: Apache-2.0

"""Loading and storing of eight states of a batch in lanes."""

from __future__ import annotations

from typing import Any

from robodyn.numerics.compiler import inner
from robodyn.numerics.simd.access import entry, set_entry
from robodyn.numerics.simd.lanes import WIDTH, any_of


@inner
def read(array: Any, first: int, last: int, rows: Any) -> None:
    """Load eight states of an array (N, k), from index `first`, into k SIMD vectors.

    State `last` - 1 is the last to load; if there are fewer than eight, it also fills the remaining
    lanes.
    """
    for column in range(WIDTH):
        read_one(array, min(first + column, last - 1), column, rows)


@inner
def read_one(array: Any, n: int, column: int, rows: Any) -> None:
    """Load state `n` of an array (N, k) into lane `column` of k SIMD vectors."""
    for row in range(array.shape[1]):
        set_entry(rows, row, column, array[n, row])


@inner
def write_one(rows: Any, column: int, n: int, out: Any) -> None:
    """Store lane `column` of k SIMD vectors as state `n` of an array (N, k)."""
    for row in range(out.shape[1]):
        out[n, row] = entry(rows, row, column)


@inner
def write(rows: Any, first: int, last: int, out: Any) -> None:
    """Store the states `first` to `last` - 1 of an array (N, k) from k SIMD vectors.

    It is the inverse of `read`; at most eight states are stored.
    """
    for column in range(min(WIDTH, last - first)):
        write_one(rows, column, first + column, out)


@inner
def all_finite(rows: Any, count: int) -> bool:
    """Return whether all numbers in the first `count` SIMD vectors are finite."""
    total = 0.0 * rows[0]
    for row in range(1, count):
        total = total + 0.0 * rows[row]
    return not any_of(~(total == 0.0))
