# SPDX-License-Identifier: Apache-2.0
"""Where paths are searched: the configurations of a mechanism, and the ways between them.

Two kinds of mechanism differ here. Where displacements reach every configuration (the pose of a
platform, the joints of an arm), one straight segment leads from anywhere to anywhere: `OpenSpace`.
A closed loop has several configurations with the same driven positions, on sheets that meet only
at singularities or go round them: `ProjectedSpace` moves along the sheets, steered by driven
positions and the tip's pose together, which tell the sheets apart.

Lengths are counted in radians: a translation is divided by a length of the mechanism's size.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.mechanisms.mechanism import Mechanism

# Most points of a segment: what is longer is sampled more coarsely, and verified in the end.
MOST_POINTS = 2000


class Space(Protocol):
    """The configurations (nq,) of a mechanism and the ways between them.

    Attributes:
        stride: every so many samples of a way are nodes of a tree: what lies between two nodes is
            found again by `segment`.
        weights: (nv,) that make radians of displacements.
    """

    stride: int
    weights: FloatArray

    def embedded(self, configurations: FloatArray) -> FloatArray:
        """Coordinates (N, k) of configurations (N, nq) by which `distances` compares them."""

    def distances(self, one: FloatArray, many: FloatArray) -> FloatArray:
        """(N,) [rad] between one embedded configuration (k,) and many (N, k)."""

    def segment(self, start: FloatArray, goal: FloatArray, step: float) -> FloatArray | None:
        """The straight way (n, nq), both ends included; None where it does not arrive."""

    def towards(
        self, start: FloatArray, target: FloatArray, reach: float, step: float
    ) -> FloatArray:
        """Configurations (n, nq), without the start, on the way to a target of `sample`."""

    def target(self, configuration: FloatArray) -> FloatArray:
        """A configuration as a target."""

    def embedded_target(self, target: FloatArray) -> FloatArray:
        """(k,) of a target, to be compared with embedded configurations."""

    def sample(self, random: np.random.Generator, radius: float) -> FloatArray:
        """A random target within a radius [rad] of the middle between start and goal."""

    def displacements(self, path: FloatArray) -> FloatArray:
        """(n - 1, nv) from each configuration of a path (n, nq) to the next."""

    def lengths(self, path: FloatArray) -> FloatArray:
        """(n - 1,) [rad] from each configuration of a path (n, nq) to the next, close one."""

    def along(self, start: FloatArray, way: FloatArray, step: float) -> FloatArray | None:
        """Configurations (n, nq), the start first, along a displacement; None if it cannot be."""

    def follows(self, path: FloatArray) -> bool:
        """Whether a path (n, nq) of close configurations nowhere jumps from sheet to sheet."""


def length_scale(mechanism: Mechanism) -> float:
    """[m] of translation that count as a radian of rotation."""
    if mechanism.configuration_is_pose:
        return mechanism.characteristic_length
    return mechanism.size


class OpenSpace:
    """Configurations that displacements reach from anywhere."""

    stride = 5

    def __init__(self, mechanism: Mechanism, start: FloatArray, goal: FloatArray) -> None:
        self._mechanism = mechanism
        scale = length_scale(mechanism)
        units = mechanism.coordinates.units
        self.weights = np.array([1.0 / scale if unit == "m" else 1.0 for unit in units])
        self._pose = mechanism.configuration_is_pose
        self._scale = scale
        way = mechanism.difference(start, goal)
        self._middle = mechanism.advance(start, 0.5 * way)

    def embedded(self, configurations: FloatArray) -> FloatArray:
        """Joints as they are; a pose as position and twice the quaternion."""
        if not self._pose:
            return np.asarray(configurations * self.weights)
        return np.concatenate(
            [configurations[:, :3] / self._scale, 2.0 * configurations[:, 3:]], axis=1
        )

    def distances(self, one: FloatArray, many: FloatArray) -> FloatArray:
        """See `Space.distances`."""
        if not self._pose:
            return np.asarray(np.linalg.norm(many - one, axis=1))
        return pose_distances(one, many)

    def segment(self, start: FloatArray, goal: FloatArray, step: float) -> FloatArray | None:
        """See `Space.segment`."""
        return self.along(start, self._mechanism.difference(start, goal), step)

    def along(
        self, start: FloatArray, way: FloatArray, step: float, share: float = 1.0
    ) -> FloatArray:
        """See `Space.along`; only a share of the way."""
        length = share * float(np.linalg.norm(way * self.weights))
        count = int(min(max(np.ceil(length / step), 1), MOST_POINTS))
        shares = np.linspace(0.0, share, count + 1)[:, None]
        return self._mechanism.advance(start, shares * way)

    def towards(
        self, start: FloatArray, target: FloatArray, reach: float, step: float
    ) -> FloatArray:
        """See `Space.towards`."""
        way = self._mechanism.difference(start, target)
        length = float(np.linalg.norm(way * self.weights))
        return self.along(start, way, step, min(1.0, reach / max(length, 1e-12)))[1:]

    def target(self, configuration: FloatArray) -> FloatArray:
        """The configuration itself."""
        return configuration

    def embedded_target(self, target: FloatArray) -> FloatArray:
        """See `Space.embedded_target`."""
        return np.asarray(self.embedded(target[None])[0])

    def sample(self, random: np.random.Generator, radius: float) -> FloatArray:
        """Uniform in a ball of displacements; turns of more than half a circle are none."""
        size = len(self.weights)
        direction = random.normal(size=size)
        direction *= radius * random.uniform() ** (1.0 / size) / np.linalg.norm(direction)
        if self._pose:
            turn = float(np.linalg.norm(direction[3:]))
            direction[3:] *= min(1.0, np.pi / max(turn, 1e-12))
        return np.asarray(self._mechanism.advance(self._middle, direction / self.weights))

    def displacements(self, path: FloatArray) -> FloatArray:
        """See `Space.displacements`."""
        return np.asarray(self._mechanism.difference(path[:-1], path[1:]))

    def lengths(self, path: FloatArray) -> FloatArray:
        """See `Space.lengths`."""
        return np.asarray(np.linalg.norm(self.displacements(path) * self.weights, axis=1))

    def follows(self, path: FloatArray) -> bool:
        """True: there is one sheet only."""
        return True


def pose_distances(one: FloatArray, many: FloatArray) -> FloatArray:
    """(N,) of positions in scaled coordinates and quaternions times two, of either sign."""
    turn = np.abs(many[:, 3:] @ one[3:])
    moved = ((many[:, :3] - one[:3]) ** 2).sum(axis=1)
    return np.asarray(np.sqrt(moved + np.maximum(8.0 - 2.0 * turn, 0.0)))
