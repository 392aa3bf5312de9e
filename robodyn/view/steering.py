# SPDX-License-Identifier: Apache-2.0

"""Motion by hand: a goal that may jump, and a motion towards it at limited speed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robodyn.trajectories.base import Motion

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.protocol import Mechanism


class Steered:
    """A trajectory that follows its `goal` in a straight line at limited speed.

    `step` advances it by one period; between two steps it returns the same motion for any time.

    Args:
        mechanism: what is moved.
        start: configuration to begin from.
        v_max: [m/s] of a body's translation, [rad/s or m/s] of joints.
        w_max: [rad/s] of a body's rotation.
    """

    duration = float("inf")
    switching_times: tuple[float, ...] = ()

    def __init__(
        self, mechanism: Mechanism, start: FloatArray, v_max: float, w_max: float = 0.8
    ) -> None:
        self._mechanism = mechanism
        self._here = np.array(start)
        self._rate = mechanism.difference(start, start)
        self.goal = self._here
        self._limits = np.full(self._rate.shape, v_max)
        if (turns := mechanism.coordinates.rotation) is not None:
            self._limits[turns] = w_max

    def step(self, period: float) -> None:
        """Advance by one period [s] towards the goal."""
        way = self._mechanism.difference(self._here, self.goal)
        slowest = float(np.max(np.abs(way) / (self._limits * period)))
        step = way / max(slowest, 1.0)
        self._rate = step / period
        self._here = self._mechanism.advance(self._here, step)

    def sample(self, t: ArrayLike) -> Motion:
        """The present motion, with zero acceleration."""
        shape = np.shape(t)
        here, rate = (np.broadcast_to(v, (*shape, len(v))) for v in (self._here, self._rate))
        return Motion(here, rate, np.zeros_like(rate))
