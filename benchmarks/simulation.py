# SPDX-License-Identifier: Apache-2.0

"""Whole simulations: `python -m benchmarks.simulation` prints the table of docs/performance.md.

CPU time is reported beside wall-clock time: on a busy machine only the former is meaningful.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import mujoco
import numpy as np

import robodyn as rd
from benchmarks import engines
from benchmarks.work import platform
from robodyn.poses import advance_pose

warnings.simplefilter("ignore", rd.errors.UnphysicalInertiaWarning)
DT = 1e-3


class Taken(NamedTuple):
    """Seconds: best of several."""

    name: str
    wall: float
    processor: float


class Own(rd.ComputedTorque):
    """Controller defined by a user, with the same law, unknown to the compiled code."""


def taken(name: str, call: Callable[[], object], rounds: int) -> Taken:
    """Time a call, after a first one that compiles everything."""
    times = []
    for _ in range(rounds + 1):
        wall, processor = time.perf_counter(), time.process_time()
        call()
        times.append((time.perf_counter() - wall, time.process_time() - processor))
    best = np.min(times[1:], axis=0)
    return Taken(name, float(best[0]), float(best[1]))


def path_one(rounds: int = 15) -> list[Taken]:
    """Path I, 6 s at 1 kHz under computed torque, and MuJoCo's steps of the tree alone."""
    m: Any = rd.load("stewart_dasgupta")
    path, known, own = rd.paper_path("I"), rd.ComputedTorque(m), Own(m)
    rows = []
    for words, period in (("sampled", DT), ("continuous", None)):
        fast, slow = (rd.simulate(m, c, path, DT, period, duration=0.1) for c in (known, own))
        np.testing.assert_array_equal(fast.configuration, slow.configuration)
        for kind, controller, count in (("", known, rounds), (" from Python", own, 1)):
            rows.append(
                taken(
                    f"Path I, {words} control{kind}",
                    lambda controller=controller, period=period: rd.simulate(
                        m, controller, path, DT, period
                    ),
                    count,
                )
            )
    rows.append(taken("MuJoCo, 6000 steps of the open tree", mujoco_steps(6000), 5))
    return rows


def mujoco_steps(count: int) -> Callable[[], None]:
    """As many steps of Runge-Kutta, without closures and without control."""
    tree = engines.MujocoTree(platform())
    tree.model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    tree.model.opt.timestep = DT

    def run() -> None:
        for _ in range(count // 100):
            tree.place(platform_home)  # the platform falls; reset it before it falls far
            mujoco.mj_step(tree.model, tree.data, 100)

    platform_home = tree.platform.home
    return run


def many(count: int = 1000, every: int = 10) -> list[Taken]:
    """Path I with starts, payloads and gains of their own, a hundred rows kept a second."""
    m: Any = rd.load("stewart_dasgupta")
    rng, path = np.random.default_rng(7), rd.paper_path("I")
    start = path.sample(0.0)
    plants = [m.with_payload(mass) for mass in rng.uniform(0.0, 5.0, count)]
    controls = [rd.ComputedTorque(m, kp, 20.0) for kp in rng.uniform(50.0, 100.0, count)]
    offsets = rng.normal(size=(count, 6)) * 0.005
    initial = advance_pose(start.configuration, offsets), np.zeros((count, 6))

    def together() -> Any:
        return rd.simulate_many(plants, controls, path, DT, DT, initial=initial, every=every)

    def one(number: int) -> Any:
        state = initial[0][number], initial[1][number]
        return rd.simulate(plants[number], controls[number], path, DT, DT, initial=state)

    results = together()
    for number in (0, count - 1):
        np.testing.assert_array_equal(
            results.configuration[number], one(number).configuration[::every]
        )
    return [
        taken(f"{count} of Path I, `simulate_many`, {rd.get_threads()} threads", together, 1),
        taken(f"{count} of Path I, one call each", lambda: [one(n) and 0 for n in range(count)], 1),
    ]


def table(rows: list[Taken]) -> str:
    """A Markdown table, and how busy the machine was with other things."""
    lines = ["| | seconds | of processor time |", "|---|---|---|"]
    lines += [f"| {row.name} | {row.wall:.3f} | {row.processor:.3f} |" for row in rows]
    lines += ["", f"The load average was {os.getloadavg()[1]:.0f} during this run."]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(table([*path_one(), *many()]) + "\n")
