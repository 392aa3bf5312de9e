# SPDX-License-Identifier: Apache-2.0
"""Where paths are searched: the configurations of a mechanism, and the ways between them.

Two kinds of mechanism differ here. Where displacements reach every configuration (the pose of a
platform, the joints of an arm), one straight segment leads from anywhere to anywhere: `Space`.
A closed loop has several configurations with the same driven positions, on sheets that meet only
at singularities or go round them: `ProjectedSpace` moves along the sheets, steered by driven
positions and the tip's pose together, which tell the sheets apart.

Lengths are counted in radians: a translation is divided by a length of the mechanism's size.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.mechanism.mechanism import Mechanism

# Most points of a segment: what is longer is sampled more coarsely, and verified in the end.
MOST_POINTS = 2000


class Space:
    """The configurations (nq,) of a mechanism and the ways between them.

    Args:
        mechanism: whose displacements reach them from anywhere.
        start, goal: (nq,) between which a path is searched.

    Attributes:
        stride: every so many samples of a way are nodes of a tree: what lies between two nodes is
            found again by `segment`.
        weights: (nv,) that make radians of displacements.
    """

    stride = 5

    def __init__(self, mechanism: Mechanism, start: FloatArray, goal: FloatArray) -> None:
        self._mechanism, self._pose = mechanism, mechanism.coordinates.is_pose
        self._scale = mechanism.characteristic_length if self._pose else mechanism.size
        self.weights = self._radians(mechanism.coordinates.units)
        self._start, self._goal = start, goal

    def _radians(self, units: Sequence[str]) -> FloatArray:
        """What makes radians of numbers in these units."""
        return np.array([1.0 / self._scale if unit == "m" else 1.0 for unit in units])

    @cached_property
    def _middle(self) -> FloatArray:
        way = self._mechanism.difference(self._start, self._goal)
        return self._mechanism.advance(self._start, 0.5 * way)

    def embedded(self, configurations: FloatArray) -> FloatArray:
        """Coordinates (N, k) of configurations (N, nq) by which `distances` compares them.

        Joints as they are; a pose as position and twice the quaternion.
        """
        if not self._pose:
            return np.asarray(configurations * self.weights)
        return np.concatenate(
            [configurations[:, :3] / self._scale, 2.0 * configurations[:, 3:]], axis=1
        )

    def distances(self, one: FloatArray, many: FloatArray) -> FloatArray:
        """(N,) [rad] between one embedded configuration (k,) and many (N, k)."""
        if not self._pose:
            return np.asarray(np.linalg.norm(many - one, axis=1))
        return pose_distances(one, many)

    def segment(self, start: FloatArray, goal: FloatArray, step: float) -> FloatArray | None:
        """The straight way (n, nq), both ends included; None where it does not arrive."""
        return self.along(start, self._mechanism.difference(start, goal), step)

    def along(self, start: FloatArray, way: FloatArray, step: float) -> FloatArray | None:
        """Configurations (n, nq), the start first, along a displacement; None if it cannot be."""
        return self._straight(start, way, step, 1.0)

    def _straight(
        self, start: FloatArray, way: FloatArray, step: float, share: float
    ) -> FloatArray:
        """A share of the way."""
        length = share * float(np.linalg.norm(way * self.weights))
        count = int(min(max(np.ceil(length / step), 1), MOST_POINTS))
        shares = np.linspace(0.0, share, count + 1)[:, None]
        return self._mechanism.advance(start, shares * way)

    def towards(
        self, start: FloatArray, target: FloatArray, reach: float, step: float
    ) -> FloatArray:
        """Configurations (n, nq), without the start, on the way to a target of `sample`."""
        way = self._mechanism.difference(start, target)
        length = float(np.linalg.norm(way * self.weights))
        return self._straight(start, way, step, min(1.0, reach / max(length, 1e-12)))[1:]

    def target(self, configuration: FloatArray) -> FloatArray:
        """A configuration as a target."""
        return configuration

    def embedded_target(self, target: FloatArray) -> FloatArray:
        """(k,) of a target, to be compared with embedded configurations."""
        return np.asarray(self.embedded(target[None])[0])

    def sample(self, random: np.random.Generator, radius: float) -> FloatArray:
        """A random target within a radius [rad] of the middle between start and goal.

        Uniform in a ball of displacements; turns of more than half a circle are none.
        """
        size = len(self.weights)
        direction = random.normal(size=size)
        direction *= radius * random.uniform() ** (1.0 / size) / np.linalg.norm(direction)
        if self._pose:
            turn = float(np.linalg.norm(direction[3:]))
            direction[3:] *= min(1.0, np.pi / max(turn, 1e-12))
        return np.asarray(self._mechanism.advance(self._middle, direction / self.weights))

    def displacements(self, path: FloatArray) -> FloatArray:
        """(n - 1, nv) from each configuration of a path (n, nq) to the next."""
        return np.asarray(self._mechanism.difference(path[:-1], path[1:]))

    def lengths(self, path: FloatArray) -> FloatArray:
        """(n - 1,) [rad] from each configuration of a path (n, nq) to the next, close one."""
        return np.asarray(np.linalg.norm(self.displacements(path) * self.weights, axis=1))

    def length(self, path: FloatArray) -> float:
        """[rad] of a path (n, nq) of close configurations."""
        return float(self.lengths(path).sum())

    def follows(self, path: FloatArray) -> bool:
        """Whether a path (n, nq) of close configurations nowhere jumps from sheet to sheet."""
        return True


def pose_distances(one: FloatArray, many: FloatArray) -> FloatArray:
    """(N,) of positions in scaled coordinates and quaternions times two, of either sign."""
    turn = np.abs(many[:, 3:] @ one[3:])
    moved = ((many[:, :3] - one[:3]) ** 2).sum(axis=1)
    return np.asarray(np.sqrt(moved + np.maximum(8.0 - 2.0 * turn, 0.0)))
