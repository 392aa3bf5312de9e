# SPDX-License-Identifier: Apache-2.0

"""Report pages of an evaluation, a design, and a machine."""

from __future__ import annotations

from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from robodyn.algorithms.link_motion import link_pose
from robodyn.arrays import FloatArray
from robodyn.designing.design import Design, DesignPoint
from robodyn.designing.evaluation import Evaluation
from robodyn.designing.machine_motion import MachineMotion, motor_rows
from robodyn.mechanism.mechanism import Mechanism
from robodyn.model.closure import Closure
from robodyn.model.joint import Joint
from robodyn.model.model import Model
from robodyn.poses import rotation_matrix
from robodyn.presentation import presentation
from robodyn.presentation.numbers_as_text import number
from robodyn.report import design_tables
from robodyn.report.chart import COLORS, DASHED, GRAY, INK, Chart, ChartLine, Note, Panel
from robodyn.report.labels import units_in_one
from robodyn.report.machine_sheet import payload_map, payload_table, sine_sheet
from robodyn.report.page import Page, cards, table
from robodyn.report.tables import Table
from robodyn.report.vibration_sheet import modes_table, vibration_charts

# Number of points of a motor's limit curve.
CURVE = 60
# Distance of dimensions from a drawing, relative to its size.
GAP = 0.07
# Designs of a front whose model files are on the page.
FILES = 12


def evaluation_page(e: Evaluation) -> Page:
    """Create the report page of an evaluation of a machine against requirements.

    Args:
        e: evaluation to show.
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
    return page


def machine_page(m: Mechanism) -> Page:
    """Create the report page of a machine's capabilities, independent of requirements.

    Args:
        m: mechanism to show.
    """
    page = Page(m.name, f"{m.kind}: data sheet at home", {"model": m.name})
    add_machine(page, m)
    page.add_parameters(m)
    return page


def design_page(d: Design) -> Page:
    """Create the report page of a design: dimensions, evaluation and Pareto front.

    Args:
        d: design to show.
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
        page.add("front", "Alternatives", table(*design_tables.front_table(d)) + files)
    page.add_parameters(e.mechanism)
    return page


def _model_file(point: DesignPoint) -> str:
    from robodyn.loading.save import save

    with TemporaryDirectory() as folder:
        (path,) = save(point.mechanism, Path(folder) / "model.yaml")[:1]
        return path.read_text(encoding="utf-8")


def add_evaluation(page: Page, e: Evaluation) -> None:
    """Add to a page the verdicts, demands on drives and charts of an evaluation."""
    m, need = e.mechanism, e.needed
    lines = "".join(f"<li>{escape(line)}</li>" for line in design_tables.verdict_lines(e))
    figures = [
        ("largest stroke", f"{number(float(need.stroke.max()))} {units_in_one(m.drives.units)}"),
        ("largest effort", f"{number(float(need.peak_effort.max()))} "
                           f"{units_in_one(m.drives.effort_units)}"),
        ("supply, peak", f"{number(need.supply_peak)} W"),
        ("supply, mean", f"{number(need.supply_mean)} W"),
        ("fed back at most", f"{number(need.braking)} J per cycle"),
    ]  # fmt: skip
    page.add("verdicts", "Verdicts", f"{cards(figures)}<ul>{lines}</ul>")
    page.add_chart(_efforts_over_speed(e))
    page.add("needed", "Demands on the drives", _tables(design_tables.demand_tables(e)))
    if moving := [each for each in e.found if each.motion is not None]:
        page.add_chart(_powers(e, moving))
    add_machine(page, m)
    if e.variants:
        page.add("sensitivities", "Sensitivities", _tables([design_tables.sensitivity_table(e)]))


def add_machine(page: Page, m: Mechanism) -> None:
    """Add sections on a machine's capabilities to a page; no requirements are needed."""
    sheet = sine_sheet(m)
    if sheet is not None:
        page.add_chart(sheet[0], table(*sheet[1]))
    slices = ""
    for across, up in ((0, 2), (0, 1)):
        held = payload_map(m, across, up)
        slices += payload_table(m, held, "xyz"[across], "xyz"[up]) if held is not None else ""
    if slices:
        text = "Payload [kg] that can be held at rest in addition to the present payload."
        page.add("held", "Payload over the workspace", f'<p class="say">{text}</p>{slices}')
    if (modes := modes_table(m)) is not None:
        page.add("modes", "Natural modes", _tables([modes]))
        for chart in vibration_charts(m):
            page.add_chart(chart)
    if presentation.outline(m, m.home):
        page.add_chart(_views(m))
    page.add("centers", "Joint centers", _tables([_centers(m)]))


def _tables(tables: list[Table]) -> str:
    return "".join(table(*each) for each in tables)


def _efforts_over_speed(e: Evaluation) -> Chart:
    """Chart the effort of all drives versus their speed, with the motors' limits."""
    m, margins = e.mechanism, e.requirements.margins
    curves = []
    for k, each in enumerate(e.found):
        rows = each.all if each.motion is None else each.rows
        gap = np.full((1, len(m.joint_names)), np.nan)
        ends = [rows.rate, *([rows.rate[:1]] if each.motion else []), gap]
        efforts = [rows.effort, *([rows.effort[:1]] if each.motion else []), gap]
        name = "poses at rest" if each.motion is None else each.motion.name
        x = margins.speed * np.concatenate(ends).T.ravel()
        y = margins.force * np.concatenate(efforts).T.ravel()
        curves.append(ChartLine(x, y, name, COLORS[k % len(COLORS)]))
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
    speed = f"speed [{units_in_one(m.drives.units, '/s')}]"
    effort = f"effort [{units_in_one(m.drives.effort_units)}]"
    panel = Panel("Effort versus speed", tuple(curves), speed, effort)
    text = ("Every drive in every motion, with margins. The dashed lines are the limits of the "
            "weakest motor; a motion is feasible if its curve stays between them.")  # fmt: skip
    return Chart("motor", "Effort versus speed", (panel,), text, 1)


def _powers(e: Evaluation, found: list[MachineMotion]) -> Chart:
    """Chart the total power of all drives over one cycle of each motion."""
    panels, voltage = [], e.requirements.supply_voltage
    for each in found:
        assert each.motion is not None
        power = np.nansum(motor_rows(e.mechanism, each.rows).power, axis=1)
        row = next(row for row in e.motions if row.name == each.motion.name)
        mean = np.full_like(power, row.supply_mean)
        lines = (
            ChartLine(each.times, power, "all drives", COLORS[0]),
            ChartLine(each.times, mean, "mean power from the supply", INK, DASHED),
        )
        title = (f"{row.name}: peak {number(row.supply_peak)} W, mean {number(row.supply_mean)} W, "
                 f"fed back {number(row.braking)} J per cycle")  # fmt: skip
        if voltage is not None:
            title += f"; supply {number(row.supply_peak / voltage)} A"
        panels.append(Panel(title, lines, y_label="power [W]"))
    text = "Positive power is taken from the supply, negative power is fed back to it."
    return Chart("power", "Power over time", tuple(panels), text)


def _views(m: Mechanism) -> Chart:
    """Draw a machine at home from three sides, with dimensions."""
    parts = presentation.outline(m, m.home)
    groups = [each for each in presentation.leg_ends(m, m.home) if len(each)]
    every = np.concatenate([*(part.points for part in parts), *groups])
    panels = []
    for title, i, j in (("front: y, z", 1, 2), ("side: x, z", 0, 2), ("top: x, y", 0, 1)):
        lines, notes = _dimensions(every, groups or [every], i, j)
        curves = [ChartLine(part.points[:, i], part.points[:, j], color=INK) for part in parts]
        panels.append(Panel(title, (*curves, *lines), "", notes=notes, picture=True))
    text = "The machine at home, in the base frame. Dimensions [m] are between joint centers."
    return Chart("home", "Drawing", tuple(panels), text)


def _dimensions(
    every: FloatArray, groups: list[FloatArray], i: int, j: int
) -> tuple[list[ChartLine], tuple[Note, ...]]:
    """Return labeled dimension lines: the width of each point group, the total height."""
    low, high = every.min(axis=0), every.max(axis=0)
    gap = GAP * float((high - low).max())
    lines, notes = [], []
    for k, points in enumerate(groups):
        left, right = float(points[:, i].min()), float(points[:, i].max())
        at = float(high[j]) + gap if k else float(low[j]) - gap
        lines.append(ChartLine(np.array([left, right]), np.array([at, at]), color=GRAY, width=0.9))
        beside = at + (gap if k else -gap)
        notes.append(Note(0.5 * (left + right), beside, f"{number(right - left)} m"))
    joints = np.concatenate(groups)[:, j]
    ends, side = np.array([joints.min(), joints.max()]), float(high[i]) + gap
    lines.append(ChartLine(np.array([side, side]), ends, color=GRAY, width=0.9))
    notes.append(Note(side, float(ends.max()) + gap, f"{number(np.ptp(ends))} m", "end"))
    return lines, tuple(notes)


def _centers(m: Mechanism) -> Table:
    """Create a table of the joint centers at home, in the base frame."""
    feet, tips = presentation.leg_ends(m, m.home)
    if len(feet) or not isinstance(m.model, Model):
        rows: list[list[str | float]] = [
            [name, *foot.tolist(), *tip.tolist()]
            for name, foot, tip in zip(m.joint_names, feet, tips, strict=False)
        ]
        head = ["drive", "base x [m]", "y [m]", "z [m]", "body x [m]", "y [m]", "z [m]"]
        return Table(head, rows, "Joint centers at home, in the base frame")
    rows = []
    every: list[Joint | Closure] = [*m.model.joints, *m.model.closures]
    for joint in every:
        frame = link_pose(m, m.home, joint.parent)
        at = (frame[:3] + rotation_matrix(frame) @ joint.at.translation).round(12)
        # the axes of a universal or ball joint meet in one point
        if not rows or rows[-1][3:] != at.tolist():
            rows.append([joint.name, joint.parent, joint.child, *at.tolist()])
    head = ["joint", "from", "to", "x [m]", "y [m]", "z [m]"]
    return Table(head, rows, "Joint centers at home, in the base frame")
