# SPDX-License-Identifier: Apache-2.0
"""Region of the positions or orientations that the tip of an arm or a closed loop reaches.

Space is divided into cubes. Random configurations of an arm, or a random walk from a closed loop's
home, reach the first cubes. From each reached cube, inverse kinematics by damped least squares
moves the tip into the neighboring cubes, until no new cube can be entered. Random points then
measure the reachable fraction of three groups of cubes: cubes at the edge, cubes inside (all of
whose neighbors are reached), and surrounding cubes that were not entered. Points reached in
surrounding cubes fill further cubes. The stated error is the sum of three standard deviations for
each group, plus the fraction of the inside that inverse kinematics did not reach.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from robodyn.arrays import ArrayLike, BoolArray, FloatArray, IntArray
from robodyn.checks import as_array
from robodyn.errors import InvalidInput
from robodyn.planning.workspace.region import Region
from robodyn.planning.workspace.requirements import Requirements, WorkspaceSettings
from robodyn.planning.workspace.surfaces import Surface, level_surface
from robodyn.planning.workspace.tip_steps import STEPS, TipSteps

CHUNK = 8192
# Coarsening of the cubes that are filled first, and their largest number along an axis.
COARSE, FEWEST = 3, 14
# Random points in the cubes at the edge, inside and around; fewer for loops, which take longer.
MANY, FEW, SIGMAS = (4000, 1000, 1000), (300, 60, 150), 3.0
# Number of times that points reached around the cubes fill further cubes.
REFILLS = 5
# Number of edges at which the requirement that bounds the region is determined.
EDGES = 200
# Extent, relative to the size, below which the region is flat.
FLAT = 1e-6

Cell = tuple[int, ...]


class TipRegion(Region):
    """Region of the tip's positions (3,) [m], or roll, pitch and yaw (3,) [rad].

    Attributes:
        kind: `reachable` for positions, or `orientation` for orientations at any position of the
            tip.
        box: (3, 2) [m or rad] bounding box.
        cell: [m or rad] side of the cubes.
        dimensions: 3, or fewer if the tip moves only in a plane or on a line, or turns about only
            one or two axes.
        axes: indices of the coordinates that vary, among x, y, z or roll, pitch, yaw.
        angles: names of the angles of an orientation region; the others follow from these.
        volume, volume_error: volume, area or length, depending on `dimensions`, in powers of m or
            rad.
        cut_short: reason why the cubes are larger than requested or the search is incomplete;
            otherwise empty.
    """

    def __init__(
        self,
        needs: Requirements,
        kind: str,
        settings: WorkspaceSettings,
        report_progress: Callable[[float], None],
    ) -> None:
        super().__init__(needs, kind)
        self.cut_short = ""
        self._turns = kind == "orientation"
        self._mechanism = needs.mechanism
        self._given = None if settings.bounds is None else np.asarray(settings.bounds)
        cells, budget = settings.resolution, settings.budget
        self._steps = TipSteps(needs, self._turns)
        self._random = np.random.default_rng(settings.seed)
        seeds = self._steps.seeds(self._random)
        # first in coarse cubes, to find its extent and how long finer ones will take
        coarse, began = max(min(cells // COARSE, FEWEST), 4), time.monotonic()
        self._divide(seeds, coarse)
        if not self._fill(report_progress, 0.0, 0.1, began + budget):
            self._refuse_endless(budget)
            self.cut_short = f"the search was not completed within the budget of {budget:g} s"
        seeds = np.concatenate([seeds, *(q[None] for q in self._filled.values())])
        fine = int(min(cells, coarse * self._refinement_factor(time.monotonic() - began, budget)))
        if fine > coarse:
            self._divide(seeds, fine)
            self._fill(report_progress, 0.1, 0.8)
        if fine < cells and not self.cut_short:
            self.cut_short = (
                f"the cells are coarser than requested: {cells} cells along an axis would take "
                f"longer than the budget of {budget:g} s"
            )
        self._fill_from_samples(report_progress, began + budget)
        self.volume, self.volume_error = self._measure_volume()
        report_progress(1.0)

    def _refuse_endless(self, budget: float) -> None:
        """Reject a region that is unbounded because linear drives have no position limits.

        Raises:
            InvalidInput: such drives exist, and no bounds are given; the error names the drives.
        """
        m = self._mechanism
        limits = zip(m.joint_names, m.drives.units, m.position_limits, strict=True)
        endless = [name for name, unit, ends in limits if unit == "m" and np.isinf(ends).any()]
        if endless and self._given is None:
            raise InvalidInput(
                f"the workspace of {m.name} still grows after {budget:g} s: "
                f"{', '.join(endless)} have no position limits in its description; add "
                "limits to it, or give bounds for the search",
                value=endless,
            )

    def _refinement_factor(self, took: float, budget: float) -> float:
        """Return the factor by which cells per axis may increase within a time budget [s]."""
        if took >= budget:
            return 1.0
        # half of the remaining time: with small cubes more neighbors are tried in vain
        return float((0.5 * (budget - took) / max(took, 1e-9)) ** (1.0 / self.dimensions))

    def _divide(self, seeds: FloatArray, cells: int) -> None:
        """Divide space into cubes; mark those that the tip reaches at seed configurations."""
        at = self._steps.tips(seeds)
        extent = np.ptp(at, axis=0) if len(at) else np.zeros(3)
        axes = [k for k in range(3) if extent[k] > FLAT * self._mechanism.size]
        self.axes = self._steps.angles or axes or [0, 1, 2]
        self.dimensions = len(self.axes)
        extent = extent[self.axes]
        self.cell = (float(extent.max()) or self._mechanism.size) / cells
        self._origin = at.min(axis=0) if len(at) else np.zeros(3)
        self._period: tuple[int, ...] = (0,) * self.dimensions
        if self._turns:
            # a whole number of cubes per turn, as roll and yaw are periodic
            whole = int(np.ceil(2.0 * np.pi / self.cell)) if len(at) else 1
            self._period = tuple(0 if axis == 1 else whole for axis in self.axes)
            self.cell = 2.0 * np.pi / whole
            self._origin = np.full(3, -np.pi)
        self._around = [s for s in product((-1, 0, 1), repeat=self.dimensions) if any(s)]
        self._filled: dict[Cell, FloatArray] = {}
        self._mark_cells(seeds, at)

    @property
    def text(self) -> str:
        """Volume and error of the region in one line."""
        of = f" ({', '.join(self.angles)})" if self._turns and self.dimensions < 3 else ""
        line = (
            f"{self.kind} workspace{of} of {self._mechanism.name}: {self.volume:.4g} +- "
            f"{self.volume_error:.2g} {self.unit}, {len(self._filled)} cells of {self.cell:.3g} "
            f"{'rad' if self._turns else 'm'}"
        )
        if self.cut_short:
            line += f"; {self.cut_short}"
        if self._filled:
            return line
        return f"{line}: the region is empty; at home {self.needs.worst(self._mechanism.home)}"

    @property
    def angles(self) -> tuple[str, ...]:
        """Names of the varying angles; empty for a region of positions."""
        return tuple(("roll", "pitch", "yaw")[k] for k in self.axes) if self._turns else ()

    @property
    def box(self) -> FloatArray:
        """Bounding box (3, 2) [m or rad]."""
        cells = np.array(list(self._filled) or [(0,) * self.dimensions])
        out = np.stack([self._origin, self._origin], axis=1)
        if self._turns:
            out[:] = 0.0
            out[self.axes] = -np.pi
        out[self.axes] += self.cell * np.stack([cells.min(axis=0), cells.max(axis=0) + 1], axis=1)
        return out

    def contains(self, points: ArrayLike) -> Any:
        """Return for each point whether the tip can reach it.

        Inverse kinematics starts from configurations near each point.

        Args:
            points: (..., 3) [m] positions, base frame, or roll, pitch and yaw [rad].

        Returns:
            For each point (...), whether the tip reaches it.
        """
        given = as_array("points", points, (3,), "rad" if self._turns else "m")
        flat = given.reshape(-1, 3)
        return self._is_reachable(flat).reshape(given.shape[:-1])

    @cached_property
    def boundary(self) -> Surface:
        """Triangle mesh around the cubes, vertices [m or rad].

        For a planar region, the triangles cover its squares.
        """
        cells = np.array(list(self._filled)).reshape(-1, self.dimensions)
        if not len(cells):
            return Surface(np.empty((0, 3)), np.empty((0, 3), dtype=np.int64))
        low = cells.min(axis=0)
        if self.dimensions < 3:
            return self._flat_boundary(cells)
        shape = cells.max(axis=0) - low + 3
        filled = np.full(shape, -0.5)
        filled[tuple((cells - low + 1).T)] = 0.5
        x, y, z = (
            self._origin[k] + self.cell * (low[k] - 0.5 + np.arange(shape[k])) for k in range(3)
        )
        return level_surface((x, y, z), filled)

    def _flat_boundary(self, cells: IntArray) -> Surface:
        square = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])[:, : self.dimensions]
        vertices = self._points((cells[:, None] + square).reshape(-1, self.dimensions))
        if self._turns:
            vertices[:, [k for k in range(3) if k not in self.axes]] = 0.0
        first = 4 * np.arange(len(cells))[:, None, None]
        return Surface(vertices, (first + np.array([[0, 1, 2], [0, 2, 3]])).reshape(-1, 3))

    @cached_property
    def ends(self) -> tuple[FloatArray, list[str]]:
        """Points (N, 3) just outside the region, and the requirement violated at each.

        The points [m or rad] are centers of cubes next to the region. Inverse kinematics without
        joint limits moves the tip towards them; if no requirement is violated on the way, the name
        is `no configuration`.
        """
        names = []
        ways = [tuple(int(s) for s in row) for axis in np.eye(self.dimensions)
                for row in (axis, -axis)]  # fmt: skip
        edge = [
            (there, q)
            for cell, q in self._filled.items()
            for way in ways
            if (there := self._neighbor(cell, way)) not in self._filled
        ]
        chosen = [edge[k] for k in self._random.permutation(len(edge))[:EDGES]]
        cells = np.array([there for there, _ in chosen]).reshape(-1, self.dimensions)
        points = self._points(cells + 0.5)
        for (_, start), goal in zip(chosen, points, strict=True):
            q = start[None]
            for _ in range(3 * STEPS):
                q = self._steps.step_towards(q, goal[None], free=True)
                if self.needs.margins(q)[0] < 0.0:
                    break
            exceeds = self.needs.margins(q)[0] < 0.0
            names.append(self.needs.name(q[0]) if exceeds else "no configuration")
        return points, names

    @property
    def reasons(self) -> dict[str, float]:
        """Fraction of the edge that each requirement bounds, by name, largest first."""
        names = self.ends[1]
        return {name: count / len(names) for name, count in Counter(names).most_common()}

    def _points(self, cells: FloatArray) -> FloatArray:
        """Convert fractional cube coordinates (N, dimensions) to points (N, 3)."""
        at = np.tile(self._origin, (len(cells), 1))
        at[:, self.axes] += self.cell * cells
        return at

    def _cells_of(self, at: FloatArray) -> IntArray:
        return np.floor((at - self._origin)[:, self.axes] / self.cell).astype(np.int64)

    def _mark_cells(self, configurations: FloatArray, at: FloatArray) -> list[Cell]:
        """Mark the cubes that contain the tip at configurations; return new cubes."""
        new = []
        inside: BoolArray = np.ones(len(at), dtype=bool)
        if self._given is not None:
            inside = np.asarray(((at >= self._given[:, 0]) & (at <= self._given[:, 1])).all(axis=1))
        for cell, configuration, kept in zip(
            map(tuple, self._cells_of(at).tolist()), configurations, inside, strict=True
        ):
            if kept and cell not in self._filled:
                self._filled[cell] = configuration
                new.append(cell)
        return new

    def _neighbor(self, cell: Cell, shift: Cell) -> Cell:
        return tuple(
            (a + b) % period if period else a + b
            for a, b, period in zip(cell, shift, self._period, strict=True)
        )

    def _fill(
        self,
        report_progress: Callable[[float], None],
        before: float,
        fraction: float,
        until: float = np.inf,
    ) -> bool:
        """Mark reachable cubes around the marked ones; return whether all are marked.

        Marking ends early at the time `until` [s] (`time.monotonic`). `report_progress` is called
        with a progress from `before` to `before + fraction`.
        """
        around = [
            tuple(int(sign) * int(k == axis) for k in range(self.dimensions))
            for axis in range(self.dimensions)
            for sign in (-1, 1)
        ]
        front = list(self._filled)
        while front:
            tried: dict[Cell, list[FloatArray]] = {}
            for cell in front:
                for shift in around:
                    there = self._neighbor(cell, shift)
                    if there not in self._filled:
                        tried.setdefault(there, []).append(self._filled[cell])
            starts = [(cell, start) for cell, many in tried.items() for start in many]
            front = []
            for first in range(0, len(starts), CHUNK):
                part = starts[first : first + CHUNK]
                found = self._move_to_neighbors(
                    np.array([q for _, q in part]), [cell for cell, _ in part]
                )
                front += self._mark_cells(found, self._steps.tips(found))
            report_progress(before + fraction * (1.0 - 1.0 / (1.0 + 1e-3 * len(self._filled))))
            if time.monotonic() > until:
                return not front
        return True

    def _move_to_neighbors(self, q: FloatArray, cells: list[Cell]) -> FloatArray:
        """Move the tip into given cubes; return the k successful configurations (k, nq)."""
        goal = self._points(np.array(cells) + 0.5)
        for _ in range(STEPS):
            q = self._steps.step_towards(q, goal)
        good = (self._cells_of(self._steps.tips(q)) == np.array(cells)).all(axis=1)
        q = q[good]
        return q[self.needs.margins(q) >= 0.0] if len(q) else q

    def _is_reachable(self, points: FloatArray) -> BoolArray:
        """Return whether the tip reaches each point (N, 3) from a nearby marked cube."""
        return self._move_to_points(points)[0]

    def _move_to_points(self, points: FloatArray) -> tuple[BoolArray, FloatArray]:
        """Move the tip to points (N, 3) from nearby marked cubes.

        Returns whether the tip reaches each point (N,), and the configurations (k, nq) at the k
        points that it reaches.
        """
        found = np.zeros(len(points), dtype=bool)
        cells = self._cells_of(points)
        there: list[FloatArray] = [np.empty((0, len(self._mechanism.home)))]
        for shift in sorted(product((0, -1, 1), repeat=self.dimensions), key=np.count_nonzero):
            pairs = [
                (k, self._filled[cell])
                for k, own in enumerate(cells.tolist())
                if not found[k] and (cell := self._neighbor(own, shift)) in self._filled
            ]
            if not pairs:
                continue
            which = np.array([k for k, _ in pairs])
            q, goal = np.array([start for _, start in pairs]), points[which]
            for _ in range(3 * STEPS):
                q = self._steps.step_towards(q, goal)
            near = np.abs(self._steps.displacement_to_goal(q, goal)).max(axis=1) < 0.01 * self.cell
            good = near & (self.needs.margins(q) >= 0.0)
            found[which[good]] = True
            there.append(q[good])
        if self._turns and 1 in self.axes:
            # beyond a right angle the same orientation has another pitch
            found &= np.abs(points[:, 1]) <= np.pi / 2
        return found, np.concatenate(there)

    def _sample_surroundings(self, points: int) -> tuple[int, FloatArray]:
        """Count the unmarked cubes next to the region, and draw random points in them."""
        near = {self._neighbor(cell, shift) for cell in self._filled for shift in self._around}
        ring = np.array(sorted(near - self._filled.keys())).reshape(-1, self.dimensions)
        if not len(ring):
            return 0, np.empty((0, 3))
        chosen = ring[self._random.integers(0, len(ring), points)]
        return len(ring), self._points(chosen + self._random.uniform(size=chosen.shape))

    def _fill_from_samples(self, report_progress: Callable[[float], None], until: float) -> None:
        """Mark further cubes, starting from random reachable points around the region."""
        for _ in range(REFILLS):
            at = self._sample_surroundings(self._sample_counts[2])[1]
            q = self._move_to_points(at)[1]
            if not self._mark_cells(q, self._steps.tips(q)) or time.monotonic() > until:
                break
            self._fill(report_progress, 0.9, 0.05, until)

    @property
    def _sample_counts(self) -> tuple[int, int, int]:
        return MANY if self._steps.has_independent_coordinates else FEW

    def _measure_volume(self) -> tuple[float, float]:
        """Estimate the region's volume and its error from random points in and around it."""
        cells: tuple[list[Cell], list[Cell]] = [], []
        for cell in self._filled:
            near = (self._neighbor(cell, shift) for shift in self._around)
            cells[all(one in self._filled for one in near)].append(cell)
        size, volume, error = self.cell**self.dimensions, 0.0, 0.0
        for part, points in zip(cells, self._sample_counts[:2], strict=True):
            if not part:
                continue
            chosen = np.array(part)[self._random.integers(0, len(part), points)]
            at = self._points(chosen + self._random.uniform(size=chosen.shape))
            fraction = float(self._is_reachable(at).mean())
            volume += size * len(part) * fraction
            error += size * len(part) * _sampling_error(fraction, points)
            if part is cells[1]:
                # if all neighbors are reached, inverse kinematics failed or the hole is small
                error += size * len(part) * (1.0 - fraction)
        ring, at = self._sample_surroundings(self._sample_counts[2])
        if ring:
            reached = self._is_reachable(at)
            if self._given is not None:
                reached &= ((at >= self._given[:, 0]) & (at <= self._given[:, 1])).all(axis=1)
            fraction = float(reached.mean())
            volume += size * ring * fraction
            error += size * ring * _sampling_error(fraction, len(at))
        return volume, error


def _sampling_error(fraction: float, points: int) -> float:
    """Return three standard deviations of a fraction estimated from `points` samples.

    If the fraction is 0 or 1, its variance is that of a single deviating sample.
    """
    return float(SIGMAS * np.sqrt(max(fraction * (1.0 - fraction), 1.0 / points) / points))
