# SPDX-License-Identifier: Apache-2.0

"""What `robodyn check` shows on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Column, Table

from robodyn.analysis.sine_motions import FREQUENCIES
from robodyn.report.numbers_as_text import number

if TYPE_CHECKING:
    from rich.console import Console

# Models that are not the same machine differ everywhere; a screenful of it is enough.
SHOWN = 20
# A table of more columns does not fit on a terminal.
WIDEST = 5


def show(found: dict[str, Any], console: Console) -> None:
    """Print what `robodyn.mechanisms.inspection.describe` found, and what was added to it."""
    base, tip = found["frames"]
    console.print(
        f"[bold]{escape(found['name'])}[/bold]: {found['kind']}, {len(found['joints'])} driven "
        f"joints, {found['mass']:g} kg in {len(found['bodies'])} bodies "
        f"(read from {escape(found['source'])})"
    )
    console.print(f"base frame {escape(base)}, moving frame {escape(tip)}; SI units, radians")
    if found["gravity"] is not None:
        console.print(f"gravity {found['gravity']} m/s^2, base frame")
    for table in found["parameters"]:
        _show_parameters(table, console)
    console.print(_joint_table(found))
    if found["actuators"]:
        console.print(_actuator_table(found))
    if found["on_paths"]:
        console.print(_paths_table(found))
    if found["loops"]:
        _show_loops(found["loops"], console)
    _show_condition(found, console)
    _show_reach(found["at_home"].get("reach"), console)
    if found["motions"]:
        console.print(_motions_table(found["motions"]))
    _show_payload(found["at_home"].get("payload"), console)
    for remark in found["remarks"]:
        console.print(f"[yellow]note:[/yellow] {escape(remark)}")
    for line in found["left_out"]:
        console.print(f"[yellow]left out:[/yellow] {escape(line)}")
    for finding in found["unphysical"]:
        console.print(f"[yellow]unphysical:[/yellow] {escape(finding)}")
    if not found["unphysical"]:
        console.print("every inertia is one that a rigid body can have")
    if "against" in found:
        _show_comparison(found["against"], console)


def _show_parameters(found: dict[str, Any], console: Console) -> None:
    """A table of parameters: columns with one value for all rows in a line, the others below."""
    console.print(f"\n[bold]{escape(found['title'])}[/bold]")
    heads, rows = found["columns"], found["rows"]
    differing = [0]
    for i, head in enumerate(heads[1:], start=1):
        values = {row[i] for row in rows}
        if len(values) > 1:
            differing.append(i)
        elif values:
            console.print(f"  every {escape(heads[0])}: {escape(head)} {escape(values.pop())}")
    if len(differing) == 1:
        return
    if len(differing) > WIDEST:
        for row in rows:
            cells = (f"{escape(heads[i])} {escape(row[i])}" for i in differing[1:])
            console.print(f"  {escape(heads[0])} [bold]{escape(row[0])}[/bold]: {'; '.join(cells)}")
        return
    table = Table(*(Column(escape(heads[i]), no_wrap=i == 0) for i in differing))
    for row in rows:
        table.add_row(*(escape(row[i]) for i in differing))
    console.print(table)


def _joint_table(found: dict[str, Any]) -> Table:
    used = found["at_home"].get("stroke_used", {})
    table = Table(
        Column(found["noun"], no_wrap=True), "unit", "home", "from", "to", "travel used",
        "speed [1/s]", "effort", title="Driven joints at home and their limits",
        title_justify="left",
    )  # fmt: skip
    for joint in found["joints"]:
        share = used.get(joint["name"])
        table.add_row(
            escape(joint["name"]),
            joint["unit"],
            _number(joint.get("home")),
            *(_number(bound) for bound in joint["position_limits"]),
            "-" if share is None else f"{100.0 * share:.1f} %",
            _number(joint["velocity_limit"]),
            "-" if joint["effort_limit"] is None
            else f"{_number(joint['effort_limit'])} {joint['effort_unit']}",
        )  # fmt: skip
    return table


def _show_loops(loops: dict[str, Any], console: Console) -> None:
    """Print closures, rank, mobility, idle freedoms and what the motors can hold."""
    table = Table(Column("closure", no_wrap=True), "type", "parent", "child", "equations")
    for closure in loops["closures"]:
        columns = "name", "type", "parent", "child", "equations"
        table.add_row(*(escape(str(closure[column])) for column in columns))
    if loops["closures"]:
        console.print(table)
    console.print(
        f"{loops['tree_coordinates']} tree coordinates, {loops['equations']} closure equations of "
        f"rank {loops['rank']}: mobility {loops['mobility']}, closed to {loops['open_by']:.2g} m"
    )
    for name in loops["idle_freedoms"]:
        console.print(f"[yellow]idle freedom:[/yellow] {escape(name)}; held at rest")
    if loops["idle_freedoms"]:
        console.print(
            "What moves freely spins otherwise than what is held: efforts, and motion in a "
            "simulation, are off by the inertia of these bodies about those axes"
        )
    driven = len(loops["driven_joints"])
    if loops["motors_suffice"]:
        other = "other " if loops["idle_freedoms"] else ""
        console.print(f"{driven} driven joints hold its {loops['freedoms']} {other}freedoms")
    else:
        console.print(
            f"[yellow]under-actuated:[/yellow] {driven} driven joints for {loops['freedoms']} "
            "freedoms; with all of them locked these still move: "
            + escape(", ".join(loops["loose_joints"]))
        )
    console.print(loops["determined_by"], highlight=False)
    numbers = loops["condition_numbers"]
    console.print(
        f"at home: from motion to the tip {_number(numbers['motion'])} (infinite at an end of "
        f"travel), from motion to the motors {_number(numbers['force'])} (infinite where these "
        "cannot hold it)"
    )


def _actuator_table(found: dict[str, Any]) -> Table:
    """What each actuator adds at home."""
    table = Table(
        Column("actuator at home", no_wrap=True),
        "rotor reflected [kg, kg m^2]",
        "other inertia",
        "dry friction [N, N m]",
        "of the weight it holds",
    )
    for row in found["actuators"]:
        share = row["friction_share"]
        table.add_row(
            row["name"],
            f"{row['reflected_inertia']:.4g}",
            "-" if row["inertia"] is None else f"{row['inertia']:.4g}",
            f"{row['friction']:.4g}",
            "-" if share is None else f"{100.0 * share:.3g} %",
        )
    return table


def _paths_table(found: dict[str, Any]) -> Table:
    """What the motors have to give along paths."""
    table = Table(
        Column("path", no_wrap=True), "largest motor torque [N m]", "of", "at t [s]",
        "most of what a motor has at its speed", "by",
    )  # fmt: skip
    for row in found["on_paths"]:
        table.add_row(
            row["path"],
            f"{row['torque']:.4g}",
            row["joint"],
            f"{row['time']:.3f}",
            "-" if row["used"] is None else f"{100.0 * row['used']:.3g} %",
            row["nearest"] or "-",
        )
    return table


def _show_condition(found: dict[str, Any], console: Console) -> None:
    condition = found["condition_number"]
    if condition is not None:
        console.print(
            f"condition number at home: {_number(condition['value'])} in SI units, "
            f"{_number(condition['scaled'])} with lengths divided by "
            f"{condition['characteristic_length']:.4g} m"
        )


def _motions_table(rows: list[dict[str, Any]]) -> Table:
    """Of each axis the largest acceleration, and the largest amplitudes by frequency."""
    heads = ["axis", "acceleration", *(f"{f:g} Hz" for f in FREQUENCIES)]
    title = "what the drives can follow: acceleration at home, amplitudes of sines"
    table = Table(*heads, title=title, title_justify="left")
    for row in rows:
        most, unit = row["acceleration"], row["unit"]
        hardest = "not limited" if most is None else f"{most:.3g} /s²"
        amplitudes = (f"{amplitude:.3g}" for amplitude in row["amplitudes"])
        table.add_row(escape(f"{row['axis']} [{unit}]"), hardest, *amplitudes)
    return table


def _show_reach(reach: list[dict[str, Any]] | None, console: Console) -> None:
    if not reach:
        return
    table = Table(
        "", "unit", "from", "to", "ends at", "and at",
        title="Reach from home, one coordinate at a time, the others as at home",
        title_justify="left",
    )  # fmt: skip
    for row in reach:
        ends = (escape(end) if end else "no limit" for end in row["ends"])
        low, high = (_number(row[key]) for key in ("lowest", "highest"))
        table.add_row(row["variable"], row["unit"], low, high, *ends)
    console.print(table)


def _show_payload(payload: dict[str, Any] | None, console: Console) -> None:
    if payload is None:
        return
    if payload["mass"] is None:
        console.print("payload held at home: no limit of effort bounds it")
    elif payload["mass"] == 0.0:
        console.print(f"[yellow]note:[/yellow] {escape(payload['joint'])} cannot hold it at home")
    else:
        console.print(
            f"payload held at home, at rest: {number(payload['mass'])} kg more than described, "
            f"then {escape(payload['joint'])} is at its limit"
        )


def _show_comparison(comparison: dict[str, Any], console: Console) -> None:
    lines = comparison["differences"]
    other = escape(comparison["source"])
    if not lines:
        console.print(f"[green]agrees[/green] with {other}")
        return
    console.print(f"[red]differs[/red] from {other} in {len(lines)} fields:")
    for line in lines[:SHOWN]:
        console.print(f"  {escape(line)}")
    if len(lines) > SHOWN:
        console.print(f"  and {len(lines) - SHOWN} more; --json lists all")


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.6g}"
