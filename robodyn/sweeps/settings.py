# SPDX-License-Identifier: Apache-2.0

"""Settings of a sweep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

from robodyn.arrays import ArrayLike
from robodyn.sweeps.points import Method


@dataclass(frozen=True)
class SweepSettings:
    """Settings of a sweep: distribution of the states, and parameters of the quantities.

    Attributes:
        samples: number of points to sample in intervals, instead of a grid.
        seed: seed of the random numbers.
        method: distribution of the points: `sobol` or `random`.
        characteristic_length: length [m] by which moments are divided in condition numbers and
            singular values.
        accelerations: (n,) half-widths of the box about the acceleration and
        wrenches: (6,) [N, N m] half-widths of the box about the wrench, for `effort_extremes`.
        beyond_limits: also compute states beyond the limits of the driven joints.
        chunk: the largest number of states that are computed and written at a time.
    """

    samples: int | None = None
    seed: int = 0
    method: Method = "sobol"
    characteristic_length: float = 1.0
    accelerations: ArrayLike | None = None
    wrenches: ArrayLike | None = None
    beyond_limits: bool = False
    chunk: int = 16384


class SweepOptions(TypedDict, total=False):
    """Keyword arguments of `sweep`: the fields of `SweepSettings`, all optional."""

    samples: int | None
    seed: int
    method: Method
    characteristic_length: float
    accelerations: ArrayLike | None
    wrenches: ArrayLike | None
    beyond_limits: bool
    chunk: int
