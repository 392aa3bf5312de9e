# SPDX-License-Identifier: Apache-2.0

"""`robodyn plan MODEL`: a motion to a goal or along a path, as fast as its limits allow."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import numpy as np
import typer

from robodyn.analysis.as_json import as_json
from robodyn.analysis.limits import check_limits
from robodyn.analysis.study import analyze as examine
from robodyn.checks import as_scalar
from robodyn.cli.commands import argument, option
from robodyn.cli.session import one_line_errors, progress_bar
from robodyn.errors import InfeasibleTrajectory, InvalidInput, UnphysicalInertiaWarning
from robodyn.mechanisms.load import load
from robodyn.planning.profiles import TIME_OPTIMAL, check_profile
from robodyn.planning.time_optimal import time_optimal
from robodyn.planning.time_optimal_motion import TimeOptimal, shares_of_time
from robodyn.trajectories import load_path
from robodyn.trajectories.straight import plan_straight

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.protocol import Mechanism
    from robodyn.trajectories import Trajectory


def plan(
    model: Annotated[str, argument(help="Bundled name, or path to a .urdf, .xacro or .yaml file.")],
    goal: Annotated[
        Optional[str],  # noqa: UP045
        option(
            "--goal",
            help='Where to go, numbers in quotes [m, rad]: "x y z roll pitch yaw" of a platform, '
            "the joints of an arm, the independent joints of a closed loop.",
        ),
    ] = None,
    joints: Annotated[
        Optional[str],  # noqa: UP045
        option("--joints", help="Or the positions of the driven joints there: legs by length."),
    ] = None,
    pose: Annotated[
        Optional[str],  # noqa: UP045
        option("--pose", help='Or the pose of platform or tip: "x y z qx qy qz qw".'),
    ] = None,
    path: Annotated[
        Optional[str],  # noqa: UP045
        option(help="Or a path to follow: a waypoint file (.yaml), or I, II, III, P1, puma, demo."),
    ] = None,
    start: Annotated[
        Optional[str],  # noqa: UP045
        option(help="Where a motion to a goal begins, as for --goal; by default at home."),
    ] = None,
    profile: Annotated[
        str,
        option(
            help="time_optimal: as fast as efforts, rates and motors allow; lspb, cubic, quintic "
            "or cycloidal: to a goal with --v-max and --w-max. With --path, all but time_optimal "
            "keep the timing of the file."
        ),
    ] = TIME_OPTIMAL,
    v_max: Annotated[float, option(help="Largest speed [m/s], of joints [rad/s].")] = 0.08,
    w_max: Annotated[float, option(help="Largest rate of roll, pitch and yaw [rad/s].")] = 0.08,
    acceleration: Annotated[
        Optional[float],  # noqa: UP045
        option(help="time_optimal: largest acceleration of the driven joints [rad/s^2 or m/s^2]."),
    ] = None,
    jerk: Annotated[
        Optional[float],  # noqa: UP045
        option(help="time_optimal: largest jerk of the driven joints [rad/s^3 or m/s^3]."),
    ] = None,
    effort_rate: Annotated[
        Optional[float],  # noqa: UP045
        option(help="time_optimal: by how much efforts may change [N m/s or N/s]."),
    ] = None,
    tip_speed: Annotated[
        Optional[float],  # noqa: UP045
        option(help="time_optimal: largest speed of platform or tip [m/s]."),
    ] = None,
    condition_limit: Annotated[
        Optional[float],  # noqa: UP045
        option(help="Condition number that the path may not exceed."),
    ] = None,
    reserve: Annotated[
        float, option(help="time_optimal: share of the effort limits left to a controller.")
    ] = 0.0,
    payload: Annotated[float, option(help="Mass at the reference point or the tip [kg].")] = 0.0,
    points: Annotated[int, option(help="time_optimal: intervals of constant acceleration.")] = 1000,
    dt: Annotated[float, option(help="Sampling interval of --output and --html [s].")] = 0.001,
    output: Annotated[
        Optional[Path],  # noqa: UP045
        option(help="Write the motion to this file (.csv): time, motion, efforts, conditioning."),
    ] = None,
    html: Annotated[
        Optional[Path],  # noqa: UP045
        option(help="Also write a report to this file: one self-contained page."),
    ] = None,
    json: Annotated[bool, option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Plan a motion, by default the fastest that limits of efforts, rates and motors allow.

    It says how long the motion takes and what limits it where. A wish that cannot be is refused in
    a line that names the limit, the place and the number.
    """
    with one_line_errors():
        if output is not None and output.suffix.lower() != ".csv":
            raise InvalidInput(f"--output is {output.name!r}, expected a name that ends in .csv")
        check_profile(profile)
        mechanism = _loaded(model, payload)
        route, name = _route(
            mechanism, goal, joints, pose, path, start, profile=profile, v_max=v_max, w_max=w_max
        )
        motion = route
        if profile == TIME_OPTIMAL:
            with progress_bar(f"time-optimal motion to {name}", 1.0) as tell:
                motion = time_optimal(
                    mechanism,
                    route,
                    acceleration_limits=acceleration,
                    jerk_limits=jerk,
                    effort_rate_limits=effort_rate,
                    tip_speed=tip_speed,
                    condition_limit=condition_limit,
                    reserve=reserve,
                    points=points,
                    progress=tell,
                )
        else:
            most = np.inf if condition_limit is None else condition_limit
            broken = check_limits(mechanism, motion, most)
            if broken is not None:
                raise InfeasibleTrajectory(f"{name}: {broken.text}", value=broken)
        found = _report(mechanism, motion, name, profile, dt, output, html)
    typer.echo(as_json(found) if json else "\n".join(_lines(found)))


def _loaded(model: str, payload: float) -> Mechanism:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnphysicalInertiaWarning)  # see `robodyn check`
        mechanism: Mechanism = load(model)
    carried = as_scalar("payload", payload, "kg", at_least=0.0)
    if carried:
        mechanism = mechanism.with_payload(carried)
    return mechanism


def _route(
    mechanism: Mechanism,
    goal: str | None,
    joints: str | None,
    pose: str | None,
    path: str | None,
    start: str | None,
    **profile: Any,
) -> tuple[Trajectory, str]:
    """What to follow, and its name."""
    given = [name for name in (goal, joints, pose, path) if name is not None]
    if len(given) != 1:
        raise InvalidInput("give one of --goal, --joints, --pose and --path: where to go")
    if path is not None:
        return load_path(path, mechanism), path
    begin = mechanism.home
    size = mechanism.values_of(begin).size
    if start is not None:
        begin = mechanism.configuration_of(_numbers("--start", start, size))
    if goal is not None:
        end = mechanism.configuration_of(_numbers("--goal", goal, size))
    elif joints is not None:
        end = mechanism.assemble(_numbers("--joints", joints, len(mechanism.joint_names)), begin)
    else:
        assert pose is not None
        end = mechanism.configuration_at(_numbers("--pose", pose, 7), begin)
    if profile["profile"] == TIME_OPTIMAL:
        profile["profile"] = "lspb"  # the timing of the straight line is not used
    return plan_straight(mechanism, begin, end, **profile), "the goal"


def _numbers(name: str, text: str, size: int) -> FloatArray:
    try:
        numbers = np.array([float(part) for part in text.replace(",", " ").split()])
    except ValueError as error:
        raise InvalidInput(f"{name} is {text!r}, expected numbers", value=text) from error
    if len(numbers) != size:
        raise InvalidInput(
            f"{name} has {len(numbers)} numbers, expected {size} for this mechanism", value=text
        )
    return numbers


def _report(
    mechanism: Mechanism,
    motion: Trajectory,
    name: str,
    profile: str,
    dt: float,
    output: Path | None,
    html: Path | None,
) -> dict[str, Any]:
    """What was planned, JSON-able; with its files."""
    times = np.linspace(0.0, motion.duration, 1001)
    samples = motion.sample(times)
    efforts = np.abs(mechanism.inverse_dynamics(*samples)).max(axis=0)
    rates = np.abs(mechanism.joint_velocities(samples.configuration, samples.velocity)).max(axis=0)
    found: dict[str, Any] = {
        "model": mechanism.name,
        "path": name,
        "profile": profile,
        "duration": motion.duration,
        "joints": [
            {
                "joint": joint,
                "peak_effort": float(effort),
                "effort_limit": float(most),
                "peak_velocity": float(rate),
                "velocity_limit": float(fastest),
            }
            for joint, effort, most, rate, fastest in zip(
                mechanism.joint_names,
                efforts,
                mechanism.effort_limits,
                rates,
                mechanism.velocity_limits,
                strict=True,
            )
        ],
    }
    if isinstance(motion, TimeOptimal):
        # with limits of jerk or the efforts' rates nothing bounds it
        found["gap"] = motion.gap if np.isfinite(motion.gap) else None
        found["limited_by"] = shares_of_time(motion)
        found["limiting"] = [part._asdict() for part in motion.limiting]
    if output is not None or html is not None:
        with progress_bar("report", 1.0) as tell:
            study = examine(mechanism, motion, dt, progress=tell)
        if output is not None:
            study.write_csv(output)
        if html is not None:
            # imported here: a plan without a report does not need it
            from robodyn.cli.report import command_line, write_report
            from robodyn.report.study_page import study_page

            write_report(study_page(study, name, command_line(), None), html, None, None)
    return found


def _lines(found: dict[str, Any]) -> list[str]:
    lines = [f"{found['model']}, {found['profile']} to {found['path']}: {found['duration']:.4g} s"]
    if found.get("gap") is not None:
        lines[0] += f", at most {100.0 * found['gap']:.2g} % longer than the shortest"
    width = max(len(row["joint"]) for row in found["joints"])
    lines += [
        f"{row['joint'].ljust(width)}  effort {row['peak_effort']:.4g} of "
        f"{row['effort_limit']:.4g}, rate {row['peak_velocity']:.4g} of "
        f"{row['velocity_limit']:.4g}"
        for row in found["joints"]
    ]
    return lines + [
        f"limited by {what} for {100.0 * share:.3g} % of the time"
        for what, share in found.get("limited_by", {}).items()
    ]
