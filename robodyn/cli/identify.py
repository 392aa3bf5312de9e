# SPDX-License-Identifier: Apache-2.0

"""`robodyn identify MODEL RECORDING...`: a better model from recordings of the machine."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import numpy as np
import typer

from robodyn.analysis.as_json import as_json
from robodyn.cli.commands import argument, option
from robodyn.cli.session import one_line_errors, progress_bar
from robodyn.errors import InvalidInput
from robodyn.identification.identify import identify
from robodyn.identification.model_file import write_model
from robodyn.identification.payload import identify_payload, payload_summary, payload_text
from robodyn.identification.reading import read_recording
from robodyn.identification.summary import summary, summary_text
from robodyn.mechanisms.load import load

if TYPE_CHECKING:
    from collections.abc import Sequence


def identify_command(
    model: Annotated[str, argument(help="Bundled name, or path to a .urdf, .xacro or .yaml file.")],
    recordings: Annotated[
        list[str],
        argument(help="rosbag2 folders, .mcap, .db3 or .csv files of joint states with efforts."),
    ],
    validate: Annotated[
        Optional[list[str]],  # noqa: UP045
        option("--validate", help="A recording whose efforts are to be predicted; repeatable."),
    ] = None,
    friction: Annotated[
        str,
        option(
            help="auto: terms that gears have as well, chosen by cross-validation; described: "
            "those of a model file only; or offset, coulomb, viscous, none."
        ),
    ] = "auto",
    coupling: Annotated[
        Optional[list[str]],  # noqa: UP045
        option(
            "--coupling",
            help="A motor that turns with several joints: joint_5=1,joint_6=1; repeatable.",
        ),
    ] = None,
    payload: Annotated[
        Optional[list[str]],  # noqa: UP045
        option(
            "--payload",
            help="A recording with a payload that the others do not have: its mass, centre and "
            "inertia; repeatable.",
        ),
    ] = None,
    rotors: Annotated[bool, option(help="Fit the rotors' inertia.")] = True,
    robust: Annotated[bool, option(help="Let outliers count less.")] = True,
    cutoff: Annotated[
        Optional[float],  # noqa: UP045
        option(help="Filter of positions [Hz]; by bandwidth and noise if not given."),
    ] = None,
    effort_cutoff: Annotated[
        Optional[float],  # noqa: UP045
        option(help="Filter of efforts and regressor [Hz]; by bandwidth if not given."),
    ] = None,
    start: Annotated[float, option(help="Read recordings from this time on [s].")] = 0.0,
    stop: Annotated[
        Optional[float],  # noqa: UP045
        option(help="Read recordings up to this time [s]."),
    ] = None,
    effort_gain: Annotated[
        str,
        option(
            help="Effort over what was recorded, such as N m per ampere: one number, one for each "
            "joint as in 12.5,12.5,8, or by name as in joint_1=12.5,joint_3=8."
        ),
    ] = "1",
    joint: Annotated[
        Optional[list[str]],  # noqa: UP045
        option("--joint", help="A joint's other name in recordings: model=recorded; repeatable."),
    ] = None,
    topic: Annotated[str, option(help="Of the joint states in a bag, if there are several.")] = "",
    effort_topic: Annotated[
        str, option(help="Of the efforts in a bag, if they are on a topic of their own.")
    ] = "",
    position_unit: Annotated[
        str, option(help="deg or mm where positions are not in SI units.")
    ] = "",
    output: Annotated[
        Optional[Path],  # noqa: UP045
        option(help="Write the identified model, a .yaml file that every command loads."),
    ] = None,
    html: Annotated[
        Optional[Path],  # noqa: UP045
        option("--html", help="Write a page with charts of efforts, residuals and parameters."),
    ] = None,
    json: Annotated[bool, option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Identify a mechanism's masses, inertias, rotors and friction from recordings.

    Efforts are linear in these, so weighted least squares finds what the recordings show, and every
    body is made physical, near the given model where they show nothing. With --validate the efforts
    of other recordings are predicted; with --payload a recording in which it carries something says
    what that is. The model that is written, with the payload, flies by model:=identified.yaml.
    """
    with one_line_errors():
        mechanism = load(model)
        until = np.inf if stop is None else stop
        gains, names = _gains(effort_gain), _renamed(joint or ())

        def read(source: str) -> object:
            return read_recording(
                source,
                mechanism,
                topic=topic,
                effort_topic=effort_topic,
                joints=names,
                effort_gain=gains,
                position_unit=position_unit,
                start=start,
                stop=until,
            )

        given = [read(source) for source in recordings]
        others = [read(source) for source in validate or ()]
        with progress_bar("identifying", 1.0) as tell:
            result = identify(
                mechanism,
                given,  # type: ignore[arg-type]
                friction=friction,
                couplings=[_coupling(text) for text in coupling or ()],
                rotors=rotors,
                robust=robust,
                cutoff=cutoff,
                effort_cutoff=effort_cutoff,
                progress=tell,
            )
            validations = result.validate(others)  # type: ignore[arg-type]
        carried = [read(source) for source in payload or ()]
        body = None
        if carried:
            body = identify_payload(mechanism, carried, result)  # type: ignore[arg-type]
        better = result.mechanism if body is None else body.mechanism
        written = [] if output is None else write_model(better, output)
        found = summary(result, validations) | {"written": [str(path) for path in written]}
        if body is not None:
            found["payload"] = payload_summary(body)
        if html is not None:
            from robodyn.report.identification_page import identification_page
            from robodyn.report.page import write_page

            page = identification_page(result, validations, shlex.join(sys.argv), body)
            write_page(page, html)
            found["written"].append(str(html))
    text = summary_text(found) if body is None else f"{summary_text(found)}\n\n{payload_text(body)}"
    typer.echo(as_json(found) if json else text)


def _gains(text: str) -> float | list[float] | dict[str, float]:
    parts = [part.strip() for part in text.split(",")]
    try:
        if "=" in text:
            pairs = [part.split("=") for part in parts]
            return {name.strip(): float(gain) for name, gain in pairs}
        values = [float(part) for part in parts]
    except ValueError as error:
        raise InvalidInput(
            f"--effort-gain is {text!r}, expected a number, one for each joint with commas between "
            "them, or joint=gain,joint=gain",
            value=text,
        ) from error
    return values if len(values) > 1 else values[0]


def _renamed(texts: Sequence[str]) -> dict[str, str]:
    pairs = [text.partition("=") for text in texts]
    for text, (model, equals, recorded) in zip(texts, pairs, strict=True):
        if not (model.strip() and equals and recorded.strip()):
            raise InvalidInput(f"--joint is {text!r}, expected model=recorded", value=text)
    return {model.strip(): recorded.strip() for model, _, recorded in pairs}


def _coupling(text: str) -> dict[str, float]:
    try:
        pairs = [part.split("=") for part in text.split(",")]
        return {name.strip(): float(turns) for name, turns in pairs}
    except ValueError as error:
        raise InvalidInput(
            f"--coupling is {text!r}, expected joint=turns,joint=turns", value=text
        ) from error
