# SPDX-License-Identifier: Apache-2.0
"""Region of a platform's positions or orientations: volume, boundary and singularities."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import cached_property
from typing import Any

import numpy as np

from robodyn.algorithms import conditioning
from robodyn.arrays import ArrayLike, BoolArray, FloatArray
from robodyn.checks import as_array
from robodyn.errors import InvalidInput
from robodyn.planning.workspace.region import Region
from robodyn.planning.workspace.requirements import Requirements, WorkspaceSettings
from robodyn.planning.workspace.surfaces import Surface, level_surface
from robodyn.poses import pose_from_rpy, rotation_matrix, rpy_from_pose
from robodyn.presentation import presentation
from robodyn.sweeps.schedulers import cluster

# Initial and largest number of strata along each axis, and its growth factor.
STRATA, MOST_STRATA, GROWTH = 24, 140, 1.6
# Number of poses examined in one call.
CHUNK = 65536
# Ratio of the stated error to the standard deviation.
SIGMAS = 3.0
# Number of strata of the search for the region around home, largest number of repetitions, and the
# reduction of the box that justifies another one.
LOCATE, ROUNDS, SMALLER = 36, 6, 0.7


class PoseRegion(Region):
    """Region of positions (3,) [m], or of roll, pitch and yaw (3,) [rad].

    Attributes:
        kind: `constant`, `reachable`, `dexterous` or `orientation`.
        box: (3, 2) searched box: the given bounds, or a box around the region.
        volume, volume_error: [m^3], or [rad^3] of roll, pitch and yaw; the error is three
            standard deviations, or the requested relative error if that is larger.
        samples: number of poses examined.
    """

    def __init__(
        self,
        needs: Requirements,
        kind: str,
        others: FloatArray,
        settings: WorkspaceSettings,
        scheduler: Any,
        report_progress: Callable[[float], None],
    ) -> None:
        super().__init__(needs, kind)
        self._others, self._cells, self._scheduler = others, settings.resolution, scheduler
        self.box = self._default_box() if settings.bounds is None else np.asarray(settings.bounds)
        self.samples = 0
        self._part: tuple[FloatArray, BoolArray] | None = None
        self._is_bounded = settings.bounds is not None
        self._best: tuple[float, FloatArray] = (-np.inf, self.box.mean(axis=1))
        self.volume, self.volume_error = self._measure_volume(
            settings.error, settings.seed, report_progress
        )

    def __getstate__(self) -> dict[str, Any]:
        """Omit the connection to a cluster, which its workers do not need."""
        return {**self.__dict__, "_scheduler": None}

    @property
    def text(self) -> str:
        """Volume and error in one line; for an empty region also the violated requirement."""
        line = (
            f"{self.kind} workspace of {self.needs.mechanism.name}: {self.volume:.5g} +- "
            f"{self.volume_error:.2g} {self.unit} from {self.samples} poses"
        )
        if self.volume > 0.0:
            return line
        place = ", ".join(f"{value:.4g}" for value in self._best[1])
        poses = self._poses(self._best[1][None])[0]
        margins = self.needs.margins(poses)
        chosen = margins.argmax() if self.kind == "reachable" else margins.argmin()
        return (
            f"{line}: the region is empty; the nearest point is ({place}), where "
            f"{self.needs.worst(poses[chosen])}"
        )

    def margins(self, points: FloatArray) -> FloatArray:
        """Compute the margins of points to the requirements of the region.

        Args:
            points: (N, 3) positions [m], or roll, pitch and yaw [rad] for an orientation region.

        Returns:
            Margins (N,) between -1 and 1, negative outside the region.
        """
        parts = [
            self._margins(points[first : first + CHUNK]) for first in range(0, len(points), CHUNK)
        ]
        found = np.concatenate(parts) if parts else np.empty(0)
        if self._part is not None and len(points):
            box, part = self._part
            cells = np.floor((points - box[:, 0]) / np.diff(box, axis=1)[:, 0] * len(part))
            inside = ((cells >= 0) & (cells <= len(part))).all(axis=1)
            at = np.clip(cells, 0, len(part) - 1).astype(np.int64)
            found[~(inside & part[tuple(at.T)])] = -1.0
        return found

    def contains(self, points: ArrayLike) -> Any:
        """Return whether points or poses are inside the region.

        A pose is inside a region of positions if its position is inside and the pose, with its own
        orientation, meets the requirements.

        Args:
            points: (..., 3) positions [m], base frame, or roll, pitch and yaw [rad] for an
                orientation region; or body poses (..., 7).

        Returns:
            For each point or pose (...), whether it is inside.
        """
        given = np.asarray(points, dtype=np.float64)
        if given.shape[-1:] == (7,):
            flat = given.reshape(-1, 7)
            own = self.needs.margins(flat) >= 0.0
            at, angles = rpy_from_pose(flat)
            inside = self.margins(angles if self.kind == "orientation" else at) >= 0.0
            return (own & inside).reshape(given.shape[:-1])
        checked = as_array("points", given, (3,))
        return (self.margins(checked.reshape(-1, 3)) >= 0.0).reshape(checked.shape[:-1])

    @cached_property
    def boundary(self) -> Surface:
        """Closed triangle mesh around the region, vertices [m or rad]."""
        axes, values = self._grid
        padded = np.full(tuple(n + 2 for n in values.shape), -1e-6)
        padded[1:-1, 1:-1, 1:-1] = values
        wider = tuple(
            np.concatenate([[a[0] - 1e-9 * (a[-1] - a[0])], a, [a[-1] + 1e-9 * (a[-1] - a[0])]])
            for a in axes
        )
        return level_surface((wider[0], wider[1], wider[2]), padded)

    @cached_property
    def singular_surface(self) -> Surface:
        """Surface within the region on which the platform is singular, as a triangle mesh.

        On this surface, the matrix from the platform's twist to the rates of the legs has
        determinant zero. With several orientations, it is the surface of the first one.
        """
        axes, values = self._grid
        points = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, 3)
        found = conditioning.determinant(self.needs.mechanism, self._poses(points)[:, 0])
        if found is None:
            return level_surface(axes, np.ones(values.shape))
        found = np.asarray(found) / max(float(np.abs(found).max()), 1e-300)
        inside = values >= 0.0
        n = [slice(None, -1), slice(1, None)]
        cells = np.any([inside[a, b, c] for a in n for b in n for c in n], axis=0)
        return level_surface(axes, found.reshape(values.shape), cells)

    @cached_property
    def _grid(self) -> tuple[tuple[FloatArray, FloatArray, FloatArray], FloatArray]:
        x, y, z = (np.linspace(low, high, self._cells + 1) for low, high in self.box)
        points = np.stack(np.meshgrid(x, y, z, indexing="ij"), -1).reshape(-1, 3)
        size = self._cells + 1
        return (x, y, z), self.margins(points).reshape(size, size, size)

    def _poses(self, points: FloatArray) -> FloatArray:
        """Return the poses (N, k, 7) for points (N, 3) of the region.

        If the points are positions, each is combined with the k given orientations; if they are
        orientations, each is combined with the given position.
        """
        first, others = np.broadcast_arrays(points[:, None], self._others[None])
        if self.kind == "orientation":
            return pose_from_rpy(others, first)
        return pose_from_rpy(first, others)

    def _margins(self, points: FloatArray) -> FloatArray:
        if len(self._others) == 1:
            return self.needs.margins(self._poses(points)[:, 0])
        any_ = self.kind == "reachable"
        found = np.full(len(points), -1.0 if any_ else 1.0)
        for other in self._others:
            # points whose result is known need no more orientations
            open_ = np.flatnonzero(found < 0.0 if any_ else found >= 0.0)
            if not open_.size:
                break
            at = points[open_]
            poses = pose_from_rpy(at, np.broadcast_to(other, at.shape))
            new = self.needs.margins(poses)
            found[open_] = np.maximum(found[open_], new) if any_ else np.minimum(found[open_], new)
        return found

    def _measure_volume(
        self, error: float, seed: int, report_progress: Callable[[float], None]
    ) -> tuple[float, float]:
        """Estimate the region's volume and its error by sampling ever finer strata."""
        strata, random = STRATA, np.random.default_rng(seed)
        home = self._home_point()
        for _ in range(ROUNDS if home is not None and not self._is_bounded else 0):
            assert home is not None
            both = self._sample_strata(LOCATE, random)
            if self._margins(home[None])[0] >= 0.0:
                cell = (home - self.box[:, 0]) / np.diff(self.box, axis=1)[:, 0] * LOCATE
                both[0][tuple(np.clip(cell.astype(np.int64), 0, LOCATE - 1))] = True
            part = connected_cells(both[0] | both[1], self.box, home, self._periodic_axes)
            self.samples += 2 * LOCATE**3
            cells = np.argwhere(part)
            if not len(cells):
                break
            side = np.diff(self.box, axis=1)[:, 0] / LOCATE
            # one more empty cell on each side
            low = np.maximum(self.box[:, 0] + side * (cells.min(axis=0) - 1), self.box[:, 0])
            high = np.minimum(self.box[:, 0] + side * (cells.max(axis=0) + 2), self.box[:, 1])
            smaller, self.box = self.box, np.stack([low, high], axis=1)
            if np.prod(high - low) > SMALLER * np.prod(np.diff(smaller, axis=1)):
                break
        whole = float(np.prod(np.diff(self.box, axis=1)))
        while True:
            both = self._sample_strata(strata, random)
            if home is not None:
                part = connected_cells(both[0] | both[1], self.box, home, self._periodic_axes)
                both &= part
                self._part = (self.box, dilate(part)) if part.any() else None
            inside, scatter = int(both.sum()), int((both[0] != both[1]).sum())
            count = strata**3
            self.samples += 2 * count
            volume = whole * inside / (2.0 * count)
            # an empty result does not prove an empty region: if three hits are expected, the
            # probability of none is one in twenty
            least = 3.0 * whole / (2.0 * count)
            stated = max(SIGMAS * whole * np.sqrt(scatter) / (2.0 * count), least)
            if stated <= error * volume or strata >= MOST_STRATA or (not inside and strata >= 60):
                break
            report_progress(min(0.99, (strata / MOST_STRATA) ** 3))
            # the error falls with the number of samples to the power 2/3
            needed = strata * np.sqrt(stated / max(error * volume, 1e-300))
            grown = min(max(needed * 1.05, GROWTH * strata), 2.5 * strata)
            strata = min(int(np.ceil(grown)), MOST_STRATA)
        report_progress(1.0)
        # at least the requested error, so that a comparison by sampling is within it
        return volume, max(stated, error * volume)

    @property
    def _periodic_axes(self) -> tuple[bool, ...]:
        """For each of the box's three axes, whether it is an angle over a full turn."""
        whole = np.ptp(self.box, axis=1) >= 2.0 * np.pi - 1e-9
        return tuple(bool(turn) and self.kind == "orientation" for turn in whole)

    def _home_point(self) -> FloatArray | None:
        """Return home's position or rpy angles (3,); None if home is outside the box.

        Of several disconnected parts, the region is the one that contains home or, if there is no
        such part, the one nearest to home.
        """
        try:
            at, angles = rpy_from_pose(self.needs.mechanism.home)
        except InvalidInput:  # the model has none
            return None
        home = angles if self.kind == "orientation" else at
        within = ((home >= self.box[:, 0]) & (home <= self.box[:, 1])).all()
        return home if within else None

    def _sample_strata(self, strata: int, random: np.random.Generator) -> BoolArray:
        """Draw two points in each stratum; return whether they are inside the region.

        Raises:
            MissingExtra: `dask.distributed` is not installed.
            ClusterError: there is no cluster at that address, or it failed.
        """
        low, high = self.box.T
        side = (high - low) / strata
        numbers = np.arange(strata**3)
        inside: list[BoolArray] = []
        jobs: list[FloatArray] = []
        for first in range(0, len(numbers), CHUNK // 2):
            part = numbers[first : first + CHUNK // 2]
            corner = np.stack(np.unravel_index(part, (strata,) * 3), axis=-1)
            shift = random.uniform(size=(2, len(part), 3))
            jobs.append((low + (corner + shift) * side).reshape(-1, 3))
        with nullcontext() if self._scheduler is None else cluster(self._scheduler) as client:
            submitted = [client.submit(self._margins, job, pure=False) for job in jobs if client]
            for k, points in enumerate(jobs):
                margins = submitted[k].result() if submitted else self._margins(points)
                inside.append((margins >= 0.0).reshape(2, -1))
                best = int(margins.argmax())
                if margins[best] > self._best[0]:
                    self._best = float(margins[best]), points[best]
        return np.concatenate(inside, axis=1).reshape(2, *(strata,) * 3)

    def _default_box(self) -> FloatArray:
        """Return a box (3, 2) that contains all reachable positions or all rpy angles.

        Raises:
            InvalidInput: the legs have no position limits.
        """
        if self.kind == "orientation":
            return np.array([[-np.pi, np.pi], [-0.5 * np.pi, 0.5 * np.pi], [-np.pi, np.pi]])
        mechanism = self.needs.mechanism
        longest = mechanism.position_limits[:, 1]
        if not (presentation.has_legs(mechanism) and np.isfinite(longest).any()):
            raise InvalidInput(
                f"{mechanism.name} has no limits that bound its workspace; give bounds",
                value=mechanism.position_limits,
            )
        feet, tips = presentation.leg_ends(mechanism, mechanism.home)
        home = mechanism.body_pose(mechanism.home)
        own = (tips - home[:3]) @ rotation_matrix(home)
        boxes = []
        for pose in pose_from_rpy(np.zeros((len(self._others), 3)), self._others):
            centers = feet - own @ rotation_matrix(pose).T
            limits = np.stack([centers - longest[:, None], centers + longest[:, None]], axis=-1)
            boxes.append([limits[..., 0].max(axis=0), limits[..., 1].min(axis=0)])
        ends = np.array(boxes)
        every = self.kind == "dexterous"
        low = ends[:, 0].max(axis=0) if every else ends[:, 0].min(axis=0)
        high = ends[:, 1].min(axis=0) if every else ends[:, 1].max(axis=0)
        return np.stack([low, np.maximum(high, low + 1e-6 * mechanism.size)], axis=1)


def connected_cells(
    filled: BoolArray, box: FloatArray, home: FloatArray, turns: tuple[bool, ...]
) -> BoolArray:
    """Find the filled cells that are connected with the filled cell nearest to home.

    Cells count as connected if at most two empty cells are between them.

    Args:
        filled: (n, n, n) whether each cell of the grid contains a point of the region.
        box: (3, 2) bounds of the grid.
        home: (3,) point of the home pose in this box: position, or roll, pitch and yaw.
        turns: for each axis, whether it is periodic.

    Returns:
        For each cell (n, n, n), whether it is filled and connected.
    """
    from scipy.ndimage import label

    count = len(filled)
    if not filled.any():
        return filled
    at = (home - box[:, 0]) / np.diff(box, axis=1)[:, 0] * count
    cells = np.argwhere(filled)
    own = tuple(cells[np.linalg.norm(cells + 0.5 - at, axis=1).argmin()].tolist())
    wide = tuple(2 * turn for turn in turns)
    labels, _ = label(
        dilate(np.pad(filled, [(w, w) for w in wide], mode="wrap")), np.ones((3,) * 3)
    )
    inner = tuple(slice(w, count + w) for w in wide)
    # along a periodic axis a cell and its copy have the same label
    belongs = {int(labels[inner][own])}
    pairs = []
    for axis, w in enumerate(wide):
        ends = [np.take(labels, range(k, k + 2 * w), axis=axis) for k in (0, count)]
        pairs.append(np.unique(np.stack([end.ravel() for end in ends]), axis=1).T)
    for one, other in [p for _ in range(3) for pair in pairs for p in pair.tolist() if min(p)]:
        if one in belongs or other in belongs:
            belongs |= {one, other}
    return np.asarray(np.isin(labels[inner], list(belongs)) & filled)


def dilate(filled: BoolArray) -> BoolArray:
    """Mark the filled cells of a grid and all of their neighbors, corners included.

    Returns:
        For each cell (...), whether it is marked.
    """
    from scipy.ndimage import binary_dilation

    return np.asarray(binary_dilation(filled, np.ones((3,) * filled.ndim)))


def orientations_of(given: ArrayLike) -> FloatArray:
    """Convert the `orientations` of a workspace to roll, pitch and yaw (k, 3) [rad].

    One angle a stands for all combinations of -a, 0 and a about the three axes.

    Raises:
        InvalidInput: the shape is wrong, or the angle is not positive.
    """
    angles = as_array("orientations", given, (), "rad")
    if angles.ndim == 0 and angles > 0.0:
        steps = np.array([-1.0, 0.0, 1.0]) * float(angles)
        return np.stack(np.meshgrid(steps, steps, steps, indexing="ij"), -1).reshape(-1, 3)
    if angles.ndim == 2 and angles.shape[1] == 3 and len(angles):
        return angles
    raise InvalidInput(
        f"orientations is {np.asarray(given).tolist()}, expected a positive angle or (k, 3) "
        "roll, pitch and yaw [rad]",
        value=given,
    )
