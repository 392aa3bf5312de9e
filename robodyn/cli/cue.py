# SPDX-License-Identifier: Apache-2.0

"""`robodyn cue RECORDING`: compute the motion of a platform for a recorded vehicle motion."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import robodyn as rd
from robodyn.cli.commands import CommandResult, options_of
from robodyn.cli.session import load_model, progress_bar, write_report
from robodyn.errors import OutputError
from robodyn.motion_base.cueing.comparison import PREDICTIVE, compare_cueing
from robodyn.motion_base.cueing.frequency_response import frequency_response
from robodyn.report.tables import Table


def _parameters(
    washout: str = "driving", predictive: bool = False
) -> rd.WashoutParameters | rd.PredictiveParameters:
    """Return the parameters of the cueing algorithm that the options select.

    Args:
        washout: Preset of the washout: driving, airliner or small.
        predictive: Use predictive control within the limits instead of a washout.
    """
    return rd.PredictiveParameters() if predictive else rd.WashoutParameters.preset(washout)


def _destination(output: Path | None = None, force: bool = False) -> Path | None:
    """Return the output file; fail if it exists and must not be overwritten.

    Args:
        output: CSV file (.csv) with the platform's motion, and the forces and rates of the vehicle
            and on the platform; otherwise a bag with platform_setpoint, vehicle/imu, felt_imu,
            robot_description, joint_states and tf.
        force: Overwrite an existing file.
    """
    if output is not None and output.exists() and not (force and output.is_file()):
        raise OutputError(
            f"{output} exists; choose another file, or overwrite it with --force (a bag is "
            "never overwritten)",
            value=str(output),
        )
    return output


def cue(
    recording: str,
    /,
    *,
    model: str = "motion_platform",
    algorithm: dict[str, Any] = options_of(_parameters, "washout predictive"),
    destination: dict[str, Any] = options_of(_destination, "output force"),
    html: Path | None = None,
    compare: bool = False,
    objective_test: bool = False,
    criteria: Path | None = None,
    reading: dict[str, Any] = options_of("read_vehicle", "topic"),
    settings: dict[str, Any] = options_of("ride", "dt", vectors="head"),
) -> CommandResult:
    """Compute the motion of a platform for a recorded ride, and the forces felt on it.

    A CSV recording has the columns time, force_x, force_y, force_z (specific force at the head in
    m/s^2; at rest 0, 0, 9.81), rate_x, rate_y and rate_z (angular velocity in rad/s), in the frame
    of the vehicle: x forward, y left, z up. A bag has messages of an IMU at the head.

    Args:
        recording: CSV file or bag of the vehicle's motion.
        compare: Instead of one washout, compute every preset and predictive cueing, and
            recommend one.
        objective_test: Also show the objective motion cueing test in the report.
        criteria: CSV file of the test's regions: channel (1 to 10 in the order of the report),
            frequency, modulus_low, modulus_high, phase_low and phase_high.
    """
    output, parameters = _destination(**destination), _parameters(**algorithm)
    if compare and (output is not None or html is not None):
        raise rd.InvalidInput(
            "--compare only prints a table; choose one --washout for --output and --html",
            value=compare,
        )
    vehicle = rd.read_vehicle(recording, **reading)
    mechanism = load_model(model)
    if compare:
        return _compare(mechanism, vehicle, settings)
    with progress_bar("motion of the platform") as report_progress:
        found = rd.ride(mechanism, vehicle, parameters, **settings, progress=report_progress)
    if output is not None:
        (found.save if output.suffix == ".csv" else found.save_bag)(output)
    facts, summary = _facts(found), _summary(found)
    if html is not None:
        from robodyn.report.cueing_page import cueing_page, read_criteria

        regions = None if criteria is None else read_criteria(criteria)
        response = None
        if objective_test:
            with progress_bar("objective motion cueing test") as report_progress:
                response = frequency_response(
                    mechanism, parameters, **settings, progress=report_progress
                )
            facts["frequencies"] = response.frequencies
            facts["modulus"], facts["phase"] = np.abs(response.matrix), np.angle(response.matrix)
        page = cueing_page(found, facts, summary, response, regions)
        write_report(page, html)
    by = "predictive" if algorithm["predictive"] else f"washout {algorithm['washout']!r}"
    lines = [f"{mechanism.name}: {found.time[-1]:g} s of {recording}, {by}"]
    lines += [f"{name:30} {text}" for name, text in summary]
    return CommandResult(facts, "\n".join(lines), bool(found.problem))


def _facts(found: rd.Ride) -> dict[str, Any]:
    """Return the results of a ride for `--json` and for programs that read the page."""
    missing = found.force_missing.tolist()
    return {
        "model": found.mechanism.name,
        "axes": found.axes,
        "duration": float(found.time[-1]),
        "force_error": found.force_error,
        "rate_error": found.rate_error,
        "perceived_force_error": found.perceived_force_error,
        "perceived_rate_error": found.perceived_rate_error,
        "force_missing": [None if np.isnan(fraction) else fraction for fraction in missing],
        "force_correlation": np.nan_to_num(found.force_correlation),
        "false_cues": found.false_cues,
        "workspace_used": found.workspace_used,
        "beyond_limits": found.problem or None,
    }


def _summary(found: rd.Ride) -> list[tuple[str, str]]:
    """Return labels and texts that describe the results of a ride."""
    correlation = np.nan_to_num(found.force_correlation)
    return [
        ("reproduced axes", found.axes),
        (
            "error of the felt force",
            f"{_text(found.force_error)} m/s^2 (root mean square of x, y, z)",
        ),
        ("error of the felt rate", f"{_text(found.rate_error)} rad/s"),
        ("perceived error: force", f"{_text(found.perceived_force_error)} m/s^2 (otoliths)"),
        (
            "perceived error: rate",
            f"{_text(found.perceived_rate_error)} rad/s (semicircular canals)",
        ),
        ("missing share of the force", _percentages(found.force_missing)),
        ("correlation of forces", f"{_text(correlation)} (of their shapes, independent of size)"),
        ("felt in the opposite direction", f"{100.0 * found.false_cues:.1f} % of the time"),
        ("used range of the joints", _format_use(found)),
        ("limits", found.problem or "all hold"),
    ]


def _compare(
    mechanism: rd.Mechanism, vehicle: rd.VehicleMotion, settings: dict[str, Any]
) -> CommandResult:
    """Compare all presets of the washout; fail if none stays within the limits."""
    with progress_bar("motion with each preset") as report_progress:
        found = compare_cueing(mechanism, vehicle, **settings, progress=report_progress)
    rows, best, axes = [], found[0], found[0].ride.axes
    for each in found:
        nearest = int(np.nanargmin(np.where(np.isnan(each.distance), np.inf, each.distance)))
        rows.append([
            each.name, f"{100.0 * each.force_error:.0f}", f"{100.0 * each.rate_error:.0f}",
            f"{100.0 * each.false_cues:.1f}",
            f"{each.distance[nearest]:.4g} {mechanism.drives.units[nearest]} "
            f"({mechanism.joint_names[nearest]})",
            f"{np.degrees(each.tilt_rate):.1f}", each.problem or "all hold",
        ])  # fmt: skip
    head = ["", "force error [%]", "rate error [%]", "wrong way [%]", "nearest end",
            "tilt rate [deg/s]", "limits"]  # fmt: skip
    option = "--predictive" if best.name == PREDICTIVE else f"--washout {best.name}"
    advice = f"recommended: {option}" if not best.problem else "no preset stays within the limits"
    facts = {
        "model": mechanism.name,
        "axes": axes,
        "recommended": None if best.problem else best.name,
        "presets": [
            {name: value for name, value in each._asdict().items() if name != "ride"}
            | {"score": each.score}
            for each in found
        ],
    }
    lines = [*Table(head, rows).lines(), advice, f"reproduced axes: {axes}",
             "errors of the perceived motion, relative to that in the vehicle"]  # fmt: skip
    return CommandResult(facts, "\n".join(lines), bool(best.problem))


def _percentages(values: np.ndarray[Any, Any]) -> str:
    """Format fractions for the axes x, y and z as percentages; skip NaN."""
    named = zip("xyz", values, strict=True)
    return "  ".join(
        f"{axis} {100.0 * fraction:.0f} %" for axis, fraction in named if fraction == fraction
    )


def _format_use(found: rd.Ride) -> str:
    """Format the largest used fraction of a joint's range, with the joint's name."""
    used = found.workspace_used
    worst = int(np.argmax(used))
    name = found.mechanism.joint_names[worst]
    return f"{100.0 * used[worst]:.0f} % from the middle to an end ({name})"


def _text(values: np.ndarray[Any, Any]) -> str:
    return "  ".join(f"{value:8.4f}" for value in values)
