# SPDX-License-Identifier: Apache-2.0

"""Margins in words, from their plain data: of a run that is over, or of one read from a file."""

from __future__ import annotations

from typing import Any


def margin_lines(found: dict[str, Any]) -> list[str]:
    """A few lines for the screen.

    Args:
        found: as `Margins.to_dict` has it.
    """
    broken = [row for row in found["rows"] if row["broken"]]
    if not broken:
        tightest = found["tightest"]
        if tightest is None:
            return ["limits                 none are given"]
        return [f"limits                 all hold; nearest: {row_text(tightest)}"]
    first = found["first"]
    lines = [
        f"limits                 {len(broken)} broken, first {_subject(first)} "
        f"at t = {first['time']:.3f} s"
    ]
    return lines + [f"  {row_text(row)}" for row in broken]


def row_text(row: dict[str, Any]) -> str:
    """What a motion makes of one limit: `velocity of joint1, 90 % (-1.8 to 0.3 of 2)`."""
    return f"{_subject(row)}, {_share(row)} ({_span(row)} of {_limit(row)})"


def _subject(row: dict[str, Any]) -> str:
    return f"{row['quantity']} of {row['joint']}" if row["joint"] else str(row["quantity"])


def _span(row: dict[str, Any]) -> str:
    return f"{_number(row['lowest'])} to {_number(row['highest'])}"


def _limit(row: dict[str, Any]) -> str:
    lower, upper = row["lower"], row["upper"]
    if lower is None or (upper is not None and lower == -upper):
        return _number(upper)
    return f"{_number(lower)} to {_number(upper)}"


def _share(row: dict[str, Any]) -> str:
    if row["used"] is None:
        return "cut to it" if row["quantity"] == "effort" else "no value"
    return f"{100.0 * row['used']:.0f} %"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"
