# SPDX-License-Identifier: Apache-2.0

"""`robodyn plan MODEL`: plan a motion to a goal or along a path, as fast as its limits permit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import robodyn as rd
from robodyn.arrays import FloatArray
from robodyn.checks import as_scalar
from robodyn.cli import session
from robodyn.cli.commands import CommandResult, options_of
from robodyn.planning.time_optimal.motion import time_fractions
from robodyn.presentation import presentation
from robodyn.report.study_page import study_page
from robodyn.report.tables import Table
from robodyn.trajectories import SagCompensation
from robodyn.trajectories.profiles import PROFILES, TIME_OPTIMAL, check_profile
from robodyn.trajectories.straight import plan_straight


def _route(
    mechanism: rd.Mechanism,
    *,
    goal: str | None = None,
    joints: str | None = None,
    pose: str | None = None,
    path: str | None = None,
    start: str | None = None,
    timing: dict[str, Any],
) -> tuple[rd.Trajectory, str]:
    """Return the route that the options describe, and its name.

    Args:
        mechanism: mechanism to move.
        goal: Goal, numbers in quotes [m, rad]: "x y z roll pitch yaw" of a platform, the joints of
            an arm, the independent joints of a closed loop.
        joints: Alternatively, positions of the driven joints at the goal: lengths of legs.
        pose: Alternatively, the pose of platform or tip: "x y z qx qy qz qw".
        path: Alternatively, a path: a waypoint file (.yaml), or I, II, III, P1, puma, demo.
        start: Start of a motion to a goal, as for --goal; home by default.
        timing: timing of a straight motion, see `plan_straight`.
    """
    ends = {"--goal": goal, "--joints": joints, "--pose": pose, "--path": path}
    given = [(name, text) for name, text in ends.items() if text is not None]
    if len(given) != 1:
        raise rd.InvalidInput("no goal: give one of --goal, --joints, --pose or --path")
    ((name, text),) = given
    if name == "--path":
        with session.progress_bar(f"path {text}") as report_progress:
            return rd.load_path(text, mechanism, progress=report_progress), text
    begin = mechanism.home
    size = presentation.values_of(mechanism, begin).size
    if start is not None:
        begin = presentation.configuration_of(mechanism, _numbers("--start", start, size))
    if name == "--goal":
        end = presentation.configuration_of(mechanism, _numbers(name, text, size))
    elif name == "--joints":
        end = mechanism.assemble(_numbers(name, text, len(mechanism.joint_names)), begin)
    else:
        end = mechanism.configuration_at(_numbers(name, text, 7), begin)
    if timing["profile"] == TIME_OPTIMAL:
        timing = timing | {"profile": "lspb"}  # the timing of the straight line is not used
    return plan_straight(mechanism, begin, end, **timing), "the goal"


def _numbers(name: str, text: str, size: int) -> FloatArray:
    given = np.array(session.numbers(name, text) or [])
    if len(given) != size:
        raise rd.InvalidInput(
            f"{name} has {len(given)} values, expected {size} for this mechanism", value=text
        )
    return given


def _write(
    mechanism: rd.Mechanism,
    motion: rd.Trajectory,
    name: str,
    *,
    dt: float = 0.001,
    output: Path | None = None,
    html: Path | None = None,
) -> None:
    """Write the requested files of a motion.

    Args:
        mechanism: mechanism that moves.
        motion: planned motion.
        name: name of the motion.
        dt: Sampling interval of --output and --html [s].
        output: Write the motion to this file (.csv): time, motion, efforts, conditioning.
    """
    if output is None and html is None:
        return
    with session.progress_bar("report") as report_progress:
        study = rd.analyze(mechanism, motion, dt, progress=report_progress)
    if output is not None:
        study.write_csv(output)
    if html is not None:
        session.write_report(study_page(study, name), html)


def plan(
    model: str,
    /,
    *,
    where: dict[str, Any] = options_of(_route, "goal joints pose path start"),
    profile: str = "time_optimal",
    v_max: float = 0.08,
    w_max: float = 0.08,
    limits: dict[str, Any] = options_of(
        "TimeOptimalSettings",
        "condition_limit tip_speed vibration reserve points",
        acceleration="acceleration_limits",
        jerk="jerk_limits",
        effort_rate="effort_rate_limits",
    ),
    payload: float = 0.0,
    compensate_sag: bool = False,
    files: dict[str, Any] = options_of(_write, "dt output html"),
) -> CommandResult:
    """Plan a motion, by default the fastest that limits of efforts, velocities and motors permit.

    The command prints the duration of the motion and its limiting factors. If there is no such
    motion, the error names the limit, the point on the path and the value. Limits of acceleration,
    jerk, effort rate, tip speed and vibration, the reserve and the points apply only to the
    time-optimal profile.

    Args:
        profile: time_optimal: as fast as efforts, velocities and motors permit; lspb, cubic,
            quintic or cycloidal: to a goal with --v-max and --w-max. With --path, all except
            time_optimal keep the timing of the file.
        v_max: Largest speed [m/s], of joints [rad/s].
        w_max: Largest rate of roll, pitch and yaw [rad/s].
        payload: Mass at the reference point or the tip [kg].
        compensate_sag: Write the motion of the motors, which lead by the static deflection of
            elastic drives under gravity.
    """
    session.check_extension("--output", files["output"], ".csv")
    session.check_extension("--html", files["html"], *session.HTML)
    check_profile(profile, PROFILES)
    mechanism = session.load_model(model)
    carried = as_scalar("payload", payload, "kg", at_least=0.0)
    mechanism = mechanism.with_payload(carried) if carried else mechanism
    timing = {"profile": profile, "v_max": v_max, "w_max": w_max}
    route, name = _route(mechanism, **where, timing=timing)
    motion = route
    if profile == TIME_OPTIMAL:
        with session.progress_bar(f"time-optimal motion to {name}") as report_progress:
            motion = rd.time_optimal(mechanism, route, **limits, progress=report_progress)
    else:
        given_limit = limits["condition_limit"]
        most = np.inf if given_limit is None else given_limit
        broken = rd.check_limits(mechanism, motion, most)
        if broken is not None:
            raise rd.InfeasibleTrajectory(f"{name}: {broken.text}", value=broken)
    written = SagCompensation(mechanism, motion) if compensate_sag else motion
    _write(mechanism, written, name, **files)
    found = _motion_data(mechanism, motion, name, profile)
    return CommandResult(found, "\n".join(_lines(found)))


def _motion_data(
    mechanism: rd.Mechanism, motion: rd.Trajectory, name: str, profile: str
) -> dict[str, Any]:
    """Return the planned motion as data for JSON."""
    times = np.linspace(0.0, motion.duration, 1001)
    samples = motion.sample(times)
    efforts = np.abs(mechanism.inverse_dynamics(*samples)).max(axis=0)
    rates = np.abs(mechanism.joint_velocities(samples.configuration, samples.velocity)).max(axis=0)
    keys = "peak_effort", "effort_limit", "peak_velocity", "velocity_limit"
    peaks = np.column_stack([efforts, mechanism.effort_limits, rates, mechanism.velocity_limits])
    found: dict[str, Any] = {
        "model": mechanism.name,
        "path": name,
        "profile": profile,
        "duration": motion.duration,
        "joints": [
            {"joint": joint} | dict(zip(keys, row.tolist(), strict=True))
            for joint, row in zip(mechanism.joint_names, peaks, strict=True)
        ],
    }
    if isinstance(motion, rd.TimeOptimal):
        # with limits of jerk or the efforts' rates nothing bounds it
        found["gap"] = motion.gap if np.isfinite(motion.gap) else None
        found["limited_by"] = time_fractions(motion)
        found["limiting"] = [part._asdict() for part in motion.limiting]
    return found


def _lines(found: dict[str, Any]) -> list[str]:

    lines = [f"{found['model']}, {found['profile']} to {found['path']}: {found['duration']:.4g} s"]
    if found.get("gap") is not None:
        lines[0] += f", at most {100.0 * found['gap']:.2g} % longer than the shortest motion"
    head = ["joint", "peak effort", "of", "peak rate", "of"]
    lines += Table(head, [list(row.values()) for row in found["joints"]]).lines()
    return lines + [
        f"limited by {what} for {100.0 * fraction:.3g} % of the time"
        for what, fraction in found.get("limited_by", {}).items()
    ]
