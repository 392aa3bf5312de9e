# SPDX-License-Identifier: Apache-2.0

"""Searches for closed configurations: the nearest, and one with the tip at a pose."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robodyn.mechanisms.closed_loop.assembly import Attempt, Equations, ExtraRows
from robodyn.mechanisms.closed_loop.far_search import searched
from robodyn.mechanisms.closed_loop.structure import closed_from
from robodyn.poses import rotation_matrix

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from robodyn.arrays import FloatArray

# Starts around a guess from which a goal is tried to reach.
ATTEMPTS = 40


class TipPose(ExtraRows):
    """That the tip has a pose, or what of it determines the mechanism; of comparable size.

    Args:
        pose: (7,) wanted, base frame.
        size: [m] by which its position is divided.
        body_pose: from a configuration to the tip's pose.
        jacobian: from a configuration to (6, rates).
        rows: of the six equations those that count: all by default.
    """

    def __init__(
        self,
        pose: FloatArray,
        size: float,
        body_pose: Callable[[FloatArray], FloatArray],
        jacobian: Callable[[FloatArray], FloatArray],
        rows: Sequence[int] = range(6),
    ) -> None:
        self._rows = list(rows)
        self._pose, self._size = np.asarray(pose), size
        self._wanted = rotation_matrix(self._pose)
        self._body_pose, self._jacobian = body_pose, jacobian

    def gap(self, q: FloatArray) -> FloatArray:
        """How far the tip is from there: position [parts of the size], turn [rad]."""
        here = self._body_pose(q)
        turn = rotation_matrix(here) @ self._wanted.T
        cosine = np.clip(0.5 * (np.trace(turn) - 1.0), -1.0, 1.0)
        angle = float(np.arccos(cosine))
        spin = 0.5 * np.array(
            [turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]
        )
        length = float(np.linalg.norm(spin))
        vector = spin if length < 1e-9 else np.arctan2(length, cosine) / length * spin
        if angle > 3.0 and length < 1e-9:
            vector = np.array([angle, 0.0, 0.0])
        gap = np.concatenate([(here[:3] - self._pose[:3]) / self._size, vector])
        return np.asarray(gap[self._rows])

    def __call__(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Their values and Jacobian at a configuration."""
        gap, J = self.gap(q), self._jacobian(q)
        J[:3] /= self._size
        return gap, J[self._rows]


def nearest(
    equations: Equations, q: FloatArray, held: Sequence[int], extra: ExtraRows | None
) -> Attempt:
    """The closed configuration that Newton's method finds from q, or else from around it."""
    if extra is None:
        return closed_from(equations, q, list(held))
    return searched(equations, q, held, extra, ATTEMPTS)
