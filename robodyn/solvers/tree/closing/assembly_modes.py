# SPDX-License-Identifier: Apache-2.0

"""Assembly modes: all closed configurations of a mechanism with given driven positions.

They are searched for, not enumerated: Levenberg-Marquardt steps begin at many starts, half of
them anywhere, half around the modes found already. The modes that distant starts seldom reach are
those that nearly meet another one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray, IntArray
from robodyn.checks import as_array, as_scalar
from robodyn.solvers.tree.closing.equations import ACCEPTED
from robodyn.solvers.tree.closing.legs import nearest_legs
from robodyn.solvers.tree.closing.structure import Structure, update_mimic_joints
from robodyn.solvers.tree.kernels import layout

# Difference below which modes are equal, relative to the size, or of a unit direction.
SAME = 1e-6
# Number of starts closed in one call.
BATCH = 100
# The search ends early if every mode was reached this often.
ENOUGH = 6


class AssemblyModes(NamedTuple):
    """Assembly modes that a search found, and measures of its thoroughness.

    Attributes:
        configurations: (k, nq), nearest home first.
        hits: (k,) number of starts that ended at each configuration.
        searches: number of starts.
        converged: number of these that closed the loops.
        unseen: estimated probability that another converging start finds a new mode (Good's
            fraction of modes hit once); 0 makes the list likely, not proven, complete.
    """

    configurations: FloatArray
    hits: IntArray
    searches: int
    converged: int
    unseen: float


def assembly_modes(
    loop: Any, driven: ArrayLike, *, searches: int = 6000, seed: int = 0
) -> AssemblyModes:
    """Find the distinct closed configurations with given positions of the driven joints.

    Two configurations count as equal if all joints are at the same points, all axes are along the
    same lines, and the tip has the same pose. So a rod or leg with a universal joint that is
    rotated by half a turn about its axis does not count twice, regardless of where the loops are
    cut. Of equal configurations, one within the joint limits is listed if possible; modes beyond
    the limits are also listed.

    Args:
        loop: the mechanism.
        driven: positions (n,) of the driven joints.
        searches: largest number of starts; fewer are used if every mode is soon reached often.
        seed: seed of the starts.

    Returns:
        The modes found.
    """
    structure, tree = loop.structure, loop.structure.tree
    names = loop.model.driven
    target = as_array("driven", driven, (len(names),), f"{len(names)} driven joints, rad or m")
    most = int(as_scalar("searches", searches, at_least=1.0))
    start = structure.home.copy()
    start[[tree.position_of[name] for name in names]] = target
    update_mimic_joints(tree, start)
    search = _Search(structure, start, [tree.rate_of[name] for name in names], seed)
    while search.made < most and min(search.hits, default=0) < ENOUGH:
        search.run(min(BATCH, most - search.made))
    found = [search.standing(q) for q in search.found]
    marks, home = search.marks, search.mark(structure.home)
    order = np.argsort([np.abs(mark - home).max() for mark in marks]).astype(int)
    hits = np.array(search.hits, dtype=np.int64)[order]
    return AssemblyModes(
        np.array([found[n] for n in order]).reshape(-1, tree.positions),
        hits,
        search.made,
        int(hits.sum()),
        float((hits == 1).sum() / max(int(hits.sum()), 1)),
    )


class _Search:
    """State of a search for assembly modes.

    Attributes:
        found: closed configurations (nq,), one for each mode.
        marks: vectors that identify the modes; see `mark`.
        hits: number of starts that reached each mode.
        made: number of all starts so far.
    """

    def __init__(self, structure: Structure, start: FloatArray, held: list[int], seed: int) -> None:
        self._structure, self._equations = structure, structure.equations
        self._start, self._held = start, held
        tree = structure.tree
        self._free = np.setdiff1d(np.arange(tree.rates), held)
        self._ranges = np.where(self._equations.columns[self._free] != 1.0, 1.0, np.pi)
        self._rng = np.random.default_rng(seed)
        self.found: list[FloatArray] = []
        self.marks: list[FloatArray] = []
        self.hits: list[int] = []
        self.made = 0

    def run(self, count: int) -> None:
        """Search for assembly modes from `count` further starts, and record those found."""
        equations = self._equations
        starts = [self._new_start(self.made + n) for n in range(count)]
        self.made += count
        for near in equations.nearly_closed(starts, self._free):
            closed = equations.close(near, self._held)
            if closed.left <= ACCEPTED:
                self._take(closed.q)

    def _new_start(self, number: int) -> FloatArray:
        step = np.zeros(len(self._equations.columns))
        if not number:
            return self._start
        if self.found and number % 2:
            origin = self.found[int(self._rng.integers(len(self.found)))]
            reach = self._rng.uniform(0.02, 0.5) * self._ranges
            step[self._free] = reach * self._rng.normal(size=len(self._free))
            return self._equations.stepped(origin, step)
        step[self._free] = self._ranges * self._rng.uniform(-1.0, 1.0, len(self._free))
        return self._equations.stepped(self._start, step)

    def _take(self, q: FloatArray) -> None:
        mark = self.mark(q)
        for n, other in enumerate(self.marks):
            if np.abs(mark - other).max() < SAME:
                self.hits[n] += 1
                return
        self.found.append(q)
        self.marks.append(mark)
        self.hits.append(1)

    def mark(self, q: FloatArray) -> FloatArray:
        """Return a vector that identifies the assembly mode of a configuration.

        The vector contains the joints' origins and axes and the tip's pose. Equal modes have
        equal vectors.
        """
        tree, size = self._structure.tree, self._equations.size
        B = self._equations.bodies_at(q)
        parts: list[FloatArray] = []
        for number, body in enumerate(tree.bodies[1:], 1):
            axes = B[number, :9].reshape(3, 3)
            parts.append(B[number, layout.ORIGIN : layout.ORIGIN + 3] / size)
            floats = body.kind == layout.FLOATING
            parts.append((axes if floats else np.outer(axes[2], axes[2])).ravel())
        for closure in tree.model.closures:
            for link, place, _ in closure.ends:
                parts.append((tree.frame_at(B, link) @ place.matrix)[:3, 3] / size)
        tip = tree.frame_at(B, tree.model.tip_link)
        return np.concatenate([*parts, tip[:3, :3].ravel(), tip[:3, 3] / size])

    def standing(self, q: FloatArray) -> FloatArray:
        """Wrap the angles of a configuration without changing its assembly mode.

        The result is within the joint limits if possible.
        """
        out, tree = self._wrap(q), self._structure.tree
        if not self._is_beyond(out):
            return out
        floating = [
            body.rate + k
            for body in tree.bodies[1:]
            if body.kind == layout.FLOATING
            for k in range(6)
        ]
        turned = nearest_legs(self._equations, out, self._structure.home, [*self._held, *floating])
        same = np.abs(self.mark(turned) - self.mark(q)).max() < SAME
        return turned if same else out

    def _is_beyond(self, q: FloatArray) -> bool:
        """Return whether any joint of a configuration is beyond its limits.

        Joints with given positions are not checked.
        """
        tree = self._structure.tree
        return any(
            not joint.position[0] <= q[tree.position_of[joint.name]] <= joint.position[1]
            for joint in tree.joints
            if joint.kind != "floating" and tree.rate_of[joint.name] not in self._held
        )

    def _wrap(self, q: FloatArray) -> FloatArray:
        """Wrap the angles of a configuration to [-pi, pi).

        Joints with given positions, mimic joints and joints that they follow are unchanged.
        """
        out, joints = q.copy(), self._structure.tree.joints
        followed_by = {joint.mimic.joint for joint in joints if joint.mimic is not None}
        for joint in joints:
            turns = joint.kind in ("revolute", "continuous") and joint.mimic is None
            if turns and joint.name not in followed_by:
                at = self._structure.tree.position_of[joint.name]
                if self._structure.tree.rate_of[joint.name] not in self._held:
                    out[at] = (out[at] + np.pi) % (2.0 * np.pi) - np.pi
        return np.asarray(out)
