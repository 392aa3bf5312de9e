# SPDX-License-Identifier: Apache-2.0

"""`robodyn identify MODEL RECORDING...`: improve a model from recordings of the machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import robodyn as rd
from robodyn.cli.commands import CommandResult, options_of
from robodyn.cli.session import load_model, progress_bar, write_report
from robodyn.identification.payload import payload_summary, payload_text
from robodyn.identification.result import summary, summary_text


def read_all(
    mechanism: rd.Mechanism,
    recordings: list[str],
    reading: dict[str, Any],
    *,
    validate: list[str] | None = None,
    payload: list[str] | None = None,
    effort_gain: str = "1",
    joint: list[str] | None = None,
) -> list[list[Any]]:
    """Read recordings for the fit, for validation, and with a payload, as three lists.

    Args:
        mechanism: recorded mechanism.
        recordings: recordings for the fit.
        reading: how they are read, see `read_recording`.
        validate: A recording whose efforts are predicted; may be repeated.
        payload: A recording with a payload that the others do not have, to identify its mass,
            center and inertia; may be repeated.
        effort_gain: Effort divided by the recorded quantity, such as N m per ampere: one number,
            one for each joint as in 12.5,12.5,8, or by name as in joint_1=12.5,joint_3=8.
        joint: A joint's name in recordings: model=recorded; may be repeated.
    """
    reading = reading | {"effort_gain": _gains(effort_gain), "joints": _rename(joint or ())}
    return [
        [rd.read_recording(source, mechanism, **reading) for source in sources or ()]
        for sources in (recordings, validate, payload)
    ]


def identify_command(
    model: str,
    recordings: list[str],
    /,
    *,
    sources: dict[str, Any] = options_of(read_all, "validate payload effort_gain joint"),
    settings: dict[str, Any] = options_of(
        "identify", "friction rotors robust cutoff effort_cutoff"
    ),
    coupling: list[str] | None = None,
    reading: dict[str, Any] = options_of(
        "read_recording", "start stop topic effort_topic position_unit"
    ),
    output: Path | None = None,
    html: Path | None = None,
) -> CommandResult:
    """Identify masses, inertias, rotors and friction of a mechanism from recordings.

    Efforts are linear in these parameters. Weighted least squares estimates the parameters that the
    recordings determine. The others stay near those of the given model, and all bodies stay
    physically consistent. With --validate, the efforts of other recordings are predicted; with
    --payload, a recording with a payload identifies that payload. The written model, with the
    payload, can be used with model:=identified.yaml.

    Args:
        recordings: rosbag2 folders, .mcap, .db3 or .csv files of joint states with efforts.
        coupling: A motor that moves several joints: joint_5=1,joint_6=1; may be repeated.
        output: Write the identified model, a .yaml or .urdf file that every command loads.
        html: Write a page with charts of efforts, residuals and parameters.
    """
    mechanism = load_model(model)
    given, others, carried = read_all(mechanism, recordings, reading, **sources)
    with progress_bar("identifying") as report_progress:
        result = rd.identify(
            mechanism,
            given,
            couplings=[
                _pairs("--coupling", text, "joint=turns,joint=turns") for text in coupling or ()
            ],
            **settings,
            progress=report_progress,
        )
        validations = result.validate(others)
    body = rd.identify_payload(mechanism, carried, result) if carried else None
    better = result.mechanism if body is None else body.mechanism
    written = [] if output is None else rd.save(better, output)
    found = summary(result, validations) | {"written": [str(path) for path in written]}
    if body is not None:
        found["payload"] = payload_summary(body)
    if html is not None:
        from robodyn.report.identification_page import identification_page

        write_report(identification_page(result, validations, body), html)
        found["written"].append(str(html))
    text = summary_text(found) if body is None else f"{summary_text(found)}\n\n{payload_text(body)}"
    return CommandResult(found, text)


def _gains(text: str) -> float | list[float] | dict[str, float]:
    if "=" in text:
        return _pairs("--effort-gain", text, _GAINS)
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError as error:
        problem = f"--effort-gain is {text!r}, expected {_GAINS}"
        raise rd.InvalidInput(problem, value=text) from error
    return values if len(values) > 1 else values[0]


_GAINS = "one number for all joints, one number per joint, or joint=gain pairs; separated by commas"


def _rename(texts: Sequence[str]) -> dict[str, str]:
    pairs = [text.partition("=") for text in texts]
    for text, (model, equals, recorded) in zip(texts, pairs, strict=True):
        if not (model.strip() and equals and recorded.strip()):
            raise rd.InvalidInput(f"--joint is {text!r}, expected model=recorded", value=text)
    return {model.strip(): recorded.strip() for model, _, recorded in pairs}


def _pairs(name: str, text: str, expected: str) -> dict[str, float]:
    try:
        pairs = [part.split("=") for part in text.split(",")]
        return {name.strip(): float(value) for name, value in pairs}
    except ValueError as error:
        raise rd.InvalidInput(f"{name} is {text!r}, expected {expected}", value=text) from error
