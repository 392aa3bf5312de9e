# SPDX-License-Identifier: Apache-2.0

"""Writes the table and the picture of docs/calibration.md from simulated machines.

python docs/make_calibration.py [--machines NUMBER]
python docs/make_calibration.py --figaroh FOLDER

Each machine differs from its model by 2 mm and 2 mrad in every dimension (standard deviations) and
is measured in 30 poses. The simulated machines are those of the tests. The second command writes
the table of a real UR10 instead; FOLDER is a checkout of github.com/thanhndv212/figaroh-examples,
of which nothing is part of this repository.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "test" / "robodyn" / "identification" / "calibration"))

from generated import table, with_tables  # noqa: E402
from test_calibrate import Machine, efficiency  # noqa: E402

import robodyn as rd  # noqa: E402
from robodyn.poses import composed_pose  # noqa: E402
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


def held_out(m: Any, joints: Any, poses: Any, tolerance: Any) -> Any:
    """(N, 2) errors [m, rad] of each sample, predicted from all others."""
    errors = []
    for one in range(len(joints)):
        rest = np.arange(len(joints)) != one
        samples = rd.Measurements.from_arrays(m, joints[rest], pose=poses[rest])
        found = rd.calibrate(m, samples, tolerance=tolerance)
        body = found.mechanism.body_pose(joints[one])
        missed = composed_pose(composed_pose(found.tracker, body), found.target)
        turned = Rotation.from_quat(missed[3:]).inv() * Rotation.from_quat(poses[one, 3:])
        errors.append([np.linalg.norm(missed[:3] - poses[one, :3]), turned.magnitude()])
    return np.array(errors)


def real(folder: Path) -> str:
    """Return the errors of calibration for samples of a UR10 that it was not fitted to."""
    example = folder / "examples" / "ur10"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        m = rd.load(example / "urdf" / "ur10_robot.urdf")
    numbers = np.genfromtxt(example / "data" / "calibration.csv", delimiter=",", skip_header=1)
    turns = Rotation.from_euler("xyz", numbers[:, 3:6]).as_quat()
    poses = np.hstack([numbers[:, :3], turns])
    # frames alone: dimensions that may hardly change
    cases = (("frames", (1e-12, 1e-12)), ("frames and dimensions", None))
    lines = []
    for name, tolerance in cases:
        errors = 1e3 * held_out(m, numbers[:, 6:], poses, tolerance)
        middle, mean = np.median(errors, axis=0), np.sqrt(np.mean(errors**2, axis=0))
        numbers_of = [f"{place:.1f} mm, {angle:.1f} mrad" for place, angle in (middle, mean)]
        lines.append([name, *numbers_of])
    return table(["fitted", "median", "root mean square"], lines)


def main() -> int:
    """Write both files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--machines", type=int, default=100)
    parser.add_argument("--figaroh", type=Path)
    given = parser.parse_args()
    machines = given.machines
    if given.figaroh:
        text = with_tables(PAGE, {"real": lambda: real(given.figaroh)})
        PAGE.write_text(text, encoding="utf-8")
        return 0
    head = ["model", "dimensions", "not seen", "before", "after", "error / bound", "within 3 σ"]
    text = with_tables(PAGE, {"recovery": lambda: table(head, rows(machines))})
    PAGE.write_text(text, encoding="utf-8")
    picture(HERE / "images" / "calibration_changes.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
