# SPDX-License-Identifier: Apache-2.0

"""`robodyn calibrate MODEL MEASUREMENTS`: the dimensions of a machine from measured poses."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from robodyn.analysis.as_json import as_json
from robodyn.cli.commands import argument, option
from robodyn.cli.session import one_line_errors, progress_bar
from robodyn.errors import InvalidInput, UnphysicalInertiaWarning
from robodyn.mechanisms.load import load

if TYPE_CHECKING:
    from robodyn.identification.calibration.result import Calibration
    from robodyn.mechanisms.protocol import Mechanism


def calibrate(
    model: Annotated[str, argument(help="Bundled name, or path to a .urdf, .xacro or .yaml file.")],
    measurements: Annotated[
        Optional[Path],  # noqa: UP045
        argument(
            help="CSV file, a row for each sample at rest: <joint>.position of the driven joints, "
            "x, y, z and qx, qy, qz, qw of the target, <joint>.position of measured passive joints."
        ),
    ] = None,
    tracker: Annotated[
        str, option(help="Frame of x, y, z: `unknown`, or `known` where it is the model's base.")
    ] = "unknown",
    target: Annotated[
        str, option(help="Target on the body: `unknown`, or `known` where it is the body's frame.")
    ] = "unknown",
    constraint: Annotated[
        str,
        option(
            help="Without a tracker, what all samples share: `point` or `plane` that a point of "
            "the body touches, or `orientation` of the body."
        ),
    ] = "",
    parameter: Annotated[
        Optional[list[str]],  # noqa: UP045
        option(
            "--parameter",
            help="What may change, by name or its beginning, such as leg1. or link2.d; may be "
            "repeated. By default all.",
        ),
    ] = None,
    tolerance: Annotated[
        Optional[float],  # noqa: UP045
        option(help="How far lengths may be off [m], a standard deviation; 2 % of the size."),
    ] = None,
    position_noise: Annotated[
        Optional[float],  # noqa: UP045
        option(help="Standard deviation of x, y, z [m]; estimated by default."),
    ] = None,
    orientation_noise: Annotated[
        Optional[float],  # noqa: UP045
        option(help="Standard deviation of the orientation [rad]; estimated by default."),
    ] = None,
    joint_noise: Annotated[
        float, option(help="Standard deviation of the driven joints' readings [m or rad].")
    ] = 0.0,
    loss: Annotated[
        str, option(help="linear; soft_l1, huber or cauchy where some samples are grossly wrong.")
    ] = "linear",
    position_unit: Annotated[
        str, option(help="deg or mm where the joints are in these, instead of rad and m.")
    ] = "",
    tracker_unit: Annotated[str, option(help="mm where x, y, z are in millimetres.")] = "",
    output: Annotated[
        Optional[Path],  # noqa: UP045
        option(help="Write the calibrated model to this file (.yaml); with --poses the poses."),
    ] = None,
    html: Annotated[
        Optional[Path],  # noqa: UP045
        option(help="Also write a report to this file: one self-contained page."),
    ] = None,
    poses: Annotated[
        int, option(help="Instead of calibrating, choose so many poses to measure.")
    ] = 0,
    json: Annotated[bool, option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Find the dimensions of a machine that explain measured poses best.

    Joint centres and leg offsets of a platform, Denavit-Hartenberg parameters or joint origins of
    an arm, with their standard deviations; what the measurements do not show is named and stays.
    """
    # imported here: other commands do not need the solver
    from robodyn.identification.calibration.calibrate import calibrate as calibrated
    from robodyn.identification.calibration.measurements import read_measurements

    with one_line_errors():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnphysicalInertiaWarning)  # see `robodyn check`
            m = load(model)
        if poses:
            typer.echo(_poses(m, poses, tracker, parameter, output, json))
            return
        if measurements is None:
            raise InvalidInput("no MEASUREMENTS given; --poses chooses what to measure")
        samples = read_measurements(
            measurements, m, position_unit=position_unit, tracker_unit=tracker_unit
        )
        given = {"position": position_noise, "orientation": orientation_noise}
        noise = {name: value for name, value in given.items() if value is not None}
        with progress_bar("calibrating", 1.0) as tell:
            found = calibrated(
                m,
                samples,
                tracker=tracker,
                target=target,
                constraint=constraint,
                parameters=parameter or (),
                tolerance=tolerance,
                noise=noise | {"joints": joint_noise},
                loss=loss,
                progress=tell,
            )
        if output is not None:
            found.save(output)
        if html is not None:
            # imported here: a calibration without a report does not need it
            from robodyn.cli.report import command_line, write_report
            from robodyn.report.calibration_page import calibration_page

            write_report(
                calibration_page(found, str(measurements), command_line()), html, None, None
            )
    typer.echo(as_json(found.to_dict()) if json else "\n".join(_lines(found)))


def _poses(
    m: Mechanism,
    count: int,
    tracker: str,
    parameters: list[str] | None,
    output: Path | None,
    json: bool,
) -> str:
    from robodyn.identification.calibration.measurements import Measurements
    from robodyn.identification.calibration.poses import calibration_poses

    with progress_bar("choosing poses", 1.0) as tell:
        found = calibration_poses(
            m,
            count,
            tracker_known=tracker == "known",
            parameters=parameters or (),
            candidates=max(300, 2 * count),
            progress=tell,
        )
    if output is not None:
        Measurements.from_arrays(m, found.joints, pose=found.poses).to_csv(output, m)
    if json:
        return as_json(
            {
                "joints": list(m.joint_names),
                "positions": found.joints.tolist(),
                "poses": found.poses.tolist(),
                "log_det": found.log_det,
                "random_log_det": found.random_log_det,
                "observability": found.observability,
                "condition": found.condition,
            }
        )
    rows = ["  ".join(f"{x:9.4f}" for x in joints) for joints in found.joints]
    return "\n".join(
        [
            f"{m.name}: {count} poses, logarithm of the information {found.log_det:.4g} (at random "
            f"{found.random_log_det:.4g}), condition {found.condition:.3g}",
            "  ".join(name[-9:].rjust(9) for name in m.joint_names),
            *rows,
        ]
    )


def _lines(found: Calibration) -> list[str]:
    width = max(len(each.name) for each in found.parameters)
    lines = [f"{found.nominal.name}: {len(found.residuals)} samples"]
    for name, after in found.rmse_after.items():
        unit = "m" if name == "position" else "rad"
        lines.append(
            f"{name}: root mean square residual {found.rmse_before[name]:.4g} {unit} before, "
            f"{after:.4g} {unit} after; noise {found.noise[name]:.4g} {unit}"
        )
    lines.append(f"condition of what is seen {found.condition:.4g}")
    lines.append(f"{'parameter'.ljust(width)}  {'before':>11}  {'after':>11}  {'std. dev.':>9}")
    lines += [
        f"{each.name.ljust(width)}  {each.before:11.6f}  {each.after:11.6f}  "
        + (f"{each.deviation:9.2g}" if each.seen else "not seen")
        + f" {each.unit}"
        for each in found.parameters
        if each.name in found.free
    ]
    lines += [f"not seen: {each}" for each in found.unseen]
    return lines + [f"note: {each}" for each in found.notes]
