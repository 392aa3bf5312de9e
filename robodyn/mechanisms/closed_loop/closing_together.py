# SPDX-License-Identifier: Apache-2.0

"""Closing the loops from many starts at a time, by steps of Levenberg and Marquardt."""

from __future__ import annotations

import numpy as np

from robodyn.arrays import FloatArray, IntArray
from robodyn.mechanisms.closed_loop.equations import Equations

# From here Newton's method goes on alone.
NEAR = 1e-6
MOST_STEPS = 60
LONGEST_STEP = 0.8
# With so much damping no step leads on.
STUCK = 1e6


def close_together(
    equations: Equations, starts: list[FloatArray], free: IntArray
) -> list[FloatArray]:
    """Of many starts (positions,) those that come near a closed configuration, each where it is.

    Levenberg and Marquardt's steps of all of them at a time: the systems are small, and most of
    what one costs alone is calls.

    Args:
        equations: of the closures.
        starts: configurations.
        free: rate indices of the coordinates that move.
    """
    if not len(equations.rows):
        return starts
    places = list(starts)
    gap, K = _all_at(equations, places, free)
    worth, damping = (gap * gap).sum(axis=1), np.full(len(places), 1e-2)
    identity = np.eye(gap.shape[1])
    for _ in range(MOST_STEPS):
        live = np.flatnonzero((np.abs(gap).max(axis=1) > NEAR) & (damping < STUCK))
        if not len(live):
            break
        part = K[live]
        turned = part.transpose(0, 2, 1)
        A = part @ turned + damping[live, None, None] * identity
        step = -(turned @ np.linalg.solve(A, gap[live][..., None]))[..., 0]
        longest = np.abs(step).max(axis=1, initial=0.0)
        step *= np.minimum(1.0, LONGEST_STEP / np.maximum(longest, 1e-300))[:, None]
        trials = []
        for n, index in enumerate(live):
            whole = np.zeros(len(equations.columns))
            whole[free] = step[n]
            trials.append(equations.stepped(places[index], whole))
        new_gap, new_K = _all_at(equations, trials, free)
        new_worth = (new_gap * new_gap).sum(axis=1)
        better = new_worth < worth[live]
        accepted = live[better]
        for good in np.flatnonzero(better):
            places[live[good]] = trials[good]
        gap[accepted], K[accepted], worth[accepted] = (
            new_gap[better],
            new_K[better],
            new_worth[better],
        )
        damping[accepted] = np.maximum(damping[accepted] / 6.0, 1e-12)
        damping[live[~better]] *= 4.0
    close = np.abs(gap).max(axis=1) <= NEAR
    return [place for place, is_close in zip(places, close, strict=True) if is_close]


def _all_at(
    equations: Equations, places: list[FloatArray], free: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Equations (N, rows) and their Jacobian (N, rows, free)."""
    both = [equations.at(place) for place in places]
    return np.array([gap for gap, _ in both]), np.array([K[:, free] for _, K in both])
