# SPDX-License-Identifier: Apache-2.0

"""Loop closure by Newton's method on all equations at once, from any start.

With suitable pivots of the compiled elimination, `kernels.newton.close` is much faster. The steps
here have minimum norm, by singular values, so they also work for redundant loops and from singular
configurations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import compress
from typing import NamedTuple

import numpy as np

from robodyn.arrays import FloatArray, IntArray
from robodyn.poses import pose_difference
from robodyn.solvers.tree import calls
from robodyn.solvers.tree.calls import entry
from robodyn.solvers.tree.kernels import layout
from robodyn.solvers.tree.packing import PackedMechanism, row_factors
from robodyn.solvers.tree.tree import Tree

# Residual, relative to the mechanism's size, below which loops are closed.
CLOSED = 1e-13
# Accepted residual if rounding prevents a smaller one.
ACCEPTED = 1e-11
# Singular value, relative to the largest, below which it counts as zero.
RANK = 1e-9
# Largest step [rad, or relative to the mechanism's size].
LONGEST_STEP = 0.6
MOST_STEPS = 80
# Damped steps: residual below which Newton's method continues alone; damping at which the search
# has failed.
NEAR = 1e-6
STUCK = 1e6
MOST_DAMPED_STEPS = 60
LONGEST_DAMPED_STEP = 0.8
# Residual that stands for loops closed in the wrong orientation.
FLIPPED = 2.0
_SENSED = ("revolute", "cylindrical", "prismatic", "fixed")


class Attempt(NamedTuple):
    """Result of an attempt to close the loops: a configuration and its largest residual.

    The residual `left` is relative to the mechanism's size. `closure` names a closure that could
    not be closed from any start, not even alone.
    """

    q: FloatArray
    left: float
    closure: str = ""


class Equations:
    """Closure equations of a mechanism and their Jacobian, scaled to comparable units.

    Rows that contain lengths are divided by the mechanism's size, columns of translations are
    multiplied by it.

    Attributes:
        tree: tree of the mechanism.
        packed: packing that stores every entry of the Jacobian.
        size: [m] of the mechanism.
        rows: (rows,) scale factor of each equation.
        columns: (rates,) scale factor of each coordinate.
    """

    def __init__(self, tree: Tree, packed: PackedMechanism) -> None:
        self.tree, self.packed = tree, packed
        self.size = tree.size()
        closed = sum(closure.equations for closure in tree.model.closures)
        self.rows = np.array(row_factors(tree, len(packed.names) - closed))
        self.columns = np.where(np.array(tree.rate_units) == "m", self.size, 1.0)
        # hinges may have either orientation until `set_hinge_senses` fixes it
        self.senses = np.array(
            [0.0 if c.kind in ("revolute", "cylindrical") else 1.0 for c in tree.model.closures]
        )
        self._state = entry(calls.TREE_STATE, packed)
        self._equations = entry(calls.EQUATIONS, packed)
        self._advance = entry(calls.ADVANCE, packed)

    def at(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Compute the residuals of the closures and their Jacobian at a configuration.

        The residuals are (rows,), the Jacobian is (rows, rates), both in comparable units.
        """
        m = len(self.rows)
        gap, K = self._evaluate(q)
        K = K[:-1].reshape(m, self.tree.rates) * self.rows[:, None] * self.columns
        return gap[:m] * self.rows, K

    def relative_residual(self, q: FloatArray) -> float:
        """Compute the largest closure residual, relative to the mechanism's size."""
        gap, _ = self._evaluate(q)
        return float(np.abs(gap[: len(self.rows)] * self.rows).max(initial=0.0))

    def bodies_at(self, q: FloatArray, rates: FloatArray | None = None) -> FloatArray:
        """Compute frame and motion of each body of the tree, in the base frame.

        They are those at the configuration `q`. The rates of the tree are zero by default. The
        result (bodies, BODY_SIZE) is described in `kernels.layout`.
        """
        B = np.empty((len(self.tree.bodies), layout.BODY_SIZE))
        v = np.zeros(self.tree.rates) if rates is None else rates
        self._state(np.ascontiguousarray(q), v, B)
        return B

    def _evaluate(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Compute the closures' residuals and Jacobian in new arrays, for thread safety."""
        gap = np.empty(max(1, len(self.packed.names)))
        K = np.empty(self.packed.head["entries"])
        self._equations(np.ascontiguousarray(q), gap, K)
        return gap, K

    def worst(self, q: FloatArray) -> str:
        """Return the name of the closure with the largest residual at a configuration.

        The name is empty if there are no closures.
        """
        gap, _ = self.at(q)
        return self.packed.names[int(np.argmax(np.abs(gap)))] if len(gap) else ""

    def stepped(self, q: FloatArray, step: FloatArray) -> FloatArray:
        """Return the configuration after a step (rates,) of all coordinates.

        The step is given in comparable units. The loops are not closed.
        """
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
        """Find a closed configuration by Newton's method from `q`.

        The coordinates with rate indices `held` stay constant; `extra` are further equations to
        satisfy. Steps have minimum norm, so only necessary coordinates move; they are shortened if
        the residual would grow.

        Returns:
            The configuration reached, and its largest residual; a large residual if a closure is
            closed in the wrong orientation.
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
                break  # rounding, or a local minimum that is not closed
            q, gap, K = trial, new_gap, new_K
        left = float(np.abs(gap).max(initial=0.0))
        if left <= ACCEPTED and self.is_flipped(q):
            left = FLIPPED
        return Attempt(q, left)

    def nearly_closed(
        self,
        starts: Sequence[FloatArray],
        free: IntArray,
        at: Callable[[FloatArray], tuple[FloatArray, FloatArray]] | None = None,
        near: float = NEAR,
    ) -> list[FloatArray]:
        """Find nearly closed configurations by Levenberg-Marquardt steps from many starts.

        All searches advance together, because the systems are small and most of the cost is that of
        function calls.

        Args:
            starts: configurations.
            free: rate indices of the coordinates that move.
            at: function that returns residuals (rows,) and Jacobian (rows, rates) of other
                equations, in comparable units; by default, those of the closures.
            near: largest residual of a result.

        Returns:
            The configurations (positions,) reached whose largest residual is at most `near`.
        """
        call_entry, places = at or self.at, list(starts)
        gap, K = _all_at(call_entry, places, free)
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
            new_gap, new_K = _all_at(call_entry, trials, free)
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
        """Return whether a closure is closed in the wrong orientation at a configuration.

        The equations are also satisfied by hinge axes that point in opposite directions, and by
        frames half a turn apart; no joint motion leads from one of these to the correct closure.
        """
        return bool((self._senses(q) * self.senses < 0.0).any())

    def set_hinge_senses(self, q: FloatArray) -> None:
        """Store a configuration's hinge orientations as the correct ones."""
        self.senses = np.where(self._senses(q) < 0.0, -1.0, 1.0)

    def _senses(self, q: FloatArray) -> FloatArray:
        """Return a value for each closure that is negative if the closure is flipped.

        For hinges, the value is the cosine of the angle between the hinge axes on both links. For
        fixed and prismatic closures, it is twice the cosine of the rotation angle between the two
        frames. For other types, it is 1.
        """
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
    """Equations for a requested pose of the tip, or for some of its components.

    Args:
        pose: (7,) requested pose, base frame.
        size: length [m] by which positions are divided.
        body_pose: function from a configuration to the tip's pose.
        jacobian: function from a configuration to the tip's Jacobian (6, rates).
        rows: indices of the six components to use; all by default.
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
        """Return the selected components (k,) of the displacement from goal pose to tip.

        Positions are relative to the mechanism's size, rotations in rad.
        """
        gap = pose_difference(self._pose, self._body_pose(q))
        gap[:3] /= self._size
        return np.asarray(gap[self._rows])

    def __call__(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Compute the residual (k,) of the tip's pose and its Jacobian (k, rates).

        The residual is that of `gap`. The Jacobian with respect to all tree coordinates has the
        same rows; those of positions are divided by the mechanism's size.
        """
        gap, J = self.gap(q), self._jacobian(q)
        J[:3] /= self._size
        return gap, J[self._rows]


def _all_at(
    call_entry: Callable[[FloatArray], tuple[FloatArray, FloatArray]],
    places: Sequence[FloatArray],
    free: IntArray,
) -> tuple[FloatArray, FloatArray]:
    """Evaluate closure equations (N, rows) and Jacobians (N, rows, free).

    They are evaluated at the N configurations `places`. The Jacobians contain only the columns of
    the coordinates `free`.
    """
    both = [call_entry(place) for place in places]
    return np.array([gap for gap, _ in both]), np.array([K[:, free] for _, K in both])


def least_step(K: FloatArray, gap: FloatArray) -> FloatArray:
    """Return the least-squares solution x (n,) of K x = gap with the smallest norm.

    Small singular values of K (m, n) are ignored.
    """
    if not K.size:
        return np.zeros(K.shape[1])
    U, values, V = np.linalg.svd(K, full_matrices=False)
    kept = values > RANK * max(float(values[0]), 1e-300)
    out: FloatArray = V[kept].T @ ((U[:, kept].T @ gap) / values[kept])
    return out


def null_space(K: FloatArray) -> tuple[int, FloatArray]:
    """Return the rank of K (m, n) and an orthonormal basis (n, n - rank) of its null space."""
    if not K.size:
        return 0, np.eye(K.shape[1])
    _, values, V = np.linalg.svd(K)
    rank = int((values > RANK * max(float(values[0]), 1e-300)).sum())
    basis: FloatArray = V[rank:].T
    return rank, basis


def orthonormal_bases(matrices: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Compute the QR decompositions of N matrices (N, rows, columns).

    The Gram-Schmidt method processes all matrices at once, and orthogonalizes each column twice,
    which leaves only rounding errors (Giraud et al., 2005).

    Returns:
        Orthonormal bases Q (N, rows, columns), in which a dependent column is NaN, and triangular
        factors R (N, columns, columns).
    """
    count = matrices.shape[2]
    bases, triangles = matrices.copy(), np.zeros((len(matrices), count, count))
    for j in range(count):
        column, before = bases[:, :, j], bases[:, :, :j]
        for _ in range(2 if j else 0):  # NumPy's einsum does not write empty sums
            along = np.einsum("nij,ni->nj", before, column)
            column -= np.einsum("nij,nj->ni", before, along)
            triangles[:, :j, j] += along
        size = np.linalg.norm(column, axis=1)
        triangles[:, j, j] = size
        with np.errstate(divide="ignore", invalid="ignore"):
            column /= size[:, None]
    return bases, triangles
