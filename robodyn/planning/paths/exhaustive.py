# SPDX-License-Identifier: Apache-2.0
"""Every configuration within reach of another, on a lattice, for up to three freedoms.

From the start, steps along each coordinate lead to neighbours; those that keep to the bounds are
searched on. A closed loop has several configurations with the same coordinates: those that are
reached from different sides and differ count as different. When nothing is left to search and the
goal has not been reached, there is no path that is wider than the lattice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray
    from robodyn.planning.paths.bounds import Bounds
    from robodyn.planning.paths.spaces import Space
    from robodyn.planning.paths.tree_search import Effort

# Configurations after which the search is given up.
MOST = 150_000


def flooded(
    space: Space, bounds: Bounds, start: FloatArray, effort: Effort, resolution: float
) -> tuple[float, int] | None:
    """The resolution [rad] and the number of configurations reached; None if time was up."""
    size = len(space.weights)
    steps = np.diag(resolution / space.weights)
    sheets: dict[tuple[int, ...], list[FloatArray]] = {
        (0,) * size: [space.embedded(start[None])[0]]
    }
    count, front = 1, [((0,) * size, start)]
    while front:
        following: list[tuple[tuple[int, ...], FloatArray]] = []
        for key, here in front:
            if effort.over or count > MOST:
                return None
            for axis in range(size):
                for sign in (1, -1):
                    way = space.along(here, sign * steps[axis], resolution)
                    if way is None:
                        continue
                    moved = way[-1]
                    there = (*key[:axis], key[axis] + sign, *key[axis + 1 :])
                    place = space.embedded(moved[None])[0]
                    known = sheets.setdefault(there, [])
                    if known and space.distances(place, np.array(known)).min() < resolution:
                        continue
                    if not bounds.kept(moved[None]).all():
                        continue
                    known.append(place)
                    count += 1
                    following.append((there, moved))
        front = following
    return resolution, count
