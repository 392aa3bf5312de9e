# SPDX-License-Identifier: Apache-2.0

"""Components of the tip's pose that determine a mechanism: position, rotation or a selection."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from robodyn.arrays import FloatArray

# Singular value, relative to the largest, below which it counts as zero.
NONE = 1e-6
# Least quality of components that determine a mechanism, relative to all six. The sideways motion
# of a tilting tripod (3-RPS) determines it far worse.
FAIR = 0.1
NAMES = ("x", "y", "z", "rotation about x", "rotation about y", "rotation about z")
POSITION, ROTATION, POSE = (0, 1, 2), (3, 4, 5), (0, 1, 2, 3, 4, 5)


class TipFreedoms(NamedTuple):
    """Components of the tip's pose that determine a mechanism's configuration.

    Attributes:
        rows: indices of these components in a twist (linear over angular, base frame).
        freedoms: degrees of freedom of the tip.
        mobility: degrees of freedom of the mechanism; more than `freedoms` if it can move while its
            tip is at rest.
    """

    rows: tuple[int, ...]
    freedoms: int
    mobility: int

    @property
    def suffice(self) -> bool:
        """Whether the tip's pose determines the configuration."""
        return self.freedoms == self.mobility

    @property
    def text(self) -> str:
        """Description of the components, for tables and messages."""
        known = {POSITION: "position", ROTATION: "rotation", POSE: "position and rotation"}
        what = known.get(self.rows) or ", ".join(NAMES[row] for row in self.rows)
        if self.suffice:
            return f"determined by the tip's {what}"
        missing = f"{self.freedoms} of its {self.mobility} degrees of freedom"
        return f"not determined by the tip's pose, which has {missing}"


def tip_freedoms(tips: FloatArray) -> TipFreedoms:
    """Find the pose components that determine a configuration, from motions of the tip.

    Position or rotation alone are preferred, because the other components of a goal are then free.
    Otherwise, as many of the six components are selected as there are degrees of freedom.

    Args:
        tips: (samples, 6, mobility) twists for an orthonormal basis of the mechanism's motions,
            positions relative to its size.
    """
    mobility = tips.shape[2]
    values = np.linalg.svd(tips, compute_uv=False)
    count = int((values > NONE * values[:, :1].max()).sum(axis=1).max(initial=0))
    if count == 0:
        return TipFreedoms(POSE, 0, mobility)

    def worst(rows: tuple[int, ...]) -> float:
        """Return the smallest singular value that is not structurally zero.

        It is the `count`-th singular value of the components `rows` of the tip twists, as the
        median over all samples.
        """
        if len(rows) < count:
            return 0.0
        own = np.linalg.svd(tips[:, rows], compute_uv=False)[:, count - 1]
        return float(np.median(own))

    enough = FAIR * worst(POSE)
    for rows in (POSITION, ROTATION):
        if worst(rows) > enough:
            return TipFreedoms(rows, count, mobility)
    best = max(combinations(POSE, count), key=worst)
    return TipFreedoms(best if worst(best) > enough else POSE, count, mobility)
