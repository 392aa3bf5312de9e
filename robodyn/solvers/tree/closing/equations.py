# SPDX-License-Identifier: Apache-2.0

"""Closing the loops by Newton's method on all equations at once, from anywhere.

Where the pivots of the compiled elimination serve, `kernels.newton.close` is far quicker;
this one takes steps of least length by singular values, so it also closes redundant loops and
starts at singular configurations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import compress
from typing import NamedTuple

import numpy as np

from robodyn.arrays import FloatArray, IntArray
from robodyn.poses import pose_difference
from robodyn.solvers.tree.calls import entry
from robodyn.solvers.tree.kernels import layout
from robodyn.solvers.tree.packing import Packed, row_factors
from robodyn.solvers.tree.tree import Tree

# Closed is what is open by less than this part of the mechanism's size.
CLOSED = 1e-13
# Rounding may keep a large mechanism from getting there; this is still accepted.
ACCEPTED = 1e-11
# A singular value below this part of the largest counts as none.
RANK = 1e-9
# Of a step [rad, or parts of the mechanism's size].
LONGEST_STEP = 0.6
MOST_STEPS = 80
# Of steps with damping: from so near Newton's method goes on alone; no step leads on where there is
# so much damping.
NEAR = 1e-6
STUCK = 1e6
MOST_DAMPED_STEPS = 60
LONGEST_DAMPED_STEP = 0.8
# What is left, in name, of loops that close the wrong way round.
FLIPPED = 2.0
_SENSED = ("revolute", "cylindrical", "prismatic", "fixed")


class Attempt(NamedTuple):
    """Result of a search: configuration and the largest residual relative to the size.

    `closure` names one that could not be closed from any start, even by itself.
    """

    q: FloatArray
    left: float
    closure: str = ""


class Equations:
    """The closures' equations of a mechanism, and their Jacobian, of comparable numbers.

    Rows of points are divided by the mechanism's size, columns of sliding coordinates multiplied.

    Attributes:
        tree, packed: of a packing in which every entry of K has a place.
        size: [m].
        rows: (rows,) factor of each equation.
        columns: (rates,) factor of each coordinate.
    """

    def __init__(self, tree: Tree, packed: Packed) -> None:
        self.tree, self.packed = tree, packed
        self.size = tree.size()
        closed = sum(closure.equations for closure in tree.model.closures)
        self.rows = np.array(row_factors(tree, len(packed.names) - closed))
        self.columns = np.where(np.array(tree.rate_units) == "m", self.size, 1.0)
        # hinges may be either way round until `keep_senses` says which
        self.senses = np.array(
            [0.0 if c.kind in ("revolute", "cylindrical") else 1.0 for c in tree.model.closures]
        )
        self._state = entry("tree_state", packed)
        self._equations = entry("equations", packed)
        self._advance = entry("advance", packed)

    def at(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Equations (rows,) and K (rows, rates), made comparable, at a configuration."""
        m = len(self.rows)
        gap, K = self._evaluated(q)
        K = K[:-1].reshape(m, self.tree.rates) * self.rows[:, None] * self.columns
        return gap[:m] * self.rows, K

    def left(self, q: FloatArray) -> float:
        """The largest equation [parts of the size]."""
        gap, _ = self._evaluated(q)
        return float(np.abs(gap[: len(self.rows)] * self.rows).max(initial=0.0))

    def bodies_at(self, q: FloatArray, rates: FloatArray | None = None) -> FloatArray:
        """Each body (bodies, BODY_SIZE) as the kernels place and move it; at rest by default."""
        B = np.empty((len(self.tree.bodies), layout.BODY_SIZE))
        v = np.zeros(self.tree.rates) if rates is None else rates
        self._state(np.ascontiguousarray(q), v, B)
        return B

    def _evaluated(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Both as the kernel has them, in arrays of their own: threads share the equations."""
        gap = np.empty(max(1, len(self.packed.names)))
        K = np.empty(self.packed.head["entries"])
        self._equations(np.ascontiguousarray(q), gap, K)
        return gap, K

    def worst(self, q: FloatArray) -> str:
        """Name of the closure that is open farthest."""
        gap, _ = self.at(q)
        return self.packed.names[int(np.argmax(np.abs(gap)))] if len(gap) else ""

    def stepped(self, q: FloatArray, step: FloatArray) -> FloatArray:
        """The configuration after a step (rates,) in comparable numbers."""
        out: FloatArray = np.array(q, dtype=np.float64)
        self._advance(out, np.ascontiguousarray(step * self.columns))
        return out

    def close(
        self,
        q: FloatArray,
        held: Sequence[int] = (),
        extra: TipPose | None = None,
        steps: int = MOST_STEPS,
    ) -> Attempt:
        """From q to where the loops close, coordinates `held` staying as they are.

        Steps are of least length, so what need not move does not; they are cut where the loops
        would open instead.
        """
        free = np.setdiff1d(np.arange(self.tree.rates), np.asarray(held, dtype=int))
        q = np.array(q, dtype=np.float64)
        gap, K = self._all(q, extra)
        for _ in range(steps):
            left = float(np.abs(gap).max(initial=0.0))
            if left <= CLOSED or not np.isfinite(left):
                break
            step = np.zeros(self.tree.rates)
            step[free] = -least_step(K[:, free], gap)
            longest = float(np.abs(step).max())
            if longest > LONGEST_STEP:
                step *= LONGEST_STEP / longest
            cut, worth = 1.0, float(gap @ gap)
            for _ in range(12):
                trial = self.stepped(q, cut * step)
                new_gap, new_K = self._all(trial, extra)
                if float(new_gap @ new_gap) < worth:
                    break
                cut *= 0.5
            else:
                break  # rounding, or a hollow that is not closed
            q, gap, K = trial, new_gap, new_K
        left = float(np.abs(gap).max(initial=0.0))
        if left <= ACCEPTED and self.is_flipped(q):
            left = FLIPPED
        return Attempt(q, left)

    def approached(
        self,
        starts: Sequence[FloatArray],
        free: IntArray,
        at: Callable[[FloatArray], tuple[FloatArray, FloatArray]] | None = None,
        near: float = NEAR,
    ) -> list[FloatArray]:
        """Of many starts (positions,), those that come near a closed configuration, where they are.

        Levenberg and Marquardt's steps of all of them at a time: the systems are small, and most of
        what one costs alone is calls.

        Args:
            starts: configurations.
            free: rate indices of the coordinates that move.
            at: other equations and their Jacobian (rows, rates), of comparable numbers.
            near: the largest equation that may be left.
        """
        ask, places = at or self.at, list(starts)
        gap, K = _all_at(ask, places, free)
        worth, damping = (gap * gap).sum(axis=1), np.full(len(places), 1e-2)
        identity = np.eye(gap.shape[1])
        for _ in range(MOST_DAMPED_STEPS):
            live = np.flatnonzero((np.abs(gap).max(axis=1, initial=0.0) > near) & (damping < STUCK))
            if not len(live):
                break
            part = K[live]
            turned = part.transpose(0, 2, 1)
            A = part @ turned + damping[live, None, None] * identity
            steps = np.zeros((len(live), self.tree.rates))
            steps[:, free] = -(turned @ np.linalg.solve(A, gap[live][..., None]))[..., 0]
            longest = np.abs(steps).max(axis=1, initial=0.0)
            steps *= np.minimum(1.0, LONGEST_DAMPED_STEP / np.maximum(longest, 1e-300))[:, None]
            trials = [self.stepped(places[k], step) for k, step in zip(live, steps, strict=True)]
            new_gap, new_K = _all_at(ask, trials, free)
            new_worth = (new_gap * new_gap).sum(axis=1)
            better = new_worth < worth[live]
            accepted = live[better]
            for k, trial in zip(accepted, compress(trials, better), strict=True):
                places[k] = trial
            gap[accepted], K[accepted] = new_gap[better], new_K[better]
            worth[accepted] = new_worth[better]
            damping[accepted] = np.maximum(damping[accepted] / 6.0, 1e-12)
            damping[live[~better]] *= 4.0
        return list(compress(places, np.abs(gap).max(axis=1, initial=0.0) <= near))

    def is_flipped(self, q: FloatArray) -> bool:
        """Whether a closure that closes is the wrong way round.

        A pair of axes is parallel both ways, frames that are half a turn apart satisfy the same
        equations; no joint can be moved from one to the other.
        """
        return bool((self._senses(q) * self.senses < 0.0).any())

    def keep_senses(self, q: FloatArray) -> None:
        """Take the way round that hinges are at a configuration for the right one."""
        self.senses = np.where(self._senses(q) < 0.0, -1.0, 1.0)

    def _senses(self, q: FloatArray) -> FloatArray:
        """(closures,) positive the one way round, negative the other; 1 where there is but one."""
        out = np.ones(len(self.tree.model.closures))
        if not any(closure.kind in _SENSED for closure in self.tree.model.closures):
            return out
        B = self.bodies_at(q)
        for n, closure in enumerate(self.tree.model.closures):
            if closure.kind not in _SENSED:
                continue
            turns = [self.tree.frame_at(B, end[0])[:3, :3] for end in closure.ends]
            frames = [R @ end[1].rotation for R, end in zip(turns, closure.ends, strict=True)]
            if closure.kind in ("fixed", "prismatic"):
                out[n] = float(np.trace(frames[0].T @ frames[1])) - 1.0
            else:
                out[n] = float((frames[0] @ closure.ends[0][2]) @ (frames[1] @ closure.ends[1][2]))
        return out

    def _all(self, q: FloatArray, extra: TipPose | None) -> tuple[FloatArray, FloatArray]:
        gap, K = self.at(q)
        if extra is None:
            return gap, K
        more, J = extra(q)
        return np.concatenate([gap, more]), np.vstack([K, J * self.columns])


class TipPose:
    """That the tip has a pose, or what of it determines the mechanism; of comparable size.

    Args:
        pose: (7,) wanted, base frame.
        size: [m] by which its position is divided.
        body_pose: from a configuration to the tip's pose.
        jacobian: from a configuration to (6, rates).
        rows: of the six equations those that count: all by default.
    """

    def __init__(
        self,
        pose: FloatArray,
        size: float,
        body_pose: Callable[[FloatArray], FloatArray],
        jacobian: Callable[[FloatArray], FloatArray],
        rows: Sequence[int] = range(6),
    ) -> None:
        self._pose, self._size, self._rows = pose, size, list(rows)
        self._body_pose, self._jacobian = body_pose, jacobian

    def gap(self, q: FloatArray) -> FloatArray:
        """Return the distance of the tip from the pose: relative position, angle [rad]."""
        gap = pose_difference(self._pose, self._body_pose(q))
        gap[:3] /= self._size
        return np.asarray(gap[self._rows])

    def __call__(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Their values and Jacobian at a configuration."""
        gap, J = self.gap(q), self._jacobian(q)
        J[:3] /= self._size
        return gap, J[self._rows]


def _all_at(
    ask: Callable[[FloatArray], tuple[FloatArray, FloatArray]],
    places: Sequence[FloatArray],
    free: IntArray,
) -> tuple[FloatArray, FloatArray]:
    """Equations (N, rows) and their Jacobian (N, rows, free)."""
    both = [ask(place) for place in places]
    return np.array([gap for gap, _ in both]), np.array([K[:, free] for _, K in both])


def least_step(K: FloatArray, gap: FloatArray) -> FloatArray:
    """The shortest x with K x = gap as nearly as can be, small singular values left out."""
    if not K.size:
        return np.zeros(K.shape[1])
    U, values, V = np.linalg.svd(K, full_matrices=False)
    kept = values > RANK * max(float(values[0]), 1e-300)
    out: FloatArray = V[kept].T @ ((U[:, kept].T @ gap) / values[kept])
    return out


def null_space(K: FloatArray) -> tuple[int, FloatArray]:
    """Rank of K (m, n) and an orthonormal basis (n, n - rank) of what it maps to nothing."""
    if not K.size:
        return 0, np.eye(K.shape[1])
    _, values, V = np.linalg.svd(K)
    rank = int((values > RANK * max(float(values[0]), 1e-300)).sum())
    basis: FloatArray = V[rank:].T
    return rank, basis


def orthonormal_bases(matrices: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Q (N, rows, columns) and R (N, columns, columns) of matrices (N, rows, columns).

    By Gram and Schmidt's method of all at once, each column made orthogonal twice: that leaves no
    more than rounding (Giraud et al., 2005). A column that depends on those before it is NaN.
    """
    count = matrices.shape[2]
    bases, triangles = matrices.copy(), np.zeros((len(matrices), count, count))
    for j in range(count):
        column, before = bases[:, :, j], bases[:, :, :j]
        for _ in range(2 if j else 0):  # NumPy's einsum does not write sums of nothing
            along = np.einsum("nij,ni->nj", before, column)
            column -= np.einsum("nij,nj->ni", before, along)
            triangles[:, :j, j] += along
        size = np.linalg.norm(column, axis=1)
        triangles[:, j, j] = size
        with np.errstate(divide="ignore", invalid="ignore"):
            column /= size[:, None]
    return bases, triangles
