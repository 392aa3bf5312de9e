# SPDX-License-Identifier: Apache-2.0

"""Write the table and the picture of docs/calibration.md from simulated machines.

python docs/make_calibration.py [--machines NUMBER]
python docs/make_calibration.py --figaroh FOLDER

The first command also prints the other numbers of the page about simulated machines. Each machine
of the table differs from its model by 2 mm and 2 mrad in every dimension (standard deviations) and
is measured in 30 poses. The simulated machines are those of the tests. The second command writes
the table of a real UR10 instead; FOLDER is a checkout of github.com/thanhndv212/figaroh-examples,
of which nothing is part of this repository.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "test" / "robodyn" / "identification" / "calibration"))

import test_loops as loops  # noqa: E402
import test_zeros as zeros  # noqa: E402
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


def height_errors(seed: int, machines: int, planned: bool) -> str:
    """Return the 95th percentiles of height errors on the bed, before and after, of deltas."""
    m = rd.load("delta")
    poses = rd.calibration_poses(m, 30, measure="height", height=loops.BED, radius=0.15)
    out = []
    for number in range(machines):
        rng = np.random.default_rng([seed, number])
        machine = loops.Machine(m, rng)
        joints = poses.joints if planned else machine.on_bed(rng, 30)
        seen = loops.heights(machine.real, joints) + loops.PROBE * rng.normal(size=30)
        found = rd.calibrate(m, rd.Measurements.from_arrays(m, joints, height=seen)).mechanism
        others = machine.on_bed(rng, 200)
        true = loops.heights(machine.real, others)
        errors = [np.abs(loops.heights(each, others) - true) for each in (m, found)]
        out.append(1e6 * np.percentile(errors, 95, axis=1))
    return "; ".join(f"{each.min():.0f} to {each.max():.0f} µm" for each in np.transpose(out))


def distance_errors(machines: int) -> str:
    """Return errors of position and rotation, before and after, of servo hexapods."""
    m = rd.load("hexapod_rotary")
    near, count = m.joint_positions(m.home), 40
    base = [f"servo{i}" for i in range(1, 7)] * 2 * count
    body = [f"rod{i}_tip" for i in (1, 2, 3, 4, 5, 6, 2, 3, 4, 5, 6, 1)] * count
    out = []
    for number in range(machines):
        rng = np.random.default_rng([23, number])
        machine = loops.Machine(m, rng)
        joints = near + rng.uniform(-0.5, 0.5, (count, 6))
        samples = rd.Measurements.from_arrays(
            m, np.repeat(joints, 12, axis=0), distance=np.ones(12 * count),
            base_point=base, body_point=body,
        )  # fmt: skip
        poses = machine.real.body_pose(machine.real.assemble(joints)).repeat(12, axis=0)
        turned = Rotation.from_quat(poses[:, 3:]).apply(samples.body_point)
        lengths = np.linalg.norm(poses[:, :3] + turned - samples.base_point, axis=1)
        lengths += loops.CALIPER * rng.normal(size=len(lengths))
        found = rd.calibrate(m, replace(samples, distance=lengths)).mechanism
        others = near + rng.uniform(-0.5, 0.5, (50, 6))
        true = machine.real.body_pose(machine.real.assemble(others))
        for each in (m, found):
            apart = loops.pose_difference(each.body_pose(each.assemble(others)), true)
            out.append(1e3 * np.sqrt((apart.reshape(-1, 2, 3) ** 2).sum(axis=2).mean(axis=0)))
    rows = np.reshape(out, (machines, 4))
    ends = [f"{column.min():.2g} to {column.max():.2g}" for column in rows.T]
    return "{} mm, {} mrad; {} mm, {} mrad".format(*ends)


def zero_errors(name: str, spread: float, off: float, stop: float) -> str:
    """Return root mean square errors of zeros with stops and without, of twenty machines."""
    m = rd.load(name)
    out = []
    for number in range(20):
        rng = np.random.default_rng([31, number])
        true = rng.normal(0.0, off, len(m.joint_names))
        measured = zeros.samples(m, true, rng, spread, 1e-3, stop)
        found = (
            zeros.find_zeros(m, *measured, stop_noise=stop),
            zeros.find_zeros(m, *measured[:2]),
        )
        out.append([np.mean((each.values - true) ** 2) for each in found])
    unit = "mm" if m.drives.units[0] == "m" else "mrad"
    return "; ".join(f"{1e3 * each:.2g} {unit}" for each in np.sqrt(np.mean(out, axis=0)))


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
    head = [
        "model",
        "dimensions",
        "not observable",
        "before",
        "after",
        "error / bound",
        "within 3 σ",
    ]
    text = with_tables(PAGE, {"recovery": lambda: table(head, rows(machines))})
    PAGE.write_text(text, encoding="utf-8")
    print("delta, 10 machines, planned points:", height_errors(21, 10, True))
    print("delta, 40 machines, random points:", height_errors(22, 40, False))
    print("servo hexapod, 3 machines:", distance_errors(3))
    print("zeros of legs:", zero_errors("stewart_symmetric", 0.1, 0.01, 1e-3))
    print("zeros of servos:", zero_errors("hexapod_rotary", 0.35, 0.05, 5e-3))
    picture(HERE / "images" / "calibration_changes.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
