# SPDX-License-Identifier: Apache-2.0
"""Batched steps of inverse kinematics for arms and closed loops."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.mechanism.mechanism import Mechanism
from robodyn.planning.workspace.requirements import Requirements
from robodyn.poses import pose_difference, pose_from_rpy, rpy_from_pose

# Random configurations of an arm, steps of a loop's random walk, and the size of a batch.
SEEDS, WALK, CHUNK = 60_000, 300, 8192
# Number, damping and largest length [units] of the inverse kinematics steps into a neighbor.
STEPS, DAMPING, LONGEST = 6, 0.02, 0.3
# Smallest fraction of a step in a walk.
SHORTEST = 1e-4
# A coordinate whose unit moves the tip by less than this fraction of the size gets a larger unit,
# over which the tip's motion changes by less than this fraction.
SLOW, CHANGED = 0.1, 0.3
# Cosine of the pitch below which the axes of roll and yaw count as dependent.
STEEP = 1e-6
# Largest number of doublings of a unit.
DOUBLINGS = 40


class TipSteps:
    """Batched inverse kinematics that moves the tip to positions or orientations.

    Args:
        needs: requirements of configurations.
        turns: whether goals are roll, pitch and yaw of the tip instead of positions.
    """

    def __init__(self, needs: Requirements, turns: bool = False) -> None:
        self.needs, self._mechanism, self._turns = needs, needs.mechanism, turns
        self.angles = independent_angles(needs.mechanism) if turns else []

    def seeds(self, random: np.random.Generator) -> FloatArray:
        """Return initial configurations (N, nq) within the requirements.

        They are random or, for closed loops, from a random walk that starts at home.
        """
        mechanism, home = self._mechanism, self._mechanism.home[None]
        if self.has_independent_coordinates:
            lower, upper = mechanism.position_limits.T
            lower = np.where(np.isfinite(lower), lower, -np.pi)
            upper = np.where(np.isfinite(upper), upper, np.pi)
            home = np.concatenate([home, random.uniform(lower, upper, (SEEDS, len(lower)))])
        else:
            home = self._random_walk(home[0], random)
        kept = [
            part[self.needs.margins(part) >= 0.0]
            for part in np.array_split(home, max(len(home) // CHUNK, 1))
        ]
        return np.asarray(np.concatenate(kept))

    def _random_walk(self, here: FloatArray, random: np.random.Generator) -> FloatArray:
        """Return the configurations (N, nq) of a random walk within the requirements."""
        path, size, fraction = [here], self._mechanism.coordinates.velocity_size, 1.0
        for _ in range(WALK):
            step = fraction * self._step_sizes * LONGEST * random.normal(size=size)
            moved = self._mechanism.solver.unchecked.try_advance(here, step)
            if moved is not None and self.needs.margins(moved[None])[0] >= 0.0:
                path.append(moved)
                here, fraction = moved, min(2.0 * fraction, 1.0)
            else:
                fraction = max(0.5 * fraction, SHORTEST)
        return np.array(path)

    @cached_property
    def has_independent_coordinates(self) -> bool:
        """Whether all coordinates are independent, so that steps require no solver."""
        coordinates = self._mechanism.coordinates
        return coordinates.configuration_size == coordinates.velocity_size

    def _shorten_to_limits(self, q: FloatArray, way: FloatArray) -> FloatArray:
        """Shorten displacements (N, nv) that would take driven joints beyond their limits."""
        mechanism = self._mechanism
        here, rates = mechanism.joint_positions(q), mechanism.joint_velocities(q, way)
        there = np.clip(here + rates, *mechanism.position_limits.T)
        over = (there != here + rates).any(axis=1)
        if over.any() and rates.shape == way.shape:
            basis = np.eye(way.shape[1])
            D = mechanism.joint_velocities(q[over][:, None], basis)
            cut = np.linalg.pinv(np.swapaxes(D, 1, 2)) @ (there - here)[over][..., None]
            way = way.copy()
            way[over] = cut[..., 0]
        return way

    @cached_property
    def _step_sizes(self) -> FloatArray:
        """Coordinate steps (nv,) [rad or m] that move the tip by a similar distance.

        A step is one radian or the mechanism's size, or larger if the tip moves much less, as with
        a motor that drives a screw.
        """
        mechanism = self._mechanism
        units = mechanism.coordinates.units
        plain = np.array([mechanism.size if unit == "m" else 1.0 for unit in units])
        columns = self._tip_jacobian(mechanism.home) * plain
        for k, moved in enumerate(np.linalg.norm(columns, axis=0)):
            if 0.0 < moved < SLOW:
                plain[k] *= self._step_growth(k, plain[k], columns[:, k] / plain[k])
        return plain

    def _tip_jacobian(self, q: FloatArray) -> FloatArray:
        """Compute the tip's rotational or scaled translational Jacobian (3, nv).

        It is the rotational one for a region of orientations. Translations are divided by the
        mechanism's size.
        """
        J = self._mechanism.jacobian(q)
        return np.asarray(J[3:] if self._turns else J[:3] / self._mechanism.size)

    def _step_growth(self, k: int, unit: float, column: FloatArray) -> float:
        """Return the largest factor on a coordinate step that hardly changes its column.

        The column is that of the tip Jacobian for coordinate k; `column` is its value at home.
        """
        mechanism, length, factor = self._mechanism, float(np.linalg.norm(column)), 1.0
        for _ in range(DOUBLINGS):
            if 2.0 * factor * unit * length > 1.0:
                break
            way = np.zeros(len(mechanism.coordinates.units))
            way[k] = 2.0 * factor * unit
            moved = mechanism.solver.unchecked.try_advance(mechanism.home, way)
            if moved is None:
                break
            change = float(np.linalg.norm(self._tip_jacobian(moved)[:, k] - column))
            if change > CHANGED * length:
                break
            factor *= 2.0
        return factor

    def tips(self, configurations: FloatArray) -> FloatArray:
        """Compute the tip's positions (N, 3) [m], or its roll, pitch and yaw (N, 3) [rad].

        `configurations` are (N, nq); the positions are in the base frame.
        """
        if not len(configurations):
            return np.empty((0, 3))
        poses = self._mechanism.body_pose(configurations)
        return np.asarray(rpy_from_pose(poses)[1] if self._turns else poses[:, :3])

    def displacement_to_goal(self, q: FloatArray, goal: FloatArray) -> FloatArray:
        """Compute the displacements (N, 3) of the tip from its current poses to goals.

        `q` (N, nq) are the current configurations. The goals (N, 3) are positions in the base frame
        [m], or roll, pitch and yaw [rad].

        A displacement is a translation [m] or a rotation vector [rad], both in the base frame; if
        the tip turns about only one or two axes, it consists of differences of roll, pitch and yaw.
        """
        if not self._turns:
            return np.asarray(goal - self.tips(q))
        if self._has_dependent_angles:
            way = goal - self.tips(q)
            way -= 2.0 * np.pi * np.round(way / (2.0 * np.pi))
            way[:, [k for k in range(3) if k not in self.angles]] = 0.0
            return np.asarray(way)
        poses = self._mechanism.body_pose(q)
        return np.asarray(pose_difference(poses, pose_from_rpy(poses[:, :3], goal))[:, 3:])

    @property
    def _has_dependent_angles(self) -> bool:
        """Whether only one or two of roll, pitch and yaw are independent."""
        return 0 < len(self.angles) < 3

    def _tip_jacobians(self, q: FloatArray) -> FloatArray:
        """Compute Jacobians (N, 3, nv) of the tip's position, rotation or rpy angles."""
        J = self._mechanism.jacobian(q)
        if not self._has_dependent_angles:
            return np.asarray(J[:, 3:] if self._turns else J[:, :3])
        rates = np.linalg.solve(rpy_axes(self.tips(q)), J[:, 3:])
        rates[:, [k for k in range(3) if k not in self.angles]] = 0.0
        return np.asarray(rates)

    def step_towards(self, q: FloatArray, goal: FloatArray, *, free: bool = False) -> FloatArray:
        """Take one step of damped least squares from configurations towards goals (N, 3).

        `q` (N, nq) are the configurations. The goals are positions of the tip in the base frame
        [m], or its roll, pitch and yaw [rad].

        Returns the new configurations (N, nq), within joint limits unless `free`. The configuration
        of a closed loop is unchanged if its step fails.
        """
        bounded = self.needs.bounds.within_limits and not free
        mechanism = self._mechanism
        scale = 1.0 if self._turns else mechanism.size
        units = self._step_sizes
        rates = self._tip_jacobians(q) * units / scale
        left = self.displacement_to_goal(q, goal) / scale
        square = rates @ np.swapaxes(rates, 1, 2) + DAMPING**2 * np.eye(3)
        way = np.einsum("nij,ni->nj", rates, np.linalg.solve(square, left[..., None])[..., 0])
        length = np.linalg.norm(way, axis=1, keepdims=True)
        way *= np.minimum(1.0, LONGEST / np.maximum(length, 1e-12)) * units
        if self.has_independent_coordinates:
            moved = mechanism.advance(q, way)
            if bounded:
                moved = np.clip(moved, *mechanism.position_limits.T)
            return np.asarray(moved)
        if bounded:
            way = self._shorten_to_limits(q, way)
        out: FloatArray = q.copy()
        for k, (one, step) in enumerate(zip(q, way, strict=True)):
            moved_one = mechanism.solver.unchecked.try_advance(one, step)
            if moved_one is not None:
                out[k] = moved_one
        return np.asarray(out)


def rpy_axes(rpy: FloatArray) -> FloatArray:
    """Compute the rotation axes of roll, pitch and yaw at given angles (N, 3) [rad].

    At a pitch of a right angle, the axes are linearly dependent; a slightly different pitch is used
    there.

    Returns:
        Matrices (N, 3, 3) with the axes of roll, pitch and yaw in the base frame as columns.
    """
    cosine = np.cos(rpy[:, 1])
    cosine = np.where(np.abs(cosine) < STEEP, np.copysign(STEEP, cosine), cosine)
    sine, turn = np.sin(rpy[:, 1]), rpy[:, 2]
    c, s, zero, one = np.cos(turn), np.sin(turn), np.zeros(len(rpy)), np.ones(len(rpy))
    roll = np.array([c * cosine, s * cosine, -sine])
    return np.moveaxis(np.array([roll, [-s, c, zero], [zero, zero, one]]), (0, 2), (2, 0))


def independent_angles(mechanism: Mechanism) -> list[int]:
    """Return the indices of the tip's roll, pitch and yaw that vary independently.

    The angles that are not returned follow from these in motions about home.
    """
    pose = mechanism.body_pose(mechanism.home)
    rates = np.linalg.solve(rpy_axes(rpy_from_pose(pose)[1][None])[0],
                            mechanism.jacobian(mechanism.home)[3:])  # fmt: skip
    found: list[int] = []
    for angle in np.argsort(-np.round(np.linalg.norm(rates, axis=1), 6), kind="stable"):
        if np.linalg.matrix_rank(rates[[*found, angle]], tol=1e-6) > len(found):
            found.append(int(angle))
    return sorted(found)
