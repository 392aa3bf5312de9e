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

"""Generate the tables of docs/identification.md between its marks.

python docs/make_identification.py FOLDER [SEEDS]

FOLDER holds `ur10/ur10_exciting_trajectory.db3`, `ur10/ur10.urdf`, and `tx40/` with
`pos_read_data.csv.gz`, `curr_data.csv.gz` and `tx40_mdh_modified.urdf`. SEEDS is how many simulated
recordings of each model are identified, 10 by default.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from generated import table, with_tables, write_or_check

import robodyn as rd
from robodyn.identification.recording import Recording
from robodyn.trajectories.fourier import FourierSeries, FourierTrajectory

PAGE = Path(__file__).with_name("identification.md")
RATE, DURATION, NOISE, SEEDS = 100.0, 8.0, 0.01, 10
SIMULATED = (("puma560", 0.5), ("stewart_symmetric", 0.03), ("delta", 0.2))
# The TX40: motor angles = RATIOS @ joint angles, counted from the URDF's zero.
RATIOS = np.diag([32.0, 32.0, 45.0, -48.0, 45.0, 32.0])
RATIOS[5, 4] = 32.0
ZEROS = np.array([0.0, -0.5, 0.5, 0.0, 0.0, 0.0]) * np.pi


def motion(m: Any, rng: Any, reach: float) -> FourierTrajectory:
    """A random motion about home."""
    rest = np.zeros(m.coordinates.velocity_size)
    centre = m.independent_motion(m.home, rest, rest).positions
    size = reach / np.arange(1, 6)[:, None]
    sine, cosine = rng.uniform(-1.0, 1.0, (2, 5, len(centre))) * size
    return FourierTrajectory(m, FourierSeries(DURATION, 1.0, centre, sine, cosine))


def recorded(m: Any, path: Any, rng: Any) -> tuple[Recording, Any]:
    """A motion as it would be recorded, and the noise of its efforts."""
    times = np.arange(0.0, DURATION, 1.0 / RATE)
    states = path.sample(times)
    efforts = m.inverse_dynamics(*states)
    noise = NOISE * efforts.std(axis=0)
    at = m.joint_positions(states.configuration)
    at = at + 1e-7 * rng.normal(size=at.shape)
    return Recording.from_arrays(m, times, at, efforts + noise * rng.normal(size=at.shape)), noise


def simulated(seeds: int = SEEDS) -> str:
    """The table of hidden parameters."""
    rows = []
    for name, reach in SIMULATED:
        truth: Any = rd.load(name)
        within, errors, raw, away, tracking = [], [], [], [], []
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            path, other = (motion(truth, rng, reach) for _ in range(2))
            own = truth.parameters
            factors = np.repeat(rng.uniform(0.7, 1.3, len(own.bodies)), 10)
            rest = rng.uniform(0.7, 1.3, len(own.values) - len(factors))
            given = truth.with_parameters(own.values * np.concatenate([factors, rest]))
            result = rd.identify(given, [recorded(truth, path, rng)[0]])
            found = result.parameters
            z = np.abs(found.values - found.of(truth)) / found.deviations
            unseen, noise = recorded(truth, other, rng)
            check = result.validate([unseen])[0]
            within.append((z < 3.0).mean())
            away.append(len(z))
            errors.append((check.rmse / noise).max())
            raw.append((check.rmse_unfiltered / noise).max())
            tracking.append(tracked(truth, result.mechanism, other) / tracked(truth, truth, other))
        rows.append(
            [
                f"`{name}`", str(away[0]), f"{np.mean(within):.1%}",
                *(f"{np.median(part):.2f} ({(np.array(part) < 1.2).mean():.0%})"
                  for part in (errors, raw, tracking)),
            ]
        )  # fmt: skip
    head = ("model", "base parameters", "within three", "filtered", "unfiltered", "tracking")
    return table(head, rows)


def tracked(truth: Any, model: Any, path: Any) -> float:
    """Root mean square error with which computed torque by a model makes the true one follow."""
    run = rd.simulate(truth, rd.ComputedTorque(model), path, dt=1e-3, control_dt=1e-3)
    wanted = path.sample(run.time)
    error = truth.joint_positions(run.configuration) - truth.joint_positions(wanted.configuration)
    return float(np.sqrt((error**2).mean()))


def real(folder: Path) -> str:
    """The table of real robots."""
    rows = []
    m: Any = rd.load(folder / "ur10" / "ur10.urdf")
    bag = folder / "ur10" / "ur10_exciting_trajectory.db3"
    first, second = (
        rd.read_recording(bag, m, start=a, stop=b) for a, b in ((0.0, 13.76), (13.76, 1e9))
    )
    rows += _rows("UR10", rd.identify(m, [first]), second)
    tx40 = folder / "tx40"
    arm: Any = rd.load(tx40 / "tx40_mdh_modified.urdf")
    turns, currents = (
        np.loadtxt(tx40 / name, delimiter=",", skiprows=1)
        for name in ("pos_read_data.csv.gz", "curr_data.csv.gz")
    )
    q, efforts = turns @ np.linalg.inv(RATIOS).T + ZEROS, currents @ RATIOS
    times = np.arange(len(q)) / 5000.0
    halves = [slice(0, len(q) // 2), slice(len(q) // 2, None)]
    parts = [Recording.from_arrays(arm, times[s], q[s], efforts[s]) for s in halves]
    coupled = [{"joint_5": 1.0, "joint_6": 1.0}]
    for title, (a, b) in (("TX40", (0, 1)), ("TX40, halves exchanged", (1, 0))):
        rows += _rows(title, rd.identify(arm, [parts[a]], couplings=coupled), parts[b])
    return table(("robot", "efforts", *(str(n) for n in range(1, 7))), rows)


def _rows(title: str, result: Any, unseen: Recording) -> list[list[str]]:
    found = result.validate([unseen])[0]
    kinds = (
        ("filtered", found.relative),
        ("as recorded", found.relative_unfiltered),
        ("before", found.given),
    )
    return [[title, kind, *(f"{100 * part:.1f}" for part in values)] for kind, values in kinds]


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: python docs/make_identification.py FOLDER [SEEDS]")
    warnings.simplefilter("ignore")
    data, count = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) == 3 else SEEDS
    tables = {"simulated": lambda: simulated(count), "real": lambda: real(data)}
    sys.exit(write_or_check(PAGE, with_tables(PAGE, tables)))
