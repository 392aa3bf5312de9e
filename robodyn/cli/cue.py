# SPDX-License-Identifier: Apache-2.0

"""`robodyn cue RECORDING`: a vehicle's motion on a platform."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from robodyn.analysis.limits import check_limits
from robodyn.cli.commands import Answer, passed
from robodyn.cli.session import load_quietly, progress_bar
from robodyn.errors import KinematicsError, OutputError
from robodyn.motion_base.parameters import PredictiveParameters, WashoutParameters
from robodyn.motion_base.ride import ride
from robodyn.motion_base.vehicle import read_vehicle


def cue(
    recording: str,
    /,
    *,
    model: str = "motion_platform",
    washout: str = "driving",
    predictive: bool = False,
    output: Path | None = None,
    force: bool = False,
    settings: dict[str, Any] = passed(ride, "dt", vectors=("head",)),
) -> Answer:
    """Take a platform through a recorded ride: what it does, and what is felt.

    The recording has the columns time, force_x, force_y, force_z (specific force at the head in
    m/s^2; at rest 0, 0, 9.81), rate_x, rate_y and rate_z (angular velocity in rad/s), in the
    vehicle's frame: x forward, y left, z up.

    Args:
        recording: CSV file of the vehicle's motion.
        washout: Its parameters: driving, airliner or small.
        predictive: Predict and plan within the limits instead of a washout.
        output: CSV file to write: the platform's motion, wanted and felt forces and rates.
        force: Write over a file that exists.
    """
    if output is not None and output.exists() and not force:
        raise OutputError(
            f"{output} exists; choose another file, or write over it with --force",
            value=str(output),
        )
    vehicle = read_vehicle(recording)
    parameters = PredictiveParameters() if predictive else WashoutParameters.preset(washout)
    mechanism = load_quietly(model)
    with progress_bar("riding") as tell:
        found = ride(mechanism, vehicle, parameters, **settings, progress=tell)
    try:
        violation = check_limits(mechanism, found.trajectory, dt=settings["dt"])
        problem = None if violation is None else violation.text
    except KinematicsError as error:
        problem = str(error)
    if output is not None:
        found.save(output)
    correlation = np.nan_to_num(found.force_correlation)
    facts = {
        "model": mechanism.name,
        "duration": float(found.time[-1]),
        "force_error": found.force_error,
        "rate_error": found.rate_error,
        "perceived_force_error": found.perceived_force_error,
        "perceived_rate_error": found.perceived_rate_error,
        "force_correlation": correlation,
        "false_cues": found.false_cues,
        "workspace_used": found.workspace_used,
        "beyond_limits": problem,
    }
    lines = [
        f"{mechanism.name}: {found.time[-1]:g} s of {recording}, "
        + ("predictive" if predictive else f"washout {washout!r}"),
        f"felt less wanted force   {_of(found.force_error)} m/s^2 (root mean square of x, y, z)",
        f"felt less wanted rate    {_of(found.rate_error)} rad/s",
        f"perceived of it: force   {_of(found.perceived_force_error)} m/s^2 (otoliths)",
        f"perceived of it: rate    {_of(found.perceived_rate_error)} rad/s (semicircular canals)",
        f"correlation of forces    {_of(correlation)}",
        f"felt the wrong way round {100.0 * found.false_cues:.1f} % of the time",
        f"range of joints used     {100.0 * found.workspace_used.max():.0f} % at most",
        f"limits                   {problem or 'all hold'}",
    ]
    return Answer(facts, "\n".join(lines), problem is not None)


def _of(values: np.ndarray[Any, Any]) -> str:
    return "  ".join(f"{value:8.4f}" for value in values)
