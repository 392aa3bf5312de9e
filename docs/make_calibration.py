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

"""Writes the table and the picture of docs/calibration.md from simulated machines.

python docs/make_calibration.py [--machines NUMBER]

Each machine differs from its model by 2 mm and 2 mrad in every dimension (standard deviations) and
is measured in 30 poses. The simulated machines are those of the tests.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "test" / "robodyn" / "identification" / "calibration"))

from generated import table, with_tables  # noqa: E402
from test_calibrate import Machine, efficiency  # noqa: E402

import robodyn as rd  # noqa: E402
from robodyn.report.calibration_page import change_chart  # noqa: E402
from robodyn.report.images import write_image  # noqa: E402

PAGE = HERE / "calibration.md"
MODELS = ("stewart_symmetric", "puma560", "stanford_arm")
KNOWN = {"tracker": "known", "target": "known"}


def rows(machines: int) -> list[list[str]]:
    """A row for each model: errors over the bound, coverage, residuals before and after."""
    out = []
    for name in MODELS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            m = rd.load(name)
        ratios, inside, before, after = [], [], [], []
        for number in range(machines):
            rng = np.random.default_rng([11, number])
            machine = Machine(m, rng)
            samples = rd.Measurements.from_arrays(m, machine.joints, pose=machine.seen(rng))
            found = rd.calibrate(m, samples, **KNOWN)
            ratios.append(efficiency(machine, found) ** 2)
            pairs = zip(found.parameters, machine.errors(found), strict=True)
            inside += [abs(error) < 3.0 * each.deviation for each, error in pairs if each.seen]
            before.append(found.rmse_before["position"])
            after.append(found.rmse_after["position"])
        out.append(
            [
                name,
                str(len(found.free)),
                str(len(found.unseen)),
                f"{1e3 * np.mean(before):.2f} mm",
                f"{1e3 * np.mean(after):.3f} mm",
                f"{np.sqrt(np.mean(ratios)):.2f}",
                f"{100.0 * np.mean(inside):.1f} %",
            ]
        )
    return out


def picture(file: Path) -> None:
    """The changes of one platform's dimensions with their uncertainty."""
    m = rd.load("stewart_symmetric")
    rng = np.random.default_rng(11)
    machine = Machine(m, rng)
    samples = rd.Measurements.from_arrays(m, machine.joints, pose=machine.seen(rng))
    write_image(change_chart(rd.calibrate(m, samples, **KNOWN)), file, dpi=100.0)


def main() -> int:
    """Write both files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--machines", type=int, default=100)
    machines = parser.parse_args().machines
    head = ["model", "dimensions", "not seen", "before", "after", "error / bound", "within 3 σ"]
    text = with_tables(PAGE, {"recovery": lambda: table(head, rows(machines))})
    PAGE.write_text(text, encoding="utf-8")
    picture(HERE / "images" / "calibration_changes.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
