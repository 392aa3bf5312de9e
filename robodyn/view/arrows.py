# SPDX-License-Identifier: Apache-2.0

"""The lengths of the arrows that show the actuators' efforts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robodyn.errors import UnderActuated

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.common.figure import Figure
    from robodyn.mechanisms.protocol import Mechanism


# Length of the arrow of the reference effort, and of the longest arrow that is drawn however near
# a singularity, in sizes of the mechanism.
LENGTH, LONGEST = 0.35, 0.9


class EffortArrows:
    """Arrows (n, 2, 3) from tail to head [m], in the frame of the figure's root.

    The mechanism decides where they are drawn: see `effort_arrows` of its kind.

    Attributes:
        size: [m] of the mechanism.
        reference: [N or N m] effort that is drawn with the standard length.
    """

    def __init__(self, mechanism: Mechanism, figure: Figure) -> None:
        self._mechanism = mechanism
        self._figure = figure
        self.size = mechanism.size
        self.reference = max(_holding_effort(mechanism), mechanism.typical_effort, 1e-6)

    def __call__(
        self, frames: FloatArray, configuration: FloatArray, effort: FloatArray
    ) -> FloatArray:
        """The arrows for link frames (L, 4, 4), a configuration and efforts (n,) [N or N m]."""
        lengths = np.clip(LENGTH * effort / self.reference, -LONGEST, LONGEST) * self.size
        return self._mechanism.effort_arrows(self._figure, frames, configuration, lengths)


def _holding_effort(mechanism: Mechanism) -> float:
    """[N or N m] the largest effort that holds the mechanism at home; 0 if none does."""
    home = mechanism.home
    rest = mechanism.difference(home, home)
    try:
        return float(np.abs(mechanism.inverse_dynamics(home, rest, rest)).max())
    except UnderActuated:
        return 0.0
