# SPDX-License-Identifier: Apache-2.0

"""Time-optimal motions beside toppra's and beside the optimum of a convex program.

`python -m benchmarks.time_optimal [PATHS [REFERENCES [MODEL ...]]]`, for the bundled mechanisms
without friction, which toppra does not take, along the random paths of `benchmarks.random_paths`.
toppra and clarabel (`pip install toppra clarabel`) are optional.

toppra plans along the same geometry on as many intervals, with its `JointTorqueConstraint` on
intervals ("interpolation"). Between its points its motions exceed their limits; `slowed` is its
duration after slowing uniformly until they are kept on a grid 50 times finer. The optimum is that
of a second-order cone program (Verscheure et al., 2009) on twice as many intervals, solved by
Clarabel for the first REFERENCES paths: limits are imposed in the middle of its intervals only.
What robodyn does on half
as many intervals is in the columns `half`. Times of planning are of the thread.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

import robodyn as rd
from benchmarks.random_paths import DRAWS, configurations, excess
from robodyn.planning.time_optimal.curves import WaypointSpline

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray

try:
    import toppra
    import toppra.algorithm
    import toppra.constraint
except ImportError:
    toppra = None
try:
    import clarabel
except ImportError:
    clarabel = None

INTERVALS = 1000
FINER = 50
REFERENCE = 2000


class Row(NamedTuple):
    """Of one path: durations [s], the largest excess of toppra's, and times of planning [s]."""

    ours: float
    over: float
    planning: float
    theirs: float = np.nan
    slowed: float = np.nan
    their_over: float = np.nan
    their_planning: float = np.nan
    optimum: float = np.nan
    half: float = np.nan
    half_planning: float = np.nan


class Profile(NamedTuple):
    """Squares of the speed (N + 1,) along a path at places (N + 1,) from 0 to 1."""

    places: FloatArray
    x: FloatArray

    @property
    def duration(self) -> float:
        """[s]."""
        v = np.sqrt(self.x)
        return float((2.0 * np.diff(self.places) / (v[1:] + v[:-1])).sum())


def through_toppra(m: Any, points: FloatArray) -> Profile | None:
    """Plan with toppra on INTERVALS intervals; None if it fails."""
    line = WaypointSpline(m, points)

    class Path(toppra.interpolator.AbstractGeometricPath):  # type: ignore[misc]
        dof = m.coordinates.velocity_size
        path_interval = np.array([0.0, 1.0])
        sampled: Any = (None, None)

        def __call__(self, s: Any, order: int = 0) -> FloatArray:
            if self.sampled[0] is not s:
                self.sampled = s, line.sample(s)
            return self.sampled[1][order]  # type: ignore[no-any-return]

    class Rates(toppra.constraint.LinearConstraint):  # type: ignore[misc]
        dof = m.coordinates.velocity_size

        def compute_constraint_params(self, path: Any, grid: Any) -> Any:
            rates = np.abs(m.joint_velocities(path(grid), path(grid, 1)))
            with np.errstate(divide="ignore"):
                most = np.minimum((m.velocity_limits / rates).min(axis=1), 1e4) ** 2
            return None, None, None, None, None, None, np.stack([0.0 * most, most], axis=1)

    efforts = toppra.constraint.JointTorqueConstraint(
        m.inverse_dynamics,
        np.stack([-m.effort_limits, m.effort_limits], axis=1),
        np.zeros(len(m.effort_limits)),
        discretization_scheme=toppra.constraint.DiscretizationType.Interpolation,
    )
    # it takes the number of efforts for that of coordinates
    efforts.dof = Path.dof
    grid = np.linspace(0.0, 1.0, INTERVALS + 1)
    problem = toppra.algorithm.TOPPRA(
        [efforts, Rates()], Path(), gridpoints=grid, solver_wrapper="seidel"
    )
    _, speed, _ = problem.compute_parameterization(0.0, 0.0)
    return None if speed is None else Profile(grid, np.asarray(speed) ** 2)


def measured(m: Any, points: FloatArray, found: Profile) -> tuple[float, float]:
    """Largest excess over a limit, and the duration [s] once slowed until there is none."""
    h = np.diff(found.places)[:, None]
    fraction = np.linspace(0.0, 1.0, FINER)
    q, u, w = WaypointSpline(m, points).sample(found.places[:-1, None] + h * fraction)
    x = found.x[:-1, None] + np.diff(found.x)[:, None] * fraction
    v, a = np.sqrt(x)[..., None], (0.5 * np.diff(found.x) / h[:, 0])[:, None, None]
    rates = np.abs(m.joint_velocities(q, u * v)) / m.velocity_limits
    effort = m.inverse_dynamics(q, u * v, u * a + w * x[..., None]) / m.effort_limits
    weight = m.inverse_dynamics(q, 0.0 * u, 0.0 * u) / m.effort_limits
    # slowed by a factor c, what is not weight falls by c^2
    moving = effort - weight
    factor = max(rates.max() ** 2, (np.abs(moving) / (1.0 - np.sign(moving) * weight)).max())
    over = max(rates.max(), np.abs(effort).max()) - 1.0
    return float(over), found.duration * np.sqrt(max(1.0, factor))


def optimum(m: Any, points: FloatArray, scale: float) -> float:
    """The shortest duration [s], near `scale`, of a convex program on REFERENCE intervals.

    With b = s'^2 at the nodes, c <= sqrt(b) there, and d >= 1 / (c + c) in the intervals, the
    duration is 2 h sum(d); efforts and rates are limited in the middle of each.
    """
    count = REFERENCE
    h = 1.0 / count
    q, u, w = WaypointSpline(m, points).sample((np.arange(count) + 0.5) * h)
    rest = np.zeros(u.shape)
    D = m.inverse_dynamics(q, rest, rest)
    # in units of the time in which b is about 1
    A = (m.inverse_dynamics(q, rest, u) - D) / scale**2 / m.effort_limits
    B = (m.inverse_dynamics(q, u, w) - D) / scale**2 / m.effort_limits
    D /= m.effort_limits
    n = A.shape[1]
    with np.errstate(divide="ignore"):
        most = (m.velocity_limits / np.abs(m.joint_velocities(q, u))).min(axis=1) ** 2 * scale**2
    bounded = np.isfinite(most)
    k = np.repeat(np.arange(count), n)
    at = np.arange(count * n)
    first, second = (0.5 * B - 0.5 * A / h).ravel(), (0.5 * B + 0.5 * A / h).ravel()
    size = 3 * count + 2
    b, c, d = 0, count + 1, 2 * count + 2

    def rows(number: int, *parts: Any) -> Any:
        where, columns, values = zip(*parts, strict=True)
        index = np.concatenate(where), np.concatenate(columns)
        return sparse.csc_matrix((np.concatenate(values), index), shape=(number, size))

    effort = rows(count * n, (at, b + k, first), (at, b + k + 1, second))
    i = np.arange(bounded.sum())
    kept = np.flatnonzero(bounded)
    half = np.full(len(i), 0.5)
    rate = rows(len(i), (i, b + kept, half), (i, b + kept + 1, half))
    ends = rows(2, (np.array([0, 1]), np.array([b, b + count]), np.ones(2)))
    # (b + 1, b - 1, 2 c) and (d + c + c', d - c - c', 2) lie in second-order cones
    node, one = np.arange(count + 1), np.ones(count + 1)
    roots = rows(
        3 * count + 3,
        (3 * node, b + node, -one),
        (3 * node + 1, b + node, -one),
        (3 * node + 2, c + node, -2.0 * one),
    )
    cell, one = np.arange(count), np.ones(count)
    slow = rows(
        3 * count,
        *((3 * cell, column, -one) for column in (d + cell, c + cell, c + cell + 1)),
        (3 * cell + 1, d + cell, -one),
        *((3 * cell + 1, column, one) for column in (c + cell, c + cell + 1)),
    )
    matrix = sparse.vstack([ends, effort, -effort, rate, roots, slow]).tocsc()
    bound = np.concatenate(
        (
            *(np.zeros(2), (1.0 - D).ravel(), (1.0 + D).ravel(), most[kept]),
            *(np.tile([1.0, -1.0, 0.0], count + 1), np.tile([0.0, 0.0, 2.0], count)),
        )
    )
    cones = [clarabel.ZeroConeT(2), clarabel.NonnegativeConeT(2 * count * n + len(i))]
    cones += [clarabel.SecondOrderConeT(3)] * (2 * count + 1)
    cost = np.zeros(size)
    cost[d:] = 2.0 * h
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    found = clarabel.DefaultSolver(
        sparse.csc_matrix((size, size)), cost, matrix, bound, cones, settings
    ).solve()
    solved = str(found.status) in ("Solved", "AlmostSolved")
    return float(found.obj_val_dual) * scale if solved else np.nan


def examined(m: Any, points: FloatArray, *, reference: bool) -> Row:
    """Plan along a path with everything that there is."""
    begun = time.thread_time()
    motion = rd.time_optimal(m, points, points=INTERVALS)
    row = Row(motion.duration, excess(m, motion), time.thread_time() - begun)
    # not with what it measured
    begun = time.thread_time()
    rd.time_optimal(m, points, points=INTERVALS)
    row = row._replace(planning=time.thread_time() - begun)
    begun = time.thread_time()
    half = rd.time_optimal(m, points, points=INTERVALS // 2).duration
    row = row._replace(half=half, half_planning=time.thread_time() - begun)
    if toppra is not None:
        begun = time.thread_time()
        found = through_toppra(m, points)
        spent = time.thread_time() - begun
        if found is not None:
            over, slowed = measured(m, points, found)
            row = row._replace(
                theirs=found.duration, slowed=slowed, their_over=over, their_planning=spent
            )
    if reference and clarabel is not None:
        row = row._replace(optimum=optimum(m, points, motion.duration))
    return row


def rows_of(name: str, expected: int, references: int) -> list[Row]:
    """Return rows of the requested number of paths."""
    m = rd.load(name).without_actuators().without_friction()
    rows: list[Row] = []
    for draw in range(DRAWS * expected):
        random = np.random.default_rng(draw)
        try:
            points = configurations(m, random, int(random.integers(2, 6)))
            rows.append(examined(m, points, reference=len(rows) < references))
        except rd.RobodynError:
            continue
        if len(rows) == expected:
            break
    return rows


def main() -> None:
    """Print a line for each mechanism."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="?", type=int, default=20, help="of each mechanism")
    parser.add_argument(
        "references", nargs="?", type=int, help="how many of them the cone program solves, too"
    )
    parser.add_argument("models", nargs="*", help="by default those that come with the library")
    given = parser.parse_args()
    expected, references = given.paths, given.references
    if references is None:
        references = expected
    if toppra is not None:
        toppra.setup_logging("ERROR")
    heads = (
        *("mechanism", "paths", "over", "beyond the optimum", "beyond toppra", "toppra over"),
        *("beyond toppra slowed", "half: beyond it", "planned [ms]", "half [ms]", "toppra [ms]"),
    )
    print("| " + " | ".join(heads) + " |")
    print("|" + "---|" * len(heads), flush=True)
    for name in given.models or rd.models():
        rows = rows_of(name, expected, references)
        if not rows:
            print(f"| {name} | 0 |")
            continue
        table = dict(zip(Row._fields, np.array(rows).T, strict=True))
        ours = table["ours"]
        cells = [
            f"{table['over'].max():.1e}",
            f"{largest(ours / table['optimum'] - 1.0):.3%}",
            f"{largest(ours / table['theirs'] - 1.0):.3%}",
            f"{largest(table['their_over']):.2%}",
            f"{largest(ours / table['slowed'] - 1.0):.3%}",
            f"{largest(table['half'] / table['slowed'] - 1.0):.3%}",
            *(
                f"{1e3 * np.nanmedian(table[which]):.0f}"
                for which in ("planning", "half_planning", "their_planning")
            ),
        ]
        print(f"| {name} | {len(rows)} | " + " | ".join(cells) + " |", flush=True)


def largest(values: FloatArray) -> float:
    """Of those that there are; NaN without any."""
    return float(np.nanmax(values)) if np.isfinite(values).any() else np.nan


if __name__ == "__main__":
    main()
