# SPDX-License-Identifier: Apache-2.0

"""What a sweep is asked for."""

from __future__ import annotations

from dataclasses import dataclass

from robodyn.arrays import ArrayLike


@dataclass(frozen=True)
class SweepSettings:
    """How states are spread, and what quantities depend on besides them.

    Attributes:
        samples: number of points spread over the intervals, instead of a grid.
        seed: of the random numbers.
        method: how points are spread: `sobol` or `random`.
        characteristic_length: [m] of condition numbers and singular values.
        accelerations: (n,) half-widths of the box about the acceleration and
        wrenches: (6,) [N, N m] half-widths of the box about the wrench over which
            `effort_extremes` are taken.
        beyond_limits: compute states beyond the limits of the driven joints, too.
        chunk: the largest number of states that are computed and written at a time.
    """

    samples: int | None = None
    seed: int = 0
    method: str = "sobol"
    characteristic_length: float = 1.0
    accelerations: ArrayLike | None = None
    wrenches: ArrayLike | None = None
    beyond_limits: bool = False
    chunk: int = 16384
