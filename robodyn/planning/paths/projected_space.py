# SPDX-License-Identifier: Apache-2.0
"""Path space of closed loops, whose configurations form folded sheets over driven positions."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.mechanism.mechanism import Mechanism
from robodyn.planning.paths.spaces import MOST_POINTS, Space, pose_distances
from robodyn.poses import advance_pose, pose_difference

# Largest deviation of a step's end from the linear prediction, relative to the step; beyond a fold
# of the sheet the deviation is as long as the step itself.
MAX_DEVIATION = 0.5
# Steps are halved down to this fraction.
SHORTEST = 1.0 / 64.0
# Smallest progress of a step towards its target, relative to its length.
PROGRESS = 0.05


class ProjectedSpace(Space):
    """Path space of closed loops, with distances in driven positions and tip pose.

    A target consists of driven positions (n,), a pose (7,) of the tip, and one weight for each.
    A step towards it solves weighted least squares for the rates that reduce both distances. A
    step is rejected if the mechanism does not move as its rates predict, which reveals a jump
    across a singular surface to another sheet.
    """

    stride = 1

    def __init__(self, mechanism: Mechanism, start: FloatArray, goal: FloatArray) -> None:
        super().__init__(mechanism, start, goal)
        self._driven = self._radians(mechanism.drives.units)
        self._n = len(self._driven)
        self._ends = self._task_coordinates(np.stack([start, goal]))
        self._identity = np.eye(len(self.weights))

    def embed(self, configurations: FloatArray) -> FloatArray:
        """Map configurations (N, nq) to the coordinates (N, k) that `distances` compares.

        The coordinates are the scaled driven positions, the tip's scaled position, and twice its
        quaternion.
        """
        return self._embed(self._task_coordinates(configurations))

    def embed_target(self, target: FloatArray) -> FloatArray:
        """Convert a target (n + 9,) to the coordinates (k,) that `distances` compares."""
        return np.asarray(self._embed(target[None, :-2])[0])

    def distances(self, one: FloatArray, many: FloatArray) -> FloatArray:
        """Compute the distances (N,) [rad] of points (N, k) from one point (k,).

        All points are given by the coordinates that `embed` returns.
        """
        n = self._n
        joints = np.linalg.norm(many[:, :n] - one[:n], axis=1)
        return np.asarray(np.hypot(joints, pose_distances(one[n:], many[:, n:])))

    def segment(self, start: FloatArray, goal: FloatArray, step: float) -> FloatArray | None:
        """Sample a path (n, nq) between two configurations, both included.

        The path is straight in the independent joints; neighboring samples are at most `step` [rad]
        apart. The result is None if the path leaves the sheet of the start or misses the goal.
        """
        found = super().segment(start, goal, step)
        if found is None:
            return None
        here, there = self.embed(np.stack([found[-1], goal]))
        return found if self.distances(here, there[None])[0] < 1e-6 else None

    def along(self, start: FloatArray, way: FloatArray, step: float) -> FloatArray | None:
        """Sample the path (n, nq) from a configuration along a displacement (nv,).

        The samples include the configuration itself; neighbors are at most `step` [rad] apart. The
        result is None if the path leaves the sheet of the start.
        """
        path, gone, fraction = [start], 0.0, 1.0
        rates = self._task_jacobian(start)
        while gone < 1.0 and len(path) < MOST_POINTS:
            moved = self._step_along(path[-1], rates, way, min(2.0 * fraction, 1.0 - gone), step)
            if moved is None:
                return None
            here, rates, fraction = moved
            path.append(here)
            gone += fraction
        return np.array(path)

    def steer(self, start: FloatArray, target: FloatArray, reach: float, step: float) -> FloatArray:
        """Sample a path (n, nq) of about length `reach` [rad] towards a target (n + 9,).

        The path excludes the start; its configurations are about `step` [rad] apart. It ends early
        if a step fails or no longer approaches the target, and may be empty.
        """
        path: list[FloatArray] = []
        here, gone, fraction = start, 0.0, 1.0
        weights = np.repeat(target[-2:], (self._n, 6))
        left, rates = (
            weights * self._remaining_displacement(here, target),
            self._task_jacobian(here),
        )
        while gone < reach and np.linalg.norm(left) > 1e-9:
            weighted = np.linalg.lstsq(weights[:, None] * rates, left, rcond=1e-9)
            way = np.asarray(weighted[0], dtype=np.float64)
            length = float(np.linalg.norm(rates @ way))
            if length < 1e-9:
                break
            moved = self._step_along(here, rates, way, min(2.0 * fraction, 1.0), step)
            if moved is None:
                break
            here, rates, fraction = moved
            now = weights * self._remaining_displacement(here, target)
            if np.linalg.norm(now) > np.linalg.norm(left) - PROGRESS * fraction * length:
                break
            path.append(here)
            gone += fraction * length
            left = now
        return np.array(path).reshape(-1, len(start))

    def target(self, configuration: FloatArray) -> FloatArray:
        """Convert a configuration (nq,) to a target (n + 9,), the argument of `steer`.

        Most of the weight is on the tip's pose, which distinguishes the sheets.
        """
        return np.concatenate([self._task_coordinates(configuration[None])[0], [0.05, 1.0]])

    def sample(self, random: np.random.Generator, radius: float) -> FloatArray:
        """Draw a random target (n + 9,): driven positions within limits, and a tip pose.

        The target lies around the middle between start and goal; `radius` [rad] scales its
        distance. A random choice of weights selects the driven positions, the pose, or both.
        """
        n, limits = self._n, self._mechanism.position_limits
        middle = 0.5 * (self._ends[0] + self._ends[1])
        low = np.maximum(limits[:, 0], middle[:n] - 2.0 * radius / self._driven)
        high = np.minimum(limits[:, 1], middle[:n] + 2.0 * radius / self._driven)
        driven = random.uniform(np.minimum(low, high), np.maximum(low, high))
        way = random.uniform(-1.0, 1.0, 6) * radius
        way[:3] *= self._scale
        way[3:] *= min(1.0, np.pi / max(float(np.linalg.norm(way[3:])), 1e-12))
        first, last = self._ends[:, n:]
        pose = advance_pose(first, 0.5 * pose_difference(first, last) + way)
        weights = ((0.0, 1.0), (1.0, 0.0), (1.0, 1.0))[int(random.integers(3))]
        return np.concatenate([driven, pose, weights])

    def lengths(self, path: FloatArray) -> FloatArray:
        """Compute the lengths (n - 1,) [rad] of the steps of a path (n, nq).

        A length combines the changes of the driven positions and of the tip pose.
        """
        places = self.embed(path)
        return np.array([self.distances(one, many[None])[0] for one, many in pairwise(places)])

    def is_on_one_sheet(self, path: FloatArray) -> bool:
        """Return whether a path (n, nq) stays on one sheet of configurations.

        It does if the driven positions and the tip move in each step as the Jacobians at both of
        its ends predict.
        """
        ways = self.displacements(path)
        targets = self._task_coordinates(path)
        before = self._task_jacobian(path[0])
        for k, way in enumerate(ways):
            after = self._task_jacobian(path[k + 1])
            text = 0.5 * (before + after) @ way
            deviation = self._task_displacement(targets[k], targets[k + 1]) - text
            if np.linalg.norm(deviation) > MAX_DEVIATION * np.linalg.norm(text) + 1e-9:
                return False
            if np.linalg.det(before.T @ after) <= 0.0:
                return False
            before = after
        return True

    def _task_coordinates(self, configurations: FloatArray) -> FloatArray:
        """Compute driven-joint positions and tip poses (N, n + 7) of N configurations."""
        mechanism = self._mechanism
        return np.concatenate(
            [mechanism.joint_positions(configurations), mechanism.body_pose(configurations)],
            axis=-1,
        )

    def _embed(self, places: FloatArray) -> FloatArray:
        driven, pose = places[:, : self._n], places[:, self._n :]
        parts = [driven * self._driven, pose[:, :3] / self._scale, 2.0 * pose[:, 3:]]
        return np.concatenate(parts, axis=1)

    def _task_displacement(self, here: FloatArray, there: FloatArray) -> FloatArray:
        """Compute the displacement (n + 6,) [rad] of driven joints and tip to `there`.

        `here` and `there` consist of driven-joint positions (n) and the tip's pose (7). Lengths
        are divided by a characteristic length.
        """
        n = self._n
        moved = pose_difference(here[n:], there[n:])
        moved[:3] /= self._scale
        return np.concatenate([(there[:n] - here[:n]) * self._driven, moved])

    def _remaining_displacement(self, here: FloatArray, target: FloatArray) -> FloatArray:
        """Compute the displacement (n + 6,) [rad] from a configuration to a target."""
        return self._task_displacement(self._task_coordinates(here[None])[0], target[:-2])

    def _task_jacobian(self, here: FloatArray) -> FloatArray:
        """Compute the Jacobian (n + 6, nv) of driven-joint positions and tip pose."""
        mechanism = self._mechanism
        twist = np.array(mechanism.jacobian(here))
        twist[:3] /= self._scale
        driven = mechanism.joint_velocities(here, self._identity).T * self._driven[:, None]
        return np.concatenate([driven, twist])

    def _step_along(
        self, here: FloatArray, rates: FloatArray, way: FloatArray, most: float, step: float
    ) -> tuple[FloatArray, FloatArray, float] | None:
        """Take a step along a displacement, halved until it stays on the same sheet.

        Returns the configuration after the step, the task Jacobian (n + 6, nv) there, and the
        fraction of the displacement covered, at most `most`; None if even the shortest step
        leaves the sheet.
        """
        length = float(np.linalg.norm(rates @ way))
        fraction = min(most, step / max(length, 1e-12))
        while (moved := self._step_on_sheet(here, rates, fraction * way)) is None:
            if fraction * length <= SHORTEST * step:
                return None
            fraction *= 0.5
        return *moved, fraction

    def _step_on_sheet(
        self, here: FloatArray, rates: FloatArray, way: FloatArray
    ) -> tuple[FloatArray, FloatArray] | None:
        """Return configuration and task Jacobian after a step; None if off the sheet."""
        moved = self._mechanism.solver.unchecked.try_advance(here, way)
        if moved is None:
            return None
        text = rates @ way
        old, new = self._task_coordinates(np.stack([here, moved]))
        deviation = float(np.linalg.norm(self._task_displacement(old, new) - text))
        if deviation > MAX_DEVIATION * float(np.linalg.norm(text)) + 1e-9:
            return None
        # beyond a fold of the sheet the tangent is the same with the opposite sign
        after = self._task_jacobian(moved)
        return (moved, after) if np.linalg.det(rates.T @ after) > 0.0 else None


def space_of(mechanism: Mechanism, start: FloatArray, goal: FloatArray) -> Space:
    """Create the search space for a path between two configurations (nq,).

    Returns:
        A `ProjectedSpace` for a closed loop, otherwise a `Space`.
    """
    kind = ProjectedSpace if mechanism.coordinates.is_constrained else Space
    return kind(mechanism, start, goal)
