# SPDX-License-Identifier: Apache-2.0

"""Pages of an evaluation and a design: verdicts, demands, and a drawing of the machine."""

from __future__ import annotations

from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.designing.design import Design, DesignPoint
from robodyn.designing.evaluation import Evaluation
from robodyn.designing.machine_motion import MachineMotion, machine_motions
from robodyn.presentation import presentation
from robodyn.presentation.numbers_as_text import number
from robodyn.report.chart import COLORS, DASHED, INK, Chart, ChartLine, Panel
from robodyn.report.design_tables import (
    demand_tables,
    front_table,
    sensitivity_table,
    verdict_lines,
)
from robodyn.report.labels import units_in_one
from robodyn.report.machine_sheet import held_payloads, held_table, modes_table, sine_sheet
from robodyn.report.page import Page, cards, table
from robodyn.report.tables import Table

# Number of points of a motor's limit curve.
CURVE = 60
# Designs of a front whose model files are on the page.
FILES = 12


def evaluation_page(e: Evaluation, command: str = "") -> Page:
    """Make the HTML page of an evaluation.

    Args:
        e: evaluation to show.
        command: command line that made the page, shown at its end.
    """
    m = e.mechanism
    met = sum(each.satisfied for each in e.verdicts)
    page = Page(
        f"{m.name}: requirements",
        f"{met} of {len(e.verdicts)} requirements are met" + (
            f" ({e.requirements.source})" if e.requirements.source else ""),
        e.to_dict(),
    )  # fmt: skip
    add_evaluation(page, e)
    page.add_parameters(m)
    page.add_provenance(command)
    return page


def design_page(d: Design, command: str = "") -> Page:
    """Make the HTML page of a design: dimensions, evaluation, and front with model files.

    Args:
        d: design to show.
        command: command line that made the page, shown at its end.
    """
    e = d.evaluation
    met = "meets all requirements" if e.satisfied else "does not meet the requirements"
    subtitle = f"The best of {d.examined} machines {met}; minimized: {', '.join(d.objectives)}"
    page = Page(f"Design of a {d.family}", subtitle, d.to_dict())
    rows: list[list[str | float]] = [[name, value] for name, value in d.parameters.items()]
    if d.actuator is not None:
        rows.append(["actuator", d.actuator.name])
    conflicts = "".join(f"<p>{escape(text)}</p>" for text in d.conflicts)
    page.add("dimensions", "Dimensions", conflicts + table(["dimension", "[m], [rad]"], rows))
    add_evaluation(page, e)
    if d.front:
        files = "".join(
            f"<details><summary>model file of design {k}</summary><pre>"
            f"{escape(_model_file(point))}</pre></details>"
            for k, point in enumerate(d.front[:FILES], start=1)
        )
        page.add("front", "Alternatives", table(*front_table(d)) + files)
    page.add_parameters(e.mechanism)
    page.add_provenance(command)
    return page


def _model_file(point: DesignPoint) -> str:
    from robodyn.loading.save import save

    with TemporaryDirectory() as folder:
        (path,) = save(point.mechanism, Path(folder) / "model.yaml")[:1]
        return path.read_text(encoding="utf-8")


def add_evaluation(page: Page, e: Evaluation) -> None:
    """Add the sections of an evaluation to a page."""
    m, need = e.mechanism, e.needed
    lines = "".join(f"<li>{escape(line)}</li>" for line in verdict_lines(e))
    figures = [
        ("largest stroke", f"{number(float(need.stroke.max()))} {units_in_one(m.drives.units)}"),
        ("largest effort", f"{number(float(need.peak_effort.max()))} "
                           f"{units_in_one(m.drives.effort_units)}"),
        ("supply, peak", f"{number(need.supply_peak)} W"),
        ("supply, mean", f"{number(need.supply_mean)} W"),
        ("fed back at most", f"{number(need.braking)} J a cycle"),
    ]  # fmt: skip
    page.add("verdicts", "Verdicts", f"{cards(figures)}<ul>{lines}</ul>")
    found = machine_motions(m, e.requirements.motions, e.requirements.poses)
    page.add_chart(_efforts_over_speed(e, found))
    page.add("needed", "Needs of the drives", _tables(demand_tables(e)))
    if moving := [each for each in found if each.motion is not None]:
        page.add_chart(_powers(e, moving))
    sheet, held = sine_sheet(m), held_payloads(m)
    if sheet is not None:
        page.add_chart(sheet[0], table(*sheet[1]))
    if held is not None:
        page.add("held", "Payload over the workspace", held_table(held))
    if (modes := modes_table(m)) is not None:
        page.add("modes", "Natural modes", _tables([modes]))
    if presentation.outline(m, m.home):
        page.add_chart(_views(e))
    page.add("centers", "Joint centers", _tables([_centers(e)]))
    if e.variants:
        page.add("sensitivities", "Sensitivities", _tables([sensitivity_table(e)]))


def _tables(tables: list[Table]) -> str:
    return "".join(table(*each) for each in tables)


def _efforts_over_speed(e: Evaluation, found: list[MachineMotion]) -> Chart:
    """Chart effort over speed of all drives, and the motors' limits."""
    m, margins = e.mechanism, e.requirements.margins
    curves = []
    for k, each in enumerate(found):
        rows = each.all if each.motion is None else each.rows
        gap = np.full((1, len(m.joint_names)), np.nan)
        ends = [rows.rate, *([rows.rate[:1]] if each.motion else []), gap]
        efforts = [rows.effort, *([rows.effort[:1]] if each.motion else []), gap]
        name = "poses at rest" if each.motion is None else each.motion.name
        curves.append(
            ChartLine(
                margins.speed * np.concatenate(ends).T.ravel(),
                margins.force * np.concatenate(efforts).T.ravel(),
                name, COLORS[k % len(COLORS)],
            )
        )  # fmt: skip
    fastest = float(np.nanmax(np.abs(np.concatenate([curve.x for curve in curves])), initial=0.0))
    limits = np.where(np.isfinite(m.velocity_limits), m.velocity_limits, 1.2 * fastest)
    rates = np.linspace(-1.0, 1.0, 2 * CURVE + 1) * float(limits.max())
    has = m.drives.effort_limits_at(np.repeat(rates[:, None], len(m.joint_names), axis=1))
    j = int(np.argmin(has[CURVE]))
    if np.isfinite(has[:, j]).all():
        rates = np.append(rates, np.nan)
        line = np.append(has[:, j], np.nan)
        curves.append(
            ChartLine(np.tile(rates, 2), np.concatenate([line, -line]), "limit", INK, DASHED, 2.2)
        )
    panel = Panel(
        "Effort over speed",
        tuple(curves),
        f"speed [{units_in_one(m.drives.units, '/s')}]",
        f"effort [{units_in_one(m.drives.effort_units)}]",
    )
    text = ("Every drive in every motion, margins included. The dashed line is the weakest "
            "motor's limit, on both sides: a motion fits if it stays between.")  # fmt: skip
    return Chart("motor", "Effort over speed", (panel,), text, 1)


def _powers(e: Evaluation, found: list[MachineMotion]) -> Chart:
    """Chart the power of all drives together over a cycle of each motion."""
    panels = []
    for each in found:
        assert each.motion is not None
        power = np.nansum(_power(e, each), axis=1)
        row = next(row for row in e.motions if row.name == each.motion.name)
        mean = np.full_like(power, row.supply_mean)
        lines = (
            ChartLine(each.times, power, "all drives", COLORS[0]),
            ChartLine(each.times, mean, "mean power from the supply", INK, DASHED),
        )
        panels.append(Panel(each.motion.name, lines, y_label="power [W]"))
    text = "Positive power is taken from the supply, negative power is fed back to it."
    return Chart("power", "Power over time", tuple(panels), text)


def _power(e: Evaluation, each: MachineMotion) -> FloatArray:
    rows = each.rows
    columns = [
        actuator.torques(rows.effort[:, j], rows.rate[:, j]) * actuator.ratio * rows.rate[:, j]
        for j, actuator in enumerate(e.mechanism.actuators)
    ]
    return np.stack(columns, axis=-1)


def _views(e: Evaluation) -> Chart:
    """Chart the machine at home from the front, from the side and from above."""
    m = e.mechanism
    panels = tuple(
        Panel(
            title,
            tuple(
                ChartLine(part.points[:, i], part.points[:, j], color=INK)
                for part in presentation.outline(m, m.home)
            ),
            "",
            picture=True,
        )
        for title, i, j in (("front: y, z", 1, 2), ("side: x, z", 0, 2), ("top: x, y", 0, 1))
    )
    return Chart("home", "Drawing", panels, "At home, base frame.")


def _centers(e: Evaluation) -> Table:
    """Tabulate the centers of the legs' joints, or the dimensions of a calibration."""
    m = e.mechanism
    feet, tips = presentation.leg_ends(m, m.home)
    rows = [
        [name, *foot.tolist(), *tip.tolist()]
        for name, foot, tip in zip(m.joint_names, feet, tips, strict=False)
    ]
    head = ["drive", "base x [m]", "y [m]", "z [m]", "body x [m]", "y [m]", "z [m]"]
    return Table(head, rows, "At home, base frame")
