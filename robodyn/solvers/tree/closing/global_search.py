# SPDX-License-Identifier: Apache-2.0

"""Loop closure from distant starts, from which Newton's method on the equations fails.

The compiled equations express directions by scalar products, which are fast and accurate near a
closed configuration, but flat half a turn away from it. Here frames are compared by the rotation
vector between them, axes by the rotation vector from one to the other, with Levenberg-Marquardt
steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.model.closure import Closure
from robodyn.solvers.tree.closing.equations import ACCEPTED, Attempt, Equations, TipPose

# Residual, relative to the size or [rad], at which the search ends; Newton's method does the rest.
NEAR = 1e-4
# Number of starts for each loop in turn.
TRIES = 4
# Number of starts failing at the same loop that ends the search.
HOPELESS = 8
SEED = 15


class GlobalAssemblySearch:
    """Search from distant starts for configurations near which the loops close.

    Args:
        equations: closure equations of the mechanism.
    """

    def __init__(self, equations: Equations) -> None:
        self._equations, self._tree = equations, equations.tree
        self._loops = [_Loop(equations, closure) for closure in self._tree.model.closures]

    def loop_by_loop(
        self,
        q: FloatArray,
        held: Sequence[int],
        extra: TipPose | None,
        rng: np.random.Generator,
    ) -> tuple[FloatArray | None, str]:
        """Find a configuration near which all loops close, by closing one after another.

        Loops with few joints are closed first.

        Returns:
            The configuration (positions,) and an empty name; or None and the name of the closure
            that failed.
        """
        closed: list[_Loop] = []
        for loop in sorted(self._loops, key=lambda one: len(one.coordinates)):
            closed.append(loop)
            last = len(closed) == len(self._loops)
            moved = np.setdiff1d(loop.coordinates, held)
            for attempt in range(TRIES):
                step = np.zeros(self._tree.rates)
                if attempt:
                    step[moved] = rng.normal(0.0, 0.3 * attempt, len(moved))
                start = self._equations.stepped(q, step)
                found = self.near(start, held, extra if last else None, closed)
                if found is not None:
                    break
            else:
                return None, loop.name
            q = found
        return q, ""

    def near(
        self,
        q: FloatArray,
        held: Sequence[int] = (),
        extra: TipPose | None = None,
        loops: Sequence[_Loop] | None = None,
    ) -> FloatArray | None:
        """Find a configuration from which Newton's method should close the loops.

        Args:
            q: (positions,) start.
            held: rate indices of constant coordinates.
            extra: further equations, such as those of a tip pose.
            loops: loops to close, by default all.

        Returns:
            The configuration (positions,); None if the search fails.
        """
        at = partial(self._at, extra=extra, loops=self._loops if loops is None else loops)
        free = np.setdiff1d(np.arange(self._tree.rates), np.asarray(held, dtype=int))
        return next(iter(self._equations.nearly_closed([q], free, at, NEAR)), None)

    def _at(
        self, q: FloatArray, extra: TipPose | None, loops: Sequence[_Loop]
    ) -> tuple[FloatArray, FloatArray]:
        """Return residuals (rows,) and Jacobian (rows, rates) of the closures of `loops`.

        Both are scaled to comparable units.
        """
        B = self._equations.bodies_at(q)
        parts = [loop.at(B) for loop in loops]
        if extra is not None:
            parts.append(extra(q))
        gap = np.concatenate([part[0] for part in parts])
        return gap, np.vstack([part[1] for part in parts]) * self._equations.columns


def assemble_globally(
    equations: Equations,
    guess: FloatArray,
    held: Sequence[int],
    extra: TipPose | None,
    attempts: int,
) -> Attempt:
    """Close the loops near a guess: by Newton's method, then by global search.

    Args:
        equations: equations of the mechanism.
        guess: (positions,) start.
        held: rate indices of constant coordinates.
        extra: further equations.
        attempts: largest number of starts, with increasing distance from the guess.

    Returns:
        The configuration with the smallest residual found; `closure` names a closure that could not
        be closed from any start.
    """
    best = equations.close(guess, held, extra)
    if best.left <= ACCEPTED:
        return best
    far, rng, stuck = GlobalAssemblySearch(equations), np.random.default_rng(SEED), dict[str, int]()
    free = np.setdiff1d(np.arange(equations.tree.rates), np.asarray(held, dtype=int))
    for attempt in range(attempts):
        step = np.zeros(equations.tree.rates)
        if attempt:
            step[free] = rng.normal(0.0, 0.15 + 0.03 * attempt, len(free))
        start = equations.stepped(guess, step)
        near, failed = far.near(start, held, extra) if not attempt else None, ""
        if near is None:
            near, failed = far.loop_by_loop(start, held, extra, rng)
        if near is None:
            stuck[failed] = stuck.get(failed, 0) + 1
            if stuck[failed] == attempt + 1 == HOPELESS:
                break
            continue
        found = equations.close(near, held, extra)
        if found.left < best.left:
            best = found
        if best.left <= ACCEPTED:
            return best
    # report a loop at which every start failed
    hopeless = next((name for name in stuck if len(stuck) == 1), "")
    return best._replace(closure=hopeless)


class _Loop:
    """Closure error of one loop, and its Jacobian w.r.t. the joints in this loop.

    Attributes:
        name: name of the closure.
        coordinates: rate indices of the joints in the loop.
    """

    def __init__(self, equations: Equations, closure: Closure) -> None:
        tree, self._size = equations.tree, equations.size
        self._tree = tree
        self.name = closure.name
        self._kind = closure.kind
        self._ends = [(link, place.matrix) for link, place, _ in closure.ends]
        self._axes = [axis for _, _, axis in closure.ends]
        self._way = tree.loop_path(tree.body_of[closure.parent], tree.body_of[closure.child])
        moving = [tree.bodies[number] for number, _ in self._way]
        self.coordinates = np.array(
            sorted({body.rate + k for body in moving for k in range(body.width)}), int
        )

    def at(self, B: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the closure error (rows,) of the loop and its Jacobian (rows, rates).

        Both are in the base frame.
        """
        A, C = (self._tree.frame_at(B, link) @ place for link, place in self._ends)
        (R, p), (S, r) = ((frame[:3, :3], frame[:3, 3]) for frame in (A, C))
        J = self._tree.point_jacobian(B, self._way, r)
        gap, J[:3] = (r - p) / self._size, J[:3] / self._size
        a, b = R @ self._axes[0], S @ self._axes[1]
        if self._kind in ("cylindrical", "prismatic"):
            across = np.eye(3) - np.outer(a, a)
            gap, J[:3] = across @ gap, across @ J[:3]
        if self._kind == "spherical":
            return gap, J[:3]
        if self._kind == "universal":
            return np.append(gap, a @ b), np.vstack([J[:3], (np.cross(b, a) @ J[3:])[None]])
        if self._kind in ("fixed", "prismatic"):
            from scipy.spatial.transform import Rotation  # slow to import

            return np.concatenate([gap, Rotation.from_matrix(S @ R.T).as_rotvec()]), J
        across = np.eye(3) - np.outer(a, a)
        return np.concatenate([gap, _turn_between(a, b)]), np.vstack([J[:3], across @ J[3:]])


def _turn_between(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the shortest rotation vector (3,) [rad] that rotates direction a to b."""
    axis = np.cross(a, b)
    sine, cosine = float(np.linalg.norm(axis)), float(a @ b)
    if sine > 1e-9:
        return np.asarray(np.arctan2(sine, cosine) / sine * axis)
    if cosine > 0.0:
        return axis
    square = np.cross(a, np.eye(3)[int(np.argmin(np.abs(a)))])
    return np.asarray(np.pi * square / np.linalg.norm(square))
