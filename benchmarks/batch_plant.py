# SPDX-License-Identifier: Apache-2.0

"""Steps a second of many mechanisms at once: `rd.BatchPlant` and `mujoco.rollout`.

A thousand rows of one millisecond steps, constant efforts. Every row of ours has a payload of its
own; MuJoCo's all have one model, its loops soft constraints where ours are exact. Ours go by
Runge-Kutta of order 4 and by semi-implicit steps, MuJoCo's by semi-implicit steps, its default.
What puts the rows where they start is not timed. Times are of the processor.
"""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
from mujoco import rollout

import robodyn as rd
from benchmarks import links

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROWS, STEPS, DT = 1000, 20, 1e-3
# Efforts of a row, relative to those that hold it.
NEAR, FAR = (0.95, 1.05), (0.7, 1.3)
MADE = 10_000
NAMES = "delta", "fivebar", "hexapod_rotary"


def machines() -> Iterator[tuple[str, Any, tuple[float, float]]]:
    """Yield names, mechanisms and ranges of efforts."""
    platform: Any = rd.load("stewart_symmetric")
    yield "platform without dry friction", platform.without_friction(), NEAR
    yield "platform with dry friction, most legs stick", platform, NEAR
    yield "platform with dry friction, most legs slide", platform, FAR
    yield "UR10e", links.arm(), NEAR
    for name in NAMES:
        yield name, rd.load(name), NEAR


def of_mujoco(m: Any, efforts: np.ndarray) -> float:
    """Return microseconds a step."""
    with tempfile.TemporaryDirectory() as folder:
        rd.save(m, Path(folder) / "model.xml")
        model = mujoco.MjModel.from_xml_path(f"{folder}/model.xml")
    model.opt.timestep, model.opt.integrator = DT, mujoco.mjtIntegrator.mjINT_EULER
    data = [mujoco.MjData(model) for _ in range(rd.get_threads())]
    mujoco.mj_resetDataKeyframe(model, data[0], 0)
    kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
    state = np.empty(mujoco.mj_stateSize(model, kind))
    mujoco.mj_getState(model, data[0], state, kind)
    start, control = np.tile(state, (ROWS, 1)), np.repeat(efforts[:, None], STEPS, axis=1)
    return _fastest(lambda: rollout.rollout(model, data, start, control))


def of_ours(m: Any, efforts: np.ndarray, integrator: Any) -> float:
    """Return microseconds a step."""
    rows = [m.with_payload(mass) for mass in np.linspace(0.1, 1.0, ROWS)]
    plants = rd.BatchPlant(rows, dt=DT, integrator=integrator)
    return _fastest(lambda: plants.step(efforts, STEPS), plants.reset)


def of_making(m: Any, efforts: np.ndarray) -> float:
    """Return seconds of processor time to make a batch of random payloads and to step it once."""
    rng = np.random.default_rng(0)
    masses, centers = rng.uniform(0.1, 1.0, MADE), rng.uniform(-0.01, 0.01, (MADE, 3))
    began = time.process_time()
    rd.BatchPlant(rd.PayloadVariants(m, masses, centers), dt=DT).step(efforts)
    return time.process_time() - began


def _fastest(
    call: Callable[[], object], prepare: Callable[[], object] = lambda: None, repeats: int = 7
) -> float:
    spent = []
    for _ in range(repeats):
        prepare()
        began = time.process_time()
        call()
        spent.append(time.process_time() - began)
    return 1e6 * min(spent) / (ROWS * STEPS)


def table() -> str:
    """Return a Markdown table; all on one thread."""
    threads, rng = rd.get_threads(), np.random.default_rng(0)
    rd.set_threads(1)
    out = (
        "| | rk4 | semi_implicit | mujoco.rollout | MuJoCo / rk4 | MuJoCo / semi_implicit | "
        "create 10,000 rows [s] |\n|---|---|---|---|---|---|---|\n"
    )
    try:
        for name, m, ends in machines():
            rest = np.zeros(m.coordinates.velocity_size)
            held = m.inverse_dynamics(m.home, rest, rest)
            efforts = held * rng.uniform(*ends, (ROWS, len(held)))
            ours = [of_ours(m, efforts, way) for way in ("rk4", "semi_implicit")]
            theirs, made = of_mujoco(m, efforts), of_making(m, held)
            ratios = (f"{theirs / one:.1f}" for one in ours)
            numbers = *(f"{one:.2f}" for one in (*ours, theirs)), *ratios, f"{made:.1f}"
            out += f"| {name} | {' | '.join(numbers)} |\n"
    finally:
        rd.set_threads(threads)
    return out


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.stdout.write(table())
