# SPDX-License-Identifier: Apache-2.0

"""The speed of the tip: |dx/ds| s' of the platform's reference point or the arm's tip.

It is asked for where a process or people beside the machine bear no more, whatever its drives can.
"""

from __future__ import annotations

from robodyn.arrays import FloatArray
from robodyn.planning.time_optimal.along import Along


class TipSpeed:
    """A limit [m/s], finite. See `FirstOrder`."""

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self.names = ["speed of the tip"]

    def bound(self, path: Along) -> FloatArray:
        """See `FirstOrder.bound`."""
        return self._limit / path.tip

    def used(self, path: Along, speed: FloatArray) -> FloatArray:
        """See `FirstOrder.used`."""
        return path.tip[..., None] * speed / self._limit
