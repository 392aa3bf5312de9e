# SPDX-License-Identifier: Apache-2.0

"""Processor time of what serves a machine in real time, on mechanisms of every kind.

    python -m benchmarks.real_time [MODEL ...] [--steps 3000] [--dt 0.01]

For each model the processor time of the calling thread: of a body pose to its configuration, of a
step of `ClassicalWashout` on random vehicles at full scale, and of a set-point of
`PositionCommander` that follows a stream of poses, most of them out of reach. Median, 99th
percentile and maximum.
"""

from __future__ import annotations

import argparse
import gc
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np

import robodyn as rd
from robodyn.algorithms import motions
from robodyn.errors import InvalidInput
from robodyn.loading import templates
from robodyn.motion_base.machine.commander import PositionCommander
from robodyn.motion_base.machine.head_motion import REST
from robodyn.motion_base.machine.motion_sources import PoseStream
from robodyn.poses import pose_from_rpy

RIGS = ("heave-pitch-roll", "four-corners", "pitch-roll-seat", "traction-loss", "seat-mover")
TEMPLATES = ("hexapod", "servo-hexapod", *RIGS)
MODELS = ("motion_platform", "hexapod_rotary", "delta", *TEMPLATES)
# Of forces [m/s^2] and rates [rad/s].
FULL = np.array([10.0] * 3 + [1.0] * 3)
WARM = 50


def from_template(what: str) -> rd.Mechanism:
    """Return the files of `robodyn new`."""
    text = templates()[what][1].write()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{what}.yaml"
        file.write_text(text, encoding="utf-8")
        return rd.load(str(file))


def timed(calls: list[Callable[[], object]]) -> np.ndarray:
    """Processor time [s] of each call on this thread."""
    taken = np.empty(len(calls))
    gc.disable()
    try:
        for k, call in enumerate(calls):
            begun = time.thread_time()
            call()
            taken[k] = time.thread_time() - begun
    finally:
        gc.enable()
    return taken


def poses(m: rd.Mechanism, steps: int, random: np.random.Generator) -> Callable[[], object]:
    """Configurations of poses next to home, one call each."""
    home, nv = m.home, m.coordinates.velocity_size
    near = [motions.advance_near(m, home, 0.02 * random.uniform(-1.0, 1.0, nv)) for _ in range(50)]
    goals = [m.body_pose(q) for q in near]
    turns = iter(range(steps + WARM))
    return lambda: m.configuration_at(goals[next(turns) % len(goals)], home)


def washout(m: rd.Mechanism, steps: int, random: np.random.Generator, dt: float):
    """Steps of a washout whose vehicle jumps from one extreme to another."""
    violent = rd.WashoutParameters(force_gain=1.0, rotation_gain=1.0, tilt_rate=0.3)
    cueing = rd.ClassicalWashout(m, dt, violent)
    held, row = 0, np.zeros(6)

    def step() -> None:
        nonlocal held, row
        if held == 0:
            held, row = int(random.integers(3, 150)), random.uniform(-1.0, 1.0, 6) * FULL
        held -= 1
        cueing.step(REST + row[:3], row[3:])

    return step


def set_points(m: rd.Mechanism, steps: int, random: np.random.Generator, dt: float):
    """Set-points of a stream of poses that wanders, jumps and is out of reach most of the time."""
    commander, stream = PositionCommander(m, dt), PoseStream(m, 0.5)
    commander.warm_up()
    commander.motion_source = stream
    home, size, tick = m.body_pose(m.home), m.size, round(dt * 1e9)
    now, targets = 0, []
    while len(targets) < steps + WARM:
        rpy = random.uniform(-1.0, 1.0, 3)
        moved = pose_from_rpy(random.uniform(-0.6, 0.6, 3) * size, rpy)
        target = rd.poses.composed_pose(home, moved), random.uniform(-0.2, 0.2, 6)
        targets += [target] * int(random.integers(1, 100))

    def step() -> None:
        nonlocal now
        pose, twist = targets[now // tick]
        now += tick
        with suppress(InvalidInput):
            stream.take(now, now, pose, twist, commander.configuration)
        commander.step(now)

    return step


def main() -> None:
    """Print a row for each model and call."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", default=MODELS)
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--dt", type=float, default=0.01)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    print("| | | median | 99 % | most |\n|---|---|---|---|---|")
    for name in given.models:
        m = from_template(name) if name in TEMPLATES else rd.load(name)
        for what, make in (("pose", poses), ("washout", washout), ("set-point", set_points)):
            random = np.random.default_rng(given.seed)
            more = () if make is poses else (given.dt,)
            try:
                step = make(m, given.steps, random, *more)
            except InvalidInput:
                continue
            for _ in range(WARM):
                step()
            taken = 1e6 * timed([step] * given.steps)
            low, high = np.quantile(taken, [0.5, 0.99])
            print(
                f"| {name} | {what} | {low:.0f} us | {high:.0f} us | {taken.max():.0f} us |",
                flush=True,
            )


if __name__ == "__main__":
    main()
