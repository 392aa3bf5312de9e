# SPDX-License-Identifier: Apache-2.0
"""Configurations of arms and closed loops, and steps of inverse kinematics for many at once."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from robodyn.mechanisms.protocol import stepped

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray
    from robodyn.planning.requirements import Requirements

# Random configurations of an arm, steps of a loop's walk, and how many are examined together.
SEEDS, WALK, CHUNK = 60_000, 300, 8192
# Steps of inverse kinematics into a neighbour, their damping, and the longest [rad].
STEPS, DAMPING, LONGEST = 6, 0.02, 0.3


class TipSteps:
    """Where a mechanism's tip is, and how it is brought nearer to points."""

    def __init__(self, needs: Requirements) -> None:
        self.needs, self._mechanism = needs, needs.mechanism

    def seeds(self, random: np.random.Generator) -> FloatArray:
        """Configurations that meet the requirements: random ones, or a walk from home."""
        mechanism, home = self._mechanism, self._mechanism.home[None]
        if self.simple:
            lower, upper = mechanism.position_limits.T
            lower = np.where(np.isfinite(lower), lower, -np.pi)
            upper = np.where(np.isfinite(upper), upper, np.pi)
            home = np.concatenate([home, random.uniform(lower, upper, (SEEDS, len(lower)))])
        else:
            home = self._walk(home[0], random)
        kept = [
            part[self.needs.margins(part) >= 0.0]
            for part in np.array_split(home, max(len(home) // CHUNK, 1))
        ]
        return np.asarray(np.concatenate(kept))

    def _walk(self, here: FloatArray, random: np.random.Generator) -> FloatArray:
        """Configurations on a random walk within the requirements."""
        path, size = [here], self._mechanism.coordinates.velocity_size
        for _ in range(WALK):
            step = self._units * LONGEST * random.normal(size=size)
            moved = stepped(self._mechanism, here, step)
            if moved is not None and self.needs.margins(moved[None])[0] >= 0.0:
                path.append(moved)
                here = moved
        return np.array(path)

    @cached_property
    def simple(self) -> bool:
        """Whether a configuration is independent numbers, so that many move at once."""
        coordinates = self._mechanism.coordinates
        return coordinates.configuration_size == coordinates.velocity_size

    @cached_property
    def _units(self) -> FloatArray:
        """(nv,) [rad or m] of a radian in each coordinate."""
        units = self._mechanism.coordinates.units
        return np.array([self._mechanism.size if unit == "m" else 1.0 for unit in units])

    def tips(self, configurations: FloatArray) -> FloatArray:
        """(N, 3) [m] positions of the tip."""
        if not len(configurations):
            return np.empty((0, 3))
        return np.asarray(self._mechanism.body_pose(configurations)[:, :3])

    def nearer(self, q: FloatArray, goal: FloatArray) -> FloatArray:
        """One step of damped least squares towards goals (N, 3), within the joints' limits."""
        mechanism = self._mechanism
        scale = mechanism.size
        units = self._units
        rates = mechanism.jacobian(q)[:, :3] * units / scale
        left = (goal - self.tips(q)) / scale
        square = rates @ np.swapaxes(rates, 1, 2) + DAMPING**2 * np.eye(3)
        way = np.einsum("nij,ni->nj", rates, np.linalg.solve(square, left[..., None])[..., 0])
        length = np.linalg.norm(way, axis=1, keepdims=True)
        way *= np.minimum(1.0, LONGEST / np.maximum(length, 1e-12)) * units
        if self.simple:
            moved = mechanism.advance(q, way)
            if self.needs.bounds.within_limits:
                moved = np.clip(moved, *mechanism.position_limits.T)
            return np.asarray(moved)
        out: FloatArray = q.copy()
        for k, (one, step) in enumerate(zip(q, way, strict=True)):
            moved_one = stepped(mechanism, one, step)
            if moved_one is not None:
                out[k] = moved_one
        return np.asarray(out)
