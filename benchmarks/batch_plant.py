# SPDX-License-Identifier: Apache-2.0

"""Steps a second of many platforms at once: `rd.BatchPlant` and `mujoco.rollout`.

Both on all processors, a thousand platforms of one millisecond steps, efforts held. Every row of
ours has a payload of its own; MuJoCo's all have one model, its loops soft constraints where ours
are exact. Ours go by Runge-Kutta of order 4, MuJoCo's by Euler's method, its default, by
implicitfast, and by its own Runge-Kutta. What puts the rows where they start is not timed.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
from mujoco import rollout

import robodyn as rd
from robodyn.loading.save import save

if TYPE_CHECKING:
    from collections.abc import Callable

ROWS, STEPS, DT = 1000, 50, 1e-3


def of_mujoco(m: rd.StewartPlatform, efforts: np.ndarray, integrator: Any) -> float:
    """Microseconds a step."""
    with tempfile.TemporaryDirectory() as folder:
        save(m, Path(folder) / "platform.xml")
        model = mujoco.MjModel.from_xml_path(f"{folder}/platform.xml")
    model.opt.timestep, model.opt.integrator = DT, integrator
    data = [mujoco.MjData(model) for _ in range(rd.get_threads())]
    mujoco.mj_resetDataKeyframe(model, data[0], 0)
    kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
    state = np.empty(mujoco.mj_stateSize(model, kind))
    mujoco.mj_getState(model, data[0], state, kind)
    start, control = np.tile(state, (ROWS, 1)), np.repeat(efforts[:, None], STEPS, axis=1)
    return _fastest(lambda: rollout.rollout(model, data, start, control))


def of_ours(m: rd.StewartPlatform, efforts: np.ndarray) -> float:
    """Microseconds a step."""
    plants = rd.BatchPlant([m.with_payload(mass) for mass in np.linspace(1.0, 50.0, ROWS)], dt=DT)

    return _fastest(lambda: plants.step(efforts, STEPS), plants.reset)


def _fastest(
    call: Callable[[], object], prepare: Callable[[], object] = lambda: None, repeats: int = 5
) -> float:
    spent = []
    for _ in range(repeats):
        prepare()
        began = time.perf_counter()
        call()
        spent.append(time.perf_counter() - began)
    return 1e6 * min(spent) / (ROWS * STEPS)


if __name__ == "__main__":
    whole = rd.load("stewart_symmetric")
    rng = np.random.default_rng(0)
    for name, platform in (
        ("with dry friction", whole),
        ("without friction", whole.without_friction()),
    ):
        held = platform.gravity(platform.home)
        given = held * rng.uniform(0.8, 1.2, (ROWS, len(held)))
        ours = of_ours(platform, given)
        sys.stdout.write(f"{name}: BatchPlant {ours:.2f} us a step\n")
        of = mujoco.mjtIntegrator
        for kind in (of.mjINT_EULER, of.mjINT_IMPLICITFAST, of.mjINT_RK4):
            theirs = of_mujoco(platform, given, kind)
            sys.stdout.write(
                f"    mujoco.rollout {kind.name[6:]} {theirs:.2f} us, {theirs / ours:.1f} times\n"
            )
