# SPDX-License-Identifier: Apache-2.0

"""`robodyn simulate MODEL --path PATH`: simulate a mechanism along a path, without ROS."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

import robodyn as rd
from robodyn.analysis import execute, summary_text
from robodyn.analysis.limits import Quantity
from robodyn.checks import as_scalar
from robodyn.cli.commands import CommandResult, options_of
from robodyn.cli.session import mechanism_and_path, progress_bar


def _model_and_plant(
    mechanism: rd.Mechanism, *, friction: bool = True, payload: float = 0.0
) -> tuple[rd.Mechanism, rd.Mechanism]:
    """Return the controller's model and the simulated plant.

    Args:
        mechanism: mechanism of the file.
        friction: Include the joint friction of the model.
        payload: Mass at the platform's reference point or the arm's tip [kg], unknown to the
            controller.
    """
    model = mechanism if friction else mechanism.without_friction()
    carried = as_scalar("payload", payload, "kg", at_least=0.0)
    return model, model.with_payload(carried) if carried else model


def simulate(
    model: str,
    /,
    *,
    path: str | None = None,
    control_rate: float = 200.0,
    settings: dict[str, Any] = options_of("analysis.execution.execute", "mode dt"),
    gains: dict[str, Any] = options_of("ComputedTorque", "kp kv preview"),
    bodies: dict[str, Any] = options_of(_model_and_plant, "friction payload"),
    output: Path | None = None,
    strict: bool = False,
    max_condition: float | None = None,
) -> CommandResult:
    """Simulate a mechanism along a path, and summarize the result.

    Commands are constant between control instants and stay within the limits of the actuators. The
    summary is the same as that of a run with the ROS 2 nodes. Its status states whether the path
    was completed; if not, the exit code is 1.

    Args:
        control_rate: Commands per second [Hz].
        output: Folder for summary.json and history.csv.
    """
    mechanism, name, trajectory = mechanism_and_path(model, path)
    reach_warnings = _beyond_reach(mechanism, name, trajectory)
    model_of_control, plant = _model_and_plant(mechanism, **bodies)
    period = 1.0 / as_scalar("control_rate", control_rate, "Hz", above=0.0)
    started = time.monotonic()
    with progress_bar(f"path {name}", trajectory.duration) as report_progress:
        run = execute(
            plant,
            trajectory,
            name,
            control_dt=period,
            **settings,
            **gains,
            model=model_of_control,
            progress=report_progress,
            clock=lambda: time.monotonic() - started,
        )
    run = replace(run, friction=bodies["friction"], warnings=[*reach_warnings, *run.warnings])
    if output is not None:
        run.write(output)
    summary = run.summary() | {"margins": run.margins(max_condition).to_dict()}
    failed = summary["status"] != "completed" or (strict and not summary["margins"]["hold"])
    return CommandResult(summary, summary_text(summary), failed)


def _beyond_reach(mechanism: rd.Mechanism, name: str, path: rd.Trajectory) -> list[str]:
    """Return a warning if a path exceeds the position limits of a joint.

    Raises:
        InfeasibleTrajectory: the path is geometrically impossible for the mechanism.
    """
    checked: tuple[Quantity, ...] = ("position",)
    broken = rd.check_limits(mechanism, path, quantities=checked)
    if broken is None:
        return []
    text = f"path {name}: {broken.text}"
    if broken.quantity == "geometry":
        raise rd.InfeasibleTrajectory(text, value=broken)
    typer.echo(f"warning: {text}", err=True)
    return [f"WARN {text}"]
