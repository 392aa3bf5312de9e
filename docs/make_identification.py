# SPDX-License-Identifier: Apache-2.0

"""Generate the tables of docs/identification.md between its marks.

python docs/make_identification.py FOLDER [SEEDS]

FOLDER holds `ur10/ur10_exciting_trajectory.db3`, `ur10/ur10.urdf`; `tx40/` with
`pos_read_data.csv.gz`, `curr_data.csv.gz` and `tx40_mdh_modified.urdf`; `panda/panda.csv` with
`panda.urdf`; and `ur10e/ur10e.urdf` with the recordings of `UR10E` in `ur10e/raw`. SEEDS is how
many simulated recordings of each model are identified, 100 by default, by
`benchmarks/identification_seeds.py`; what it measures is kept in `FOLDER/seeds.jsonl`, so that
the run may be interrupted. With 0 those that are there are taken.
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

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.identification_seeds import MODELS, lines, lines_of

PAGE = Path(__file__).with_name("identification.md")
SEEDS = 100
# The TX40: motor angles = RATIOS @ joint angles, counted from the URDF's zero.
RATIOS = np.diag([32.0, 32.0, 45.0, -48.0, 45.0, 32.0])
RATIOS[5, 4] = 32.0
ZEROS = np.array([0.0, -0.5, 0.5, 0.0, 0.0, 0.0]) * np.pi
# The UR10e: recordings without a header, time, positions, rates, currents, and currents and torques
# that the controller requested; the first is fitted. N m per ampere, by the ratio of these.
UR10E = (
    "ur-20_02_10-30sec_12harm.csv",
    "ur-20_02_06-20sec_10harm.csv",
    "ur-20_02_19_15harm50sec.csv",
    "ur-20_01_17-ptp_10_points.csv",
)
GAINS = np.array([11.98, 11.98, 9.84, 10.76, 10.76, 10.76])


def simulated(file: Path, seeds: int) -> str:
    """The table of hidden parameters."""
    made = lines(file, seeds) if seeds else lines_of(file)
    rows = []
    for name in MODELS:
        own = [line for line in made if line["model"] == name]
        apart = np.abs(np.concatenate([line["deviations"] for line in own]))
        worst = [[max(line[kind]) for line in own] for kind in ("filtered", "unfiltered")]
        by_truth = np.array([line["true_unfiltered"] for line in own]).max(axis=1)
        of_floor = np.array(worst[1]) < 1.2 * np.maximum(by_truth, 1.0)
        runs = np.array([line["tracking"] for line in own if "tracking" in line])
        ratios = runs[:, 0] / runs[:, 1]
        rows.append(
            [
                f"`{name}`", str(len(own)), str(len(own[0]["deviations"])),
                f"{(apart < 3.0).mean():.1%}", *(_median(part) for part in worst),
                _median(by_truth), f"{of_floor.mean():.0%}", str(len(runs)),
                _median(ratios), f"{np.median(runs[:, 2] / runs[:, 1]):.0f}",
            ]
        )  # fmt: skip
    head = (
        "model", "seeds", "base parameters", "within three", "filtered", "unfiltered",
        "by the true model", "of the floor", "runs", "tracking", "before",
    )  # fmt: skip
    return table(head, rows)


def _median(values: Any) -> str:
    return f"{np.median(values):.2f} ({(np.asarray(values) < 1.2).mean():.0%})"


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
    panda: Any = rd.load(folder / "panda" / "panda.urdf", tip_link="panda_hand", hold_branches=True)
    parts = [
        rd.read_recording(folder / "panda" / "panda.csv", panda, start=a, stop=b)
        for a, b in ((0.0, 10.5), (10.5, 1e9))
    ]
    for title, (x, y) in (("Panda", (0, 1)), ("Panda, halves exchanged", (1, 0))):
        rows += _rows(title, rd.identify(panda, [parts[x]]), parts[y])
    rows += _ur10e(folder / "ur10e")
    rows = [[*row, *[""] * (9 - len(row))] for row in rows]
    return table(("robot", "efforts", *(str(n) for n in range(1, 8))), rows)


def _ur10e(folder: Path) -> list[list[str]]:
    """A robot on which nothing was settled, with separate recordings to fit and to predict."""
    m: Any = rd.load(folder / "ur10e.urdf")
    tables = [np.loadtxt(folder / "raw" / name, delimiter=",") for name in UR10E]
    fitted, *others = (
        Recording.from_arrays(m, table[:, 0], table[:, 1:7], table[:, 13:19] * GAINS)
        for table in tables
    )
    result = rd.identify(m, [fitted])
    titles = ("UR10e, 10 harmonics", "UR10e, 15 harmonics", "UR10e, ten points")
    return [row for title, unseen in zip(titles, others, strict=True)
            for row in _rows(title, result, unseen)]  # fmt: skip


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
    tables = {
        "simulated": lambda: simulated(data / "seeds.jsonl", count),
        "real": lambda: real(data),
    }
    sys.exit(write_or_check(PAGE, with_tables(PAGE, tables)))
