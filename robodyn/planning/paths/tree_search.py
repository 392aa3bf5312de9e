# SPDX-License-Identifier: Apache-2.0
"""RRT-Connect on the configurations of a mechanism: two trees that grow towards each other.

Kuffner and LaValle, ICRA 2000. One tree grows from the start and one from the goal, towards random
targets and towards the other's newest configuration. Each segment is cut at the first configuration
that violates a bound. One batch call checks all samples of a segment, in less than a microsecond
each for a platform; a general planning library would call back to Python for every sample.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.mechanism.mechanism import Mechanism
from robodyn.planning.paths.bounds import Bounds
from robodyn.planning.paths.spaces import Space

# Samples of a segment that are checked in one call.
BATCH = 64
# Radii of the region of random targets, relative to the distance of start and goal.
SMALLEST, LARGEST = 0.8, 6.0


@dataclass(frozen=True)
class Budget:
    """Limits of a search: its time, its number of nodes, and a request to stop.

    Attributes:
        deadline: time [s] of `time.monotonic` at which the search ends.
        nodes: largest total number of nodes of both trees.
        stopped: function that is polled during the search and returns True to end it.
        report_progress: called with a description of the current step.
    """

    deadline: float
    nodes: int = 30000
    stopped: Callable[[], bool] = lambda: False
    report_progress: Callable[[str], None] = lambda _: None

    @property
    def is_exhausted(self) -> bool:
        """Whether the deadline has passed or a stop was requested."""
        return time.monotonic() > self.deadline or self.stopped()


@dataclass(frozen=True)
class PlanningProblem:
    """Definition of a path search: start, goal, space and bounds.

    Attributes:
        space: path space of the mechanism, which connects configurations.
        bounds: bounds of the path.
        start, goal: (nq,) configurations.
        step: [rad] distance between samples.
    """

    space: Space
    bounds: Bounds
    start: FloatArray
    goal: FloatArray
    step: float

    @property
    def mechanism(self) -> Mechanism:
        """Mechanism whose motion is planned."""
        return self.bounds.mechanism

    @property
    def are_ends_valid(self) -> bool:
        """Whether start and goal are both within the bounds."""
        return bool(self.bounds.are_satisfied(np.stack([self.start, self.goal])).all())

    def minimum_margins(self, fraction: float) -> FloatArray:
        """Compute the smallest margin (c,) to each bound that a search permits.

        It is `fraction` or, if that is less, half of the smaller of the margins at start and goal;
        0 if one of these is negative.
        """
        ends = self.bounds.margins(np.stack([self.start, self.goal])).min(axis=0)
        return np.asarray(np.minimum(fraction, np.maximum(0.5 * ends, 0.0)))


class SearchTree:
    """Tree of configurations, each with its parent."""

    def __init__(self, space: Space, root: FloatArray) -> None:
        self._space = space
        embedded = space.embed(root[None])[0]
        self.configurations = np.empty((256, len(root)))
        self._embedded = np.empty((256, len(embedded)))
        self.parents: list[int] = []
        self.add(root[None], -1)

    def __len__(self) -> int:
        return len(self.parents)

    def add(self, path: FloatArray, parent: int) -> int:
        """Add a path (n, nq) to the tree as a chain of nodes below a parent.

        Returns:
            Index of the last node.
        """
        first, last = len(self), len(self) + len(path)
        while last > len(self.configurations):
            self.configurations = np.concatenate([self.configurations] * 2)
            self._embedded = np.concatenate([self._embedded] * 2)
        self.configurations[first:last] = path
        self._embedded[first:last] = self._space.embed(path)
        self.parents += [parent, *range(first, last - 1)][: len(path)]
        return last - 1

    def nearest(self, embedded: FloatArray) -> int:
        """Return the index of the node nearest to coordinates (k,) from `Space.embed`."""
        return int(self._space.distances(embedded, self._embedded[: len(self)]).argmin())

    def path_to(self, node: int) -> FloatArray:
        """Return the configurations (n, nq) from the root to a node, including both."""
        rows = []
        while node >= 0:
            rows.append(node)
            node = self.parents[node]
        return np.asarray(self.configurations[rows[::-1]])


class TreeSearch:
    """Bidirectional tree search for a path, deterministic for given random numbers.

    Args:
        problem: planning problem.
        least: (c,) smallest permitted margin to each bound.
        reach: [rad] longest segment of one growth step.
    """

    def __init__(self, problem: PlanningProblem, least: FloatArray, reach: float) -> None:
        self._problem, self._least, self._reach = problem, least, reach
        self._space, self._step = problem.space, problem.step

    def path(self, random: np.random.Generator, budget: Budget) -> FloatArray | None:
        """Search for a path from start to goal, until the budget is spent.

        Returns:
            A densely sampled path (n, nq); None if none is found.
        """
        space, start, goal = self._space, self._problem.start, self._problem.goal
        trees = SearchTree(space, start), SearchTree(space, goal)
        ends = space.embed(np.stack([start, goal]))
        distance = max(float(space.distances(ends[0], ends[1:])[0]), 0.5)
        growing, other, turned = trees[0], trees[1], False
        while not budget.is_exhausted and len(growing) + len(other) < budget.nodes:
            factor = np.exp(random.uniform(np.log(SMALLEST), np.log(LARGEST)))
            target = space.sample(random, distance * factor)
            near = growing.nearest(space.embed_target(target))
            node = self._grow(growing, near, target, self._reach)
            if node != near:
                here = growing.configurations[node]
                close = other.nearest(space.embed(here[None])[0])
                end = self._grow(other, close, space.target(here), np.inf)
                if (joint := self._connect(other.configurations[end], here)) is not None:
                    ways = growing.path_to(node), joint[::-1], other.path_to(end)[::-1]
                    whole = np.concatenate([ways[0], ways[1][1:-1], ways[2]])
                    return whole[::-1] if turned else whole
            growing, other, turned = other, growing, not turned
        return None

    def _connect(self, one: FloatArray, other: FloatArray) -> FloatArray | None:
        """Connect two configurations by a segment (n, nq) if they are near each other.

        Returns None if they are not, or if the segment violates a bound.
        """
        pair = self._space.embed(np.stack([one, other]))
        if float(self._space.distances(pair[0], pair[1:])[0]) > 2.0 * self._step:
            return None
        way = self._space.segment(one, other, self._step)
        return way if way is not None and self._count_within_bounds(way) == len(way) else None

    def _grow(self, tree: SearchTree, near: int, target: FloatArray, reach: float) -> int:
        """Grow a tree from a node towards a target; return the index of the last node.

        Growth ends at the target, at length `reach` [rad] or before a violation of a bound.
        """
        space, here, node, gone = self._space, tree.configurations[near], near, 0.0
        part = BATCH * self._step
        while gone < reach:
            way = space.steer(here, target, min(part, reach - gone), self._step)
            if not len(way):
                break
            count = self._count_within_bounds(way)
            if count:
                rows = [*range(space.stride - 1, count - 1, space.stride), count - 1]
                node = tree.add(way[rows], node)
                here = way[count - 1]
            if count < len(way) or len(way) < BATCH:
                break
            gone += part
        return node

    def _count_within_bounds(self, way: FloatArray) -> int:
        """Count the leading configurations of a segment that satisfy all bounds."""
        broken = np.flatnonzero(~self._problem.bounds.are_satisfied(way, self._least))
        return int(broken[0]) if broken.size else len(way)
