# SPDX-License-Identifier: Apache-2.0

"""Report page of an identification: measured and predicted efforts, residuals, parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.identification.payload import Payload, payload_rows, payload_summary
from robodyn.identification.result import Identification, Validation, summary
from robodyn.presentation.numbers_as_text import number
from robodyn.report.chart import COLORS, Chart, Panel, panels_of
from robodyn.report.labels import effort_labels, joint_titles
from robodyn.report.page import Page, cards, table


def identification_page(
    result: Identification,
    validations: Sequence[Validation] = (),
    payload: Payload | None = None,
) -> Page:
    """Create the report page of a parameter identification.

    Args:
        result: result of `identify`.
        validations: other recordings, drawn instead of the fit if there are any.
        payload: identified payload of another recording, if any.
    """
    model = result.model
    shown = [*validations] or [*result.fit]
    of = "recordings that were not fitted" if validations else "the recordings that were fitted"
    found = summary(result, validations)
    if payload is not None:
        found["payload"] = payload_summary(payload)
    page = Page(
        f"{model.name}, identified",
        f"{len(result.parameters.names)} base parameters from "
        f"{', '.join(item.source or 'a recording' for item in result.fit)}",
        found,
    )
    key_numbers = [
        *_key_numbers(result, shown),
        *([("payload", f"{number(payload.mass)} kg")] if payload else []),
    ]
    errors = [_errors(result, item, "Fit") for item in result.fit]
    errors += [_errors(result, item, "Validation") for item in validations]
    page.add("summary", "Summary", cards(key_numbers) + "".join(errors))
    for n, item in enumerate(shown):
        page.add_chart(_efforts(result, item, n, of))
        page.add_chart(_residuals(result, item, n))
    if payload is not None:
        page.add("payload", "Payload", _payload(result, payload))
    _add_parameters(page, result)
    return page


def _key_numbers(result: Identification, shown: Sequence[Validation]) -> list[tuple[str, str]]:
    worst = max(float(np.nanmax(item.relative)) for item in shown)
    return [
        ("largest error of predicted effort", f"{worst:.1%}"),
        ("base parameters", str(len(result.parameters.names))),
        ("condition number of the regressor", f"{result.condition:.3g}"),
        ("position filter", f"{result.filters.motion:.3g} Hz"),
        ("effort filter", f"{result.filters.effort:.3g} Hz"),
    ]


def _add_parameters(page: Page, result: Identification) -> None:
    """Add tables of the identified parameters and of those that cannot be identified."""
    rows = [
        (joint, item.term.name, item.coefficient, item.deviation)
        for joint, terms in zip(result.columns.motors.names, result.friction, strict=True)
        for item in terms
    ]
    titles = ["joint", "term", "coefficient", "standard deviation"]
    page.add("friction", "Friction", table(titles, rows))
    own = result.parameters
    titles = ["combination", "before", "found", "standard deviation", "physically consistent"]
    values = zip(own.names, own.given, own.values, own.deviations, own.consistent, strict=True)
    page.add("parameters", "Base parameters", table(titles, values, wrap=True))
    bodies = zip(result.columns.names, result.columns.given, result.fitted, strict=True)
    seen = [row for row in bodies if np.isfinite(row[-1])]
    caption = "SI units, about each body's own origin"
    page.add("bodies", "Bodies and rotors", table(["parameter", "before", "now"], seen, caption))
    unseen = [*result.missed, *((name, "not identifiable on its own") for name in result.hidden),
              *(("note", note) for note in result.notes)]  # fmt: skip
    unseen = unseen or [("none", "all parameters are identifiable")]
    head = ["parameter", "recording that would determine it"]
    page.add("unseen", "Not identifiable", table(head, unseen))


def _errors(result: Identification, item: Validation, title: str) -> str:
    head = ["joint", "RMS error", "relative", "before", "unfiltered"]
    units = result.model.drives.effort_units
    rows = [
        [joint, f"{number(rmse)} {unit}", f"{relative:.1%}", f"{before:.1%}", f"{raw:.1%}"]
        for joint, unit, rmse, relative, before, raw in zip(
            item.joint_names, units, item.rmse, item.relative, item.given,
            item.relative_unfiltered, strict=True,
        )
    ]  # fmt: skip
    return table(head, rows, f"{title}: {item.source or 'a recording'}")


def _panels(
    result: Identification,
    item: Validation,
    curves: Mapping[str, FloatArray],
    colors: Sequence[str] = COLORS,
) -> tuple[Panel, ...]:
    titles, labels = joint_titles(result.model), effort_labels(result.model)
    return panels_of(titles, item.time, curves, labels, colors)


def _efforts(result: Identification, item: Validation, n: int, of: str) -> Chart:
    predicted = np.where(np.isfinite(item.measured), item.predicted, np.nan)
    panels = _panels(result, item, {"measured": item.measured, "predicted": predicted})
    text = (
        f"From {of}: {item.source or 'a recording'}, after the effort filter. Standstill is "
        "omitted, because dry friction can balance any effort there."
    )
    return Chart(f"efforts{n}", "Efforts measured and predicted", panels, text)


def _residuals(result: Identification, item: Validation, n: int) -> Chart:
    curves = {"predicted minus measured": item.predicted - item.measured}
    panels = _panels(result, item, curves, COLORS[2:])
    autocorrelation_time = ", ".join(f"{value:.3g}" for value in result.autocorrelation_time)
    text = (
        "Residuals of the fit are correlated in time. Number of samples equivalent to one "
        f"independent sample, by joint: {autocorrelation_time}. Standard "
        "deviations account for this."
    )
    return Chart(f"residuals{n}", "Residuals", panels, text)


def _payload(result: Identification, found: Payload) -> str:
    body = [
        (f"{name} [{unit}]", value, deviation if np.isfinite(deviation) else "not identifiable")
        for name, unit, value, deviation in payload_rows(found)
    ]
    alone: Any = result.mechanism
    loaded: Any = found.mechanism
    before, after = alone.parameters, loaded.parameters
    changes = zip(before.names, before.values, after.values, strict=True)
    errors = [
        (joint, f"{without:.1%}", f"{with_it:.1%}")
        for joint, without, with_it in zip(
            result.model.joint_names, found.before, found.after, strict=True
        )
    ]
    return (
        table(
            ["quantity", "found", "standard deviation"],
            body,
            "Payload, in the frame of the platform or the tip; inertia about its center",
        )
        + table(
            ["parameter", "without payload", "with payload"],
            [(name, old, new) for name, old, new in changes if old != new],
            "Body that carries the payload, SI units, about its own origin",
        )
        + table(
            ["joint", "without payload", "with payload"],
            errors,
            "Relative error of the predicted efforts with the payload",
        )
    )
