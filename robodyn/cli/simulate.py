# SPDX-License-Identifier: Apache-2.0

"""`robodyn simulate MODEL --path PATH`: execute a path without ROS, with the same summary."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from robodyn.analysis.as_json import as_json
from robodyn.analysis.execution import execute
from robodyn.analysis.limits import check_limits
from robodyn.analysis.run import summary_text
from robodyn.checks import as_scalar
from robodyn.cli.commands import argument, option
from robodyn.cli.session import mechanism_and_path, one_line_errors, progress_bar
from robodyn.errors import InfeasibleTrajectory

if TYPE_CHECKING:
    from robodyn.analysis.limits import Quantity
    from robodyn.mechanisms.protocol import Mechanism
    from robodyn.trajectories import Trajectory


def simulate(
    model: Annotated[str, argument(help="Bundled name, or path to a .urdf, .xacro or .yaml file.")],
    path: Annotated[
        Optional[str],  # noqa: UP045
        option(help="I, II, III or P1 of the papers, puma for an arm, or a waypoint file (.yaml)."),
    ] = None,
    mode: Annotated[
        str, option(help="computed_torque, or feedforward: planned efforts, no feedback.")
    ] = "computed_torque",
    control_rate: Annotated[float, option(help="Commands per second [Hz].")] = 200.0,
    dt: Annotated[float, option(help="Longest integration step [s].")] = 0.001,
    kp: Annotated[float, option(help="Proportional gain [1/s^2].")] = 100.0,
    kv: Annotated[float, option(help="Derivative gain [1/s].")] = 20.0,
    preview: Annotated[
        float,
        option(
            help="Time by which the planned acceleration is taken ahead [s]; half a control "
            "period compensates for the hold."
        ),
    ] = 0.0,
    friction: Annotated[bool, option(help="Joint friction as the model has it, or none.")] = True,
    payload: Annotated[
        float,
        option(
            help="Mass at the platform's reference point or the arm's tip [kg], unknown "
            "to the controller."
        ),
    ] = 0.0,
    output: Annotated[
        Optional[Path],  # noqa: UP045
        option(help="Folder for summary.json and history.csv."),
    ] = None,
    strict: Annotated[
        bool, option("--strict", help="Exit code 1 where a limit of the mechanism is broken.")
    ] = False,
    max_condition: Annotated[
        Optional[float],  # noqa: UP045
        option(
            help="Largest condition number that counts as within limits; by default 1000 for a "
            "platform, any for an arm."
        ),
    ] = None,
    json: Annotated[bool, option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Simulate a mechanism driven along a path, and summarise the result.

    Commands are held between control instants and clipped to the actuators' limits. The summary is
    that of a run through the ROS 2 nodes; its status says whether the path was completed, and the
    exit code is 1 if it was not.
    """
    with one_line_errors():
        mechanism, name, trajectory = mechanism_and_path(model, path)
        model_of_control = mechanism if friction else mechanism.without_friction()
        beyond = _beyond_reach(mechanism, name, trajectory)
        carried = as_scalar("payload", payload, "kg", at_least=0.0)
        plant = model_of_control.with_payload(carried) if carried else model_of_control
        period = 1.0 / as_scalar("control_rate", control_rate, "Hz", above=0.0)
        started = time.monotonic()
        with progress_bar(f"path {name}", trajectory.duration) as tell:
            run = execute(
                plant,
                trajectory,
                name,
                mode,
                control_dt=period,
                dt=dt,
                kp=kp,
                kv=kv,
                preview=preview,
                model=model_of_control,
                progress=tell,
                clock=lambda: time.monotonic() - started,
            )
        run = replace(run, friction=friction, warnings=[*beyond, *run.warnings])
        if output is not None:
            run.write(output)
        summary = run.summary() | {"margins": run.margins(max_condition).to_dict()}
    typer.echo(as_json(summary) if json else summary_text(summary))
    if summary["status"] != "completed" or (strict and not summary["margins"]["hold"]):
        raise typer.Exit(1)


def _beyond_reach(mechanism: Mechanism, name: str, path: Trajectory) -> list[str]:
    """Say before anything else that a path leaves the travel of a joint.

    Raises:
        InfeasibleTrajectory: the mechanism cannot be where the path goes.
    """
    wanted: tuple[Quantity, ...] = ("position",)
    broken = check_limits(mechanism, path, quantities=wanted)
    if broken is None:
        return []
    text = f"path {name}: {broken.text}"
    if broken.quantity == "geometry":
        raise InfeasibleTrajectory(text, value=broken)
    typer.echo(f"warning: {text}", err=True)
    return [f"WARN {text}"]
