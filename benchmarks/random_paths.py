# SPDX-License-Identifier: Apache-2.0

"""Time-optimal motions along random paths of every bundled mechanism: do the limits hold?

`python -m benchmarks.random_paths [--jerk] [PATHS [MODEL ...]]`. Each path goes through two to five
random configurations about home. Efforts, by inverse dynamics itself, and rates are measured on a
grid 50 times finer than the planner's; `over` is the largest excess over a limit as a share of it,
negative where none is reached. `open` is how much shorter any motion within the limits could be at
most, by the planner's own bound. A path that cannot be planned (a limit of position or an end of
travel on it) is counted as refused and replaced by another. Times are of the thread.

With `--jerk`, each path has a limit of jerk, too, drawn so that it lengthens the motion by some per
mille up to about twice, and 500 intervals. There is no bound on the time then.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import robodyn as rd
from robodyn.algorithms import motions

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray

FINER = 50
# Spread of poses, in sizes of the platform and [rad]; of an arm's joints, and of drives [rad, m].
POSES, TURNS, JOINTS, DRIVES = 0.08, 0.2, 0.8, 0.4
# Draws for one path that is planned, at most.
DRAWS = 10
# Intervals of plans with a limit of jerk.
WITH_JERK = 500
# Excess that counts: above rounding, and above the precision of a report.
NEGLIGIBLE = 1e-6


class Row(NamedTuple):
    """Results for a mechanism; fractions are of limits and of durations."""

    planned: int
    refused: int
    over: float
    exceeded: int
    open: float
    milliseconds: float


def configurations(m: Any, random: np.random.Generator, count: int) -> FloatArray:
    """Configurations (count, nq) about home, on the mechanism's assembly mode there."""
    if m.coordinates.is_pose:
        spread = np.array([POSES * m.size] * 3 + [TURNS] * 3)
        steps = spread * random.uniform(-1.0, 1.0, (count, 6))
        poses: FloatArray = np.stack([m.advance(m.home, step) for step in steps])
        return poses
    rest = np.zeros(m.coordinates.velocity_size)
    home = motions.independent_motion(m, m.home, rest, rest).positions
    size = count, len(home)
    if size[1] == m.coordinates.configuration_size:
        low, high = m.position_limits.T
        joints: FloatArray = np.clip(
            home + JOINTS * random.uniform(-1.0, 1.0, size), low + 1e-3, high - 1e-3
        )
        return joints
    found = []
    for goal in home + DRIVES * random.uniform(-1.0, 1.0, size):
        way = np.linspace(home, goal, 30)
        found.append(
            motions.motion_of_independent(m, way, 0.0 * way, 0.0 * way, guess=m.home)[0][-1]
        )
    return np.stack(found)


def excess(m: Any, motion: Any, jerk: float = np.inf) -> float:
    """The largest share by which an effort, a rate or a jerk exceeds its limit between points."""
    nodes = np.array([0.0, *motion.switching_times, motion.duration])
    parts = np.linspace(0.0, 1.0, FINER, endpoint=False)
    times = np.append(nodes[:-1, None] + np.diff(nodes)[:, None] * parts, motion.duration)
    samples = motion.sample(times)
    rates = m.joint_velocities(*samples[:2])
    efforts = np.abs(m.inverse_dynamics(*samples)) / m.drives.effort_limits_at(rates)
    most = max(efforts.max(), (np.abs(rates) / m.velocity_limits).max())
    if jerk < np.inf:
        later = np.diff(times) > 1e-9  # nearer, differences are of rounding
        change = np.diff(motions.driven_motion(m, *samples).accelerations, axis=0)[later]
        most = max(most, np.abs(change / np.diff(times)[later, None]).max() / jerk)
    return float(most - 1.0)


def drawn_jerk(m: Any, points: FloatArray, random: np.random.Generator) -> float:
    """A limit of jerk that is felt along a path."""
    plain = rd.time_optimal(m, points, points=WITH_JERK)
    samples = plain.sample(np.linspace(0.0, plain.duration, 400))
    largest = np.abs(motions.driven_motion(m, *samples).accelerations).max()
    return float(largest / plain.duration * 10.0 ** random.uniform(0.3, 3.0))


def examined(name: str, expected: int, *, with_jerk: bool = False) -> Row:
    """Plan along the requested number of paths, and measure them."""
    m = rd.load(name)
    over, bounds, spent, refused = [], [], 0.0, 0
    for draw in range(DRAWS * expected):
        random = np.random.default_rng(draw)
        try:
            points = configurations(m, random, int(random.integers(2, 6)))
            jerk = drawn_jerk(m, points, random) if with_jerk else np.inf
            more = {"jerk_limits": jerk, "points": WITH_JERK} if with_jerk else {}
            started = time.thread_time()
            motion = rd.time_optimal(m, points, **more)
        except rd.RobodynError:
            refused += 1
            continue
        spent += time.thread_time() - started
        over.append(excess(m, motion, jerk))
        bounds.append(motion.gap)
        if len(over) == expected:
            break
    if not over:
        return Row(0, refused, np.nan, 0, np.nan, np.nan)
    return Row(
        len(over),
        refused,
        max(over),
        sum(each > NEGLIGIBLE for each in over),
        max(bounds),
        1e3 * spent / len(over),
    )


def main() -> None:
    """Print a line for each mechanism."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="?", type=int, default=200, help="of each mechanism")
    parser.add_argument("models", nargs="*", help="bundled mechanisms, all if none is named")
    parser.add_argument("--jerk", action="store_true", help="with a limit of jerk")
    given = parser.parse_args()
    print("| mechanism | paths | refused | over | exceeded on | open | planned in [ms] |")
    print("|---|---|---|---|---|---|---|")
    for name in given.models or rd.models():
        row = examined(name, given.paths, with_jerk=given.jerk)
        print(
            f"| {name} | {row.planned} | {row.refused} | {row.over:.1e} | {row.exceeded} | "
            f"{row.open:.2%} | {row.milliseconds:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
