# SPDX-License-Identifier: Apache-2.0

"""Terminal output of `robodyn check`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Column, Table

from robodyn.algorithms.conditioning import SINGULAR
from robodyn.analysis.sine_motions import FREQUENCIES

# Models of different machines differ everywhere; a screenful of differences is enough.
SHOWN = 20
# A table with more columns does not fit on a terminal.
WIDEST = 5


def check_text(found: dict[str, Any]) -> Group:
    """Format the findings of `robodyn check` for the terminal, as an object of rich."""
    return Group(*_parts(found))


def _parts(found: dict[str, Any]) -> Iterator[RenderableType]:
    base, tip = found["frames"]
    joints, bodies, at_home = found["joints"], found["bodies"], found["at_home"]
    yield _line(
        f": {found['kind']}, {len(joints)} driven joints, {found['mass']:g} kg in {len(bodies)} "
        f"bodies (read from {found['source']})",
        found["name"],
        "bold",
    )
    yield _line(f"base frame {base}, moving frame {tip}; SI units, radians")
    if found["gravity"] is not None:
        yield _line(f"gravity {found['gravity']} m/s^2, base frame")
    for table in found["parameters"]:
        yield from _parameters(table)
    used = at_home.get("stroke_used", {})
    yield _table(
        (found["noun"], "unit", "home", "from", "to", "travel used", "speed [1/s]", "effort"),
        (
            (joint["name"], joint["unit"], joint.get("home"), *joint["position_limits"],
             _percent(used.get(joint["name"]), ".1f"), joint["velocity_limit"],
             None if joint["effort_limit"] is None
             else f"{_cell(joint['effort_limit'])} {joint['effort_unit']}")
            for joint in joints
        ),
        "Driven joints at home and their limits",
    )  # fmt: skip
    if found["actuators"]:
        yield _table(
            ("actuator at home", "rotor reflected [kg, kg m^2]", "other inertia",
             "dry friction [N, N m]", "friction / static effort"),
            ((row["name"], row["reflected_inertia"], row["inertia"], row["friction"],
              _percent(row["friction_share"])) for row in found["actuators"]),
        )  # fmt: skip
    if found["loops"]:
        yield from loop_parts(found["loops"])
    if found["condition_number"] is not None:
        yield _condition(**found["condition_number"])
    yield from _at_home(found["noun"], at_home)
    if found["motions"]:
        yield _motions(found["motions"])
    if "payload" in at_home:
        yield _payload(**at_home["payload"])
    labels = {"remarks": "note", "left_out": "left out", "unphysical": "unphysical",
              "doubts": "doubtful"}  # fmt: skip
    for key, label in labels.items():
        yield from (_line(f" {text}", f"{label}:") for text in found[key])
    if not (found["unphysical"] or found["doubts"]):
        yield "inertias of all links: physically consistent"
    if "against" in found:
        yield from _comparison(**found["against"])


def _condition(
    value: float | None, scaled: float | None, characteristic_length: float
) -> RenderableType:
    if value is None or value > SINGULAR:  # JSON has no infinity
        return _line("condition number at home: infinite, home is a singular configuration")
    return _line(
        f"condition number at home: {value:.6g} in SI units, {scaled:.6g} with lengths divided by "
        f"{characteristic_length:.4g} m"
    )


def _at_home(noun: str, at_home: dict[str, Any]) -> Iterator[RenderableType]:
    """Format the body's reach from home, and the springs with the efforts they carry."""
    if at_home.get("reach"):
        yield _table(
            ("", "unit", "from", "to", "lower end", "upper end"),
            ((row["variable"], row["unit"], row["lowest"], row["highest"],
              *(end or "no limit" for end in row["ends"])) for row in at_home["reach"]),
            "Reach from home: one coordinate varies, the others stay at home",
        )  # fmt: skip
    if "springs" in at_home:
        yield _table(
            ("spring", "stiffness [N/m, N m/rad]", "rest [m, rad]", "preload [N, N m]",
             "damping [N s/m]", "only pulls"),
            ((*list(row.values())[:-1], "yes" if row["tension_only"] else "no")
             for row in at_home["springs"]),
        )  # fmt: skip
        yield _table(
            (noun, "effort [N, N m]", "without springs", "carried by springs"),
            ((row["joint"], row["effort"], row["without"],
              abs(row["without"]) - abs(row["effort"])) for row in at_home["efforts"]),
            "Efforts that hold the mechanism at home",
        )  # fmt: skip


def _parameters(found: dict[str, Any]) -> Iterator[RenderableType]:
    """Format parameters as a table; a column with a single value becomes a line."""
    heads, rows = found["columns"], found["rows"]
    yield _line("", f"\n{found['title']}", "bold")
    differing = [0]
    for i, head in enumerate(heads[1:], start=1):
        values = {row[i] for row in rows}
        if len(values) > 1 or len(rows) == 1:
            differing.append(i)
        elif values:
            yield _line(f"  every {heads[0]}: {head} {values.pop()}")
    if len(differing) > WIDEST or len(rows) == 1:
        for row in rows:
            cells = "; ".join(f"{heads[i]} {row[i]}" for i in differing[1:])
            yield f"  {escape(heads[0])} " + _line(f": {cells}", row[0], "bold")
    elif len(differing) > 1:
        yield _table([heads[i] for i in differing], ([row[i] for i in differing] for row in rows))


def loop_parts(loops: dict[str, Any]) -> Iterator[RenderableType]:
    """Yield closures, rank, mobility and motors of closed loops as objects of rich."""
    columns = "name", "type", "parent", "child", "equations"
    if loops["closures"]:
        rows = ([str(closure[column]) for column in columns] for closure in loops["closures"])
        yield _table(("closure", *columns[1:]), rows)
    yield _line(
        f"{loops['tree_coordinates']} tree coordinates, {loops['equations']} closure equations of "
        f"rank {loops['rank']}: mobility {loops['mobility']}, closed to within "
        f"{loops['open_by']:.2g} m"
    )
    for name in loops["idle_freedoms"]:
        yield _line(f" {name}; held at rest", "idle freedom:")
    if loops["idle_freedoms"]:
        yield (
            "The model locks these axes, although the real bodies spin freely about them: computed "
            "efforts and motions include their inertia about these axes"
        )
    driven = len(loops["driven_joints"])
    if loops["motors_suffice"]:
        other = "other " if loops["idle_freedoms"] else ""
        yield _line(
            f"{driven} driven joints determine all {loops['freedoms']} {other}degrees of freedom"
        )
    else:
        yield _line(
            f" {driven} driven joints for {loops['freedoms']} degrees of freedom; with all motors "
            f"locked, these joints still move: {', '.join(loops['loose_joints'])}",
            "under-actuated:",
        )
    yield _line(loops["determined_by"])
    numbers = loops["condition_numbers"]
    yield _line(
        f"condition numbers at home: of the tip's Jacobian {_cell(numbers['motion'])} (infinite "
        f"at an end of travel), of the motors' Jacobian {_cell(numbers['force'])} (infinite where "
        "the motors cannot hold the mechanism)"
    )


def _motions(rows: list[dict[str, Any]]) -> Table:
    """Tabulate each axis's largest acceleration and its largest sine amplitudes."""
    return _table(
        ("axis", "acceleration", *(f"{f:g} Hz" for f in FREQUENCIES)),
        (
            (f"{row['axis']} [{row['unit']}]",
             "not limited" if row["acceleration"] is None else f"{row['acceleration']:.3g} /s²",
             *(f"{amplitude:.3g}" for amplitude in row["amplitudes"]))
            for row in rows
        ),
        "Limits of the drives: acceleration at home, amplitudes of sines about home",
    )  # fmt: skip


def _payload(mass: float | None, joint: str) -> str:
    if mass is None:
        return "payload held at home: not limited, as no drive has an effort limit"
    if mass == 0.0:
        return _line(
            f" the effort limit of {joint} is too low to hold the mechanism at home", "note:"
        )
    return _line(
        f"payload held at home, at rest: {mass:.4g} kg in addition to the model, limited by the "
        f"effort of {joint}"
    )


def _comparison(source: str, differences: list[str]) -> Iterator[str]:
    if not differences:
        yield _line(f" with {source}", "agrees", "green")
        return
    yield _line(f" from {source} in {len(differences)} fields:", "differs", "red")
    yield from (_line(f"  {line}") for line in differences[:SHOWN])
    if len(differences) > SHOWN:
        yield f"  and {len(differences) - SHOWN} more; --json lists all"


def _line(text: str, label: str = "", style: str = "yellow") -> str:
    """Return a line of rich markup: a label in a style, then the plain text."""
    return (f"[{style}]{escape(label)}[/{style}]" if label else "") + escape(text)


def _table(heads: Sequence[str], rows: Iterable[Iterable[Any]], title: str = "") -> Table:
    """Return a rich table of labels and numbers, with empty cells for None."""
    first, *others = map(escape, heads)
    columns = (Column(first, no_wrap=True), *(Column(head, overflow="fold") for head in others))
    table = Table(*columns, title=title or None, title_justify="left")
    for row in rows:
        table.add_row(*(escape(_cell(value)) for value in row))
    return table


def _cell(value: str | float | None) -> str:
    if value is None:
        return "-"
    return value if isinstance(value, str) else f"{value:.4g}"


def _percent(fraction: float | None, form: str = ".3g") -> str | None:
    return None if fraction is None else f"{100.0 * fraction:{form}} %"
