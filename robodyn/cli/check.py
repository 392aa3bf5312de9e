# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""`robodyn check MODEL`: what a model file says, what is unphysical, and how it stands at home."""

from __future__ import annotations

import json as json_text
from typing import Annotated, Any, Optional

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from robodyn.cli.commands import argument, option
from robodyn.errors import RobodynError
from robodyn.mechanisms.inspection import report

# Models that are not the same machine differ everywhere; a screenful of it is enough.
SHOWN = 20


def check(
    model: Annotated[str, argument(help="Bundled name, or path to a .urdf, .xacro or .yaml file.")],
    # typer reads the annotation at run time, where Python 3.10 knows no better spelling.
    against: Annotated[
        Optional[str],  # noqa: UP045
        option(help="A second model; exit code 1 if the two differ."),
    ] = None,
    strict: Annotated[
        bool, option("--strict", help="Refuse inertias that no rigid body can have.")
    ] = False,
    json: Annotated[bool, option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Say what a model file says, what is unphysical, and how well it stands at home."""
    try:
        found = report(model, strict=strict, against=against)
    except RobodynError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(1) from error
    if json:
        typer.echo(json_text.dumps(found, indent=2))
    else:
        _show(found, Console())
    if found.get("against", {}).get("differences"):
        raise typer.Exit(1)


def _show(found: dict[str, Any], console: Console) -> None:
    console.print(
        f"[bold]{escape(found['name'])}[/bold]: {found['kind']}, {len(found['joints'])} driven "
        f"joints, {found['mass']:g} kg in {len(found['bodies'])} bodies "
        f"(read from {escape(found['source'])})"
    )
    if found["gravity"] is not None:
        console.print(f"gravity {found['gravity']} m/s^2")
    console.print(_joint_table(found))
    _show_friction(found, console)
    if found["actuators"]:
        console.print(_actuator_table(found))
    console.print(_body_table(found))
    if found["loops"]:
        _show_loops(found["loops"], console)
    condition = found["condition_number"]
    if condition is not None:
        console.print(
            f"condition number at home: {_number(condition['value'])} in SI units, "
            f"{_number(condition['scaled'])} with lengths divided by "
            f"{condition['characteristic_length']:.4g} m"
        )
    for remark in found["remarks"]:
        console.print(f"[yellow]note:[/yellow] {escape(remark)}")
    for finding in found["unphysical"]:
        console.print(f"[yellow]unphysical:[/yellow] {escape(finding)}")
    if not found["unphysical"]:
        console.print("every inertia is one that a rigid body can have")
    if "against" in found:
        _show_comparison(found["against"], console)


def _show_loops(loops: dict[str, Any], console: Console) -> None:
    table = Table(Column("closure", no_wrap=True), "type", "parent", "child", "equations")
    for closure in loops["closures"]:
        columns = "name", "type", "parent", "child", "equations"
        table.add_row(*(escape(str(closure[column])) for column in columns))
    console.print(table)
    console.print(
        f"{loops['tree_coordinates']} tree coordinates, {loops['equations']} closure equations of "
        f"rank {loops['rank']}: mobility {loops['mobility']}, closed to {loops['open_by']:.2g} m"
    )
    for name in loops["idle_freedoms"]:
        console.print(f"idle freedom: {escape(name)}; held at rest")
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
    numbers = loops["condition_numbers"]
    console.print(
        f"at home: from motion to the tip {_number(numbers['motion'])} (infinite at an end of "
        f"travel), from motion to the motors {_number(numbers['force'])} (infinite where these "
        "cannot hold it)"
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


def _joint_table(found: dict[str, Any]) -> Table:
    table = Table(Column("joint", no_wrap=True), "home", "from", "to", "velocity", "effort")
    for joint in found["joints"]:
        table.add_row(
            joint["name"],
            _number(joint.get("home")),
            *(_number(bound) for bound in joint["position_limits"]),
            _number(joint["velocity_limit"]),
            _number(joint["effort_limit"]),
        )
    return table


def _show_friction(found: dict[str, Any], console: Console) -> None:
    owner = "leg" if found["kind"] == "stewart" else "joint"
    rows = found["friction"]
    if all(row == rows[0] for row in rows):
        console.print(f"friction of every {owner}: " + _friction_text(rows[0]))
        return
    for number, row in enumerate(rows, start=1):
        console.print(f"friction of {owner} {number}: " + _friction_text(row))


def _friction_text(row: dict[str, Any]) -> str:
    return ", ".join(
        f"{name} {' '.join(_number(part) for part in value)}"
        if isinstance(value, list)
        else f"{name} {_number(value)}"
        for name, value in row.items()
    )


def _actuator_table(found: dict[str, Any]) -> Table:
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


def _body_table(found: dict[str, Any]) -> Table:
    table = Table(Column("body", no_wrap=True), "mass [kg]", "centre of mass [m]")
    for body in found["bodies"]:
        centre = " ".join(_number(value) for value in body["com"])
        table.add_row(body["name"], _number(body["mass"]), centre)
    return table


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.6g}"
