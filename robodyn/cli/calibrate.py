# SPDX-License-Identifier: Apache-2.0

"""`robodyn calibrate MODEL MEASUREMENTS`: identify dimensions from measured poses."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np

import robodyn as rd
from robodyn.cli.commands import CommandResult, options_of
from robodyn.cli.session import load_model, progress_bar, write_report
from robodyn.identification.calibration.firmware import delta_settings
from robodyn.identification.calibration.measurements import nominal_target
from robodyn.identification.calibration.zeros import ZeroOffsets, find_zeros, read_zero_samples
from robodyn.report.calibration_page import calibration_page, dimensions, zeros_page
from robodyn.report.tables import Table

# Combinations of dimensions that are printed.
MOST_UNSEEN = 12


def _plan(
    measure: Literal["pose", "position", "height", "distance"] = "pose",
    bed: float | None = None,
    bed_radius: float = float("inf"),
    pair: list[str] | None = None,
) -> dict[str, Any]:
    """Return the settings for choosing poses to measure, as keyword arguments.

    Args:
        measure: With --poses, what is measured: `pose` or `position` of a target, `height` of the
            tip, or `distance` between the points of each --pair.
        bed: With --poses, height of a bed on which all poses lie [m].
        bed_radius: Radius of the bed about the z axis of the base [m].
        pair: With --poses and distances, BASE:BODY, the names of a link, joint or closure of the
            base and of the body; may be repeated.
    """
    points = [tuple(each.partition(":")[::2]) for each in pair or ()]
    return {"measure": measure, "height": bed, "radius": bed_radius, "points": points}


def _parameters_and_noise(
    parameter: list[str] | None = None,
    position_noise: float | None = None,
    orientation_noise: float | None = None,
    joint_noise: float = 0.0,
) -> dict[str, Any]:
    """Return the parameters to calibrate and the known noise, as keyword arguments.

    Args:
        parameter: Parameter that may change, by its name or the beginning of it, such as leg1. or
            link2.d; may be repeated. By default all.
        position_noise: Standard deviation of x, y, z, or of distances [m]; estimated by default.
        orientation_noise: Standard deviation of the orientation [rad]; estimated by default.
        joint_noise: Standard deviation of the driven joints' positions [m or rad].
    """
    known = {"position": position_noise, "orientation": orientation_noise, "joints": joint_noise}
    noise = {group: value for group, value in known.items() if value is not None}
    return {"parameters": parameter or (), "noise": noise}


def calibrate(
    model: str,
    measurements: Path | None = None,
    /,
    *,
    settings: dict[str, Any] = options_of(
        "CalibrationSettings", "tracker target constraint loss", vectors="tolerance"
    ),
    known: dict[str, Any] = options_of(
        _parameters_and_noise, "parameter position_noise orientation_noise joint_noise"
    ),
    units: dict[str, Any] = options_of("read_measurements", "position_unit tracker_unit"),
    output: Path | None = None,
    html: Path | None = None,
    firmware: Literal["", "klipper", "marlin"] = "",
    poses: int = 0,
    zeros: bool = False,
    plan: dict[str, Any] = options_of(_plan, "measure bed bed_radius pair"),
    zero_noise: dict[str, Any] = options_of(
        "identification.calibration.zeros.find_zeros", "level_noise stop_noise"
    ),
) -> CommandResult:
    """Identify the dimensions of a machine that explain measured poses best.

    These are joint centers and leg offsets of a platform, Denavit-Hartenberg parameters or joint
    origins of an arm, or lengths, joint centers, axes and offsets of a closed loop. The result has
    a standard deviation for each. Dimensions that the measurements do not determine are reported
    and left unchanged.

    Args:
        measurements: CSV file with a row for each sample at rest. Columns: <joint>.position of the
            driven joints and of measured passive joints, and x, y, z and qx, qy, qz, qw of the
            target, or z alone for its height, or distance:<base>:<body> for distances.
        tracker: Frame of x, y, z: `unknown`, or `known` if it is the base frame of the model.
        target: Target on the body: `unknown`, or `known` if it is the frame of the body.
        tolerance: Standard deviation of lengths [m], or in quotes of lengths and of angles [rad],
            such as "0.0005 0.009"; by default 0.3 % of the size of the mechanism, and 0.02 rad.
        output: Write the calibrated model to this file (.yaml); with --poses a table of the
            measurements to make, with nominal values (.csv), with --zeros the zero offsets (.yaml).
        poses: Instead of calibrating, choose this number of poses to measure.
        zeros: Find only the zero offsets of the driven joints, from touched stops and an
            inclinometer (level) on the body. Each row of MEASUREMENTS contains level.x, level.y,
            level.z (the specific force that an IMU measures at rest, or the upward direction) and
            the positions of all joints; or none of these, and the positions of the joints at their
            lower stops (upper stops with 1 in a column `end`).
        firmware: Print the calibrated delta robot as sections of Klipper's printer.cfg, or as
            Marlin's M665 and M666.
        level_noise: Standard deviation of the inclinometer's angles [rad].
        stop_noise: Standard deviation of the positions at the stops [m or rad].
    """
    m, options = load_model(model), _parameters_and_noise(**known)
    if poses:
        if html is not None:
            raise rd.InvalidInput(
                "--html shows measurements and cannot be combined with --poses", value=str(html)
            )
        chosen = _plan(**plan) | {
            "parameters": options["parameters"],
            "tolerance": settings["tolerance"],
            "tracker_known": settings["tracker"] == "known",
        }
        return _poses(m, poses, output, chosen)
    if measurements is None:
        raise rd.InvalidInput("no MEASUREMENTS given; --poses COUNT computes the poses to measure")
    if zeros:
        of_zeros = find_zeros(m, *read_zero_samples(measurements, m), **zero_noise)
        if output is not None:
            of_zeros.save(output)
        if html is not None:
            page = zeros_page(of_zeros, m.name, str(measurements))
            write_report(page, html)
        return CommandResult(of_zeros.to_dict(), "\n".join(_zero_lines(of_zeros)))
    samples = rd.read_measurements(measurements, m, **units)
    with progress_bar("calibrating") as report_progress:
        found = rd.calibrate(m, samples, **options, **settings, progress=report_progress)
    if output is not None:
        found.save(output)
    if html is not None:
        write_report(calibration_page(found, str(measurements)), html)
    facts, lines = found.to_dict(), _lines(found)
    if firmware:
        printer = delta_settings(found.mechanism, samples.joints)
        facts["firmware"] = getattr(printer, firmware)()
        lines += ["", facts["firmware"]]
    return CommandResult(facts, "\n".join(lines))


def _poses(m: rd.Mechanism, count: int, output: Path | None, plan: dict[str, Any]) -> CommandResult:
    with progress_bar("choosing poses") as report_progress:
        found = rd.calibration_poses(
            m, count, candidates=max(300, 2 * count), progress=report_progress, **plan
        )
    if output is not None:
        kind = plan["measure"]
        measured: dict[str, Any] = {} if kind == "distance" else nominal_target(kind, found.poses)
        rd.Measurements.from_arrays(m, found.joints, **measured).to_csv(output, m)
    rows = np.hstack([found.joints, found.poses[:, :3]])
    facts = {
        "joints": list(m.joint_names),
        "positions": found.joints.tolist(),
        "poses": found.poses.tolist(),
        "log_det": found.log_det,
        "random_log_det": found.random_log_det,
        "observability": found.observability,
        "condition": found.condition,
    }
    lines = [
        f"{m.name}: {count} poses, log-determinant of the information matrix {found.log_det:.4g} "
        f"(random poses: {found.random_log_det:.4g}), condition number {found.condition:.3g}",
        *Table([*m.joint_names, *"xyz"], [[f"{x:.4f}" for x in row] for row in rows]).lines(),
    ]
    return CommandResult(facts, "\n".join(lines))


def _lines(found: rd.Calibration) -> list[str]:

    lines = [f"{found.nominal.name}: {len(found.residuals)} samples"]
    for name, after in found.rmse_after.items():
        unit = "m" if name == "position" else "rad"
        lines.append(
            f"{name}: root mean square residual {found.rmse_before[name]:.4g} {unit} before and "
            f"{after:.4g} {unit} after the calibration; noise {found.noise[name]:.4g} {unit}"
        )
    more = len(found.unseen) - MOST_UNSEEN
    return [
        *lines,
        f"condition number of the observable directions: {found.condition:.4g}",
        *dimensions(found).lines(),
        *(f"not observable: {each}" for each in found.unseen[:MOST_UNSEEN]),
        *([f"and {more} more combinations; --json lists all"] if more > 0 else []),
        *(f"note: {each}" for each in found.notes),
    ]


def _zero_lines(found: ZeroOffsets) -> list[str]:
    lines = ["offsets to add to the readings of the joints:"]
    for joint, unit, value, deviation, seen in zip(
        found.joints, found.units, found.values, found.deviations, found.seen, strict=True
    ):
        known = (
            f"standard deviation {deviation:.2g} {unit}" if seen else "not observable: assumed 0"
        )
        lines.append(f"{joint}  {value:+.5f} {unit}, {known}")
    x, y = found.inclination
    lines.append(f"base inclined by {x:.4f} rad about x and {y:.4f} rad about y")
    lines.append(
        f"residual of the inclinometer's angles {found.level_residual:.2g} rad (root mean square)"
    )
    lines.append(f"residual of the stops {found.stop_residual:.2g} m or rad")
    return [line for line in lines if "nan" not in line]
