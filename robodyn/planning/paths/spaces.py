# SPDX-License-Identifier: Apache-2.0
"""Spaces in which paths are searched: configurations and the motions between them.

There are two cases. If displacements reach every configuration (the pose of a platform, the joints
of an arm), a straight segment connects any two configurations: `Space`. A closed loop has several
configurations with the same driven positions. They form sheets that meet only at singularities or
around them. `ProjectedSpace` moves along these sheets, guided by driven positions and the tip's
pose, which together distinguish the sheets.

Lengths are in radians: translations are divided by a characteristic length of the mechanism.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.mechanism.mechanism import Mechanism

# Largest number of points of a segment; longer segments are sampled more coarsely, and verified at
# the end.
MOST_POINTS = 2000


class Space:
    """Path space of a mechanism without closed loops, in which segments are straight.

    Args:
        mechanism: mechanism whose displacements reach every configuration.
        start, goal: (nq,) configurations between which a path is searched.

    Attributes:
        stride: number of samples between two nodes of a search tree; `segment` restores the omitted
            samples.
        weights: (nv,) factors that convert displacements to radians.
    """

    stride = 5

    def __init__(self, mechanism: Mechanism, start: FloatArray, goal: FloatArray) -> None:
        self._mechanism, self._pose = mechanism, mechanism.coordinates.is_pose
        self._scale = mechanism.characteristic_length if self._pose else mechanism.size
        self.weights = self._radians(mechanism.coordinates.units)
        self._start, self._goal = start, goal

    def _radians(self, units: Sequence[str]) -> FloatArray:
        """Return factors (k,) that convert displacements in the given units to radians.

        Lengths are divided by a characteristic length of the mechanism.
        """
        return np.array([1.0 / self._scale if unit == "m" else 1.0 for unit in units])

    @cached_property
    def _midpoint(self) -> FloatArray:
        way = self._mechanism.difference(self._start, self._goal)
        return self._mechanism.advance(self._start, 0.5 * way)

    def embed(self, configurations: FloatArray) -> FloatArray:
        """Map configurations (N, nq) to the coordinates (N, k) that `distances` compares.

        Joint positions are scaled; a pose becomes its position and twice its quaternion.
        """
        if not self._pose:
            return np.asarray(configurations * self.weights)
        return np.concatenate(
            [configurations[:, :3] / self._scale, 2.0 * configurations[:, 3:]], axis=1
        )

    def distances(self, one: FloatArray, many: FloatArray) -> FloatArray:
        """Compute the distances (N,) [rad] of points (N, k) from one point (k,).

        All points are given by the coordinates that `embed` returns.
        """
        if not self._pose:
            return np.asarray(np.linalg.norm(many - one, axis=1))
        return pose_distances(one, many)

    def segment(self, start: FloatArray, goal: FloatArray, step: float) -> FloatArray | None:
        """Sample the straight segment (n, nq) between two configurations, both included.

        Neighboring samples are at most `step` [rad] apart. In the subclass for closed loops, the
        result is None if the path leaves the sheet of the start or misses the goal.
        """
        return self.along(start, self._mechanism.difference(start, goal), step)

    def along(self, start: FloatArray, way: FloatArray, step: float) -> FloatArray | None:
        """Sample the path (n, nq) from a configuration along a displacement (nv,).

        The samples include the configuration itself; neighbors are at most `step` [rad] apart. In
        the subclass for closed loops, the result is None if the path leaves the sheet of the start.
        """
        return self._interpolate(start, way, step, 1.0)

    def _interpolate(
        self, start: FloatArray, way: FloatArray, step: float, fraction: float
    ) -> FloatArray:
        """Sample configurations (n, nq) along the first `fraction` of a displacement."""
        length = fraction * float(np.linalg.norm(way * self.weights))
        count = int(min(max(np.ceil(length / step), 1), MOST_POINTS))
        fractions = np.linspace(0.0, fraction, count + 1)[:, None]
        return self._mechanism.advance(start, fractions * way)

    def steer(self, start: FloatArray, target: FloatArray, reach: float, step: float) -> FloatArray:
        """Sample a path (n, nq) from a configuration towards a target.

        The length of the path is at most `reach` [rad]. It excludes the start; its configurations
        are at most `step` [rad] apart.
        """
        way = self._mechanism.difference(start, target)
        length = float(np.linalg.norm(way * self.weights))
        return self._interpolate(start, way, step, min(1.0, reach / max(length, 1e-12)))[1:]

    def target(self, configuration: FloatArray) -> FloatArray:
        """Convert a configuration (nq,) to a target, the argument of `steer`."""
        return configuration

    def embed_target(self, target: FloatArray) -> FloatArray:
        """Convert a target to the coordinates (k,) that `distances` compares."""
        return np.asarray(self.embed(target[None])[0])

    def sample(self, random: np.random.Generator, radius: float) -> FloatArray:
        """Draw a random configuration (nq,) near the middle between start and goal.

        It is at most `radius` [rad] away from the middle.

        The distribution is uniform in a ball of displacements; rotations are at most half a turn.
        """
        size = len(self.weights)
        direction = random.normal(size=size)
        direction *= radius * random.uniform() ** (1.0 / size) / np.linalg.norm(direction)
        if self._pose:
            turn = float(np.linalg.norm(direction[3:]))
            direction[3:] *= min(1.0, np.pi / max(turn, 1e-12))
        return np.asarray(self._mechanism.advance(self._midpoint, direction / self.weights))

    def displacements(self, path: FloatArray) -> FloatArray:
        """Compute displacements (n - 1, nv) between the configurations of a path (n, nq)."""
        return np.asarray(self._mechanism.difference(path[:-1], path[1:]))

    def lengths(self, path: FloatArray) -> FloatArray:
        """Compute the lengths (n - 1,) [rad] of the steps of a path (n, nq)."""
        return np.asarray(np.linalg.norm(self.displacements(path) * self.weights, axis=1))

    def length(self, path: FloatArray) -> float:
        """Compute the length [rad] of a path (n, nq) of close configurations."""
        return float(self.lengths(path).sum())

    def is_on_one_sheet(self, path: FloatArray) -> bool:
        """Return whether a path (n, nq) stays on one sheet of configurations.

        The result is always true, because a mechanism without closed loops has only one sheet.
        """
        return True


def pose_distances(one: FloatArray, many: FloatArray) -> FloatArray:
    """Compute the distances (N,) [rad] of scaled poses (N, 7) from a scaled pose (7,).

    A scaled pose is a position, divided by a length, and twice the quaternion. A quaternion and its
    negative are the same orientation.
    """
    turn = np.abs(many[:, 3:] @ one[3:])
    moved = ((many[:, :3] - one[:3]) ** 2).sum(axis=1)
    return np.asarray(np.sqrt(moved + np.maximum(8.0 - 2.0 * turn, 0.0)))
