# SPDX-License-Identifier: Apache-2.0

"""Configurations in which a mechanism's loops close: from joints, from the tip, along motions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_array
from robodyn.errors import InvalidInput, NoSolution, SingularConfiguration
from robodyn.mechanisms.closed_loop.assembly_modes import assembly_modes
from robodyn.mechanisms.closed_loop.calls import batch, entry
from robodyn.mechanisms.closed_loop.equations import ACCEPTED, CLOSED, TipPose
from robodyn.mechanisms.closed_loop.far_search import searched
from robodyn.mechanisms.closed_loop.kernels.newton import PIECE
from robodyn.mechanisms.closed_loop.kinematics import OPEN, ClosedLoopKinematics
from robodyn.mechanisms.closed_loop.structure import ATTEMPTS, followed, guessed
from robodyn.mechanisms.common.motion import Motion
from robodyn.numerics.broadcasting import flatten
from robodyn.poses import pose_difference

# Configurations that are closed together.
TOGETHER = 8
# Starts around a guess from which a pose of the tip is tried to reach.
TIP_ATTEMPTS = 40


class ClosedLoopAssembling(ClosedLoopKinematics):
    """The part of `ClosedLoop` that closes its loops."""

    def difference(self, start: ArrayLike, goal: ArrayLike) -> FloatArray:
        """(..., mobility) how far the independent coordinates are from start to goal.

        Of what floats freely position and rotation vector, base frame.
        """
        a, b = self._q("start", start), self._q("goal", goal)
        out = self.coordinates.shortest(np.asarray(b[..., self._free_at] - a[..., self._free_at]))
        for joint, columns, parts in self._free_poses:
            at = self._tree.place_of[joint.name]
            whole = pose_difference(a[..., at], b[..., at]).reshape(*out.shape[:-1], 2, 3)
            axes = self._frame(a, joint.parent)[..., :3, :3] @ joint.at.rotation
            turned = np.einsum("...ij,...kj->...ki", axes, whole)
            out[..., columns] = turned.reshape(*out.shape[:-1], 6)[..., parts]
        return out

    def advance(self, configuration: ArrayLike, displacement: ArrayLike) -> FloatArray:
        """(..., nq) after a displacement (..., mobility) of the independent coordinates.

        Raises:
            NoSolution: the loops do not close there.
        """
        shape, (starts, steps) = flatten(
            configuration=self._q("configuration", configuration),
            displacement=self._u("displacement", displacement),
        )
        return self._all_displaced(starts, steps).reshape(*shape, self._nq)

    def advance_near(self, configuration: FloatArray, displacement: FloatArray) -> FloatArray:
        """See the base class: by Newton's method from the configuration itself, and no search."""
        moved = self.unchecked.try_advance(configuration, np.array(displacement))
        if moved is None:
            text = f"{self.name}: the loops do not close after a displacement of {displacement}"
            raise NoSolution(text, residual=np.inf, value=displacement)
        return moved

    def assemble_near(self, driven: FloatArray, configuration: FloatArray) -> FloatArray:
        """See the base class."""
        if not self._drives_free:
            return self.assemble(driven, configuration)
        by = self.joint_difference(configuration[self._driven_at], driven)
        return self.advance_near(configuration, by)

    def assemble(
        self,
        driven: ArrayLike | Mapping[str, ArrayLike] | None = None,
        guess: ArrayLike | Mapping[str, ArrayLike] | None = None,
        *,
        pose: ArrayLike | None = None,
    ) -> FloatArray:
        """The configuration (..., nq) that closes the loops, of those that there are near a guess.

        Args:
            driven: positions (..., n) of the driven joints; or a mapping of any joints to their
                positions, a floating joint's as its pose (7,), where these determine the rest.
            guess: a configuration (nq,) or (..., nq), or a mapping of joints to positions; home by
                default. From a closed one the mechanism moves to its goal as a real one would.
            pose: (..., 7) of the tip instead of `driven`.

        Raises:
            NoSolution: the loops do not close; with the largest equation left and its closure.
            InvalidInput: wrong shapes or names, or neither `driven` nor `pose`.
        """
        start = self._guess(guess)
        if pose is not None:
            wanted = as_array("pose", pose, (7,), "m, unit quaternion x y z w")
            return self._each(wanted, start, self._to_pose)
        if driven is None:
            raise InvalidInput("assemble needs positions of joints, or a pose of the tip")
        if hasattr(driven, "items"):
            return self._from_joints(dict(driven.items()), start)
        wanted = as_array("driven", driven, (self._n,), f"{self._n} driven joints, rad or m")
        return self._each(wanted, start, self._to_driven)

    def assemblies(self, driven: ArrayLike, *, searches: int = 6000, seed: int = 0) -> FloatArray:
        """All configurations (k, nq) found with these driven positions (n,), nearest home first.

        By Newton's method from at most so many starts; `assembly_modes` tells how thorough that
        was, and when two are the same.
        """
        return assembly_modes(self, driven, searches=searches, seed=seed).configurations

    def motion_of_joints(
        self,
        positions: ArrayLike,
        velocities: ArrayLike,
        accelerations: ArrayLike | None = None,
        guess: ArrayLike | None = None,
    ) -> Motion:
        """Configuration, velocity and acceleration of driven joints' motion (..., n).

        Along the last batch dimension each configuration is found from the one before it, the
        first from the guess, home by default.

        Raises:
            UnderActuated: fewer joints are driven than it has freedoms.
            NoSolution: the loops do not close.
            SingularConfiguration: the driven rates do not determine the motion.
        """
        self._refuse_under_actuated()
        wanted, rates, changes = self._motion_of(self._n, positions, velocities, accelerations)
        shape = wanted.shape[:-1]
        q = np.empty((*shape, self._nq))
        first = self._guess(guess)
        if self._drives_free and self.structure.equations.left(first) <= OPEN:
            q = self._followed(first, wanted)
        else:
            for outer in np.ndindex(shape[:-1]):
                here = first
                for n in range(shape[-1]) if shape else (None,):
                    index = outer if n is None else (*outer, n)
                    here = self._to_driven(here, wanted[index])
                    q[index] = here
        if self._drives_free:
            return Motion(q, rates, changes)
        return self._independent_motion(q, rates, changes)

    def _motion_of(
        self,
        width: int,
        positions: ArrayLike,
        velocities: ArrayLike,
        accelerations: ArrayLike | None,
    ) -> list[FloatArray]:
        """Positions, rates and accelerations (..., width), zero if not given, of one shape."""
        given = {
            "positions": positions,
            "velocities": velocities,
            "accelerations": np.zeros(width) if accelerations is None else accelerations,
        }
        parts = [as_array(name, value, (width,)) for name, value in given.items()]
        return [np.array(part) for part in np.broadcast_arrays(*parts)]

    def _independent_motion(self, q: FloatArray, rates: FloatArray, changes: FloatArray) -> Motion:
        A = self.joint_jacobian(q)
        inverse = np.linalg.pinv(A)
        if np.linalg.matrix_rank(A).min(initial=self._nu) < self._nu:
            raise SingularConfiguration(
                f"{self.name}: the driven joints' rates do not determine the motion",
                smallest_singular_value=0.0,
                direction=None,
                value=q,
            )
        u = np.einsum("...ij,...j->...i", inverse, rates)
        _, a = self.joint_motion(q, u, np.zeros_like(u))
        change = np.einsum("...ij,...j->...i", inverse, changes - a[..., self._rates_at])
        return Motion(q, u, change)

    def _displaced(self, q: FloatArray, step: FloatArray) -> FloatArray:
        """After a displacement of the independent coordinates."""
        for packed in (self.structure.packed, *self._pivots.known):
            moved = q.copy()
            left = entry("displace", packed)(moved, step, CLOSED)
            if 0.0 <= left <= ACCEPTED:
                return np.asarray(moved)
        wanted = q.copy()
        wanted[self._free_at] += step
        followed(self._tree, wanted)
        return self._nearest(wanted, list(self.structure.free))

    def _all_displaced(self, starts: FloatArray, steps: FloatArray) -> FloatArray:
        """Configurations (N, nq) after displacements (N, free) of the independent coordinates."""
        if len(starts) < TOGETHER:
            return self._displaced_singly(starts, steps)
        found = batch(
            "displaced",
            self.structure.packed,
            (self._nq, self._nu),
            (self._nq,),
            (starts, steps),
            CLOSED,
            ACCEPTED,
        )
        if found is None:
            return self._displaced_singly(starts, steps)
        lacking = np.flatnonzero(np.isnan(found[:, 0]))
        if lacking.size:
            found[lacking] = self._displaced_singly(starts[lacking], steps[lacking])
        return found

    def _displaced_singly(
        self, starts: FloatArray, steps: FloatArray, *, chained: bool = False
    ) -> FloatArray:
        """The same, one after the other.

        Where they are `chained` each starts from where the one before it arrived, the first from
        its own start.
        """
        out: FloatArray = starts.copy()
        steps = np.ascontiguousarray(steps)
        displace_all = entry("displace_all", self.structure.packed)
        done = 0
        while done < len(out):
            if chained and done:
                out[done] = out[done - 1]
            done += displace_all(out[done:], steps[done:], chained, CLOSED, ACCEPTED)
            if done < len(out):
                # not with the pivots of home
                start = out[done - 1] if chained and done else starts[done]
                out[done] = self._displaced(start, steps[done])
                done += 1
        return out

    def _followed(self, first: FloatArray, wanted: FloatArray) -> FloatArray:
        """Configurations (..., nq) with independent coordinates (..., free).

        Along the last batch dimension each is found from the one before it, the first from a closed
        configuration.
        """
        count = wanted.shape[-2] if wanted.ndim > 1 else 1
        chains = wanted.reshape(math.prod(wanted.shape[:-2]), count, self._nu)
        q = np.empty((*chains.shape[:2], self._nq))
        for out, chain in zip(q, chains, strict=True):
            # of points so near to each other that no branch is changed, every eighth comes first
            every = TOGETHER if count > TOGETHER else 1
            nearest = np.arange(count) // every * every
            steps = chain - chain[nearest]
            if np.abs(steps).max(initial=0.0) > PIECE:
                every, steps = 1, steps[:0]
            marks = chain[::every]
            starts = np.array(np.broadcast_to(first, (len(marks), self._nq)))
            leaps = np.diff(marks, axis=0, prepend=first[None, self._free_at])
            out[::every] = self._displaced_singly(starts, leaps, chained=True)
            if every > 1:
                between = np.flatnonzero(nearest != np.arange(count))
                out[between] = self._all_displaced(out[nearest[between]], steps[between])
        return q.reshape(*wanted.shape[:-1], self._nq)

    def _to_driven(self, q: FloatArray, wanted: FloatArray) -> FloatArray:
        """From a guess to positions of the driven joints."""
        if self._drives_free and self.structure.equations.left(q) <= OPEN:
            return self._displaced(q, np.ascontiguousarray(wanted - q[self._driven_at]))
        start = np.array(q)
        start[self._driven_at] = wanted
        followed(self._tree, start)
        return self._nearest(start, [int(rate) for rate in self._rates_at])

    def _to_pose(self, q: FloatArray, pose: FloatArray) -> FloatArray:
        """From a guess to where the tip has a pose."""
        extra = TipPose(pose, self.structure.equations.size, self.body_pose, self._tree_jacobian)
        return self._nearest(q, [], extra)

    def _nearest(self, q: FloatArray, held: list[int], extra: Any = None) -> FloatArray:
        equations = self.structure.equations
        found = searched(equations, q, held, extra, ATTEMPTS if extra is None else TIP_ATTEMPTS)
        if found.left > ACCEPTED:
            name = equations.worst(found.q)
            raise NoSolution(
                f"{self.name}: the loops do not close; {name!r} stays open by {found.left:.3g} of "
                f"the mechanism's size of {equations.size:.3g} m",
                residual=found.left,
                value=q,
            )
        return found.q

    def _from_joints(self, given: dict[str, ArrayLike], start: FloatArray) -> FloatArray:
        q = np.array(start)
        held: list[int] = []
        for name, value in given.items():
            place, first = self._put(q, name, value), self._tree.rate_of[name]
            held += range(first, first + min(place.stop - place.start, 6))
        followed(self._tree, q)
        out = np.empty_like(q)
        for index in np.ndindex(q.shape[:-1]):
            out[index] = self._nearest(q[index], held)
        return out

    def _guess(self, guess: Any) -> FloatArray:
        if guess is None:
            return self.structure.home
        if hasattr(guess, "items"):
            start, tree = self.home, self._tree
            for name, value in guess.items():
                self._put(start, name, value)
            return guessed(tree, {name: tuple(start[at]) for name, at in tree.place_of.items()})
        return self._q("guess", guess)

    def _put(self, q: FloatArray, name: str, value: ArrayLike) -> slice:
        """Write a joint's position into its place of configurations (..., nq)."""
        if name not in self._tree.place_of:
            raise InvalidInput(f"{self.name} has no joint {name!r}", value=name)
        place = self._tree.place_of[name]
        q[..., place] = as_array(name, np.atleast_1d(value), (place.stop - place.start,))
        return place

    def _each(
        self,
        wanted: FloatArray,
        start: FloatArray,
        find: Callable[[FloatArray, FloatArray], FloatArray],
    ) -> FloatArray:
        shape, (goals, starts) = flatten(wanted=wanted, guess=start)
        found = [find(q, goal) for q, goal in zip(starts, goals, strict=True)]
        return np.reshape(found, (*shape, self._nq))
