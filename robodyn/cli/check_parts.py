# SPDX-License-Identifier: Apache-2.0

"""What `robodyn check` shows of closed loops and of actuators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Column, Table

if TYPE_CHECKING:
    from rich.console import Console


def show_loops(loops: dict[str, Any], console: Console) -> None:
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


def actuator_table(found: dict[str, Any]) -> Table:
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


def paths_table(found: dict[str, Any]) -> Table:
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


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.6g}"
