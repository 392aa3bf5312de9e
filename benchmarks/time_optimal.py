# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Time-optimal motions beside toppra's, on the same paths and under the same limits.

`python -m benchmarks.time_optimal [PATHS]`; toppra (`pip install toppra`) is optional. An arm
without friction, which toppra does not take, moves along cubic splines through random
configurations. Both plan on 1000 intervals; what each leaves of its limits is measured on a grid 50
times finer. Times are of the thread, the best of five.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import robodyn as rd

if TYPE_CHECKING:
    from collections.abc import Callable

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.protocol import Mechanism

try:
    import toppra
    import toppra.algorithm
    import toppra.constraint
except ImportError:
    toppra = None

INTERVALS = 1000
FINER = 50
REPEATS = 5
SPREAD = 0.8  # [rad] of the configurations about home


class Result(NamedTuple):
    """Duration [s], largest excess over a limit as a share of it, and time of planning [s]."""

    duration: float
    excess: float
    planning: float


def best(call: Callable[[], Any]) -> tuple[Any, float]:
    """What a call returns, and its shortest time [s]."""
    times = []
    for _ in range(REPEATS):
        begun = time.thread_time()
        found = call()
        times.append(time.thread_time() - begun)
    return found, min(times)


def excess(arm: Mechanism, q: FloatArray, qd: FloatArray, qdd: FloatArray) -> float:
    """The largest share by which efforts or rates exceed their limits."""
    effort = np.abs(arm.inverse_dynamics(q, qd, qdd)) / arm.effort_limits
    rate = np.abs(qd) / arm.velocity_limits
    return float(max(effort.max(), rate.max()) - 1.0)


def ours(arm: Mechanism, points: FloatArray) -> Result:
    """This library."""
    motion, planning = best(lambda: rd.time_optimal(arm, points, points=INTERVALS))
    nodes = np.array([0.0, *motion.switching_times, motion.duration])
    times = nodes[:-1, None] + np.diff(nodes)[:, None] * np.linspace(0.0, 1.0, FINER)
    return Result(motion.duration, excess(arm, *motion.sample(times.ravel())), planning)


def theirs(arm: Mechanism, points: FloatArray, scheme: str) -> Result:
    """toppra, with limits at the points (`Collocation`) or on intervals (`Interpolation`)."""
    chords = np.linalg.norm(np.diff(points, axis=0), axis=1)
    places = np.concatenate([[0.0], np.cumsum(chords)]) / chords.sum()
    kind = getattr(toppra.constraint.DiscretizationType, scheme)
    bounds = np.stack([-arm.velocity_limits, arm.velocity_limits], axis=1)
    efforts = np.stack([-arm.effort_limits, arm.effort_limits], axis=1)

    def plan() -> Any:
        path = toppra.SplineInterpolator(places, points)
        limits = [
            toppra.constraint.JointVelocityConstraint(bounds),
            toppra.constraint.JointTorqueConstraint(
                arm.inverse_dynamics, efforts, np.zeros(len(efforts)), discretization_scheme=kind
            ),
        ]
        grid = np.linspace(0.0, 1.0, INTERVALS + 1)
        problem = toppra.algorithm.TOPPRA(limits, path, gridpoints=grid, solver_wrapper="seidel")
        return problem.compute_trajectory(0.0, 0.0)

    motion, planning = best(plan)
    times = np.linspace(0.0, motion.duration, INTERVALS * FINER)
    return Result(
        motion.duration, excess(arm, motion(times), motion(times, 1), motion(times, 2)), planning
    )


def main(count: int) -> None:
    """Print a row for each path and planner."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        arm = rd.load("puma560").without_friction()
    rng = np.random.default_rng(0)
    planners: dict[str, Callable[[FloatArray], Result]] = {"robodyn": lambda p: ours(arm, p)}
    if toppra is not None:
        toppra.setup_logging("ERROR")
        for scheme in ("Collocation", "Interpolation"):
            planners[f"toppra, {scheme}"] = lambda p, scheme=scheme: theirs(arm, p, scheme)
    else:
        sys.stdout.write("toppra is not installed: pip install toppra\n")
    for number in range(count):
        points = arm.home + SPREAD * rng.uniform(-1.0, 1.0, (4, 6))
        for name, planner in planners.items():
            found = planner(points)
            sys.stdout.write(
                f"path {number}  {name:22s} {found.duration:.5f} s, limits exceeded by "
                f"{100.0 * found.excess:8.5f} %, planned in {1e3 * found.planning:.1f} ms\n"
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
