# SPDX-License-Identifier: Apache-2.0

"""Search for all poses with given leg lengths: the assembly modes of a Stewart platform.

A general 6-6 platform has at most 40 of them over the complex numbers (Raghavan 1993, Husty 1996),
so at most 40 real ones. They are searched for, not enumerated: Newton's method from many random
poses, with solutions distinguished by their distance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray, IntArray
from robodyn.checks import as_array, as_scalar
from robodyn.errors import InvalidInput
from robodyn.poses import pose_difference
from robodyn.solvers.stewart.kernels import forward_kinematics as kernels
from robodyn.solvers.stewart.kernels.layout import OK
from robodyn.solvers.stewart.platform import StewartPlatform
from robodyn.solvers.stewart.status import new_status

# Solutions closer than this, in rad and relative to the longest leg, are equal.
SAME = 1e-6


class PlatformPoses(NamedTuple):
    """Result of a search for poses: poses with given leg lengths, and how thorough it was.

    Attributes:
        poses: (n, 7), most frequently reached first. More than 40 are samples of a continuum:
            such a platform can move with its legs locked.
        hits: (n,) number of starts that ended at each pose.
        attempts: number of random starts of Newton's method.
        converged: number of these that reached a solution.
        unseen: estimated probability that another converging start finds a new mode (Good's
            fraction of modes hit once); 0 makes the list likely, not proven, complete.
        seed: seed of the random starts; the same seed gives the same list.
    """

    poses: FloatArray
    hits: IntArray
    attempts: int
    converged: int
    unseen: float
    seed: int


def all_poses(
    platform: StewartPlatform, lengths: ArrayLike, *, attempts: int = 4000, seed: int = 0
) -> PlatformPoses:
    """Search for all poses of a Stewart platform that have given leg lengths.

    Args:
        platform: the mechanism.
        lengths: (6,) [m].
        attempts: number of random start poses: uniform orientations, and positions that put the
            joint centers about a leg's length apart, in every direction.
        seed: seed of the random start poses.

    Returns:
        The poses found (n, 7), with measures of the search's thoroughness.

    Raises:
        InvalidInput: lengths are not six positive numbers, or `attempts` is less than 1.
    """
    target = as_array("lengths", lengths, (6,), "m")
    if target.shape != (6,) or (target <= 0.0).any():
        raise InvalidInput(
            f"lengths is {np.array2string(target)}, expected six positive numbers [m]",
            value=lengths,
        )
    number = int(as_scalar("attempts", attempts, at_least=1.0))
    starts = _random_poses(platform, target, number, np.random.default_rng(seed))
    poses, status = np.empty_like(starts), new_status(starts)
    legs = platform.solver.legs
    many = np.ascontiguousarray(np.broadcast_to(target, (number, 6)))
    kernels.solve_poses(legs, many, starts, 1, poses, np.empty(number), status)
    solutions = poses[status == OK]
    modes, hits = _distinct(solutions, float(target.max()))
    order = np.argsort(-hits, kind="stable")
    unseen = float((hits == 1).sum() / max(len(solutions), 1))
    return PlatformPoses(modes[order], hits[order], number, len(solutions), unseen, seed)


def _random_poses(
    platform: StewartPlatform, lengths: FloatArray, number: int, random: np.random.Generator
) -> FloatArray:
    base, tip = (centers.mean(axis=0) for centers in platform.structure.joint_centers)
    quaternion = random.normal(size=(number, 4))
    quaternion /= np.linalg.norm(quaternion, axis=1, keepdims=True)
    direction = random.normal(size=(number, 3))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    radius = lengths.mean() * random.uniform(0.0, 1.5, size=(number, 1))
    turned = tip + 2.0 * np.cross(
        quaternion[:, :3], np.cross(quaternion[:, :3], tip) + quaternion[:, 3:] * tip
    )
    return np.hstack([base + radius * direction - turned, quaternion])


def _distinct(solutions: FloatArray, length: float) -> tuple[FloatArray, IntArray]:
    modes = np.empty((0, 7))
    hits: list[int] = []
    rest = solutions
    while len(rest):
        difference = pose_difference(rest[0], rest)
        difference[:, :3] /= length
        same = np.abs(difference).max(axis=1) < SAME
        modes = np.vstack([modes, rest[0]])
        hits.append(int(same.sum()))
        rest = rest[~same]
    return modes, np.array(hits, dtype=np.int64)
