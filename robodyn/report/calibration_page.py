# SPDX-License-Identifier: Apache-2.0

"""Report pages of a kinematic calibration and of an estimation of joint zero offsets."""

from __future__ import annotations

from html import escape

import numpy as np

from robodyn.identification.calibration.result import CalibratedParameter, Calibration
from robodyn.identification.calibration.zeros import ZeroOffsets
from robodyn.presentation.numbers_as_text import number
from robodyn.report.chart import COLORS, GRAY, INK, Chart, ChartLine, Mark, Panel
from robodyn.report.page import Page, cards, table
from robodyn.report.tables import Table

# Displayed unit of each unit, and the conversion factor.
SHOWN = {"m": ("mm", 1e3), "rad": ("mrad", 1e3)}
AXES = {"position": ("x", "y", "z"), "orientation": ("about x", "about y", "about z")}


def calibration_page(found: Calibration, source: str = "") -> Page:
    """Create the report page of a kinematic calibration.

    Args:
        found: result of the calibration.
        source: file of the measurements.
    """
    title = f"{found.nominal.name}, calibrated"
    subtitle = f"{source or 'measurements'}: {len(found.residuals)} samples"
    page = Page(title, subtitle, found.to_dict())
    page.add("summary", "Summary", cards(_key_numbers(found)) + _unobservable(found))
    page.add_chart(_residuals(found))
    page.add_chart(change_chart(found))
    page.add_chart(visibility_chart(found))
    page.add("parameters", "Dimensions", table(*dimensions(found)))
    return page


def zeros_page(found: ZeroOffsets, name: str, source: str = "") -> Page:
    """Create the report page of joint zero offsets from end stops and inclinometer.

    Args:
        found: joint zero offsets.
        name: name of the mechanism.
        source: file of the samples.
    """
    page = Page(f"{name}, joint zero offsets", source or "samples", found.to_dict())
    facts = [
        (f"base inclined about {axis}", f"{1e3 * value:.4g} mrad")
        for axis, value in zip("xy", found.inclination.tolist(), strict=True)
    ]
    facts.append(
        ("residual of the inclinometer's angles", f"{1e3 * found.level_residual:.3g} mrad")
    )
    facts.append(("residual of the stops", f"{found.stop_residual:.3g} m or rad"))
    page.add("summary", "Summary", cards([(k, v) for k, v in facts if "nan" not in v]))
    rows = [
        [joint, unit, f"{value:+.5f}", f"{deviation:.2g}" if seen else "not observable: assumed 0"]
        for joint, unit, value, deviation, seen in zip(
            found.joints, found.units, found.values, found.deviations, found.seen, strict=True
        )
    ]
    head = ["joint", "unit", "offset to add to the reading", "standard deviation"]
    page.add("zeros", "Zeros", table(head, rows))
    return page


def dimensions(found: Calibration) -> Table:
    """Create a table of all calibrated dimensions, before and after the calibration.

    It also contains the change of each dimension and its standard deviation.
    """
    rows = [
        [each.name, each.unit, f"{each.before:.6f}", f"{each.after:.6f}",
         each.change, each.deviation if each.seen else "not observable"]
        for each in found.parameters
        if each.name in found.free
    ]  # fmt: skip
    return Table(["parameter", "unit", "before", "after", "change", "standard deviation"], rows)


def _key_numbers(found: Calibration) -> list[tuple[str, str]]:
    out = []
    for name, after in found.rmse_after.items():
        unit = "m" if name == "position" else "rad"
        shown, factor = SHOWN[unit]
        before = number(found.rmse_before[name] * factor)
        out.append((f"{name}, before", f"{before} {shown}"))
        out.append((f"{name}, after", f"{number(after * factor)} {shown}"))
        out.append((f"noise of {name}", f"{number(found.noise[name] * factor)} {shown}"))
    return [*out, ("condition number of the observable directions", number(found.condition))]


def _unobservable(found: Calibration) -> str:
    lines = [*(f"Not observable, not changed: {each}" for each in found.unseen), *found.notes]
    return "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>" if lines else ""


def _residuals(found: Calibration) -> Chart:
    """Create a chart of the residuals of all samples, with a panel for each group."""
    samples = np.arange(1.0, len(found.residuals) + 1.0)
    panels = []
    for group in dict.fromkeys(found.groups):
        unit, factor = SHOWN["m" if group == "position" else "rad"]
        columns = [i for i, each in enumerate(found.groups) if each == group]
        names = AXES.get(group, ())
        curves = tuple(
            ChartLine(
                samples,
                factor * found.residuals[:, column],
                names[place] if len(names) == len(columns) else "",
                COLORS[place % len(COLORS)],
            )
            for place, column in enumerate(columns)
        )
        noise = factor * found.noise[group]
        marks = (Mark(-2.0 * noise, "-2 σ"), Mark(2.0 * noise, "2 σ"))
        panels.append(Panel(group, curves, "sample", f"residual [{unit}]", marks))
    return Chart(
        "residuals", "Residuals", tuple(panels),
        "Measured minus predicted values, with the calibrated dimensions. The lines mark two "
        "standard deviations of the noise.",
        len(panels) if len(panels) < 3 else 3,
    )  # fmt: skip


def change_chart(found: Calibration) -> Chart:
    """Create a chart of the change of each calibrated parameter, one panel per unit.

    Error bars are two standard deviations to either side.
    """
    panels = []
    for unit, (shown, factor) in SHOWN.items():
        of = [each for each in found.parameters if each.unit == unit and each.name in found.free]
        if of:
            label = f"change [{shown}]"
            panels.append(Panel(f"[{unit}]", _bars(of, factor), "parameter", label, (Mark(0.0),)))
    return Chart(
        "changes", "Changes of the dimensions", tuple(panels),
        "In the order of the table below. Bars extend two standard deviations to either side. A "
        "dimension that the measurements do not determine individually is gray.",
        len(panels),
    )  # fmt: skip


def _bars(of: list[CalibratedParameter], factor: float) -> tuple[ChartLine, ...]:
    curves = []
    for place, each in enumerate(of, start=1):
        middle, half = factor * each.change, 2.0 * factor * each.deviation
        x, width = float(place), 0.25
        if each.seen:
            bar = np.array([middle - half, middle + half])
            curves.append(
                ChartLine(np.full(2, x), bar, "two standard deviations", COLORS[4], width=3.0)
            )
        level = np.full(2, middle)
        label = "change" if each.seen else "not observable"
        ends = np.array([x - width, x + width])
        curves.append(ChartLine(ends, level, label, INK if each.seen else GRAY, width=2.0))
    return tuple(curves)


def visibility_chart(found: Calibration) -> Chart:
    """Create a chart of the singular values of the scaled identification Jacobian.

    The x axis is the index of the singular value.
    """
    values = np.maximum(found.singular_values, 1e-3)
    rows = np.arange(1.0, len(values) + 1.0)
    curve = ChartLine(rows, values, "", COLORS[0])
    panel = Panel(
        "gain",
        (curve,),
        "direction",
        "singular value",
        (Mark(1.0, "prior"),),
        scale="log",
    )
    return Chart(
        "visibility", "Information in the measurements", (panel,),
        "Singular values of the identification Jacobian, each direction scaled by its prior "
        "standard deviation and by the noise. A value of 100 means that the measurements determine "
        "the direction 100 times as accurately as the prior; below 1 it is not observable.",
        1,
    )  # fmt: skip
